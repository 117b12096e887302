"""The fewest people with whom a protocol can serve."""

from __future__ import annotations

from collections.abc import Callable

from headcount.errors import Refused
from headcount.planner.calibrate import attainable
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols.base.protocol import Protocol
from headcount.questions.question import Question

LARGEST_CROWD = 1 << 33
STEP = 16  # from one crowd that is too small to the next that is tried


def smallest_crowd(
    cls: type[Protocol], task: Question, crowd: Crowd, budget: Budget, above: int = 0, below: int | None = None
) -> int | None:
    """The fewest people for whom the budget can be met and the answer beats blindly guessing half.

    The share of people who must turn up, and the number of corrupt ones, are the crowd's. `above`
    is a number of people who are known to be too few; None if no number will do, or none `below`
    that is asked about, which takes a single look.
    """

    def serves(size: int) -> bool:
        least = max(1, round(size * crowd.least / crowd.size))
        if least <= crowd.corrupt:
            return False
        try:
            there = Crowd(size, least, crowd.corrupt, crowd.each)
            return attainable(cls, task, there, budget, lambda p: p.error_of_answer() < size / 2)
        except Refused:
            return False

    if budget.delta == 0.0 and not cls.pure:
        return None
    if below is not None:
        if below - 1 <= above or not serves(below - 1):
            return None
        return _first(serves, above, below - 1)
    low, high = above, max(1, STEP * above)
    while not serves(min(high, LARGEST_CROWD)):
        if high >= LARGEST_CROWD:
            return None
        low, high = high, STEP * high
    return _first(serves, low, min(high, LARGEST_CROWD))


def _first(serves: Callable[[int], bool], low: int, high: int) -> int:
    """The first that serves, between one that does not and one that does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    return high
