"""Values are put aside on no disk, unless somebody has named a folder for them, and then nobody else can read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headcount as hc
from headcount.engines import duckdb_connection

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

COUNTING = """
import json, os, sys, threading, time
from pathlib import Path
from headcount.errors import Refused
from headcount.engines import duckdb_connection

watched, found, ended = [Path(each) for each in sys.argv[1:]], set(), False

def look():
    while not ended:
        for folder in watched:
            for path in folder.rglob("*"):
                try:
                    found.add((str(folder), path.is_file() and b"canary-canary" in path.read_bytes()))
                except OSError:
                    pass
        time.sleep(0.01)

cursor = duckdb_connection.database(os.getpid()).cursor()
cursor.execute("SET memory_limit = '60MB'")
cursor.execute("SET threads = 1")
looking = threading.Thread(target=look)
looking.start()
told = ""
try:
    with duckdb_connection.refusing():
        many = "SELECT 'canary-canary-' || i AS v, count(*) FROM range(1500000) t(i) GROUP BY 1 ORDER BY 1"
        cursor.execute(f"SELECT count(*) FROM ({many})").fetchall()
except Refused as refusal:
    told = str(refusal)
ended = True
looking.join()
print(json.dumps([told, sorted(found)]))
"""


def counted(folder: Path, **environment: str) -> tuple[str, list[list[object]]]:
    """More groups than fit into the memory that there is: what was said, and what lay in folders meanwhile."""
    folders = [folder, *map(Path, environment.values())]
    given = {
        **os.environ,
        "TMPDIR": str(folder),
        "PYTHONPATH": str(Path(hc.__file__).parents[1]),
        **environment,
    }
    words = [sys.executable, "-c", COUNTING, *map(str, folders)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=given, cwd=folder)
    assert done.returncode == 0, done.stderr
    told, found = json.loads(done.stdout)
    return told, found


def test_what_does_not_fit_into_memory_is_refused_and_lies_on_no_disk(tmp_path: Path) -> None:
    told, found = counted(tmp_path)
    assert "than memory can hold" in told
    assert duckdb_connection.SPILL in told
    assert found == []


def test_whoever_names_a_folder_has_values_there_and_nowhere_else(tmp_path: Path) -> None:
    """That also shows that values would be found."""
    here, aside = tmp_path / "here", tmp_path / "aside"
    here.mkdir()
    aside.mkdir(mode=0o700)
    told, found = counted(here, HEADCOUNT_SPILL=str(aside))
    assert [str(aside), True] in found
    assert not any(folder == str(here) for folder, _ in found)
    assert list(aside.iterdir()) == [], told


def test_a_folder_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)
    for named in (tmp_path, tmp_path / "missing"):
        monkeypatch.setenv(duckdb_connection.SPILL, str(named))
        with pytest.raises(hc.Refused, match="HEADCOUNT_SPILL names no folder, or one that others can read"):
            duckdb_connection._aside()
