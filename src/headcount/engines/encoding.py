"""From what a row holds to the task's own integers, row by row, and from a person's rows to theirs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from headcount.core.errors import BadArgument, BadData
from headcount.core.field import Values
from headcount.core.histogram import Histogram
from headcount.core.law import Floats
from headcount.core.reading import Array, Declared, equal
from headcount.core.table import Ints
from headcount.core.task import Count, Task

DIFFERENT = "a person has rows of different categories; keep one row per person, for example with max_contributions=1"


@dataclass(frozen=True)
class Encoding:
    """What the asker declared: a task, perhaps the value that counts as a one, perhaps groups to count in.

    In groups, what a row comes to is an integer that tells both of which group it is and whether it is a one; these can
    be merged like those of any other task.
    """

    task: Task
    where: Declared | None = None
    grouped: bool = False

    def row(self, answers: Array, groups: Array | None = None) -> Values:
        """What each row comes to; refused, without quoting any, where a row holds something else."""
        if groups is None:
            return self.task.encoded(answers) if self.where is None else self._ones(answers)
        if groups.shape != answers.shape:
            raise BadArgument("by", "has another length than the data", "give one group per person")
        return 2 * self._parties(groups) + self._ones(answers)

    def person(self, rows: Values) -> Values:
        """The task's own integers: whoever holds no one is in none of the groups."""
        return np.where(rows % 2 == 1, rows // 2, self.task.values - 1) if self.grouped else rows

    def _ones(self, answers: Array) -> npt.NDArray[np.uint8]:
        return Count().encoded(answers if self.where is None else equal(answers, self.where))

    def _parties(self, groups: Array) -> Values:
        assert isinstance(self.task, Histogram)  # noqa: S101
        try:
            return Histogram(self.task.categories).encoded(groups).astype(np.int64)
        except BadData:
            raise BadData("by has groups outside the categories; name them all in categories=") from None

    @property
    def merged(self) -> str:
        """What a person's rows become, in SQL: of `code`, nothing where they contradict each other."""
        if isinstance(self.task, Count):
            return "max(code)"
        if self.grouped:
            return "CASE WHEN floor(min(code) / 2) = floor(max(code) / 2) THEN max(code) END"
        return "CASE WHEN min(code) = max(code) THEN min(code) END"

    def merge(self, rows: Values, person: Ints) -> Values:
        """The same of arrays, `person` saying whose each row is."""
        _, first = np.unique(person, return_index=True)
        if isinstance(self.task, Count) or self.grouped:
            most = rows[first].astype(np.int64)
            np.maximum.at(most, person, rows)
            if self.grouped and (rows // 2 != (most // 2)[person]).any():
                raise BadData(DIFFERENT)
            return most
        if (rows != rows[first][person]).any():
            raise BadData(DIFFERENT)
        return rows[first]


def added_up(numbers: Floats, person: Ints, *, mean: bool) -> Floats:
    """Each person's sum or mean, in doubles, from their least number to their largest: in whatever order rows come."""
    order = np.lexsort([numbers, person])
    totals = np.zeros(int(person.max(initial=-1)) + 1)
    np.add.at(totals, person[order], numbers[order])
    return totals / np.bincount(person) if mean else totals
