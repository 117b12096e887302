"""Files, folders, globs and Arrow streams, as a table that DuckDB reads."""

from __future__ import annotations

import csv
import glob
import gzip
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from headcount.engines.duckdb_connection import IN_UTF_8, refusing
from headcount.errors import BadArgument, MissingExtra, without_cause

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARQUET, COMMAS, ARROW = {".parquet", ".pq"}, {".csv", ".tsv"}, {".arrow", ".feather", ".ipc"}
ZIPPED = ".gz"  # of a CSV
KINDS = "a .parquet, .csv (or .csv.gz), .tsv or .arrow file, a folder of them, or a glob such as 'days/*.parquet'"


def scanned(connection: DuckDBPyConnection, data: Any, names: Sequence[tuple[str, str]]) -> list[str]:
    """The source to select from: a table for all files whose columns of these names share types.

    Were files of different types read as one table, DuckDB would bring them all to the widest type,
    and one file would decide what the others hold. A CSV has no types: whatever it holds is text.
    """
    if not isinstance(data, str | Path):
        connection.register("rows", _streamed(data))
        return ["rows"]
    files = files_of(data)
    kind = _kind(files[0])
    if kind in ("csv", "tsv"):
        alike_separated: dict[str, list[Path]] = {}
        for file in files:
            alike_separated.setdefault(_require_header(file, names), []).append(file)
        told = "header = true, skip = 0, quote = '\"', escape = '\"', comment = '', null_padding = false"
        return [
            f"read_csv({_listed(some)}, delim = {literal(between)}, {told}, all_varchar = true, union_by_name = true)"
            for between, some in alike_separated.items()
        ]
    alike = _of_the_same_types(files, names, kind)
    if kind == "parquet":
        return [f"read_parquet({_listed(some)}, union_by_name = true)" for some in alike]
    for number, some in enumerate(alike):
        connection.register(f"rows{number}", _dataset([str(file) for file in some]))
    return [f"rows{number}" for number in range(len(alike))]


def column_types(data: str | Path) -> list[tuple[str, str]]:
    """The names and types of a file's columns, and no value: of a CSV, whose values would have to
    be looked at, each is text."""
    files = files_of(data)
    kind = _kind(files[0])
    if kind in ("csv", "tsv"):
        opened = gzip.open if files[0].suffix == ZIPPED else open
        try:
            with opened(files[0], "rt", newline="", encoding="utf-8-sig") as file:
                header, _ = header_of(file, kind)
        except (OSError, UnicodeDecodeError, csv.Error):
            without_cause(BadArgument("data", f"{data} cannot be read", "check that it is intact and in UTF-8"))
        if not header:
            raise BadArgument("data", f"{data} is empty", "the first line names the columns")
        return [(name, "text") for name in header]
    with refusing():
        schema = _schema(files[0], kind)
    return [(column.name, str(column.type)) for column in schema]


def _of_the_same_types(files: list[Path], names: Sequence[tuple[str, str]], kind: str) -> list[list[Path]]:
    if len(files) == 1:
        return [files]
    alike: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        schema = _schema(file, kind)
        for argument, name in names:
            if name not in schema.names:
                raise BadArgument(argument, f"is {name!r}, which some files do not have", "leave those files out")
        alike.setdefault(tuple(str(schema.field(name).type) for _, name in names), []).append(file)
    return [*alike.values()]


def _listed(files: list[Path]) -> str:
    return f"[{', '.join(literal(_exactly(file)) for file in files)}]"


def _exactly(file: Path) -> str:
    """A file's name, with the characters escaped that DuckDB reads as a glob."""
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
    """Whether the file or a folder of it is hidden: its name begins with a dot or underscore."""
    return any(part.startswith(("_", ".")) for part in file.parts)


def kind_of(data: Any) -> str:
    """What the data are, in a word; refused where there is nothing to be read."""
    kind = _kind(files_of(data)[0]) if isinstance(data, str | Path) else "arrow"
    return kind.upper() if kind in ("csv", "tsv") else kind.capitalize()


def kind_named(name: str) -> str:
    """How the name of such a file ends; refused where it ends in no such way."""
    ends = [*PARQUET, *COMMAS, *(each + ZIPPED for each in COMMAS), *ARROW]
    found = next((end for end in ends if name.lower().endswith(end)), None)
    if found is None:
        raise BadArgument("data", "is not something headcount can read, by its name", f"give {KINDS}")
    return found


