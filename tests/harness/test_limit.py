"""A test that never ends fails by itself, with its stack, and the others have their turn."""

import subprocess
import sys
from pathlib import Path

TESTS = """
import time

def test_before():
    pass

def test_endless():
    time.sleep(3_600)

def test_after():
    pass
"""


def test_a_test_that_never_ends_fails_alone_and_shows_where_it_was(tmp_path):
    (tmp_path / "test_some.py").write_text(TESTS)
    settings = Path(__file__).parents[2] / "pyproject.toml"
    command = ["pytest", "-n1", "-c", str(settings), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "-o", "faulthandler_timeout=2", str(tmp_path)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "1 failed, 2 passed" in done.stdout
    assert "crashed while running 'test_some.py::test_endless'" in done.stdout
    assert "in test_endless" in done.stderr
