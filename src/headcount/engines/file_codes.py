"""A table's codes, one per person, as DuckDB queries: counts, their sum, or all in row order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from headcount.engines.columns import from_arrow
from headcount.engines.duckdb_connection import database, refusing
from headcount.engines.engine import Rows
from headcount.engines.file_columns import DIALECT, MOMENTS, NOTHING, REAL, STORED, TEXT, WHOLE, WIDE, Column
from headcount.engines.file_formats import kind_of, literal, scanned
from headcount.engines.memory import NO_ID
from headcount.engines.several_rows import Lots, in_sql
from headcount.engines.tallying import PART
from headcount.errors import BadArgument, BadData
from headcount.programme.table import Ints
from headcount.questions.domains.domain import DIFFERENT, Codes, Domain
from headcount.questions.domains.missing import DROP, NO
from headcount.questions.domains.product import Product
from headcount.questions.reading import EXACT, SPACE, missing_values
from headcount.questions.text_rules import InSQL

KEPT = "kept"
LOTS = Lots("sha256({})", "unnest(range(many))", "struct_pack({})", "{0} := {0}", "unnest(arg_min(code, lot, {most}))")
ADDED = "coalesce(nullif(list_sum(list_sort(list({}))), 'nan'::DOUBLE), 0.0)"
IN_SQL = InSQL(
    literal, f"trim({{}}, {literal(SPACE)})".format, lambda said, to: f"regexp_full_match({said}, {literal(to)})"
)
MOST_ADDED = 1 << 64  # steps: counted from the middle, they come to a word with a sign, which is added up faster


@dataclass(frozen=True)
class Source:
    """Rows with columns of one type each: one for each part of the domain, and perhaps `person`.

    `quick` are the same rows, of which DuckDB may believe what a file tells of the least and the
    largest number. Files leave NaN out of that, and tests for it are believed to fail, so that a
    sum of the numbers themselves has to tell.
    """

    table: str
    columns: tuple[Column, ...]
    quick: str | None = None


class FileCodes:
    """A table's codes, one per person, not yet read."""

    def __init__(self, domain: Domain, rows: Rows) -> None:
        self.domain, self.rows = domain, rows
        self._merged = False
        self._counted = dict[Source, int]()
        self._given = {
            f"{name}_{place}": value
            for name, part in zip(self._names, domain.parts, strict=True)
            for place, value in enumerate(part.where or ())
        }
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
            return sum(map(self._rows, self._sources))

    def _rows(self, source: Source) -> int:
        if source not in self._counted:
            self._counted[source] = int(self._one(f"SELECT count(*) FROM {source.table}")[0])
        return self._counted[source]

    @property
    def _names(self) -> list[str]:
        return [f"part{place}" for place in range(len(self.domain.parts))]

    def _source(self, table: str, *, alone: bool) -> Source:
        """The columns that are asked for, under names of our own."""
        described = self._sql(f"SELECT * FROM {table} LIMIT 0")
        types = dict(zip(described.columns, map(str, described.types), strict=True))
        names = self.rows.names()
        for argument, name in names:
            if name not in types:
                works = f"use one of {', '.join([*types][:20])}"
                raise BadArgument(argument, f"is {name!r}, which the data does not have", works)
        kinds = [_kind(types[name], name) for _, name in names]
        called = [*self._names, *(["person"] if self.rows.unit is not None else [])]
        read = []
        for place, (name, (argument, column), kind) in enumerate(zip(called, names, kinds, strict=True)):
            plain = argument != "unit" or (alone and kind in WHOLE)  # integers of one type need not become text
            told = (_plain if plain else _person)(_quoted(column), kind)
            if kind in TEXT and place < len(self._names):
                numeric = self.domain.parts[place].reads_numbers
                told = self.rows.text.in_sql(told, IN_SQL, numeric=numeric)
            read.append(f"{told} AS {name}")
        columns = tuple(Column(name, kind) for name, kind in zip(self._names, kinds, strict=False))
        selected = f"(SELECT {', '.join(read)} FROM {table})"
        parts = zip(self.domain.parts, columns, strict=True)
        if lacking := [f"NOT {held.absent}" for part, held in parts if part.missing == DROP]:
            return Source(f"(SELECT * FROM {selected} WHERE {' AND '.join(lacking)})", columns)
        if self.domain.parts[-1].missing is not None or columns[-1].kind not in REAL:
            return Source(selected, columns)
        last = len(columns) - 1
        read[last] = f"{_quoted(names[last][1])} AS {self._names[last]}"
        return Source(selected, columns, f"(SELECT {', '.join(read)} FROM {table})")

    def _merge(self) -> None:
        """Merge rows into a temporary table, a code per person or sampled row, in one reading."""
        parts, most, in_rounds = self.domain.parts, self.rows.most, self.rows.in_rounds
        for source in self._sources:
            if self._one(f"SELECT count(*) FROM {source.table} WHERE person IS NULL")[0]:
                raise BadData(NO_ID)
        if most is not None and parts[-1].merge.numeric:
            self.pooled()  # refuses what does not fit, also of rows that will not be kept
        rows = f"({' UNION ALL '.join(self._coded(source, at) for at, source in enumerate(self._sources))})"
        named = [*zip(parts, self._names, strict=True)]
        if in_rounds is not None:
            codes = [in_sql(part.merge, name, ADDED) for part, name in named[1:]]
            merged = LOTS.in_rounds(rows, codes, in_rounds.most, len(in_rounds.rounds.labels), "$given_key")
        elif most is not None:
            merged = LOTS.kept(rows, self._names, most, "$given_key")
        else:
            codes = [f"{in_sql(part.merge, name, ADDED)} AS {name}" for part, name in named]
            merged = f"SELECT {', '.join(codes)} FROM {rows} GROUP BY person"
        given = self._params(merged, {"key": self.rows.key.hex()})
        self._connection.execute(f"CREATE TEMP TABLE {KEPT} AS {merged}", given)
        missing = " OR ".join(f"{name} IS NULL" for name in self._names)
        if self._one(f"SELECT count(*) FROM {KEPT} WHERE {missing}")[0]:
            raise BadData(*DIFFERENT)
        self._merged = True
        kinds = ["DOUBLE" if part.merge.numeric else "" for part in parts]
        self._sources = [Source(KEPT, tuple(map(Column, self._names, kinds)))]

    def _coded(self, source: Source, number: int) -> str:
        """Each row's person, and for each part the number that the row holds, or its code."""
        table, selected = f"{source.table} AS read", ["person"]
        for place, (part, column) in enumerate(zip(self.domain.parts, source.columns, strict=True)):
            matches = column.matches(part)
            if part.merge.numeric:
                held = column.held(part)
                self._require(source, part, column, f"{held} IS NULL OR isnan({held})")
                selected.append(f"{held} + 0.0 AS {column.name}")  # no negative zero
            elif matches is not None:
                selected.append(f"CAST({matches} AS BIGINT) AS {column.name}")
            else:
                codes = f"codes{number}_{place}"
                self._register(codes, source, part, column)
                table += f" JOIN {codes} ON {column.told(part, 'read.')} IS NOT DISTINCT FROM {codes}.held"
                selected.append(f"{codes}.code AS {column.name}")
        return f"SELECT {', '.join(selected)} FROM {table}"

    def _register(self, name: str, source: Source, part: Domain, column: Column) -> None:
        """A table of a column's different values and their codes (text for unknown labels)."""
        import pyarrow as pa

        different = self._sql(f"SELECT DISTINCT {column.told(part)} AS held FROM {source.table}").to_arrow_table()
        with self._naming(part):
            codes = part.codes(from_arrow(different.column("held").combine_chunks()))
        if codes.dtype == object:
            code = pa.array(codes.tolist(), pa.string())
        else:  # by itself, without pandas, which Arrow loads to look at an array
            code = pa.Array.from_buffers(pa.int64(), codes.size, [None, pa.py_buffer(codes.astype(np.int64))])
        self._connection.register(name, different.append_column("code", code))

    def _require(self, source: Source, part: Domain, column: Column, strange: str) -> None:
        if self._one(f"SELECT count(*) FILTER ({strange}) FROM {source.table}")[0]:
            self._refuse_first(source, part, column, strange)

    def batches(self) -> Iterator[Any]:
        """The rows in the order of the table, one part of the crowd at a time."""
        columns = ", ".join(self._names)
        read = (self._sql(f"SELECT {columns} FROM {source.table}").to_arrow_reader(PART) for source in self._sources)
        return chain.from_iterable(map(_cut, read))

    def codes(self, batch: Any) -> Codes:
        """The codes of a batch of rows, or of groups."""
        return self._joined(self.domain, batch)

    def _joined(self, domain: Domain, batch: Any, coded: Sequence[int] = ()) -> Codes:
        held = [from_arrow(batch.column(name).combine_chunks()) for name in self._names]
        parts = enumerate(zip(domain.parts, held, strict=True))
        return domain.joined([each if at in coded else self._part(part, each) for at, (part, each) in parts])

    def _part(self, part: Domain, column: Any) -> Codes:
        codes: Codes = column
        if part.merge.numeric or not self._merged:
            with self._naming(part):
                codes = part.codes(column)
        return codes

    def _naming(self, part: Domain) -> AbstractContextManager[None]:
        """Of which column a refusal of values of this part is."""
        place = next((at for at, each in enumerate(self.domain.parts) if each is part), None)
        return nullcontext() if place is None else self.rows.of_part(place)

    @cached_property
    def grouped(self) -> bool:
        """Whether people are few groups of which each has one code, or values that have one."""
        if self._merged:
            return all(part.grouped or not part.merge.numeric for part in self.domain.parts)
        return all(
            part.grouped or column.counted(part) is not None
            for source in self._sources
            for part, column in zip(self.domain.parts, source.columns, strict=True)
        )

    def held(self) -> tuple[Codes, Ints]:
        """Each different code (some perhaps several times), and how many people have it."""
        found = [self._held(source) for source in self._sources]
        some = [each for each in found if each[1].size] or found[:1]
        return np.concatenate([codes for codes, _ in some]), np.concatenate([people for _, people in some])

    def _held(self, source: Source) -> tuple[Codes, Ints]:
        """Values that count as a one are compared by DuckDB where it can, and values on a line are
        counted, so that there are fewer groups."""
        if (found := self._ones_by_group(source) or self._near_each_other(source)) is not None:
            return found
        domain, columns, given, coded = self.domain, list[str](), dict[str, Any](), list[int]()
        for place, (part, column) in enumerate(zip(self.domain.parts, source.columns, strict=True)):
            matches = None if self._merged else column.matches(part)
            counted = None if self._merged else column.counted(part)
            if counted is not None:
                coded.append(place)
                given |= counted[1]
                columns.append(f"{counted[0]} AS {column.name}")
            else:
                columns.append(column.name if matches is None else f"{matches} AS {column.name}")
            domain = domain if matches is None else domain.compared(place)
        query = f"SELECT {', '.join(columns)}, count(*) AS people FROM {source.table} GROUP BY ALL"
        table = self._sql(query, given).to_arrow_table()
        for place in coded:
            if table.column(self._names[place]).null_count:
                part, column = self.domain.parts[place], source.columns[place]
                self._refuse_first(source, part, column, f"({column.counted(part)[0]}) IS NULL", given)  # type: ignore[index]
        return self._joined(domain, table, coded), from_arrow(table["people"])

    def _near_each_other(self, source: Source) -> tuple[Codes, Ints] | None:
        """The same of numbers on a line: if the least and the largest of a group have one code, so
        have all between them. None where some do not, or are missing."""
        part, column = self.domain.parts[0], source.columns[0]
        single = len(self.domain.parts) == 1 and not self._merged and column.kind in STORED - {"BOOLEAN"}
        near = part.near(column.number, column.dialect) if single else None
        if near is None:
            return None
        table = self._sql(
            f"SELECT min({column.name}) AS least, max({column.name}) AS most, count({column.name}) AS people "
            f"FROM {source.table} GROUP BY {near.code}",
            column.named(near.given),
        ).to_arrow_table()
        least, most = (from_arrow(table[name].combine_chunks()) for name in ("least", "most"))
        people = table["people"].to_numpy()
        if people.sum() < self._rows(source) or np.isnan(most.astype(np.float64)).any():
            return None
        first, last = self._part(part, least), self._part(part, most)
        return (first, people) if np.array_equal(first, last) else None

    def _ones_by_group(self, source: Source) -> tuple[Codes, Ints] | None:
        """The same where the last column tells ones: a row for each group takes DuckDB less time
        than two. None where it does not, or where some are missing."""
        groups, part, column = ", ".join(self._names[:-1]), self.domain.parts[-1], source.columns[-1]
        one = column.matches(part) or (column.name if column.kind == "BOOLEAN" and part.where is None else None)
        on_a_line = any(map(Column.counted, source.columns, self.domain.parts))
        if one is None or not groups or self._merged or on_a_line:
            return None
        table = self._sql(
            f"SELECT {groups}, count(*) AS people, count({one}) AS known, sum(CAST({one} AS UTINYINT)) AS ones "
            f"FROM {source.table} GROUP BY ALL"
        ).to_arrow_table()
        people, known, ones = (from_arrow(table[name]).astype(np.int64) for name in ("people", "known", "ones"))
        if (known < people).any():
            return None
        held = [from_arrow(table.column(name).combine_chunks()) for name in self._names[:-1]]
        domain = self.domain if part.where is None else self.domain.compared(len(held))
        *others, last = domain.parts
        codes = [self._part(group, each) for group, each in zip(others, held, strict=True)]
        sides = [(np.flatnonzero(count), count, said) for said, count in ((True, ones), (False, people - ones))]
        joined = [
            domain.joined([*(each[at] for each in codes), last.codes(np.full(at.size, said))]) for at, _, said in sides
        ]
        return np.concatenate(joined), np.concatenate([count[at] for at, count, _ in sides])

    def ones(self) -> tuple[Codes, Ints]:
        """How many hold a zero, and how many a one."""
        (part,), ones = self.domain.parts, 0
        for source in self._sources:
            (column,) = source.columns
            if part.where is None and column.kind == "BOOLEAN" and not self._merged:
                query = f"SELECT count(part0), count(*), coalesce(sum(CAST(part0 AS UTINYINT)), 0) FROM {source.table}"
                known, people, found = map(int, self._one(query))
                if known < people and part.missing not in (NO, DROP):
                    raise missing_values(NO)
                ones += found
            elif (matches := column.matches(part)) is not None and not self._merged:
                ones += int(self._one(f"SELECT count(*) FROM {source.table} WHERE {matches}")[0])
            else:
                return self.held()
        return np.array([0, 1], dtype=np.uint8), np.array([self.size - ones, ones])

    def pooled(self) -> tuple[Codes, Ints, list[int]]:
        """The groups, how many people are in each, and the sum of their amounts in steps, exactly.

        What Python would make of each value, DuckDB does too.
        """
        found = [self._pooled(source) for source in self._sources]
        groups, people = (np.concatenate([each[place] for each in found]) for place in (0, 1))
        return groups, people, [steps for each in found for steps in each[2]]

    def total(self) -> int:
        """The sum of all codes."""
        return sum(self.pooled()[2])

    def _pooled(self, source: Source) -> tuple[Codes, Ints, list[int]]:
        """Values that do not fit have no step and are left out: then fewer steps than people."""
        (*groups, part), (*_, column) = self.domain.parts, source.columns
        integer = column.kind in WHOLE and not isinstance(part.missing, float | int)
        steps = part.steps(column.name if integer else column.held(part), DIALECT, integer=integer)
        code, add, origin = steps.code, "sum", steps.origin
        if code != column.name and self.size * part.size < MOST_ADDED:
            add, origin = "sum_no_overflow", origin - part.size // 2
            code = f"{code} - {part.size // 2}"
        names = "".join(f"{name}, " for name in self._names[:-1])
        for rows, held in ((source.quick, f"sum({column.name})"), (source.table, "0.0::DOUBLE")):
            if rows is None:
                continue
            query = f"SELECT {names}count(*) AS people, {add}({code}) AS total, {held} AS held FROM {rows}"
            table = self._sql(f"{query} WHERE {steps.fits} GROUP BY ALL", steps.given).to_arrow_table()
            people = from_arrow(table["people"])
            if people.sum() == self._rows(source) and np.isfinite(from_arrow(table["held"]).astype(float)).all():
                break
        else:
            self._refuse_first(source, part, column, f"NOT coalesce({steps.fits}, false)", steps.given)
        read = [from_arrow(table.column(name).combine_chunks()) for name in self._names[:-1]]
        codes = [self._part(group, each) for group, each in zip(groups, read, strict=True)]
        totals = [int(total or 0) for total in table["total"].to_pylist()]
        joined = Product(tuple(groups)).joined(codes) if groups else np.zeros(people.size, dtype=np.int64)
        return joined, people, [t - origin * n for t, n in zip(totals, people.tolist(), strict=True)]

    def _refuse_first(
        self, source: Source, part: Domain, column: Column, strange: str, given: Mapping[str, Any] | None = None
    ) -> None:
        """Raises the domain's own refusal of the first unfit value, without quoting it."""
        query = f"SELECT {column.name} AS held FROM {source.table} WHERE {strange} LIMIT 1"
        found = self._sql(query, given).to_arrow_table()
        with self._naming(part):
            part.codes(from_arrow(found.column("held").combine_chunks()))
            raise BadData("data has values that do not fit the question")

    def _sql(self, query: str, given: Mapping[str, Any] | None = None) -> Any:
        params = self._params(query, given)
        return self._connection.sql(query, params=params) if params else self._connection.sql(query)

    def _one(self, query: str, given: Mapping[str, Any] | None = None) -> Any:
        """The only row of a query; executed at once, as a relation would read the schema first."""
        return self._connection.execute(query, self._params(query, given)).fetchall()[0]

    def _params(self, query: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
        known = {f"given_{name}": value for name, value in {**self._given, **(given or {})}.items()}
        return {name: value for name, value in known.items() if f"${name}" in query}


def _cut(batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches of any sizes, regrouped into tables of one part of the crowd each."""
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
            f"column {name!r} holds neither numbers nor text ({kind.lower()})", "turn it into one of them first"
        )
    return kind


def _plain(quoted: str, kind: str) -> str:
    """A column as it is. Of numbers that may be NaN DuckDB must not see what files tell of the
    least and the largest, which leaves NaN out: it would take a NaN for whatever the others
    hold."""
    if kind in REAL:
        return f"CASE WHEN {quoted} IS NULL THEN NULL ELSE {quoted} END"
    return f"CAST({quoted} AS VARCHAR)" if kind == "ENUM" else quoted


def _person(quoted: str, kind: str) -> str:
    """A person id as text; NULL if missing, no whole number, or a float too large to be exact."""
    if kind in TEXT:
        return f"nullif(trim(CAST({quoted} AS VARCHAR), {literal(SPACE)}), '')"
    if kind in REAL or kind == "DECIMAL":
        whole = f"TRY_CAST({quoted} AS HUGEINT)"
        exact = f" AND abs({quoted}) < {EXACT}" if kind in REAL else ""
        return f"CASE WHEN {quoted} = {whole}{exact} THEN CAST({whole} AS VARCHAR) END"
    return f"CAST({quoted} AS VARCHAR)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
