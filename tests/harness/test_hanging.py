"""A test that hangs is named, shows where it hangs, and ends."""

import subprocess
import sys
from pathlib import Path

import pytest

SETTINGS = Path(__file__).parents[2] / "pyproject.toml"
HANGS = """
import time

def test_that_hangs():
    time.sleep({seconds})
"""


def run(folder, seconds, *options):
    """A test that takes so long, with this project's settings but a limit of half a second."""
    (folder / "test_it.py").write_text(HANGS.format(seconds=seconds))
    words = ["-c", SETTINGS, "--rootdir", folder, "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0.5", *options]
    command = [sys.executable, "-m", "pytest", *words, folder / "test_it.py"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "workers"])
def test_a_test_that_hangs_ends_and_shows_where(tmp_path, options):
    done = run(tmp_path, 3600, *options)
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert "in test_that_hangs" in done.stderr
    assert not options or "crashed while running 'test_it.py::test_that_hangs'" in done.stdout


def test_it_is_the_setting_that_ends_it(tmp_path):
    done = run(tmp_path, 1, "-o", "faulthandler_exit_on_timeout=false")
    assert (done.returncode, "in test_that_hangs" in done.stderr) == (0, True)
