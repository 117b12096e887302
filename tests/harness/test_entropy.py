"""Tests draw the same secret coins in every run, whichever of them run; under stress they are drawn anew."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRAWS = """
import json
import pytest
from headcount.programme.coins import SecretCoins

def drawn():
    return [*SecretCoins().words(3).tolist(), *SecretCoins().words(300)[:3].tolist()]

AT_IMPORT = drawn()

def tell(which, *more):
    with open("told", "a") as told:
        told.write(json.dumps({which: [AT_IMPORT, *more, drawn()]}) + "\\n")

@pytest.fixture(scope="module")
def shared():
    return drawn()

def test_one(shared):
    tell("one", shared)

def test_two(shared):
    tell("two", shared)

@pytest.mark.usefixtures("system_entropy")
def test_anew():
    tell("anew")

@pytest.mark.stress
def test_stress():
    tell("stress")
"""


def told(folder, *options):
    """What is drawn when the module is imported, by the fixture that tests share, and by each test."""
    folder.mkdir()
    (folder / "test_it.py").write_text(DRAWS)
    words = ["-c", ROOT / "pyproject.toml", "--rootdir", folder, "-p", "no:cacheprovider", *options]
    command = [sys.executable, "-m", "pytest", *words, folder / "test_it.py"]
    around = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, capture_output=True, check=True, cwd=folder, env=around)
    return {
        name: drawn for line in (folder / "told").read_text().splitlines() for name, drawn in json.loads(line).items()
    }


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """All of them, and in another run all but the one that uses the shared fixture first."""
    folder = tmp_path_factory.mktemp("drawn")
    every, named = ("-m", "stress or not stress"), ("-p", "entropy")
    return told(folder / "all", *named, *every), told(folder / "few", *named, *every, "-k", "not one")


def test_what_is_drawn_hangs_on_the_name_of_who_draws_alone(twice):
    every, few = twice
    assert every["two"] == few["two"]
    assert every["one"][:2] == every["two"][:2]
    assert len({str(drawn) for drawn in (*every["one"], every["two"][-1])}) == 4


def test_secrecy_itself_and_stress_are_drawn_anew(twice):
    every, few = twice
    for name in ("anew", "stress"):
        assert every[name][0] == few[name][0]
        assert every[name][-1] != few[name][-1]


def test_it_is_the_plugin_that_decides(tmp_path):
    """The twin: without it every run draws anew."""
    first, second = (told(tmp_path / name, "-k", "two") for name in "ab")
    assert all(one != other for one, other in zip(first["two"], second["two"], strict=True))
