"""The wheel, without extras, in an environment of its own."""

import subprocess
import sys
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
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True, capture_output=True
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_is_typed_and_licensed(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"headcount/py.typed", "headcount/web/static/client.js"} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any("test_" in name for name in names)


@STRESS
def test_its_base_install_works_in_a_clean_environment(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    done = subprocess.run([python, "-c", USE], check=True, capture_output=True, text=True)
    assert done.stdout.count("95% interval") == 4
    assert "headcount[account]" in done.stdout
    command = subprocess.run([tmp_path / "bin" / "headcount", "protocols"], check=True, capture_output=True, text=True)
    assert "correlated-count" in command.stdout
