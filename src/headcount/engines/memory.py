"""The engine for data in memory, or arriving in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from headcount.engines import intake
from headcount.engines.engine import Rows
from headcount.engines.fold import PART, folded
from headcount.programme.coins import Coins
from headcount.programme.field import Values
from headcount.programme.tally import Tally
from headcount.protocols.base.plan import Plan
from headcount.questions.question import Question
from headcount.questions.reading import Array


@dataclass(frozen=True, eq=False)
class Codes:
    """The task's own integer for each person."""

    values: Values

    @property
    def size(self) -> int:
        return self.values.size


class MemoryEngine:
    """One array, or an iterable of arrays of any sizes; memory stays bounded by the pieces."""

    def answers(self, task: Question, rows: Rows) -> Codes:
        return Codes(intake.codes_of(rows.domain(task), rows))

    def require(self, task: Question, answers: Codes | Array | Iterable[Array]) -> None:
        """A single array was looked at when it was taken in; what arrives only once cannot be."""
        if not isinstance(answers, Codes | np.ndarray | Iterator):
            for array in answers:
                task.domain.codes(array)

    def tally(self, plan: Plan, answers: Codes | Array | Iterable[Array], coins: Coins) -> Tally:
        """Arrays that arrive one after the other have coins of their own each; a single one is cut into parts."""
        if isinstance(answers, Codes):
            return folded(plan.protocol, _cut(answers.values), lambda part: part, coins)
        parts = _cut(answers) if isinstance(answers, np.ndarray) else answers
        return folded(plan.protocol, parts, plan.protocol.task.domain.codes, coins)


def _cut(array: Array) -> Iterator[Array]:
    return (array[start : start + PART] for start in range(0, array.size, PART))
