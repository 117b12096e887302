"""A Spark frame's answers, one per person, in Spark's SQL; nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

from headcount.engines.engine import Rows
from headcount.engines.several_rows import Lots, in_sql
from headcount.engines.spark_work import FromBatch, ReadRows
from headcount.errors import BadArgument, BadData
from headcount.phrases import unpacked
from headcount.programme.table import Ints
from headcount.questions.domains.domain import Codes, Domain, Shape, Spelling
from headcount.questions.reading import SPACE

STORED = {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double"}
TEXT = {"string", "char", "varchar"}
KINDS = STORED | TEXT | {"decimal", "date", "timestamp", "timestamp_ntz", "void"}
LOTS = Lots(
    "sha2({}, 256)",
    "explode(sequence(0, CAST(many AS INT) - 1))",
    "explode(slice(array_sort(collect_list(struct(lot, code))), 1, {most}).code)",
)
ADDED = "aggregate(array_sort(collect_list({})), CAST(0 AS DOUBLE), (total, each) -> total + each)"
SPELLING = Spelling(":{}".format, "CAST(rint({}) AS BIGINT)".format)
HALF = 30  # bits: steps are added up in parts above and below, so that neither comes to more than an integer holds
MOST_PEOPLE = 1 << 33


class SparkCodes:
    """A column for each part of the domain; a row for each person."""

    def __init__(
        self, domain: Domain, rows: Rows, frame: Any, refusing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.domain, self.rows, self._refusing = domain, rows, refusing
        self._frame, self._given, self._coded = frame, dict[str, Any](), False
        self._names = [f"part{place}" for place in range(len(domain.parts))]
        with refusing():
            self._answers = self._described()
            if rows.unit is not None:
                self._merge()
            elif domain.shape is Shape.AMOUNT and self._kinds[0] not in STORED:
                self._read("SELECT part0 FROM {frame}")

    @property
    def from_batch(self) -> FromBatch:
        """How rows become codes, here or on an executor."""
        return FromBatch(self.domain, self._coded)

    @cached_property
    def size(self) -> int:
        """How many people there are: found by counting what they hold, where that is needed anyway."""
        with self._refusing():
            if self.domain.shape is Shape.AMOUNT:
                return self._summed[0]
            if self.domain.grouped and self.domain.shape is not Shape.KEY:
                return int(self.held[1].sum())
            return int(self._one(f"SELECT count(*) AS people FROM {self._answers}")["people"])

    @cached_property
    def held(self) -> tuple[Codes, Ints]:
        """Each different code (some perhaps several times), and how many people have it."""
        columns = ", ".join(self._names)
        table = self._sql(f"SELECT count(*) AS people, {columns} FROM {self._answers} GROUP BY {columns}").toArrow()
        people, *held = (column.combine_chunks() for column in table.columns)
        return self.from_batch(held), people.to_numpy()

    @property
    def total(self) -> int:
        """The sum of all codes, exactly."""
        return self._summed[1]

    @cached_property
    def _summed(self) -> tuple[int, int]:
        """How many people, and the sum of their codes. What numpy makes of each value, Spark does too."""
        (part,) = self.domain.parts
        steps = part.steps("CAST(part0 AS DOUBLE)", SPELLING)
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
        """What a task reads again it reads in the same order, so that the same coins fall to the same answers."""
        columns = ", ".join(self._names)
        return self._sql(f"SELECT {columns} FROM {self._answers} SORT BY {columns}")

    def _described(self) -> str:
        """The columns that are asked for, under names of our own. Spark puts the frame in its place."""
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
        columns = [f"{self._compared(place, quoted(name))} AS {self._names[place]}" for place, name in enumerate(read)]
        columns += [f"{quoted(rows.unit)} AS person"] if rows.unit is not None else []
        return f"(SELECT {', '.join(columns)} FROM {{frame}})"

    def _compared(self, place: int, column: str) -> str:
        """The comparison with the value that counts as a one, where Spark compares as Python does; else the column."""
        where, kind, given = self.domain.parts[place].where, self._kinds[place], f"where{place}"
        if isinstance(where, str) and kind in TEXT:
            self._given["space"] = SPACE
            same = f"trim(BOTH :space FROM {column}) = :{given}"
        elif isinstance(where, float) and kind in STORED:
            same = f"CAST({column} AS DOUBLE) = :{given}"
        else:
            return column
        self._given[given], self.domain = where, self.domain.compared(place)
        return f"coalesce({same}, false)"

    def _read(self, query: str) -> None:
        """Replace rows by their codes, which executors make, merged by this query; refuses what does not fit."""
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
        most = self.rows.most
        if most is not None:
            kept = LOTS.kept("(SELECT person, part0 AS code FROM {frame})", most, ":key")
            merged = f"SELECT code AS part0 FROM ({kept})"
        else:
            parts = zip(self.domain.parts, self._names, strict=True)
            codes = [f"{in_sql(part.merge, name, ADDED)} AS {name}" for part, name in parts]
            merged = f"SELECT {', '.join(codes)} FROM {{frame}} GROUP BY person"
        self._read(merged)
        if most is not None:
            self._given["key"] = self.rows.key.hex()

    def _refuse_first(self, strange: str, given: Mapping[str, Any] | None = None) -> None:
        """Raises the domain's own refusal of the first value that does not fit, without quoting it."""
        table = self._sql(f"SELECT part0 FROM {self._answers} WHERE {strange} LIMIT 1", given).toArrow()
        self.from_batch([table.column(0).combine_chunks()])
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
