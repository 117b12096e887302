"""Columns of CSV and Parquet files."""

from __future__ import annotations

import csv
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.errors import BadArgument, BadData, MissingExtra


class Columns(dict[str, npt.NDArray[Any]]):
    """A few named columns, as a frame would have them."""

    @property
    def columns(self) -> list[str]:
        return list(self)


def read(path: Path, names: list[str], labels: Collection[str] = ()) -> Any:
    """The named columns of the file; those of `labels` as text, whatever they look like."""
    if not path.exists():
        raise BadArgument("file", f"{path} does not exist", "give a CSV or Parquet file")
    suffix = path.suffix.lower()
    if path.is_dir() or suffix not in {".csv", ".tsv", ".parquet", ".pq"}:
        raise BadArgument("file", f"{path} is not a file headcount can read", "give a .csv or .parquet file")
    try:
        return _csv(path, names, labels) if suffix in {".csv", ".tsv"} else _parquet(path, names)
    except UnicodeDecodeError:
        raise BadArgument("file", f"{path} is not in UTF-8", "save it in that encoding") from None
    except (OSError, csv.Error) as problem:
        raise BadArgument(
            "file", f"{path} cannot be read ({type(problem).__name__})", "check that it is intact"
        ) from None


def _csv(path: Path, names: list[str], labels: Collection[str]) -> Columns:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        header = next(rows, None)
        if not header:
            raise BadArgument("file", f"{path} is empty", "the first line names the columns")
        indices = [_index(header, name, known=False) for name in names]
        table: list[list[str]] = [[] for _ in names]
        for row in rows:
            for cells, index in zip(table, indices, strict=True):
                cells.append(row[index].strip() if index < len(row) else "")
    columns = zip(names, table, strict=True)
    return Columns({name: _text(cells) if name in labels else _typed(cells) for name, cells in columns})


def _text(cells: list[str]) -> npt.NDArray[np.str_]:
    if "" in cells:
        raise BadData("data has missing values; drop them, or fill them in, first")
    return np.array(cells)


def _index(header: list[str], name: str, known: bool) -> int:
    """Where the column stands. The names are shown only if they are names: a CSV's first line may be a person."""
    if header.count(name) > 1:
        raise BadArgument("column", f"{name!r} occurs twice in the file", "rename one of the two")
    if name not in header:
        works = f"it has {', '.join(header[:20])}" if known else "use a name from its first line"
        raise BadArgument("column", f"is {name!r}, which the file does not have", works)
    return header.index(name)


def _typed(cells: list[str]) -> npt.NDArray[Any]:
    """Numbers where all cells are numbers (an empty one is missing), truth values where all are, text otherwise."""
    try:
        return np.array([cell or "nan" for cell in cells], dtype=np.float64)
    except ValueError:
        words = np.array(cells)
        lower = np.char.lower(words)
        return lower == "true" if np.isin(lower, ("true", "false")).all() else words


def _parquet(path: Path, names: list[str]) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading Parquet", "files") from None
    try:
        present = pyarrow.parquet.read_schema(path).names
        for name in names:
            _index(present, name, known=True)
        return pyarrow.parquet.read_table(path, columns=names)
    except pyarrow.ArrowInvalid:
        raise BadArgument("file", f"{path} is not a Parquet file", "check that it is intact") from None


def like(column: Any, labels: Any) -> Any:
    """Labels that were written as text, as numbers where the file says that the column holds numbers."""
    if isinstance(labels, int) or not str(getattr(column, "type", "")).startswith(("int", "uint", "float", "double")):
        return labels
    try:
        return [float(label) if "." in label else int(label) for label in labels]
    except ValueError:
        raise BadArgument("--categories", "are not numbers, and the column is", "list numbers, as in 1,2,3") from None
