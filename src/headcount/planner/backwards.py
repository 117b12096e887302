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
STRIDE = 4.0


def smallest_epsilon(kind: type[Protocol], given: Situation, within: float) -> Option:
    """The option with the smallest epsilon whose objective is at most `within`."""

    def at(epsilon: float) -> Option:
        return option(kind, replace(given, budget=replace(given.budget, epsilon=epsilon)))

    return _smallest(at, within, _near, (SMALLEST_EPSILON, 1.0, LARGEST_EPSILON), lambda x: float(f"{x:.4g}"))


def fewest_people(kind: type[Protocol], given: Situation, within: float, crowd_of: Callable[[int], Crowd]) -> Option:
    """The option with the fewest people whose objective is at most `within`, and better than a guess."""

    def at(people: float) -> Option:
        return option(kind, replace(given, crowd=crowd_of(int(people))))

    def near(found: Option, within: float) -> bool:
        return _near(found, within) and not (isinstance(found, Candidate) and found.guesswork)

    fewest = float(given.crowd.corrupt + 1)
    return _smallest(at, within, near, (fewest, 64.0 * fewest, float(LARGEST)), lambda x: float(round(x)))


def _near(found: Option, within: float) -> bool:
    return isinstance(found, Candidate) and found.proportionate and found.objective <= within


def _smallest(
    at: Callable[[float], Option], within: float, near: Callable[[Option, float], bool],
    ends: tuple[float, float, float], rounded: Callable[[float], float],
) -> Option:  # fmt: skip
    """The option at the smallest point that is near enough, between the first and the last end, from the middle one.

    A bracket is found by strides. Errors being about powers of what is sought, it is closed on a double logarithmic
    scale by turns of interpolation and of halving, which also copes with errors that go by steps.
    """
    least, start, most = ends
    low, high = start, start
    found = below = at(start)
    while not near(found, within):
        if high >= most:
            return _never(found, below)
        low, below, high = high, found, min(most, rounded(high * STRIDE))
        found = at(high)
    while low == high or near(below, within):
        if low <= least and near(below, within):
            return below
        high, found, low = (low, below, max(least, rounded(low / STRIDE)))
        below = at(low)
    turn = 0
    while high / low > CLOSE:
        middle = rounded(_between(low, below, high, found, within) if turn % 2 else math.sqrt(low * high))
        if not low < middle < high:
            middle = rounded(math.sqrt(low * high))
        if not low < middle < high:
            break
        tried, turn = at(middle), turn + 1
        if near(tried, within):
            high, found = middle, tried
        else:
            low, below = middle, tried
    return _exactly(at, within, near, low, high, found) if rounded(high - 1.0) == high - 1.0 else found


def _exactly(
    at: Callable[[float], Option], within: float, near: Callable[[Option, float], bool], low: float, high: float,
    found: Option,
) -> Option:  # fmt: skip
    """To the last person."""
    while high - low > 1.0:
        middle = (low + high) // 2.0
        tried = at(middle)
        low, high, found = (low, middle, tried) if near(tried, within) else (middle, high, found)
    return found


def _between(low: float, below: Option, high: float, found: Option, within: float) -> float:
    """Where a power law through both ends would be near enough, just beyond."""
    if not isinstance(below, Candidate) or not isinstance(found, Candidate):
        return math.sqrt(low * high)
    over, under = below.objective, found.objective
    if not 0.0 < under < over < math.inf:
        return math.sqrt(low * high)
    share = math.log(over / within) / math.log(over / under)
    return low * math.pow(high / low, min(0.98, share + 0.02))


def _never(found: Option, below: Option) -> Misfit:
    """Not even at the far end; the last option that could serve says how near it comes."""
    nearest = found if isinstance(found, Candidate) else below
    if isinstance(nearest, Misfit):
        return nearest
    best = nearest.objective if isinstance(nearest, Candidate) else math.inf
    return Misfit(nearest.kind, nearest.situation, f"comes within {best:,.3g} at best; allow more")
