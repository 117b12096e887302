"""The wheel, without extras, in an environment of its own; and those of the service and the survey, with commands."""

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
from headcount.privacy.compose import compose
print("composed", compose([hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6).loss] * 2).delta(2.0))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Those of headcount, the service and the survey, by the name of the package in each."""
    folders = {"headcount": ROOT, "headcount_service": ROOT / "service", "headcount_survey": ROOT / "survey"}
    return {name: _built(folder, tmp_path_factory.mktemp(name)) for name, folder in folders.items()}


def _built(project, folder):
    building = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, project]
    subprocess.run(building, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_each_wheel_is_typed_and_licensed_and_has_nothing_else(wheels):
    for package, wheel in wheels.items():
        archive = zipfile.ZipFile(wheel)
        names = archive.namelist()
        assert f"{package}/py.typed" in names
        assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {package}
        licence = next(name for name in names if name.endswith("licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
        assert not any("test_" in name for name in names)


def test_the_wheel_of_the_service_has_its_pages_and_tables(wheels):
    names = set(zipfile.ZipFile(wheels["headcount_service"]).namelist())
    page, tables = "web/static/client.js", "store/migrations/shuffler/v0001_beginning.py"
    assert {f"headcount_service/{page}", f"headcount_service/{tables}"} <= names


def test_all_are_of_the_same_version():
    project, service, survey = (
        tomllib.loads((ROOT / place / "pyproject.toml").read_text())["project"] for place in ("", "service", "survey")
    )
    assert service["version"] == survey["version"] == project["version"]
    assert f"headcount=={project['version']}" in service["dependencies"]
    assert survey["dependencies"] == [f"headcount[plots]=={project['version']}"]


@STRESS
def test_its_base_install_works_in_a_clean_environment(wheels, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python, command = tmp_path / "bin" / "python", tmp_path / "bin" / "headcount"

    def install(package):
        subprocess.run([python, "-m", "pip", "install", "--quiet", wheels[package]], check=True, capture_output=True)

    def run(*words, code=0):
        done = subprocess.run([command, *words], check=False, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    install("headcount")
    done = subprocess.run([python, "-c", USE], check=True, capture_output=True, text=True)
    assert done.stdout.count("95% interval") == 5  # one a model
    assert "composed" in done.stdout
    assert "correlated-count" in run("protocols")
    assert "pip install ./survey" in run("study", "list", code=2)
    assert "pip install ./service" in run("serve", "--data", str(tmp_path / "parties"), code=2)
    install("headcount_survey")
    assert "smallest-crowd" in run("study", "list")
    install("headcount_service")
    assert "proved" in run("demo", "--people", "50", "--epsilon", "8")
