"""Several columns of a table at once, as arrays: of frames, and of files and streams by DuckDB."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headcount.engines.columns import from_arrow
from headcount.engines.duckdb_connection import database, refusing
from headcount.engines.engine import engine_for
from headcount.engines.file_formats import kind_of, scanned
from headcount.engines.memory import MemoryEngine, frame_column
from headcount.errors import BadArgument
from headcount.questions.reading import Array


def read_columns(data: Any, names: Mapping[str, str]) -> list[Array]:
    """The columns that these arguments name, each an array, in this order."""
    if type(data).__module__.startswith("pyspark.sql."):
        found = data.select(*names.values()).toArrow()
        return [from_arrow(found.column(at)) for at in range(len(names))]
    if isinstance(data, str | Path) or not isinstance(engine_for(data), MemoryEngine):
        return _read(data, names)
    columns = [frame_column(data, name, argument) for argument, name in names.items()]
    if any(column.shape != columns[0].shape for column in columns):
        raise BadArgument("data", "has columns of different lengths", "give one value per row in each")
    return columns


def _read(data: Any, names: Mapping[str, str]) -> list[Array]:
    connection = database(os.getpid()).cursor()
    with refusing(f"cannot be read as {kind_of(data)}"):
        tables = scanned(connection, data, [*names.items()])
        for table in tables:
            there = connection.sql(f"SELECT * FROM {table} LIMIT 0").columns
            for argument, name in names.items():
                if name not in there:
                    works = f"use one of {', '.join(there[:20])}"
                    raise BadArgument(argument, f"is {name!r}, which the data does not have", works)
        chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in names.values())
        every = " UNION ALL ".join(f"SELECT {chosen} FROM {table}" for table in tables)
        found = connection.sql(every).to_arrow_table()
    return [from_arrow(found.column(at)) for at in range(len(names))]
