"""The recipe of two operators does what it says, from an empty PostgreSQL to a release that is proved."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from typer.main import get_command

import headcount
import headcount_service
import needs
from headcount.cli.main import app
from stress import STRESS

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "deploy" / "two-operators.sh"
MARK = "# as in the guide\n"
UNITS = sorted((ROOT / "deploy").glob("headcount-*"))


def free():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def command(tmp_path):
    """A folder with the command line of this very code."""
    folder = tmp_path / "bin"
    folder.mkdir()
    code = os.pathsep.join(str(Path(one.__file__).parents[1]) for one in (headcount, headcount_service))
    (folder / "headcount").write_text(f'#!/bin/sh\nPYTHONPATH="{code}" exec "{sys.executable}" -m headcount "$@"\n')
    (folder / "headcount").chmod(0o755)
    return folder


def cooked(folder, command, postgres, **given):
    path = os.pathsep.join([str(command), str(needs.postgresql()), os.environ["PATH"]])
    places = {"PGHOST": str(postgres.folder), "PGUSER": "headcount", "SHUFFLER": free(), "ANALYSER": free()}
    return subprocess.run(
        [RECIPE, folder],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"PATH": path, "COLUMNS": "120"} | places | given,
    )


@pytest.fixture
def databases_gone(postgres):
    yield
    for name in ("shuffler", "analyser"):
        with suppress(psycopg.errors.InvalidCatalogName):
            postgres.drop(name)


def unknown(script):
    """The options of commands in a script that the command line does not have."""
    for line in re.findall(r"^headcount (.*)$", script.replace("\\\n", " "), re.MULTILINE):
        known = get_command(app)
        for word in shlex.split(line):
            if hasattr(known, "commands"):
                known = known.commands[word]
            elif word.startswith("--") and not any(word in option.opts for option in known.params):
                yield f"{known.name} {word}"


def test_the_recipe_is_a_script_of_commands_and_options_that_exist():
    subprocess.run([shutil.which("bash"), "-n", RECIPE], check=True)
    script = RECIPE.read_text(encoding="utf-8")
    assert [*unknown(script)] == []
    assert [*unknown(script.replace("--witness", "--witnesses"))] == ["verify --witnesses"]


@STRESS
@pytest.mark.usefixtures("databases_gone")
def test_two_operators_collect_and_the_release_is_proved(tmp_path, command, postgres):
    done = cooked(tmp_path / "made", command, postgres)
    assert done.returncode == 0, done.stdout + done.stderr
    for line in (
        "the shuffler signs as",
        "the analyser signs as",
        "60 devices reported: 60 taken",
        "batch 1: delivered, 190 reports",
        "PROVED:",
        "every line is in place, and none is missing.",
        "key 2 is announced from now on",
        "is destroyed",
    ):
        assert line in " ".join(done.stdout.split()), line
    secret = [*tmp_path.rglob("*.token"), *tmp_path.rglob("*.key"), tmp_path / "made" / "desk" / "desk.json"]
    assert len(secret) >= 6
    assert all(path.stat().st_mode & 0o077 == 0 for path in secret)
    again = cooked(tmp_path / "made", command, postgres)
    assert again.returncode != 0, "a folder that is there already must not be used again"


def test_the_guide_has_the_commands_of_the_recipe():
    guide = (ROOT / "docs" / "operator.md").read_text(encoding="utf-8")
    commands = RECIPE.read_text(encoding="utf-8").split(MARK)[1]
    assert f"```sh\n{commands}```\n" in guide
    assert len(re.findall(r"^(?:headcount|createdb) ", commands, re.MULTILINE)) < 10


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_what_systemd_takes(unit, tmp_path):
    """With a program that exists in place of the one that is installed later."""
    program = needs.systemd_analyze()
    for each in UNITS:
        text = each.read_text(encoding="utf-8").replace("/opt/headcount/bin/headcount", sys.executable)
        (tmp_path / each.name).write_text(text)
    checked = [program, "verify", "--man=no", str(tmp_path / unit.name)]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, said) == (0, []), done.stderr


def test_units_call_commands_that_exist():
    for unit in UNITS:
        for line in re.findall(r"^ExecStart=\S+ (.*?) --config", unit.read_text(encoding="utf-8"), re.MULTILINE):
            known = get_command(app)
            for word in line.split():
                if hasattr(known, "commands"):
                    known = known.commands[word]
            assert any("--config" in option.opts for option in known.params), line
