"""The engine for data in memory, or arriving in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.coins import Coins
from headcount.core.plan import Plan
from headcount.core.tally import Tally
from headcount.core.task import Task
from headcount.engines import intake
from headcount.engines.engine import Rows
from headcount.engines.fold import PART, folded


class MemoryEngine:
    """One array, or an iterable of arrays of any sizes; memory stays bounded by the pieces."""

    def answers(self, task: Task, rows: Rows) -> npt.NDArray[Any]:
        """Data that the task refuses are refused at once."""
        values = intake.answers(task, rows)
        task.encoded(values)
        return values

    def require(self, task: Task, answers: npt.NDArray[Any] | Iterable[npt.NDArray[Any]]) -> None:
        """A single array was looked at when it was taken in; what arrives only once cannot be."""
        if not isinstance(answers, np.ndarray | Iterator):
            for array in answers:
                task.encoded(array)

    def tally(self, plan: Plan, answers: npt.NDArray[Any] | Iterable[npt.NDArray[Any]], coins: Coins) -> Tally:
        """Arrays that arrive one after the other have coins of their own each; a single one is cut into parts."""
        parts = _cut(answers) if isinstance(answers, np.ndarray) else answers
        return folded(plan.protocol, parts, plan.protocol.task.encoded, coins)


def _cut(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    return (array[start : start + PART] for start in range(0, array.size, PART))
