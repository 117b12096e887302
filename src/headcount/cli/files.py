"""The table that a command is about, and the engine that reads it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from headcount.cli.options import EngineName
from headcount.engines.duckdb_connection import IN_UTF_8
from headcount.engines.engine import Engine
from headcount.engines.file_formats import files_of, header_of, names_like
from headcount.errors import BadArgument, MissingExtra, without_cause


def engine_called(name: EngineName) -> Engine | None:
    """The engine of this name; None where the data's own engine is to be taken."""
    if name is EngineName.HERE:
        return None
    from headcount.engines.spark import SparkEngine

    return SparkEngine()


class Columns(dict[str, list[str]]):
    """A few named columns, as a frame would have them."""

    @property
    def columns(self) -> list[str]:
        return list(self)


def table(file: str, names: list[str], engine: Engine | None) -> Any:
    """A command's data: files, for the engine that reads them. A single CSV needs no extras."""
    if engine is not None:
        return file
    files = files_of(file)
    if find_spec("duckdb") is not None and find_spec("pyarrow") is not None:
        return file
    if len(files) > 1 or files[0].suffix.lower() not in {".csv", ".tsv"}:
        raise MissingExtra("reading anything but a single CSV", "files")
    try:
        return _csv(files[0], names)
    except UnicodeDecodeError:
        without_cause(BadArgument("data", f"{file} is not in UTF-8", IN_UTF_8))
    except (OSError, csv.Error) as problem:
        why = f"{file} cannot be read ({type(problem).__name__})"
        raise BadArgument("data", why, "check that it is intact") from None


def _csv(path: Path, names: list[str]) -> Columns:
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, between = header_of(file, path.suffix.lower().removeprefix("."))
        file.seek(0)
        rows = csv.reader(file, delimiter=between)
        if not next(rows, None):
            raise BadArgument("data", f"{path} is empty", "the first line names the columns")
        indices = [_index(header, name, names) for name in names]
        table: list[list[str]] = [[] for _ in names]
        for row in rows:
            for cells, index in zip(table, indices, strict=True):
                cells.append(row[index] if index < len(row) else "")
    return Columns(zip(names, table, strict=True))


def _index(header: list[str], name: str, names: Sequence[str]) -> int:
    """The index of a column, one of several that are asked for."""
    if header.count(name) > 1:
        raise BadArgument("column", f"{name!r} occurs twice in the file", "rename one of the two")
    if name not in header:
        works = names_like(name, [other for other in names if other in header], header)
        raise BadArgument("column", f"is {name!r}, which the file does not have", works)
    return header.index(name)
