"""A Spark frame's answers, one per person, in Spark's SQL; nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import numpy as np

from headcount.core.errors import BadArgument, BadData
from headcount.core.field import Values
from headcount.core.histogram import Histogram
from headcount.core.table import Ints
from headcount.core.task import BETWEEN_STEPS, Count, Sum, Task
from headcount.engines.engine import Rows
from headcount.engines.intake import MISSING, comparable
from headcount.engines.merging import Lots, one_each
from headcount.engines.spark_work import Encoding

KINDS = {
    "boolean": "bool", "tinyint": "whole", "smallint": "whole", "int": "whole", "bigint": "whole", "float": "real",
    "double": "real", "decimal": "real", "string": "text", "char": "text", "varchar": "text",
}  # fmt: skip
DTYPES = {"bool": np.bool_, "whole": np.int64, "real": np.float64, "text": np.str_}
LOTS = Lots("xxhash64({}, :key)", "shiftrightunsigned({}, 11)", "min_by")
HALF = 30  # bits: steps are added up in parts above and below, so that neither comes to more than an integer holds
MOST_PEOPLE = 1 << 33


class SparkScan:
    """Columns `answer` and, with groups, `party`; a row for each person."""

    def __init__(
        self, task: Task, rows: Rows, frame: Any, refusing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.task, self.rows, self._refusing = task, rows, refusing
        self._frame, self._given = frame, dict[str, Any]()
        with refusing():
            self._answers = self._described()
            asked = Count() if rows.by is not None else task
            if self._kind == "text" and isinstance(asked, Count | Sum) and self._people():
                asked.encoded(np.array([""]))  # says what it wants instead of text
            if rows.unit is not None:
                self._answers = self._merged()

    @property
    def encoding(self) -> Encoding:
        """How rows become the task's integers, here or on an executor."""
        return Encoding(self.task, merged=self.rows.unit is not None)

    @cached_property
    def size(self) -> int:
        """How many people there are: found by counting what they hold, where that is needed anyway."""
        task, by = self.task, self.rows.by
        with self._refusing():
            if isinstance(task, Count) and by is None:
                return int(self.ones[1].sum())
            if isinstance(task, Sum):
                return self._summed[0]
            if isinstance(task, Histogram) and not task.open and not task.edges:
                return int(self.held[1].sum())
            return self._people()

    def _people(self) -> int:
        return int(self._one(f"SELECT count(*) AS people FROM {self._answers}")["people"])

    @cached_property
    def ones(self) -> tuple[Values, Ints]:
        """How many hold a zero, and how many a one."""
        if self._kind == "bool":
            strange, one = "answer IS NULL", "answer"
        else:
            strange, one = "answer IS NULL OR NOT (answer = 0 OR answer = 1)", "answer = 1"
        query = (
            f"SELECT count(*) AS people, count_if({strange}) AS strange, count_if({one}) AS ones FROM {self._answers}"
        )
        found = self._one(query)
        if found["strange"]:
            self._refuse_first(strange)
        return np.array([0, 1], dtype=np.uint8), np.array([found["people"] - found["ones"], found["ones"]])

    @cached_property
    def held(self) -> tuple[Values, Ints]:
        """Each different answer, and how many people hold it."""
        columns = "answer, party" if self.rows.by is not None else "answer"
        table = self._sql(f"SELECT count(*) AS people, {columns} FROM {self._answers} GROUP BY {columns}").toArrow()
        people, *answers = (column.combine_chunks() for column in table.columns)
        return self.encoding(answers), people.to_numpy()

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
        columns = "answer, party" if self.rows.by is not None else "answer"
        return self._sql(f"SELECT {columns} FROM {self._answers} SORT BY {columns}")

    def _described(self) -> str:
        """The columns that are asked for, under names of our own. Spark puts the frame in its place."""
        rows, frame = self.rows, self._frame
        self._types = dict(frame.dtypes)
        for argument, name in rows.names().items():
            if frame.columns.count(name) != 1:
                problem = "which the data does not have" if name not in frame.columns else "which occurs twice"
                raise BadArgument(argument, f"is {name!r}, {problem}", f"use one of {', '.join(frame.columns[:20])}")
        assert rows.column is not None  # noqa: S101
        self._kind, answer = self._kind_of(rows.column), self._read(rows.column)
        if rows.where is not None:
            answer, self._kind = self._where(answer, self._types[rows.column]), "bool"
        party = f", {self._read(rows.by)} AS party" if rows.by is not None else ""
        person = f", {quoted(rows.unit)} AS person" if rows.unit is not None else ""
        return f"(SELECT {answer} AS answer{party}{person} FROM {{frame}})"

    def _kind_of(self, name: str) -> str:
        kind = self._types[name].partition("(")[0]
        if kind not in KINDS:
            raise BadData(f"column {name!r} holds neither numbers nor text ({kind}); turn it into one of them first")
        return KINDS[kind]

    def _read(self, name: str) -> str:
        """A column as it is compared and added: decimals as floats."""
        self._kind_of(name)
        return f"CAST({quoted(name)} AS DOUBLE)" if self._types[name].startswith("decimal") else quoted(name)

    def _where(self, answer: str, kind: str) -> str:
        """Whether it is the value that counts as a one; what is missing is not."""
        where = comparable(self.rows.where, np.dtype(DTYPES[self._kind]))
        where = where.item() if isinstance(where, np.generic) else where
        if self._kind == "bool":
            same = answer if where == 1 else f"NOT {answer}" if where == 0 else "false"
            return f"coalesce({same}, false)"
        if self._kind != "text":
            where = int(where) if isinstance(where, int) and abs(where) < 1 << 63 else float(where)
        bound = "CAST(:where AS FLOAT)" if kind == "float" else ":where"
        self._given["where"] = where
        return f"coalesce({answer} = {bound}, false)"

    def _merged(self) -> str:
        """One answer for each person, or a few of their rows."""
        rows = self.rows
        nan = " OR isnan({})"
        strange = nan.format("person") if self._types[rows.unit] in {"float", "double"} else ""
        missing = nan.format("answer") if self._kind == "real" else ""
        party = " OR party IS NULL" if rows.by is not None else ""
        found = self._one(
            f"SELECT count_if(person IS NULL{strange}) AS ids, count_if(answer IS NULL{missing}{party}) AS gaps "
            f"FROM {self._answers}"
        )
        if found["ids"]:
            raise BadData("unit has missing person ids; drop those rows first")
        if found["gaps"]:
            raise BadData(MISSING)
        if rows.most is not None:
            self._given["key"] = rows.key
            return f"({LOTS.kept(self._answers, rows.most)})"
        added = "DOUBLE" if self._kind == "real" else "BIGINT"
        each = one_each(self.task, self._kind, grouped=rows.by is not None, added=added)
        self._kind = "real" if isinstance(self.task, Sum) else self._kind
        return f"(SELECT {each} FROM {self._answers} GROUP BY person)"

    def _refuse_first(self, strange: str, given: dict[str, Any] | None = None) -> None:
        """Lets the task say what it has against an answer; it does not quote it."""
        table = self._sql(f"SELECT answer FROM {self._answers} WHERE {strange} LIMIT 1", given).toArrow()
        self.encoding([table.column(0).combine_chunks()])
        raise BadData("data has values that do not fit the task")

    def _sql(self, query: str, given: dict[str, Any] | None = None) -> Any:
        given = {**self._given, **(given or {})}
        return self._frame.sparkSession.sql(query, given or None, frame=self._frame)

    def _one(self, query: str, given: dict[str, Any] | None = None) -> Any:
        return self._sql(query, given).toArrow().to_pylist()[0]


def quoted(name: str) -> str:
    """A column's name within a query, in which Spark looks for braces."""
    return "`" + name.replace("`", "``").replace("{", "{{").replace("}", "}}") + "`"
