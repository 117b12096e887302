"""Protocols of other packages: found wherever the catalogue is, and refused where they are not what they say."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from zipfile import ZipFile

import pytest

from headcount import protocols
from headcount.common import plugins
from headcount.protocols import OWN, installed
from stress import lengths

ROOT = Path(__file__).parents[2]


ABOUT = "my_dummies-1.0.dist-info"
WHEEL = {
    f"{ABOUT}/METADATA": "Metadata-Version: 2.1\nName: my-dummies\nVersion: 1.0\nRequires-Dist: headcount\n",
    f"{ABOUT}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{ABOUT}/entry_points.txt": "[headcount.protocols]\ndummy = my_dummies:Dummy\n",
}


def wheel(folder, files):
    """A package as it is published; pip checks the record of its files."""
    records = [f"{name},," for name in files] + [f"{ABOUT}/RECORD,,"]
    path = folder / "my_dummies-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        for name, text in {**files, f"{ABOUT}/RECORD": "\n".join(records) + "\n"}.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """A folder into which pip has installed a package with the protocol of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class Dummy" in block)
    package = wheel(tmp_path_factory.mktemp("published"), {"my_dummies.py": code, **WHEEL})
    folder = tmp_path_factory.mktemp("elsewhere")
    offline = ["--no-index", "--no-deps", "--disable-pip-version-check", "--quiet"]
    installing = [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder), str(package)]
    subprocess.run(installing, check=True, capture_output=True)
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


@lengths("checks", 3, 100)
def test_the_suite_finds_it_by_name(elsewhere, checks):
    said = run(
        elsewhere,
        "-c",
        "from headcount import testing\n"
        f"testing.CHECKS = testing.CHECKS[:{checks}]\n"
        "testing.conforms('dummy')\n"
        "from headcount.figures.colours import place_of\n"
        "print(place_of('dummy')[0])",
    )
    assert said == "dummies\n"


def test_its_claim_is_certified_and_proved_from_the_command_line(elsewhere, tmp_path):
    written = str(tmp_path / "dummy.json")
    budget = ["--n", "10000", "--epsilon", "1", "--delta", "1e-6"]
    run(elsewhere, "-m", "headcount", "certify", "dummy", *budget, "--out", written)
    assert "proved" in run(elsewhere, "-m", "headcount", "verify", written)


def test_without_the_package_nobody_knows_it(elsewhere):
    listed = json.loads(run(elsewhere.parent, "-m", "headcount", "protocols", "--format", "json"))
    assert "dummy" not in [row["name"] for row in listed]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("headcount.questions.count:Count", "is not a protocol"),
        ("headcount.testing:conforms", "is not a protocol"),
    ],
)
def test_what_is_no_protocol_is_refused(value, problem, monkeypatch):
    point = EntryPoint("mine", value, protocols.GROUP)
    monkeypatch.setattr(plugins, "entry_points_of", lambda _: [point])
    with pytest.raises(TypeError, match=problem):
        installed()


def test_a_name_that_is_taken_is_refused(monkeypatch):
    point = EntryPoint("mine", f"{__name__}:Impostor", protocols.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: Impostor)
    monkeypatch.setattr(plugins, "entry_points_of", lambda _: [point])
    with pytest.raises(ValueError, match="has the name of another: zsum"):
        installed()
    assert installed(tuple(kind for kind in OWN if kind.name != "zsum"))[-1] is Impostor


class Impostor(protocols.Zsum):
    """Says that it is zsum."""
