"""No option of any command is given and not used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from headcount.cli.commands import Commands
from headcount.cli.main import app
from headcount.errors import BadArgument


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


def _single(command: Any) -> list[Any]:
    """Every option of a command that takes at most one value."""
    return [option for option in command.params if option.param_type_name == "option" and not option.multiple]


def _once(option: Any) -> list[str]:
    """The option as it is typed, with a value if it takes one."""
    return [option.opts[0], *(["1"] * option.nargs if not option.is_flag else [])]


WHOLE = typer.main.get_command(app)
OPTIONS = {path: options for path, command in _commands(WHOLE) if (options := _single(command))}


def test_there_are_many() -> None:
    assert len(OPTIONS) > 40
    assert sum(map(len, OPTIONS.values())) > 300


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: " ".join(path) or "headcount")
def test_an_option_given_twice_is_refused_by_name(path: tuple[str, ...]) -> None:
    for option in OPTIONS[path]:
        with pytest.raises(BadArgument, match=f"^{re.escape(option.opts[0])} is given 2 times; "):
            WHOLE.main([*path, *_once(option), *_once(option)], standalone_mode=False)


def test_both_spellings_of_a_switch_are_one_option() -> None:
    words = ["mean", "x.csv", "--clip", "--no-clip"]
    assert "--clip is given 2 times" in str(CliRunner().invoke(app, words).exception)


def test_an_option_may_be_given_once_and_lists_may_be_given_often() -> None:
    words = ["advise", "count", "--n", "100", "--epsilon", "1", "--model", "local", "--model", "central"]
    assert CliRunner().invoke(app, words).exit_code == 0


def test_a_group_made_otherwise_is_found_out() -> None:
    """The broken twin: what typer does by itself."""
    silent, told = typer.Typer(), Commands()
    for group in (silent, told):

        @group.command()
        def twice(where: str = "") -> None:
            print(where)

        group.callback()(lambda: None)
    words = ["twice", "--where", "Yes", "--where", "Y"]
    assert CliRunner().invoke(silent, words).output == "Y\n"
    assert isinstance(CliRunner().invoke(told, words).exception, BadArgument)


@pytest.mark.parametrize("typed", [["--where", "Yes,Y"], ["--where", "Yes, Y"], ["--where", "Yes", "--where", "Y"]])
def test_several_values_count_as_a_one(typed: list[str], tmp_path: Any) -> None:
    file = tmp_path / "people.csv"
    file.write_text("answer\n" + "Yes\n" * 30 + "Y\n" * 30 + "No\n" * 40)
    words = ["count", str(file), "--column", "answer", "--epsilon", "50", "--format", "json"]
    assert json.loads(CliRunner().invoke(app, [*words, *typed]).output)["value"] == 60


@pytest.mark.parametrize("typed", [["--bounds", "0,9"], ["--bounds", "0", "9"], ["--bounds", "-1,9"]])
def test_two_values_have_a_space_or_a_comma_between_them(typed: list[str], tmp_path: Any) -> None:
    file = tmp_path / "people.csv"
    file.write_text("spent\n" + "3\n" * 50)
    words = ["sum", str(file), "--column", "spent", "--epsilon", "50", "--whole", "--format", "json"]
    assert abs(json.loads(CliRunner().invoke(app, [*words, *typed]).output)["value"] - 150) < 5


@pytest.mark.parametrize(
    ("words", "told"),
    [(["price", "zsum", "--n", "100", "--epsilon", "1", "--param", "q=0.5", "--param", "q=0.4"], "names q twice"),
     (["advise", "count", "--n", "99", "--epsilon", "1", "--ones", "0:9,0:1"], "a number has two weights")],
)  # fmt: skip
def test_nothing_within_an_option_is_dropped(words: list[str], told: str) -> None:
    assert told in str(CliRunner().invoke(app, words).exception)


def test_answers_are_not_compared_as_data_are_and_the_commands_for_them_are_named() -> None:
    refused = str(CliRunner().invoke(app, ["compare", "january.json", "february.json"]).exception)
    assert "difference" in refused
    assert "ratio" in refused
