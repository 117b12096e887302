"""DuckDB, as it is used here: one database in memory for the process, and its complaints without anybody's values."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from headcount.core.errors import BadArgument, BadData, MissingExtra, Refused


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
    opened = duckdb.connect(
        config={"autoinstall_known_extensions": False, "autoload_known_extensions": False, "temp_directory": folder}
    )
    opened.execute("SET GLOBAL parquet_metadata_cache = true")  # a file is described, sized and counted
    return opened


@contextmanager
def refusing(opening: str = "") -> Iterator[None]:
    """What DuckDB finds wrong, without the values that it would quote."""
    import duckdb

    try:
        yield
    except Refused:
        raise
    except duckdb.IOException:
        raise BadArgument("data", opening or "cannot be read", "check that the files are intact") from None
    except (duckdb.ConversionException, duckdb.InvalidInputException):
        if opening:
            raise BadArgument("data", opening, "check that the files are intact") from None
        raise BadData("data has values of another kind than the rest of their column, or torn lines") from None
    except duckdb.OutOfMemoryException:
        raise BadData("data has more different answers or people than memory and disk can hold") from None
