"""Coverage of intervals over many answers, computing only the intervals near its edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from headcount.answers.intervals import covering
from headcount.programme.law import Floats, weighed
from headcount.programme.table import Ints
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol

ALL = 64  # different answers whose intervals are computed
NEARBY = 8  # beyond, those so near to where coverage ends; the lattice of answers can make a difference there
SEEN = 16  # intervals that tell how wide they are

Covers = Callable[[int], bool]


def covered(
    protocol: Protocol, tallies: list[Tally], estimates: Floats, times: Ints, cell: int, truth: float, confidence: float
) -> tuple[npt.NDArray[np.bool_], float]:
    """Whether each estimate's interval covers the truth, and the intervals' mean width, in people.

    `times` says how often each estimate, that of one of the tallies, was made.
    """
    different, first, where = np.unique(estimates, return_index=True, return_inverse=True)
    made: dict[int, tuple[float, float]] = {}

    def interval(at: int) -> tuple[float, float]:
        if at not in made:
            made[at] = _interval(protocol, tallies[first[at]], float(different[at]), cell, confidence)
        return made[at]

    def covers(at: int) -> bool:
        low, high = interval(at)
        return low - 1e-9 <= truth <= high + 1e-9

    if different.size <= ALL:
        found = np.array([covers(at) for at in range(different.size)])
    else:
        found = _between(covers, int(np.argmin(np.abs(different - truth))), different.size)
    upto = np.cumsum(weighed(where, times.astype(np.float64)))
    typical = np.searchsorted(upto, (np.arange(SEEN) + 0.5) / SEEN * upto[-1], side="right")
    width = float(np.mean([high - low for low, high in map(interval, typical.tolist())]))
    return found[where], width


def exact_coverage(protocol: Protocol, truth: int, reports: int, confidence: float) -> float:
    """The probability that a cell's interval covers this truth, from the exact law of its error."""
    noise = protocol.noise(truth, reports)
    order = np.argsort(noise.values, kind="stable")
    estimates = truth + noise.values[order]

    @cache
    def covers(at: int) -> bool:
        low, high = covering(protocol, estimates[at : at + 1], reports, confidence)[0]
        return bool(low - 1e-9 <= truth <= high + 1e-9)

    found = _between(covers, int(np.argmin(np.abs(estimates - truth))), estimates.size)
    return float(noise.masses[order][found].sum())


def _interval(protocol: Protocol, tally: Tally, estimate: float, cell: int, confidence: float) -> tuple[float, float]:
    """The interval of one cell, from its estimate alone if the protocol has default intervals."""
    if type(protocol).intervals is Protocol.intervals:
        ends = covering(protocol, np.array([estimate]), tally.reports, confidence)[0]
    else:
        ends = protocol.intervals(tally, confidence)[cell]
    return float(ends[0]), float(ends[1])


def _between(covers: Covers, nearest: int, size: int) -> npt.NDArray[np.bool_]:
    """Which answers cover: a range around the nearest one, whose ends are found by bisection."""
    found = np.zeros(size, dtype=np.bool_)
    low, high = _last(covers, nearest, -1), _last(covers, nearest, size)
    found[low : high + 1] = covers(nearest)
    near = [at + step for at in (low, high) for step in range(-NEARBY, NEARBY + 1)]
    for at in (*near, 0, size - 1):
        if 0 <= at < size:
            found[at] = covers(at)
    return found


def _last(covers: Covers, inside: int, outside: int) -> int:
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if covers(middle) else (inside, middle)
    return inside
