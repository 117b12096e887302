"""DuckDB, as it is used here: one database in memory for the process, and its complaints without anybody's values."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from headcount.core.errors import BadArgument, BadData, MissingExtra, Refused, without_cause


@lru_cache(maxsize=1)
def database(_process: int) -> Any:
    """One for each process, in memory. What does not fit there goes into a folder that nobody else can read."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("reading files", "files") from None
    folder = mkdtemp(prefix="headcount-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "temp_directory": folder}
    )


@contextmanager
def refusing(opening: str = "", works: str = "") -> Iterator[None]:
    """What DuckDB or Arrow find wrong, without the values that they would quote."""
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
        return BadData("data has more different answers or people than memory and disk can hold")
    if opening or isinstance(problem, duckdb.IOException):
        return BadArgument("data", opening or "cannot be read", works)
    return BadData("data has values of another kind than the rest of their column, torn lines or damaged pages")
