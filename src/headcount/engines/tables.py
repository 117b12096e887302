"""Files, folders, globs and Arrow streams, as a table that DuckDB reads."""

from __future__ import annotations

import csv
import glob
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.core.errors import BadArgument, MissingExtra

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARQUET, COMMAS, ARROW = {".parquet", ".pq"}, {".csv", ".tsv"}, {".arrow", ".feather", ".ipc"}
KNOWN = PARQUET | COMMAS | ARROW
KINDS = "a .parquet, .csv, .tsv or .arrow file, a folder of them, or a glob such as 'days/*.parquet'"
LEAST_TYPES = ["BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR"]  # what a column of a CSV may be: never a date


def is_path(data: Any) -> bool:
    return isinstance(data, str | Path)


def scanned(connection: DuckDBPyConnection, data: Any, texts: Collection[str] = ()) -> None:
    """Calls the data `rows`; columns of `texts` in a CSV are text, whatever they look like."""
    if not is_path(data):
        connection.register("rows", _streamed(data))
        return
    files = files_of(data)
    suffix = files[0].suffix.lower()
    names = [str(file) for file in files]
    if suffix in PARQUET:
        connection.read_parquet(names).create_view("rows")
    elif suffix in ARROW:
        connection.register("rows", _dataset(names))
    else:
        _csv_header(files[0], texts)
        tabs = "\t" if suffix == ".tsv" else ","
        types = {name: "VARCHAR" for name in texts}
        # The delimiter and the header are known, and of types only these are tried: a CSV is not guessed at further.
        connection.read_csv(
            names, header=True, delimiter=tabs, quotechar='"', escapechar='"', dtype=types,
            auto_type_candidates=LEAST_TYPES,
        ).create_view("rows")  # fmt: skip


def files_of(data: str | Path) -> list[Path]:
    """The files that a path stands for, all of one kind."""
    path = Path(data)
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith(("_", "."))]
    elif path.exists():
        found = [path]
    else:
        found = [Path(name) for name in sorted(glob.glob(str(data), recursive=True))]
        if not found:
            raise BadArgument("data", f"{data} does not exist", f"give {KINDS}")
    kinds = {_kind(file) for file in found}
    if len(kinds) != 1 or not kinds <= {"parquet", "csv", "tsv", "arrow"}:
        raise BadArgument("data", f"{data} is not something headcount can read", f"give {KINDS}, all of one kind")
    return found


def _kind(file: Path) -> str:
    suffix = file.suffix.lower()
    return "parquet" if suffix in PARQUET else "arrow" if suffix in ARROW else suffix.removeprefix(".")


def _csv_header(file: Path, names: Collection[str]) -> None:
    """A name that stands twice would be given another number by whoever reads it next."""
    with file.open(newline="", encoding="utf-8-sig") as lines:
        header = next(csv.reader(lines, delimiter="\t" if file.suffix.lower() == ".tsv" else ","), None)
    if not header:
        raise BadArgument("data", f"{file} is empty", "the first line names the columns")
    for name in names:
        if header.count(name) > 1:
            raise BadArgument("column", f"{name!r} occurs twice in the file", "rename one of the two")


def _dataset(names: list[str]) -> Any:
    try:
        import pyarrow.dataset
    except ImportError:
        raise MissingExtra("reading Arrow files", "files") from None
    return pyarrow.dataset.dataset(names, format="ipc")


def _streamed(data: Any) -> Any:
    """Whatever can be read once only is kept, because it is read twice: to plan for so many, and to count them."""
    return data.read_all() if hasattr(data, "read_all") else data
