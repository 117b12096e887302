"""Counting protocols compared: the smallest predicted error, and where two errors cross."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from headcount.errors import Refused
from headcount.planner.calibrate import calibrations
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.law import Floats
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count

Constants = Literal["papers", "exact"]  # a protocol's parameters by its paper's closed form, or by exact accounting
SAME = 1e-9  # errors closer than this are equal; then the one with fewer messages wins


@dataclass(frozen=True)
class Contender:
    """A protocol with parameters for a crowd."""

    protocol: Protocol
    messages: float

    @property
    def name(self) -> str:
        return self.protocol.name

    def error(self, ones: int) -> float:
        return self.protocol.rmse(ones)

    def errors(self, ones: Sequence[int]) -> Floats:
        if self.protocol.steady:
            return np.full(len(ones), self.error(ones[0]))
        return np.array([self.error(truth) for truth in ones])


def contenders(kind: type[Protocol], crowd: Crowd, budget: Budget, constants: Constants) -> list[Contender]:
    """Every choice within the budget; or the paper's only one, if its theorem covers this crowd."""
    if budget.delta == 0.0 and not kind.pure:
        return []
    try:
        if constants == "exact":
            found = list(calibrations(kind, Count(), crowd, budget))
        else:
            found = [kind(crowd=crowd, neighbours=budget.neighbours, **kind.published(budget, crowd))]
    except Refused:
        return []
    return [Contender(protocol, protocol.messages_per_person) for protocol in found]


def winners(field: Sequence[Contender], ones: Sequence[int]) -> tuple[list[Contender | None], Floats]:
    """For each number of ones the best contender, if there is any, and its error."""
    if not field:
        return [None] * len(ones), np.full(len(ones), np.inf)
    order = sorted(field, key=lambda entry: entry.messages)
    errors = np.array([entry.errors(ones) for entry in order])
    best = errors.min(axis=0)
    first = np.argmax(errors <= best * (1.0 + SAME), axis=0)
    return [order[i] for i in first.tolist()], best


@dataclass(frozen=True)
class Crossing:
    """A number of `ones` among `n` people where two sides err equally, and the better above."""

    n: int
    ones: float
    above: str  # who is better above


def crossings(one: Sequence[Contender], other: Sequence[Contender], n: int, ones: Sequence[int]) -> list[Crossing]:
    """The crossings of two sides' smallest errors: each sign change on the grid `ones`, bisected.

    Errors are computed at whole numbers until two neighbours enclose the crossing, which is then
    interpolated linearly.
    """
    if not one or not other:
        return []

    def lead(truth: int) -> float:
        """By how much the other's error is smaller."""
        return best_at(one, truth)[1] - best_at(other, truth)[1]

    leads = winners(one, ones)[1] - winners(other, ones)[1]
    found = []
    for i in np.flatnonzero(np.diff(np.signbit(leads))).tolist():
        low, high = bisected(lead, (ones[i], float(leads[i])), (ones[i + 1], float(leads[i + 1])))
        place = low[0] + low[1] / (low[1] - high[1])
        found.append(Crossing(n, place, best_at([*one, *other], high[0])[0]))
    return found


def best_at(side: Sequence[Contender], truth: int) -> tuple[str, float]:
    """The best contender's name and error at this number of ones."""
    best = min(side, key=lambda entry: entry.error(truth))
    return best.name, best.error(truth)


Sample = tuple[int, float]


def bisected(function: Callable[[int], float], low: Sample, high: Sample) -> tuple[Sample, Sample]:
    """Neighbouring whole numbers between which the function changes its sign."""
    while high[0] - low[0] > 1:
        middle = (low[0] + high[0]) // 2
        value = function(middle)
        low, high = (low, (middle, value)) if (value < 0.0) == (high[1] < 0.0) else ((middle, value), high)
    return low, high
