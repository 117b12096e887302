"""A table's answers, one for each person, as questions to DuckDB: which, how many, how much, or all in their order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from headcount.core.errors import BadArgument, BadData, without_cause
from headcount.core.field import Values
from headcount.core.reading import NUMERAL, SPACE
from headcount.core.table import Ints
from headcount.core.task import BETWEEN_STEPS, MISSING, Sum, Task
from headcount.engines.columns import from_arrow
from headcount.engines.duck import database, refusing
from headcount.engines.encoding import DIFFERENT
from headcount.engines.engine import Rows
from headcount.engines.fold import PART
from headcount.engines.intake import NO_ID
from headcount.engines.merging import Lots
from headcount.engines.tables import kind_of, literal, scanned

WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
REAL = {"FLOAT", "DOUBLE"}
STORED = WHOLE | REAL | {"BOOLEAN"}
WIDE = {"DECIMAL", "HUGEINT", "UHUGEINT"}
TEXT = {"VARCHAR", "ENUM"}
MOMENTS = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
NOTHING = '"NULL"'  # the type of a column in which everything is missing
KEPT = "answers"
LOTS = Lots("sha256({})", "unnest(range(many))", "unnest(arg_min(code, lot, {most}))")
MOST_ADDED = 1 << 64  # steps: counted from the middle, they come to a word with a sign, which is added up faster
# A NaN may get past bounds, because files tell their least and largest value without it, and for the same reason it
# cannot be looked for with WHERE; but it never gets past a cast to a whole number.
NAN = "count(*) FILTER (isnan({}))"


@dataclass(frozen=True)
class Source:
    """Rows whose columns are of one type each: `answer`, perhaps `party` and `person`."""

    table: str
    kind: str

    @property
    def number(self) -> str:
        """The answer read as a number, as `headcount.core.reading.number` does; NULL where it is none, or missing."""
        if self.kind in STORED:
            return "CAST(answer AS DOUBLE)"
        if self.kind in WIDE:
            return "CAST(CAST(answer AS VARCHAR) AS DOUBLE)"
        if self.kind not in TEXT:
            return "CAST(NULL AS DOUBLE)"
        said = f"trim(answer, {literal(SPACE)})"
        return f"CASE WHEN regexp_full_match({said}, {literal(NUMERAL)}) THEN TRY_CAST({said} AS DOUBLE) END"

    def matches(self, where: Any) -> str | None:
        """Whether the answer is the number that counts as a one, where both are stored as numbers."""
        stored = self.kind in STORED and isinstance(where, float)
        return f"{self.number} = $given_where" if stored else None


class ArrowScan:
    """A table's answers, one per person, not yet read."""

    def __init__(self, task: Task, rows: Rows) -> None:
        self.task, self.rows, self._encoding = task, rows, rows.encoding(task)
        self._columns = "answer, party" if rows.by is not None else "answer"
        self._given: dict[str, Any] = {"where": self._encoding.where}
        self._connection = database(os.getpid()).cursor()
        kind = kind_of(rows.data)
        works = "check that every line has as many fields as the first" if kind in ("CSV", "TSV") else ""
        with refusing(f"cannot be read as {kind}", works):
            tables = scanned(self._connection, rows.data, rows.names())
            self._sources = [self._source(table, alone=len(tables) == 1) for table in tables]
        with refusing():
            if rows.unit is not None:
                self._merge()

    @cached_property
    def size(self) -> int:
        """How many people there are."""
        with refusing():
            return sum(int(self._one(f"SELECT count(*) FROM {source.table}")[0]) for source in self._sources)

    def _source(self, table: str, *, alone: bool) -> Source:
        """The columns that are asked for, under names of our own."""
        described = self._sql(f"SELECT * FROM {table} LIMIT 0")
        types = dict(zip(described.columns, map(str, described.types), strict=True))
        for argument, name in self.rows.names().items():
            if name not in types:
                works = f"use one of {', '.join([*types][:20])}"
                raise BadArgument(argument, f"is {name!r}, which the data does not have", works)
        kinds = {argument: _kind(types[name], name) for argument, name in self.rows.names().items()}
        called = {"column": "answer", "by": "party", "unit": "person"}
        columns = []
        for argument, kind in kinds.items():
            plain = argument != "unit" or (alone and kind in WHOLE)  # integers of one type need not become text
            read = (_plain if plain else _person)(_quoted(self.rows.names()[argument]), kind)
            columns.append(f"{read} AS {called[argument]}")
        return Source(f"(SELECT {', '.join(columns)} FROM {table})", kinds["column"])

    def _merge(self) -> None:
        """One answer for each person, or a few of their rows, kept aside: read once, used twice."""
        most, adds = self.rows.most, isinstance(self.task, Sum)
        if any(self._one(f"SELECT count(*) FROM {source.table} WHERE person IS NULL")[0] for source in self._sources):
            raise BadData(NO_ID)
        if isinstance(self.task, Sum):
            if most is not None:
                self.total(self.task)  # refuses what does not fit, also of rows that will not be kept
            tables = [self._numbers(source) for source in self._sources]
        else:
            tables = [self._codes(source, number) for number, source in enumerate(self._sources)]
        rows = f"({' UNION ALL '.join(tables)})"
        if most is not None:
            merged = LOTS.kept(rows, most, "$given_key")
        elif adds:
            added = f"list_sum(list_sort(list(code))){' / count(*)' if self.task.per_person else ''}"
            merged = f"SELECT {added} AS code FROM {rows} GROUP BY person"
        else:
            merged = f"SELECT {self._encoding.merged} AS code FROM {rows} GROUP BY person"
        given = self._params(merged, {"key": self.rows.key.hex()})
        self._connection.execute(f"CREATE TEMP TABLE {KEPT} AS {merged}", given)
        if self._one(f"SELECT count(*) FROM {KEPT} WHERE code IS NULL")[0]:
            raise BadData(DIFFERENT)
        self._sources = [Source(f"(SELECT code AS answer FROM {KEPT})", "DOUBLE" if adds else "")]

    def _numbers(self, source: Source) -> str:
        """Each row's person, and the number that the row holds."""
        strange = f"{source.number} IS NULL OR isnan({source.number})"
        if self._one(f"SELECT count(*) FILTER ({strange}) FROM {source.table}")[0]:
            self._refuse_first(source, strange)
        return f"SELECT person, {source.number} + 0.0 AS code FROM {source.table}"  # no negative zero

    def _codes(self, source: Source, number: int) -> str:
        """Each row's person, and the integer (of unknown labels, the text) that the row comes to."""
        matches = None if self.rows.by is not None else source.matches(self._encoding.where)
        if matches is not None:
            return f"SELECT person, CAST(coalesce({matches}, false) AS BIGINT) AS code FROM {source.table}"
        import pyarrow as pa

        different = self._sql(f"SELECT DISTINCT {self._columns} FROM {source.table}").to_arrow_table()
        codes = self._rows(different) if different.num_rows else np.zeros(0, dtype=np.int64)
        code = pa.array(codes.tolist(), pa.string()) if codes.dtype == object else pa.array(codes.astype(np.int64))
        self._connection.register(f"codes{number}", different.append_column("code", code))
        same = " AND ".join(f"read.{name} IS NOT DISTINCT FROM codes.{name}" for name in self._columns.split(", "))
        return f"SELECT read.person, codes.code FROM {source.table} AS read JOIN codes{number} AS codes ON {same}"

    def batches(self) -> Iterator[Any]:
        """A part of the crowd at a time, in the order of the table."""
        columns = "answer" if self._merged else self._columns
        read = (self._sql(f"SELECT {columns} FROM {source.table}").to_arrow_reader(PART) for source in self._sources)
        return chain.from_iterable(map(_cut, read))

    @property
    def _merged(self) -> bool:
        return self.rows.unit is not None

    def encoded(self, batch: Any) -> Values:
        """A batch, or the groups, as the task's own integers."""
        if self._merged and not isinstance(self.task, Sum):
            return self._encoding.person(from_arrow(batch.column("answer").combine_chunks()))
        return self._encoding.person(self._rows(batch))

    def _rows(self, batch: Any) -> Values:
        return self._encoding.row(*(from_arrow(column.combine_chunks()) for column in batch.columns))

    def held(self) -> tuple[Values, Ints]:
        """Each different answer, and how many people hold it."""
        columns = "answer" if self._merged else self._columns
        query = f"SELECT {columns}, count(*) AS people FROM {{}} GROUP BY ALL"
        tables = [self._sql(query.format(source.table)).to_arrow_table() for source in self._sources]
        some = [table for table in tables if table.num_rows]
        if not some:
            return self.task.encoded(np.empty(0, dtype=object)), np.empty(0, dtype=np.int64)
        values = [self.encoded(table.select(columns.split(", "))) for table in some]
        return np.concatenate(values), np.concatenate([table["people"].to_numpy() for table in some])

    def ones(self) -> tuple[Values, Ints]:
        """How many hold a zero, and how many a one."""
        where = self._encoding.where
        if where is None and all(source.kind == "BOOLEAN" for source in self._sources):
            query = "SELECT count(answer), coalesce(sum(CAST(answer AS UTINYINT)), 0) FROM {}"
            told = [[*map(int, self._one(query.format(source.table)))] for source in self._sources]
            known, ones = np.sum(told, axis=0).tolist()
            if known < self.size:
                raise BadData(MISSING)
            return np.array([0, 1], dtype=np.uint8), np.array([known - ones, ones])
        matches = [source.matches(where) for source in self._sources]
        if self._merged or None in matches:
            return self.held()
        found = zip(self._sources, matches, strict=True)
        ones = sum(int(self._one(f"SELECT count(*) FROM {source.table} WHERE {same}")[0]) for source, same in found)
        return np.array([0, 1], dtype=np.uint8), np.array([self.size - ones, ones])

    def total(self, task: Sum) -> int:
        """The sum in the task's steps, exactly. What Python would make of each value, DuckDB does too."""
        return sum(self._total(task, source) for source in self._sources)

    def _total(self, task: Sum, source: Source) -> int:
        low, high = task.limits
        number, add = source.number, "sum"
        if source.kind in WHOLE and task.steps == task.width and not task.clip:
            within, step, shift = "answer BETWEEN $given_low AND $given_high", "answer", int(task.low)
            given: dict[str, Any] = {"low": int(low), "high": int(high)}
        else:
            held, within = number, f"{number} BETWEEN $given_low AND $given_high"
            if task.clip:
                held, within = f"least(greatest({number}, $given_low), $given_high)", f"{number} IS NOT NULL"
            steps = f"({held} - $given_origin) * $given_steps" if task.low else f"{held} * $given_steps"
            step, shift = f"CAST({steps} AS BIGINT)", 0
            given = {"low": low, "high": high, "origin": task.low, "steps": task.steps / task.width}
            if task.stepped:
                within += f" AND abs({steps} - {step}) <= {BETWEEN_STEPS}"
            if self.size * (task.steps + 1) < MOST_ADDED:
                add, shift = "sum_no_overflow", -(task.steps // 2)
                step += f" - {task.steps // 2}"
        import duckdb

        nans = NAN.format(number)
        try:
            strange = nans if task.clip else "0"
            query = f"SELECT count(*), {add}({step}), {strange} FROM {source.table} WHERE {within}"
            known, total, missing = self._one(query, given)
            people = self._one(f"SELECT count(*) FROM {source.table}")[0]
        except duckdb.ConversionException:
            if self._one(f"SELECT {nans} FROM {source.table}")[0]:
                without_cause(BadData(MISSING))
            raise
        if missing:
            raise BadData(MISSING)
        if known < people:
            self._refuse_first(source, f"{number} IS NULL OR NOT ({within})", given)
        return int(total or 0) - shift * int(people)

    def _refuse_first(self, source: Source, strange: str, given: dict[str, Any] | None = None) -> None:
        """Lets the task say what it has against an answer; it does not quote it."""
        found = self._sql(f"SELECT answer FROM {source.table} WHERE {strange} LIMIT 1", given).to_arrow_table()
        if not found.num_rows:  # only a NaN hides from WHERE
            raise BadData(MISSING)
        self.task.encoded(from_arrow(found.column("answer").combine_chunks()))
        raise BadData("data has values that do not fit the task")

    def _sql(self, query: str, given: dict[str, Any] | None = None) -> Any:
        params = self._params(query, given)
        return self._connection.sql(query, params=params) if params else self._connection.sql(query)

    def _one(self, query: str, given: dict[str, Any] | None = None) -> Any:
        """The only row. A question that is not a relation first looks at the files once less."""
        return self._connection.execute(query, self._params(query, given)).fetchall()[0]

    def _params(self, query: str, given: dict[str, Any] | None) -> dict[str, Any]:
        known = {f"given_{name}": value for name, value in {**self._given, **(given or {})}.items()}
        return {name: value for name, value in known.items() if f"${name}" in query}


def _cut(batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of a part of the crowd each, however the batches come."""
    import pyarrow

    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        start = 0
        while rows + batch.num_rows - start >= PART:
            until = start + PART - rows
            yield pyarrow.Table.from_batches([*waiting, batch.slice(start, until - start)])
            waiting, rows, start = [], 0, until
        if start < batch.num_rows:
            waiting.append(batch.slice(start))
            rows += batch.num_rows - start
    if waiting:
        yield pyarrow.Table.from_batches(waiting)


def _kind(declared: str, name: str) -> str:
    kind = declared.partition("(")[0]
    if kind not in STORED | WIDE | TEXT | MOMENTS | {NOTHING}:
        raise BadData(
            f"column {name!r} holds neither numbers nor text ({kind.lower()}); turn it into one of them first"
        )
    return kind


def _plain(quoted: str, kind: str) -> str:
    return f"CAST({quoted} AS VARCHAR)" if kind == "ENUM" else quoted


def _person(quoted: str, kind: str) -> str:
    """A person id read as text; NULL where it is missing, or a number that is not whole."""
    if kind in TEXT:
        return f"nullif(trim(CAST({quoted} AS VARCHAR), {literal(SPACE)}), '')"
    if kind in REAL or kind == "DECIMAL":
        whole = f"TRY_CAST({quoted} AS HUGEINT)"
        return f"CASE WHEN {quoted} = {whole} THEN CAST({whole} AS VARCHAR) END"
    return f"CAST({quoted} AS VARCHAR)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
