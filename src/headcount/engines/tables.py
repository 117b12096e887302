"""Files, folders, globs and Arrow streams, as a table that DuckDB reads."""

from __future__ import annotations

import csv
import glob
import gzip
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headcount.core.errors import BadArgument, MissingExtra
from headcount.core.histogram import Histogram
from headcount.core.task import Task
from headcount.engines.engine import Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARQUET, COMMAS, ARROW = {".parquet", ".pq"}, {".csv", ".tsv"}, {".arrow", ".feather", ".ipc"}
ZIPPED = ".gz"  # of a CSV
KINDS = "a .parquet, .csv (or .csv.gz), .tsv or .arrow file, a folder of them, or a glob such as 'days/*.parquet'"
CANDIDATES = ("BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR")  # what a column of a CSV may hold: never dates


def is_path(data: Any) -> bool:
    return isinstance(data, str | Path)


def is_dataset(data: Any) -> bool:
    """Arrow's own, which DuckDB reads as often as it likes."""
    return type(data).__module__ == "pyarrow._dataset"


def scanned(connection: DuckDBPyConnection, data: Any, names: Mapping[str, str], texts: Collection[str] = ()) -> str:
    """What to select from, where it has columns of these names; those of `texts` are text, whatever they look like."""
    if not is_path(data):
        connection.register("rows", _streamed(data))
        return "rows"
    files = files_of(data)
    kind = _kind(files[0])
    if kind == "arrow":
        connection.register("rows", _dataset([str(file) for file in files], "ipc"))
        return "rows"
    listed = f"[{', '.join(literal(_exactly(file)) for file in files)}]"
    apart = ", union_by_name = true" if len(files) > 1 else ""  # a column may be wider in one file than in another
    if kind == "parquet":
        return f"read_parquet({listed}{apart})"
    for file in files:
        _require_header(file, names)
    types = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in texts)
    forced = f", types = {{{types}}}" if texts else ""
    candidates = ", ".join(map(literal, CANDIDATES))
    # The delimiter and the header are known, and of types only these are tried: a CSV is not guessed at further.
    delimiter = "'\t'" if kind == "tsv" else "','"
    return (
        f"read_csv({listed}, header = true, skip = 0, delim = {delimiter}, quote = '\"', escape = '\"', comment = '', "
        f"null_padding = false, auto_type_candidates = [{candidates}]{forced}{apart})"
    )


def texts(task: Task, rows: Rows) -> list[str]:
    """Columns of a CSV that are text even if they look like numbers: labels, where those are text, and person ids."""
    textual = isinstance(task, Histogram) and not task.edges and (task.open or isinstance(task.categories[0], str))
    return [name for name in (rows.by or rows.column if textual else None, rows.unit) if isinstance(name, str)]


def _exactly(file: Path) -> str:
    """A file's name, in which DuckDB would see a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(file))


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def files_of(data: str | Path) -> list[Path]:
    """The files that a path stands for, all of one kind."""
    path = Path(data)
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if file.is_file() and not _aside(file.relative_to(path))]
    elif path.exists():
        found = [path]
    else:
        found = [Path(name) for name in sorted(glob.glob(str(data), recursive=True))]  # noqa: PTH207 - a glob may begin at the root
        if not found:
            raise BadArgument("data", f"{data} does not exist", f"give {KINDS}")
    kinds = {_kind(file) for file in found}
    if len(kinds) != 1 or not kinds <= {"parquet", "csv", "tsv", "arrow"}:
        raise BadArgument("data", f"{data} is not something headcount can read", f"give {KINDS}, all of one kind")
    return found


def _aside(file: Path) -> bool:
    """Whether it, or a folder that it lies in, is meant for a program and not for readers."""
    return any(part.startswith(("_", ".")) for part in file.parts)


def kind_of(data: Any) -> str:
    """What the data are, in a word; refused where there is nothing to be read."""
    kind = _kind(files_of(data)[0]) if is_path(data) else "arrow"
    return kind.upper() if kind in ("csv", "tsv") else kind.capitalize()


def schema_of(data: str | Path) -> dict[str, str]:
    """What kind of thing each column holds, where files say so: a CSV does not, nor what lies somewhere else."""
    if not glob.glob(str(data)):  # noqa: PTH207 - a glob may begin at the root
        return {}
    files = files_of(data)
    if _kind(files[0]) in ("csv", "tsv"):
        return {}
    dataset = _dataset([str(files[0])], "parquet" if _kind(files[0]) == "parquet" else "ipc")
    return {field.name: str(field.type) for field in dataset.schema}


def _kind(file: Path) -> str:
    suffix = Path(file.name.lower().removesuffix(ZIPPED)).suffix
    if file.name.lower().endswith(ZIPPED) and suffix not in COMMAS:
        return ""
    return "parquet" if suffix in PARQUET else "arrow" if suffix in ARROW else suffix.removeprefix(".")


def _require_header(file: Path, names: Mapping[str, str]) -> None:
    """The first line must have these names once each. It is not quoted: it may be a person's."""
    try:
        opened = gzip.open if file.name.lower().endswith(ZIPPED) else open
        with opened(file, "rt", newline="", encoding="utf-8-sig") as lines:
            header = next(csv.reader(lines, delimiter="\t" if _kind(file) == "tsv" else ","), None)
    except gzip.BadGzipFile:
        raise BadArgument("data", f"{file} is not compressed by gzip", "rename it, or compress it") from None
    except UnicodeDecodeError:
        raise BadArgument("data", f"{file} is not in UTF-8", "save it in that encoding") from None
    if not header:
        raise BadArgument("data", f"{file} is empty", "the first line names the columns")
    for argument, name in names.items():
        if header.count(name) > 1:
            raise BadArgument(argument, f"{name!r} occurs twice in the file", "rename one of the two")
        if name not in header:
            raise BadArgument(argument, f"is {name!r}, which the file does not have", "use a name from its first line")


def _dataset(names: list[str], kind: str) -> Any:
    try:
        import pyarrow.dataset
    except ImportError:
        raise MissingExtra("reading Parquet or Arrow files", "files") from None
    try:
        return pyarrow.dataset.dataset(names, format=kind)
    except (OSError, pyarrow.ArrowInvalid):
        raise BadArgument("data", f"{names[0]} cannot be read", "check that it is intact") from None


def _streamed(data: Any) -> Any:
    """Whatever may be read once only is kept, because it is read twice: to plan for so many, and to count them."""
    import pyarrow

    if is_dataset(data):
        return data.to_reader().read_all() if hasattr(data, "to_reader") else data
    return pyarrow.RecordBatchReader.from_stream(data).read_all()