def _kind(file: Path) -> str:
    suffix = Path(file.name.lower().removesuffix(ZIPPED)).suffix
    if file.name.lower().endswith(ZIPPED) and suffix not in COMMAS:
        return ""
    return "parquet" if suffix in PARQUET else "arrow" if suffix in ARROW else suffix.removeprefix(".")


def header_of(file: IO[str], kind: str) -> tuple[list[str], str]:
    """The names in the first line, and what separates them: a tab in a TSV, and in a CSV a comma
    or, where that makes more names of it, a semicolon. Nothing but the first line decides."""
    found: dict[str, list[str]] = {}
    for between in "\t" if kind == "tsv" else ",;":
        file.seek(0)
        found[between] = next(csv.reader(file, delimiter=between), [])
    between = max(found, key=lambda each: len(found[each]))
    return found[between], between


def _require_header(file: Path, names: Sequence[tuple[str, str]]) -> str:
    """The separator. The first line has each name once; it may be a person's, so is not quoted."""
    try:
        opened = gzip.open if file.name.lower().endswith(ZIPPED) else open
        with opened(file, "rt", newline="", encoding="utf-8-sig") as lines:
            header, between = header_of(lines, _kind(file))
    except gzip.BadGzipFile:
        raise BadArgument("data", f"{file} is not compressed by gzip", "rename it, or compress it") from None
    except UnicodeDecodeError:
        without_cause(BadArgument("data", f"{file} is not in UTF-8", IN_UTF_8))
    if not header:
        raise BadArgument("data", f"{file} is empty", "the first line names the columns")
    for argument, name in names:
        if header.count(name) > 1:
            raise BadArgument(argument, f"{name!r} occurs twice in the file", "rename one of the two")
        if name not in header:
            works = names_like(name, [other for _, other in names if other in header], header)
            raise BadArgument(argument, f"is {name!r}, which the file does not have", works)
    return between


def names_like(name: str, asked: Sequence[str], header: Sequence[str]) -> str:
    """The existing names: all if some that were asked for are there, else those nearly this one.

    Otherwise the first line, which nothing in the file tells from others, may be a person's.
    """
    near = {each.casefold(): each for each in header}
    shown = header[:20] if asked else [near[each] for each in get_close_matches(name.casefold(), near, cutoff=0.75)]
    if shown:
        return f"use one of {', '.join(shown)}" if len(shown) > 1 else f"use {shown[0]}"
    return "use a name from its first line, which is not quoted here, as it may be a person's"


def _schema(file: Path, kind: str) -> Any:
    """The names and types of a file's columns. A dataset would tell them too, but loads pandas."""
    try:
        from pyarrow import ArrowInvalid, ipc, parquet
    except ImportError:
        raise MissingExtra("reading Parquet or Arrow files", "files") from None
    try:
        return parquet.read_schema(file) if kind == "parquet" else ipc.open_file(file).schema
    except (OSError, ArrowInvalid):
        without_cause(BadArgument("data", f"{file} cannot be read", "check that it is intact"))


def _dataset(names: list[str]) -> Any:
    """Arrow files as one table."""
    try:
        import pyarrow.dataset
    except ImportError:
        raise MissingExtra("reading Parquet or Arrow files", "files") from None
    try:
        return pyarrow.dataset.dataset(names, format="ipc")
    except (OSError, pyarrow.ArrowInvalid):
        without_cause(BadArgument("data", f"{names[0]} cannot be read", "check that it is intact"))


def kept(data: Any) -> Any:
    """Data that can be read as often as one likes: of a stream, what it holds."""
    streamed = hasattr(data, "__arrow_c_stream__") and not (hasattr(data, "to_numpy") or hasattr(data, "column_names"))
    return _streamed(data) if streamed else data


def _streamed(data: Any) -> Any:
    """A stream is kept because it is read twice: to learn the number of people, and to count."""
    import pyarrow

    if type(data).__module__ == "pyarrow._dataset":  # which DuckDB reads as often as it likes
        return data.to_reader().read_all() if hasattr(data, "to_reader") else data
    return pyarrow.RecordBatchReader.from_stream(data).read_all()
