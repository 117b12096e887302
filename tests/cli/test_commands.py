"""Commands of other packages: found by their entry points, and never in the place of our own."""

import sys
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from headcount.cli import commands
from headcount.cli.main import app, main
from headcount.errors import Refused

RUNNER = CliRunner()


@pytest.fixture
def installed(monkeypatch):
    """What is installed, as a test says: names of commands, each of which greets."""

    def only(*names):
        points = [EntryPoint(name, f"{__name__}:greet", commands.CONTRIBUTED) for name in names]
        monkeypatch.setattr(commands, "entry_points_of", lambda group: points if group == commands.CONTRIBUTED else [])
        monkeypatch.setattr(EntryPoint, "load", lambda _: greet)

    return only


def greet() -> None:
    """Says hello."""
    print("hello")


def test_a_command_of_another_package_is_listed_and_runs(installed):
    installed("greet")
    assert "Says hello." in RUNNER.invoke(app, ["--help"]).output
    assert RUNNER.invoke(app, ["greet"]).output == "hello\n"


def test_a_command_that_nobody_has_is_none(installed):
    installed()
    assert "greet" not in RUNNER.invoke(app, ["--help"]).output
    assert "No such command" in RUNNER.invoke(app, ["greet"]).output


def test_no_package_takes_the_place_of_a_command_of_ours(installed):
    installed("protocols")
    shown = RUNNER.invoke(app, ["protocols"]).output
    assert "correlated-count" in shown
    assert "hello" not in shown


@pytest.mark.parametrize("words", [[], ["list"], ["run", "why-five", "--quick"], ["--help"]])
def test_without_the_survey_one_sentence_says_how_to_install_it(installed, words, monkeypatch, capsys):
    installed()
    monkeypatch.setattr(sys, "argv", ["headcount", "study", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "needs the survey" in said
    assert "pip install ./survey" in said
    assert "study" not in RUNNER.invoke(app, ["--help"]).output
    with pytest.raises(Refused, match="survey"):
        RUNNER.invoke(app, ["study"], catch_exceptions=False)


def test_the_survey_is_found():
    assert "smallest-crowd" in RUNNER.invoke(app, ["study", "list"]).output
