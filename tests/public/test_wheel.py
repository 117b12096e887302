"""The wheel, without extras, in an environment of its own; and the survey's, which adds a command to it."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from stress import STRESS

ROOT = Path(__file__).parents[2]

USE = """
import headcount as hc
for model in hc.Model:
    print(hc.count([1] * 300 + [0] * 700, epsilon=1, delta=1e-6, model=model))
try:
    from headcount.privacy.compose import compose
    compose([hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6).loss] * 2)
except hc.Refused as refusal:
    print(refusal)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return _built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    return _built(ROOT / "survey", tmp_path_factory.mktemp("survey"))


def _built(project, folder):
    building = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, project]
    subprocess.run(building, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_is_typed_and_licensed_and_has_no_survey(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"headcount/py.typed", "headcount_service/web/static/client.js"} <= set(names)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"headcount"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("test_" in name for name in names)


def test_the_wheel_of_the_survey_is_typed_and_licensed_and_has_nothing_else(survey):
    names = zipfile.ZipFile(survey).namelist()
    assert "headcount_survey/py.typed" in names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"headcount_survey"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_survey_is_of_the_same_version():
    project, survey = (
        tomllib.loads((ROOT / place / "pyproject.toml").read_text())["project"] for place in ("", "survey")
    )
    assert survey["version"] == project["version"]
    assert survey["dependencies"] == [f"headcount[plots]=={project['version']}"]


@STRESS
def test_its_base_install_works_in_a_clean_environment(wheel, survey, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    done = subprocess.run([python, "-c", USE], check=True, capture_output=True, text=True)
    assert done.stdout.count("95% interval") == 4
    assert "headcount[account]" in done.stdout
    command = tmp_path / "bin" / "headcount"
    listed = subprocess.run([command, "protocols"], check=True, capture_output=True, text=True)
    assert "correlated-count" in listed.stdout
    missing = subprocess.run([command, "study", "list"], check=False, capture_output=True, text=True)
    assert missing.returncode == 2
    assert "pip install ./survey" in missing.stderr
    subprocess.run([python, "-m", "pip", "install", "--quiet", survey], check=True, capture_output=True)
    studies = subprocess.run([command, "study", "list"], check=True, capture_output=True, text=True)
    assert "smallest-crowd" in studies.stdout
