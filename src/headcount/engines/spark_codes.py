"""A Spark frame's answers, one per person, in Spark's SQL; nothing is read before it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import numpy as np

from headcount.engines.columns import from_arrow
from headcount.engines.engine import Rows
from headcount.engines.several_rows import Lots, in_sql
from headcount.engines.spark_work import FromBatch, ReadRows
from headcount.errors import BadArgument, BadData
from headcount.phrases import unpacked
from headcount.programme.table import Ints
from headcount.questions.domains.domain import Codes, Domain, Shape, SqlDialect
from headcount.questions.domains.missing import DROP, REFUSE
from headcount.questions.domains.product import Product
from headcount.questions.reading import SPACE
from headcount.questions.text_rules import InSQL
from headcount.questions.times import DAY

STORED = {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double"}
REAL = {"float", "double"}
TEXT = {"string", "char", "varchar"}
KINDS = STORED | TEXT | {"decimal", "date", "timestamp", "timestamp_ntz", "void"}
MOMENTS = {"date": f"(unix_date({{}}) * {DAY})", "timestamp": "unix_micros({})"}
LOTS = Lots(
    "sha2({}, 256)",
    "explode(sequence(0, CAST(many AS INT) - 1))",
    "struct({})",
    "{}",
    "explode(slice(array_sort(collect_list(struct(lot, code))), 1, {most}).code)",
)
ADDED = "nanvl(aggregate(array_sort(collect_list({})), CAST(0 AS DOUBLE), (total, each) -> total + each), 0D)"
DIALECT = SqlDialect(":{}".format, "CAST(rint({}) AS BIGINT)".format)
WHOLE = r"\A(?:{})\z"  # of a text matches a pattern
HALF = 30  # bits: steps are added up in parts above and below, so that neither comes to more than an integer holds
MOST_PEOPLE = 1 << 33


class SparkCodes:
    """A column for each part of the domain; a row for each person."""

    def __init__(
        self, domain: Domain, rows: Rows, frame: Any, refusing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.domain, self.rows, self._refusing = domain, rows, refusing
        self.rows_domain = domain
        self._frame, self._given, self._coded = frame, dict[str, Any](), False
        self._names = [f"part{place}" for place in range(len(domain.parts))]
        with refusing():
            self._answers = self._described()
            if rows.unit is not None:
                self._merge()
            elif domain.parts[-1].merge.numeric and self._kinds[-1] not in STORED:
                self._read(f"SELECT {', '.join(self._names)} FROM {{frame}}")

    @property
    def from_batch(self) -> FromBatch:
        """How rows become codes, here or on an executor."""
        return FromBatch(self.domain, self._coded)

    @cached_property
    def size(self) -> int:
        """The number of people, found by counting what they hold if that is needed anyway."""
        with self._refusing():
            if self.domain.shape is Shape.AMOUNT:
                return self._summed[0]
            if self.domain.shape is Shape.SHARES:
                return int(self.pooled[1].sum())
            if self.grouped and self.domain.shape is not Shape.KEY:
                return int(self.held[1].sum())
            return int(self._one(f"SELECT count(*) AS people FROM {self._answers}")["people"])

    @cached_property
    def held(self) -> tuple[Codes, Ints]:
        """Each different code (some perhaps several times), and how many people have it."""
        names, given = ", ".join(self._names), dict[str, Any]()
        counted = {at: code for at in range(len(self._names)) if (code := self._counted(at)) is not None}
        for _, own in counted.values():
            given |= own
        read = [f"{counted[at][0]} AS {name}" if at in counted else name for at, name in enumerate(self._names)]
        rows = f"(SELECT {', '.join(read)} FROM {self._answers})"
        table = self._sql(f"SELECT count(*) AS people, {names} FROM {rows} GROUP BY {names}", given).toArrow()
        people, *held = (column.combine_chunks() for column in table.columns)
        for at, (expression, own) in counted.items():
            if held[at].null_count:
                self._refuse_first(f"({expression}) IS NULL", own, at)
        return self.from_batch(held, frozenset(counted)), people.to_numpy()

    @property
    def grouped(self) -> bool:
        """Whether people are few groups of which each has one code, or values that have one."""
        parts = enumerate(self.domain.parts)
        return all(
            part.grouped or (self._coded and not part.merge.numeric) or self._counted(at) is not None
            for at, part in parts
        )

    def _counted(self, place: int) -> tuple[str, dict[str, Any]] | None:
        """The code of a row's value, NULL if refused, and parameters; None if Python finds it."""
        part, kind, name = self.domain.parts[place], self._kinds[place], self._names[place]
        absent = f"({name} IS NULL OR isnan({name}))" if kind in REAL else f"({name} IS NULL)"
        if part.line == "numbers" and kind in STORED and not self._coded:
            value = self._number(part, name)
            absent = "FALSE" if isinstance(part.missing, float | int) else absent
        elif part.line == "moments" and kind in MOMENTS and not self._coded:
            value = f"CAST({MOMENTS[kind].format(name)} AS DOUBLE)"
        else:
            return None
        steps = part.counted(value, SqlDialect(f":{name}_{{}}".format, DIALECT.nearest))
        missing, outside = ("NULL" if code is None else str(code) for code in (part.missing_code, part.outside_code))
        inside = f"WHEN {steps.fits} THEN CAST({steps.code} AS BIGINT)"
        code = f"CASE WHEN {absent} THEN {missing} {inside} ELSE {outside} END"
        return code, {f"{name}_{given}": value for given, value in steps.given.items()}

    @cached_property
    def pooled(self) -> tuple[Codes, Ints, list[int]]:
        """The groups, the people in each, and the sum of their amounts in steps, exactly."""
        (*groups, part), names = self.domain.parts, self._names[:-1]
        if not groups:
            people, total = self._summed
            return np.zeros(1, dtype=np.int64), np.array([people]), [total]
        steps = part.steps(self._number(part, self._names[-1]), DIALECT)
        columns = ", ".join(names)
        table = self._sql(
            f"SELECT {columns}, count(*) AS people, count(step) AS fitting, "
            f"sum(shiftright(step, {HALF})) AS high, sum(step & {(1 << HALF) - 1}) AS low "
            f"FROM (SELECT {columns}, CASE WHEN {steps.fits} THEN {steps.code} END AS step FROM {self._answers}) "
            f"GROUP BY {columns}",
            steps.given,
        ).toArrow()
        people = table["people"].to_numpy()
        if (table["fitting"].to_numpy() < people).any():
            self._refuse_first(f"NOT coalesce({steps.fits}, false)", steps.given, len(groups))
        held = [from_arrow(table.column(name).combine_chunks()) for name in names]
        codes = [each if self._coded else group.codes(each) for group, each in zip(groups, held, strict=True)]
        halves = zip(table["high"].to_pylist(), table["low"].to_pylist(), strict=True)
        return Product(tuple(groups)).joined(codes), people, [(int(h or 0) << HALF) + int(w or 0) for h, w in halves]

    @staticmethod
    def _number(part: Domain, name: str) -> str:
        """The number that a row holds, or that a missing one counts as."""
        number = f"CAST({name} AS DOUBLE)"
        filled = isinstance(part.missing, float | int)
        return (
            f"CASE WHEN {name} IS NULL OR isnan({number}) THEN {part.missing!r}D ELSE {number} END"
            if filled
            else number
        )

    @property
    def total(self) -> int:
        """The sum of all codes, exactly."""
        return self._summed[1]

    @cached_property
    def _summed(self) -> tuple[int, int]:
        """The number of people, and the sum of their codes; Spark treats values as numpy does."""
        (part,) = self.domain.parts
        steps = part.steps(self._number(part, "part0"), DIALECT)
        found = self._one(
            "SELECT count(*) AS people, count(step) AS fitting, "
            f"sum(shiftright(step, {HALF})) AS high, sum(step & {(1 << HALF) - 1}) AS low "
            f"FROM (SELECT CASE WHEN {steps.fits} THEN {steps.code} END AS step FROM {self._answers})",
            steps.given,
        )
        people = int(found["people"])
        if found["fitting"] < people:
            self._refuse_first(f"NOT coalesce({steps.fits}, false)", steps.given)
        if people >= MOST_PEOPLE:
            raise BadData(f"data has more than {MOST_PEOPLE:,} rows, which are too many to be added up exactly")
        return people, (int(found["high"] or 0) << HALF) + int(found["low"] or 0)

    def sorted_within_partitions(self) -> Any:
        """A task reads again in the same order, so that the same coins fall to the same answers."""
        columns = ", ".join(self._names)
        return self._sql(f"SELECT {columns} FROM {self._answers} SORT BY {columns}")

    def _described(self) -> str:
        """The columns asked for, under names of our own. Spark puts the frame in its place."""
        rows, frame = self.rows, self._frame
        types = {name: kind.partition("(")[0] for name, kind in frame.dtypes}
        for argument, name in rows.names():
            if frame.columns.count(name) != 1:
                problem = "which the data does not have" if name not in frame.columns else "which occurs twice"
                raise BadArgument(argument, f"is {name!r}, {problem}", f"use one of {', '.join(frame.columns[:20])}")
            if types[name] not in KINDS:
                problem = f"column {name!r} holds neither numbers nor text ({types[name]})"
                raise BadData(problem, "turn it into one of them first")
        read = [name for _, name in rows.names()][: len(self._names)]
        self._kinds = [types[name] for name in read]
        held = [self._as_read(place, quoted(name)) for place, name in enumerate(read)]
        columns = [f"{self._compared(place, each)} AS {self._names[place]}" for place, each in enumerate(held)]
        columns += [f"{quoted(rows.unit)} AS person"] if rows.unit is not None else []
        selected = f"SELECT {', '.join(columns)} FROM {{frame}}"
        parts = zip(self.rows_domain.parts, held, self._kinds, strict=True)
        lacking = [f"NOT {self._absent(each, kind)}" for part, each, kind in parts if part.missing == DROP]
        return f"({selected} WHERE {' AND '.join(lacking)})" if lacking else f"({selected})"

    def _as_read(self, place: int, column: str) -> str:
        """A column whose text is taken to the text that is read."""
        if self._kinds[place] not in TEXT:
            return column
        in_sql = InSQL(
            self._parameter,
            lambda said: f"trim(BOTH {self._parameter(SPACE)} FROM {said})",
            lambda said, to: f"{said} RLIKE {self._parameter(WHOLE.format(to))}",
        )
        return self.rows.text.in_sql(column, in_sql, numeric=self.domain.parts[place].reads_numbers)

    def _parameter(self, text: str) -> str:
        """The text as a parameter of every query to come."""
        name = f"text{len(self._given)}"
        self._given[name] = text
        return f":{name}"

    def _absent(self, column: str, kind: str) -> str:
        """Whether what it holds is missing."""
        if kind in TEXT:
            self._given["space"] = SPACE
            return f"coalesce(trim(BOTH :space FROM {column}) = '', true)"
        return f"({column} IS NULL OR isnan({column}))" if kind in REAL else f"({column} IS NULL)"

    def _compared(self, place: int, column: str) -> str:
        """A test for values counting as a one, where Spark compares as Python; else the column."""
        part, kind, same, given = self.domain.parts[place], self._kinds[place], list[str](), dict[str, Any]()
        if part.where is None or part.missing == REFUSE:
            return column
        for each, value in enumerate(part.where):
            name = f"where{place}_{each}"
            if isinstance(value, str) and kind in TEXT:
                same.append(f"trim(BOTH :space FROM {column}) = :{name}")
                given["space"] = SPACE
            elif isinstance(value, float) and kind in STORED:
                same.append(f"CAST({column} AS DOUBLE) = :{name}")
            else:
                return column
            given[name] = value
        self._given |= given
        self.domain = self.domain.compared(place)
        return f"coalesce({' OR '.join(same)}, false)"

    def _read(self, query: str) -> None:
        """Replace rows by codes from executors, merged by this query; refuses what does not fit."""
        person = ["person"] if self.rows.unit is not None else []
        kinds = [_kind(part) for part in self.domain.parts]
        work = ReadRows(self.domain, people=bool(person), kept=self.rows.most is not None)
        rows = self._sql(f"SELECT {', '.join([*self._names, *person])} FROM {self._answers}")
        codes = ", ".join(f"{name} {kind}" for name, kind in zip(self._names, kinds, strict=True))
        self._frame = rows.mapInArrow(work.work, f"person string, {codes}, refused string")
        self._given = {}
        refused = self._one("SELECT min(refused) AS refused FROM {frame}")["refused"]
        if refused is not None:
            raise BadData(unpacked(refused))
        self._answers, self._kinds, self._coded = f"({query})", kinds, True

    def _merge(self) -> None:
        """One row for each person, or a few of their rows."""
        most, in_rounds = self.rows.most, self.rows.in_rounds
        parts = [*zip(self.domain.parts, self._names, strict=True)]
        if in_rounds is not None:
            codes = [in_sql(part.merge, name, ADDED) for part, name in parts[1:]]
            merged = LOTS.in_rounds("{frame}", codes, in_rounds.most, len(in_rounds.rounds.labels), ":key")
        elif most is not None:
            merged = LOTS.kept("{frame}", self._names, most, ":key")
        else:
            codes = [f"{in_sql(part.merge, name, ADDED)} AS {name}" for part, name in parts]
            merged = f"SELECT {', '.join(codes)} FROM {{frame}} GROUP BY person"
        self._read(merged)
        if ":key" in merged:
            self._given["key"] = self.rows.key.hex()

    def _refuse_first(self, strange: str, given: Mapping[str, Any] | None = None, place: int = 0) -> None:
        """Raises the domain's own refusal of the first unfit value, without quoting it."""
        table = self._sql(f"SELECT {self._names[place]} FROM {self._answers} WHERE {strange} LIMIT 1", given).toArrow()
        self.domain.parts[place].codes(from_arrow(table.column(0).combine_chunks()))
        raise BadData("data has values that do not fit the question")

    def _sql(self, query: str, given: Mapping[str, Any] | None = None) -> Any:
        given = {**self._given, **(given or {})}
        return self._frame.sparkSession.sql(query, given or None, frame=self._frame)

    def _one(self, query: str, given: Mapping[str, Any] | None = None) -> Any:
        return self._sql(query, given).toArrow().to_pylist()[0]


def _kind(part: Domain) -> str:
    """The type of what a row is read as: a number that is to be merged, a label, or a code."""
    return "double" if part.merge.numeric else "string" if part.shape is Shape.KEY else "bigint"


def quoted(name: str) -> str:
    """A column's name within a query, in which Spark looks for braces."""
    return "`" + name.replace("`", "``").replace("{", "{{").replace("}", "}}") + "`"
