"""Commands of other packages: found by their entry points, and never in the place of our own."""

import re
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headcount.cli import commands
from headcount.cli.main import Everything, app, main
from headcount.errors import Refused

RUNNER = CliRunner()
ROOT = Path(__file__).parents[2]
PLACES = {name: place for panel in Everything.panels.values() for name, place in panel.items()}
APART = {name: place for name, place in PLACES.items() if place in (commands.SERVICE, commands.SURVEY)}


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


SURVEY = [["study", *words] for words in ([], ["list"], ["run", "why-five", "--quick"], ["--help"])]
SERVICE = [[name] for name, place in APART.items() if place == commands.SERVICE] + [
    ["ledger", "show", "people", "--data", "desk"]
]
NEEDING = [*((words, "survey") for words in SURVEY), *((words, "service") for words in SERVICE)]


@pytest.mark.parametrize(
    ("words", "package"), NEEDING, ids=lambda given: given if isinstance(given, str) else "-".join(given)
)
def test_without_its_package_a_command_says_in_one_sentence_how_to_install_it(
    installed, words, package, monkeypatch, capsys
):
    installed()
    monkeypatch.setattr(sys, "argv", ["headcount", *words])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"needs the {package}" in said
    assert f"pip install ./{package}" in said
    with pytest.raises(Refused, match=package):
        RUNNER.invoke(app, words, catch_exceptions=False)


def test_the_help_shows_every_command_in_a_panel_that_says_what_it_is_for(installed):
    installed("greet", *APART)
    shown = RUNNER.invoke(app, ["--help"]).output
    panels = re.findall(r"╭─ ([\w ]+) ─", shown)
    assert panels == ["Options", "Commands", *Everything.panels]  # "Commands" are those of other packages
    inside = dict(zip(panels, re.split(r"╭─ [\w ]+ ─", shown)[1:], strict=True))
    assert "greet" in inside["Commands"]
    assert "count" in inside["Ask about data"]
    for name in PLACES:
        (panel,) = (panel for panel, part in Everything.panels.items() if name in part)
        assert re.search(rf"^. {name}  ", inside[panel], re.MULTILINE)


def test_without_its_package_no_command_is_listed(installed):
    installed()
    listed = re.findall(r"^. (\w+)  ", RUNNER.invoke(app, ["--help"]).output, re.MULTILINE)
    assert "count" in listed
    assert not {*listed} & {*APART}


def test_without_the_service_a_release_is_not_proved(installed, tmp_path):
    installed()
    (tmp_path / "release.json").write_text('{"format": "headcount release 2"}')
    with pytest.raises(Refused, match="needs the service"):
        RUNNER.invoke(app, ["verify", str(tmp_path / "release.json")], catch_exceptions=False)


def test_the_survey_and_the_service_are_found():
    assert "smallest-crowd" in RUNNER.invoke(app, ["study", "list"]).output
    assert "rotate" in RUNNER.invoke(app, ["keys", "--help"]).output


@pytest.mark.parametrize("package", ["survey", "service"])
def test_the_commands_that_are_apart_are_those_of_their_packages(package):
    project = tomllib.loads((ROOT / package / "pyproject.toml").read_text())["project"]
    told = {name for name, where in APART.items() if where == package}
    assert told == {*project["entry-points"][commands.CONTRIBUTED]}
