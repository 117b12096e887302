"""The connection to DuckDB: one in-memory database per process; errors without anybody's values.

What does not fit into memory is refused: DuckDB would put the values aside in files as they are,
and a process that is killed leaves such files behind. HEADCOUNT_SPILL may name a folder on an
encrypted disk.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from headcount.errors import BadArgument, BadData, MissingExtra, Refused, without_cause

SPILL = "HEADCOUNT_SPILL"
IN_UTF_8 = "save it as CSV UTF-8, or give what pandas.read_csv(…, encoding='cp1252') makes of it"


@lru_cache(maxsize=1)
def database(_process: int) -> Any:
    """One for each process, in memory."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("reading files", "files") from None
    return duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "temp_directory": _aside()}
    )


def _aside() -> str:
    """The folder that DuckDB may spill to: none, or a new one within HEADCOUNT_SPILL."""
    named = os.environ.get(SPILL, "")
    if not named:
        return ""
    if not Path(named).is_dir() or Path(named).stat().st_mode & 0o077:
        raise BadArgument(SPILL, "names no folder, or one that others can read", "make one: mkdir -m 700 FOLDER")
    folder = mkdtemp(prefix="headcount-", dir=named)
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def refusing(opening: str = "", works: str = "") -> Iterator[None]:
    """Re-raises errors of DuckDB and Arrow as refusals, without the values that they quote."""
    import duckdb
    import pyarrow

    try:
        yield
    except Refused:
        raise
    except (duckdb.Error, pyarrow.ArrowException, OSError) as problem:
        without_cause(_words(problem, opening, works or "check that the files are intact"))


def _words(problem: Exception, opening: str, works: str) -> Refused:
    import duckdb

    if isinstance(problem, duckdb.OutOfMemoryException):
        return BadData(
            "data has more different answers or people than memory can hold",
            "use a machine with more of it, Spark, or "
            f"name a folder on an encrypted disk in {SPILL}, where values are put aside as they are",
        )
    if opening or isinstance(problem, duckdb.IOException):
        return BadArgument("data", opening or "cannot be read", works)
    found = "data has values of another kind than the rest of their column, torn lines or damaged pages"
    return BadData(found, f"if it is a CSV that is not in UTF-8, {IN_UTF_8}")
