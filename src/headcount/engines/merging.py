"""What becomes of a person's rows, in SQL that DuckDB and Spark both speak: one answer, or a few rows, by lot."""

from __future__ import annotations

from dataclasses import dataclass

from headcount.core.histogram import Histogram
from headcount.core.task import Sum, Task

IN_COMMON = "CASE WHEN min({0}) = max({0}) THEN min({0}) END AS {0}"
# 2 is neither: whoever has a row that is not 0 or 1 is refused with the others.
ANY_ONE = "CASE WHEN bool_and(answer = 0 OR answer = 1) THEN max(CAST(answer = 1 AS TINYINT)) ELSE 2 END AS answer"


def one_each(task: Task, kind: str, *, grouped: bool, added: str) -> str:
    """The columns of each person: what their rows come to, added as this type, or what they have in common."""
    if isinstance(task, Sum):
        return f"{'avg' if task.per_person else 'sum'}(CAST(answer AS {added})) AS answer"
    if isinstance(task, Histogram) and not grouped:
        return IN_COMMON.format("answer")
    merged = "bool_or(answer) AS answer" if kind == "bool" else ANY_ONE
    return f"{merged}, {IN_COMMON.format('party')}" if grouped else merged


@dataclass(frozen=True)
class Lots:
    """How an engine draws lots: by a hash of some columns and the key, of which 53 bits make a chance."""

    hashed: str
    shifted: str
    first: str  # the answer with the smallest lot

    def kept(self, table: str, most: int) -> str:
        """At most so many rows of each person; every row has the same chance, whatever the order they come in."""
        if most == 1:
            # Rows that are the same race together: an exponential lot, that many times as fast.
            chance = f"({self.shifted.format(self.hashed.format('person, answer'))} + 1) / 9007199254740992e0"
            each = f"SELECT person, answer, -ln({chance}) / count(*) AS lot FROM {table} GROUP BY person, answer"
            return f"SELECT {self.first}(answer, lot) AS answer FROM ({each}) GROUP BY person"
        copy = "row_number() OVER (PARTITION BY person, answer ORDER BY answer) AS copy"
        place = (
            f"row_number() OVER (PARTITION BY person ORDER BY {self.hashed.format('person, answer, copy')}) AS place"
        )
        rows = f"SELECT answer, {place} FROM (SELECT *, {copy} FROM {table})"
        return f"SELECT answer FROM ({rows}) WHERE place <= {most}"
