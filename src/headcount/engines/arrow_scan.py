"""A table's answers, one for each person, as questions to DuckDB: which, how many, how much, or all in their order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from headcount.core.errors import BadArgument, BadData, without_cause
from headcount.core.field import Values
from headcount.core.table import Ints
from headcount.core.task import BETWEEN_STEPS, Array, Count, Sum, Task
from headcount.engines.duck import database, refusing
from headcount.engines.engine import Rows
from headcount.engines.fold import PART
from headcount.engines.intake import DIFFERENT, MISSING, comparable, in_groups
from headcount.engines.merging import Lots, one_each
from headcount.engines.tables import kind_of, scanned, texts

WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
REAL = {"FLOAT", "DOUBLE"}
TEXT = {"VARCHAR", "ENUM"}
ROUNDED = {"DECIMAL", "HUGEINT", "UHUGEINT"}  # read as floats, as numpy does
KEPT = "answers"
LOTS = Lots("hash({}, $given_key)", "({} >> 11)", "arg_min")
MOST_ADDED = 1 << 64  # steps: counted from the middle, they come to a word with a sign, which is added up faster
# A NaN may get past bounds, because files tell their least and largest value without it, and for the same reason it
# cannot be looked for with WHERE; but it never gets past a cast to a whole number.
NAN = "count(*) FILTER (isnan(CAST(answer AS DOUBLE)))"


class ArrowScan:
    """A table's answers, one per person, not yet read."""

    def __init__(self, task: Task, rows: Rows) -> None:
        self.task, self.rows = task, rows
        self._connection = database(os.getpid()).cursor()
        kind = kind_of(rows.data)
        works = "check that every line has as many fields as the first" if kind in ("CSV", "TSV") else ""
        with refusing(f"cannot be read as {kind}", works):
            self._describe(scanned(self._connection, rows.data, rows.names(), texts(self.task, rows)))
        with refusing():
            if self._wanting is not None and self.size:
                self._wanting.encoded(np.array([""]))  # says what it wants instead of text
            if rows.unit is not None:
                self._merge()

    @cached_property
    def size(self) -> int:
        """How many people there are."""
        with refusing():
            return int(self._one(f"SELECT count(*) FROM {self._answers}")[0])

    def _describe(self, table: str) -> None:
        """What the columns are called and what they hold."""
        rows = self.rows
        self._given: dict[str, Any] = {}
        described = self._sql(f"SELECT * FROM {table} LIMIT 0")
        self._types = dict(zip(described.columns, map(str, described.types), strict=True))
        for argument, name in rows.names().items():
            if name not in self._types:
                works = f"use one of {', '.join([*self._types][:20])}"
                raise BadArgument(argument, f"is {name!r}, which the data does not have", works)
        self._spaced = table.startswith("read_csv")
        self._kind, answer = self._kind_of(str(rows.column)), self._read(str(rows.column))
        if rows.where is not None:
            self._given = {"where": comparable(rows.where, _dtype(self._kind))}
            single = self._types[str(rows.column)] == "FLOAT"
            where = "CAST($given_where AS FLOAT)" if single else "$given_where"
            self._table, self._matches = table, f"{answer} = {where}"
            answer, self._kind = f"coalesce({self._matches}, false)", "bool"
        group = f", {self._read(rows.by)} AS party" if rows.by is not None else ""
        trimmed = rows.unit is not None and self._spaced and self._types[rows.unit] == "VARCHAR"
        person = f"trim({_quoted(rows.unit)})" if trimmed else _quoted(rows.unit or "")
        unit = f", {person} AS person" if rows.unit is not None else ""
        self._base = f"(SELECT {answer} AS answer{group}{unit} FROM {table})"
        self._answers = self._base
        asked = Count() if rows.by is not None else self.task
        self._wanting = asked if self._kind == "text" and isinstance(asked, Count | Sum) else None

    def _kind_of(self, name: str) -> str:
        kind = self._types[name].partition("(")[0]
        for called, kinds in {"bool": {"BOOLEAN"}, "whole": WHOLE, "real": REAL | ROUNDED, "text": TEXT}.items():
            if kind in kinds:
                return called
        raise BadData(
            f"column {name!r} holds neither numbers nor text ({kind.lower()}); turn it into one of them first"
        )

    def _read(self, name: str) -> str:
        """A column as it is compared and added: wide numbers as floats, and a CSV's text without spaces around it."""
        kind, quoted = self._types[name].partition("(")[0], _quoted(name)
        if self._kind_of(name) == "text":
            return f"trim({quoted})" if self._spaced else f"CAST({quoted} AS VARCHAR)"
        return f"CAST({quoted} AS DOUBLE)" if kind in ROUNDED else quoted

    def _merge(self) -> None:
        """One answer for each person, or a few of their rows, kept aside: read once, used twice."""
        rows = self.rows
        strange = " OR isnan(person)" if self._types[rows.unit] in REAL else ""
        party = " OR party IS NULL" if rows.by is not None else ""
        nobody, nothing = f"person IS NULL{strange}", f"answer IS NULL{party}"
        ids, gaps = self._one(f"SELECT count(*) FILTER ({nobody}), count(*) FILTER ({nothing}) FROM {self._base}")
        if ids:
            raise BadData("unit has missing person ids; drop those rows first")
        if gaps:
            raise BadData(MISSING)
        key = {"key": rows.key} if rows.most is not None else {}
        if rows.most is not None:
            merged = LOTS.kept(self._base, rows.most)
        else:
            each = one_each(self.task, self._kind, grouped=rows.by is not None, added="DOUBLE")
            merged = f"SELECT {each} FROM {self._base} GROUP BY person"
            self._kind = "real" if isinstance(self.task, Sum) else self._kind
        self._connection.execute(f"CREATE TEMP TABLE {KEPT} AS {merged}", self._params(merged, key))
        self._answers, self._given = KEPT, {}

    @property
    def _bit(self) -> str:
        """A truth value as a number. In a CSV a cast would be made while the words true and false are read."""
        if self._spaced:
            return "CASE WHEN answer THEN 1 WHEN NOT answer THEN 0 END"
        return "CAST(answer AS UTINYINT)"

    def batches(self) -> Iterator[Any]:
        """A part of the crowd at a time, in the order of the table."""
        answer = f"{self._bit} AS answer" if self._kind == "bool" else "answer"
        party = ", party" if self.rows.by is not None else ""
        return _cut(self._sql(f"SELECT {answer}{party} FROM {self._answers}").to_arrow_reader(PART))

    def encoded(self, batch: Any) -> Values:
        """A batch, or the groups, as the task's own integers."""
        columns = [self._whole_column(column.combine_chunks()) for column in batch.columns]
        if self.rows.by is not None:
            return self.task.encoded(in_groups(self.task, *(_array(column) for column in columns)))
        column = columns[0]
        if self._kind != "text":
            return self.task.encoded(_array(column))
        labels = column.dictionary_encode()
        return np.asarray(self.task.encoded(_array(labels.dictionary))[labels.indices.to_numpy()])

    def _whole_column(self, column: Any) -> Any:
        if column.null_count:
            merged = self.rows.unit is not None
            raise BadData(DIFFERENT if merged else MISSING)
        return column

    def held(self) -> tuple[Values, Ints]:
        """Each different answer, and how many people hold it."""
        columns = "answer, party" if self.rows.by is not None else "answer"
        table = self._sql(f"SELECT {columns}, count(*) AS people FROM {self._answers} GROUP BY ALL").to_arrow_table()
        return self.encoded(table.select(columns.split(", "))), table["people"].to_numpy()

    def ones(self) -> tuple[Values, Ints]:
        """How many hold a zero, and how many a one."""
        if self.rows.where is not None and self.rows.unit is None:
            known, ones = self.size, self._one(f"SELECT count(*) FROM {self._table} WHERE {self._matches}")[0]
        elif self._kind == "bool":
            known, ones = self._one(f"SELECT count(answer), sum({self._bit}) FROM {self._answers}")
        else:
            bits = f"SELECT count(*), count(*) FILTER (answer = 1) FROM {self._answers} WHERE answer = 0 OR answer = 1"
            known, ones = self._one(bits)
        if known < self.size:
            self._refuse_first("answer IS NULL OR NOT (CAST(answer AS DOUBLE) = 0 OR CAST(answer AS DOUBLE) = 1)")
        return np.array([0, 1], dtype=np.uint8), np.array([known - int(ones or 0), int(ones or 0)])

    def total(self, task: Sum) -> int:
        """The sum in the task's steps, exactly. What numpy would make of each value, DuckDB does too."""
        low, high = task.limits
        add = "sum"
        if self._kind == "whole" and task.steps == task.width and not task.clip:
            within, step, shift = "answer BETWEEN $given_low AND $given_high", "answer", int(task.low)
            given: dict[str, Any] = {"low": int(low), "high": int(high)}
        else:
            number, within = "CAST(answer AS DOUBLE)", "CAST(answer AS DOUBLE) BETWEEN $given_low AND $given_high"
            if task.clip:
                number, within = f"least(greatest({number}, $given_low), $given_high)", "answer IS NOT NULL"
            steps = f"({number} - $given_origin) * $given_steps" if task.low else f"{number} * $given_steps"
            step, shift = f"CAST({steps} AS BIGINT)", 0
            given = {"low": low, "high": high, "origin": task.low, "steps": task.steps / task.width}
            if task.stepped:
                within += f" AND abs({steps} - {step}) <= {BETWEEN_STEPS}"
            if self.size * (task.steps + 1) < MOST_ADDED:
                add, shift = "sum_no_overflow", -(task.steps // 2)
                step += f" - {task.steps // 2}"
        import duckdb

        try:
            strange = NAN if task.clip else "0"
            query = f"SELECT count(*), {add}({step}), {strange} FROM {self._answers} WHERE {within}"
            known, total, missing = self._one(query, given)
        except duckdb.ConversionException:
            if self._one(f"SELECT {NAN} FROM {self._answers}")[0]:
                without_cause(BadData(MISSING))
            raise
        if missing:
            raise BadData(MISSING)
        if known < self.size:
            self._refuse_first(f"answer IS NULL OR NOT ({within})", given)
        return int(total or 0) - shift * self.size

    def _refuse_first(self, strange: str, given: dict[str, Any] | None = None) -> None:
        """Lets the task say what it has against an answer; it does not quote it."""
        query = f"SELECT answer FROM {self._answers} WHERE {strange} LIMIT 1"
        found = self._sql(query, given).to_arrow_table()
        if not found.num_rows:  # only a NaN hides from WHERE
            raise BadData(MISSING)
        self.encoded(found)
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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _dtype(kind: str) -> np.dtype[Any]:
    return np.dtype({"bool": np.bool_, "whole": np.int64, "real": np.float64, "text": np.str_}[kind])


def _array(column: Any) -> Array:
    return np.asarray(column.to_numpy(zero_copy_only=False))
