"""A Spark frame's answers, one per person, in Spark's SQL; nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Any

from headcount.core.errors import BadArgument, BadData
from headcount.core.field import Values
from headcount.core.histogram import Histogram
from headcount.core.reading import SPACE
from headcount.core.table import Ints
from headcount.core.task import BETWEEN_STEPS, Count, Sum, Task
from headcount.engines.engine import Rows
from headcount.engines.merging import Lots
from headcount.engines.spark_work import FromBatch, ReadRows

STORED = {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double"}
TEXT = {"string", "char", "varchar"}
KINDS = STORED | TEXT | {"decimal", "date", "timestamp", "timestamp_ntz", "void"}
LOTS = Lots(
    "sha2({}, 256)",
    "explode(sequence(0, CAST(many AS INT) - 1))",
    "explode(slice(array_sort(collect_list(struct(lot, code))), 1, {most}).code)",
)
ADDED = "aggregate(array_sort(collect_list(code)), CAST(0 AS DOUBLE), (total, each) -> total + each)"
HALF = 30  # bits: steps are added up in parts above and below, so that neither comes to more than an integer holds
MOST_PEOPLE = 1 << 33


class SparkScan:
    """Columns `answer` and, with groups, `party`; a row for each person."""

    def __init__(
        self, task: Task, rows: Rows, frame: Any, refusing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.task, self.rows, self._refusing = task, rows, refusing
        self._frame, self._given = frame, dict[str, Any]()
        self._encoding = rows.encoding(task)
        self._columns = "answer, party" if rows.by is not None else "answer"
        with refusing():
            self._answers = self._described()
            if rows.unit is not None:
                self._merge()
            elif isinstance(task, Sum) and self._kind not in STORED:
                self._read("SELECT code AS answer FROM {frame}")

    @property
    def from_batch(self) -> FromBatch:
        """How rows become the task's integers, here or on an executor."""
        return FromBatch(self._encoding, coded=self.rows.unit is not None and not isinstance(self.task, Sum))

    @cached_property
    def size(self) -> int:
        """How many people there are: found by counting what they hold, where that is needed anyway."""
        task = self.task
        with self._refusing():
            if isinstance(task, Sum):
                return self._summed[0]
            if isinstance(task, Count) or (isinstance(task, Histogram) and not task.open and not task.edges):
                return int(self.held[1].sum())
            return self._people()

    def _people(self) -> int:
        return int(self._one(f"SELECT count(*) AS people FROM {self._answers}")["people"])

    @cached_property
    def ones(self) -> tuple[Values, Ints]:
        """How many hold a zero, and how many a one."""
        return self.held

    @cached_property
    def held(self) -> tuple[Values, Ints]:
        """Each different answer, and how many people hold it."""
        query = f"SELECT count(*) AS people, {self._columns} FROM {self._answers} GROUP BY {self._columns}"
        table = self._sql(query).toArrow()
        people, *answers = (column.combine_chunks() for column in table.columns)
        return self.from_batch(answers), people.to_numpy()

    @property
    def total(self) -> int:
        """The sum of what people hold in the task's steps, exactly."""
        return self._summed[1]

    @cached_property
    def _summed(self) -> tuple[int, int]:
        """How many people, and how many steps together. What numpy makes of each value, Spark does too."""
        assert isinstance(self.task, Sum)  # noqa: S101
        task, number = self.task, "CAST(answer AS DOUBLE)"
        low, high = task.limits
        given = {"low": low, "high": high, "steps": task.steps / task.width}
        given |= {"origin": task.low} if task.low else {}
        fits, within = f"{number} BETWEEN :low AND :high", number
        if task.clip:
            fits, within = f"answer IS NOT NULL AND NOT isnan({number})", f"least(greatest({number}, :low), :high)"
        steps = f"({within} - :origin) * :steps" if task.low else f"{within} * :steps"
        if task.stepped:
            fits += f" AND abs({steps} - rint({steps})) <= {BETWEEN_STEPS}"
        found = self._one(
            "SELECT count(*) AS people, count(step) AS fitting, "
            f"sum(shiftright(step, {HALF})) AS high, sum(step & {(1 << HALF) - 1}) AS low "
            f"FROM (SELECT CASE WHEN {fits} THEN CAST(rint({steps}) AS BIGINT) END AS step FROM {self._answers})",
            given,
        )
        people = int(found["people"])
        if found["fitting"] < people:
            self._refuse_first(f"NOT coalesce({fits}, false)", given)
        if people >= MOST_PEOPLE:
            raise BadData(f"data has more than {MOST_PEOPLE:,} rows, which are too many to be added up exactly")
        return people, (int(found["high"] or 0) << HALF) + int(found["low"] or 0)

    def sorted_within_partitions(self) -> Any:
        """What a task reads again it reads in the same order, so that the same coins fall to the same answers."""
        return self._sql(f"SELECT {self._columns} FROM {self._answers} SORT BY {self._columns}")

    def _described(self) -> str:
        """The columns that are asked for, under names of our own. Spark puts the frame in its place."""
        rows, frame = self.rows, self._frame
        types = {name: kind.partition("(")[0] for name, kind in frame.dtypes}
        for argument, name in rows.names().items():
            if frame.columns.count(name) != 1:
                problem = "which the data does not have" if name not in frame.columns else "which occurs twice"
                raise BadArgument(argument, f"is {name!r}, {problem}", f"use one of {', '.join(frame.columns[:20])}")
            if types[name] not in KINDS:
                problem = f"column {name!r} holds neither numbers nor text ({types[name]})"
                raise BadData(f"{problem}; turn it into one of them first")
        assert rows.column is not None  # noqa: S101
        self._kind, answer = types[rows.column], self._where(quoted(rows.column), types[rows.column])
        party = f", {quoted(rows.by)} AS party" if rows.by is not None else ""
        person = f", {quoted(rows.unit)} AS person" if rows.unit is not None else ""
        return f"(SELECT {answer} AS answer{party}{person} FROM {{frame}})"

    def _where(self, answer: str, kind: str) -> str:
        """Whether it is the value that counts as a one, where Spark compares as Python does; else the answer itself."""
        where = self._encoding.where
        if isinstance(where, str) and kind in TEXT:
            self._given |= {"where": where, "space": SPACE}
            same = f"trim(BOTH :space FROM {answer}) = :where"
        elif isinstance(where, float) and kind in STORED:
            self._given["where"] = where
            same = f"CAST({answer} AS DOUBLE) = :where"
        else:
            return answer
        self._encoding = replace(self._encoding, where=None)
        return f"coalesce({same}, false)"

    def _read(self, query: str) -> None:
        """Has the executors read the rows, and goes on with what this makes of them."""
        adds, task = isinstance(self.task, Sum), self.task
        text = isinstance(task, Histogram) and task.open
        code = "double" if adds else "string" if text else "bigint"
        columns = f"{self._columns}, person" if self.rows.unit is not None else self._columns
        work = ReadRows(self._encoding, people=self.rows.unit is not None, kept=self.rows.most is not None)
        rows = self._sql(f"SELECT {columns} FROM {self._answers}")
        self._frame = rows.mapInArrow(work.work, f"person string, code {code}, refused string")
        self._given = {}
        refused = self._one("SELECT min(refused) AS refused FROM {frame}")["refused"]
        if refused is not None:
            raise BadData(refused)
        self._answers, self._columns, self._kind = f"({query})", "answer", "double"

    def _merge(self) -> None:
        """One answer for each person, or a few of their rows."""
        most = self.rows.most
        if most is not None:
            merged = LOTS.kept("{frame}", most, ":key")
        else:
            added = f"{ADDED} / count(*)" if self.task.per_person else ADDED
            code = added if isinstance(self.task, Sum) else self._encoding.merged
            merged = f"SELECT {code} AS code FROM {{frame}} GROUP BY person"
        self._read(f"SELECT code AS answer FROM ({merged})")
        if most is not None:
            self._given["key"] = self.rows.key.hex()

    def _refuse_first(self, strange: str, given: dict[str, Any] | None = None) -> None:
        """Lets the task say what it has against an answer; it does not quote it."""
        table = self._sql(f"SELECT answer FROM {self._answers} WHERE {strange} LIMIT 1", given).toArrow()
        self.from_batch([table.column(0).combine_chunks()])
        raise BadData("data has values that do not fit the task")

    def _sql(self, query: str, given: dict[str, Any] | None = None) -> Any:
        given = {**self._given, **(given or {})}
        return self._frame.sparkSession.sql(query, given or None, frame=self._frame)

    def _one(self, query: str, given: dict[str, Any] | None = None) -> Any:
        return self._sql(query, given).toArrow().to_pylist()[0]


def quoted(name: str) -> str:
    """A column's name within a query, in which Spark looks for braces."""
    return "`" + name.replace("`", "``").replace("{", "{{").replace("}", "}}") + "`"
