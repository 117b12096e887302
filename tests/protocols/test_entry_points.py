"""Protocols of other packages: found wherever the catalogue is, and refused where they are not what they say."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from headcount import protocols
from headcount.protocols import OWN, installed

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder with the protocol of CONTRIBUTING.md in a package of its own, installed as pip would."""
    folder = tmp_path_factory.mktemp("elsewhere")
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class Dummy" in block)
    (folder / "my_dummies.py").write_text(code, encoding="utf-8")
    about = folder / "my_dummies-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-dummies\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[headcount.protocols]\ndummy = my_dummies:Dummy\n")
    return folder


def run(folder, *arguments):
    path = os.pathsep.join([str(ROOT / "src"), str(folder)])
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_advisor_and_the_command_line_know_it(elsewhere):
    asked = ["advise", "count", "--n", "10000", "--epsilon", "1", "--delta", "1e-6", "--format", "json"]
    advice = json.loads(run(elsewhere, "-m", "headcount", *asked))
    assert "dummy" in [option["protocol"] for option in advice["options"]]
    listed = json.loads(run(elsewhere, "-m", "headcount", "protocols", "--format", "json"))
    assert listed[-1]["name"] == "dummy"


def test_the_suite_finds_it_by_name(elsewhere):
    said = run(
        elsewhere,
        "-c",
        "from headcount import testing\n"
        "testing.CHECKS = testing.CHECKS[:3]\n"
        "testing.conforms('dummy')\n"
        "from headcount.drawing.colours import place_of\n"
        "print(place_of('dummy')[0])",
    )
    assert said == "dummies\n"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("headcount.core.task:Count", "is not a protocol"),
        ("headcount.testing:conforms", "is not a protocol"),
    ],
)
def test_what_is_no_protocol_is_refused(value, problem, monkeypatch):
    point = EntryPoint("mine", value, protocols.GROUP)
    monkeypatch.setattr(protocols, "entry_points", lambda **_: [point])
    with pytest.raises(TypeError, match=problem):
        installed()


def test_a_name_that_is_taken_is_refused(monkeypatch):
    point = EntryPoint("mine", f"{__name__}:Impostor", protocols.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: Impostor)
    monkeypatch.setattr(protocols, "entry_points", lambda **_: [point])
    with pytest.raises(ValueError, match="has the name of another: zsum"):
        installed()
    assert installed(tuple(kind for kind in OWN if kind.name != "zsum"))[-1] is Impostor


class Impostor(protocols.Zsum):
    """Says that it is zsum."""
