"""Backwards: how much budget, or how many people, an answer this close takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from headcount.core.budget import SMALLEST_EPSILON
from headcount.core.crowd import LARGEST, Crowd
from headcount.core.protocol import Protocol
from headcount.planner.option import Candidate, Misfit, Option, option
from headcount.planner.situation import Situation

LARGEST_EPSILON = 50.0
CLOSE = 1.002  # how much larger than the smallest the epsilon found may be


def _near(found: Option, within: float) -> bool:
    return isinstance(found, Candidate) and found.proportionate and found.objective <= within


def smallest_epsilon(kind: type[Protocol], given: Situation, within: float) -> Option:
    """The option with the smallest epsilon whose objective is at most `within`."""

    def at(epsilon: float) -> Option:
        return option(kind, replace(given, budget=replace(given.budget, epsilon=epsilon)))

    most = at(LARGEST_EPSILON)
    if not _near(most, within):
        return most if isinstance(most, Misfit) else _never(most, f"at epsilon={LARGEST_EPSILON:g}")
    low, high, found = SMALLEST_EPSILON, LARGEST_EPSILON, most
    guess = 1.0
    while high / low > CLOSE:
        middle = guess if low < guess < high else math.sqrt(low * high)
        guess = 0.0
        tried = at(float(f"{middle:.4g}"))
        if _near(tried, within):
            high, found = middle, tried
        else:
            low = middle
    return found


def fewest_people(kind: type[Protocol], given: Situation, within: float, crowd_of: Callable[[int], Crowd]) -> Option:
    """The option with the fewest people whose objective is at most `within`, and better than a guess."""

    def at(n: int) -> Option:
        return option(kind, replace(given, crowd=crowd_of(n)))

    def near(found: Option) -> bool:
        return _near(found, within) and not (isinstance(found, Candidate) and found.guesswork)

    low = given.crowd.corrupt
    high = low + 1
    found = at(high)
    while not near(found):
        low, high = high, 2 * high
        if high > LARGEST:
            return _never(at(LARGEST), f"with up to {LARGEST:,} people")
        found = at(high)
    while high - low > 1:
        middle = (low + high) // 2
        tried = at(middle)
        low, high, found = (low, middle, tried) if near(tried) else (middle, high, found)
    return found


def _never(nearest: Option, where: str) -> Misfit:
    if isinstance(nearest, Misfit):
        return nearest
    best = nearest.objective if isinstance(nearest, Candidate) else math.inf
    return Misfit(nearest.kind, nearest.situation, f"comes within {best:,.3g} at best, {where}; allow more")
