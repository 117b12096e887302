r"""Intervals for the share of one noisy count in the sum of two, from their errors' exact law.

Of the true share $r$ one knows that $(1-r)\,H - r\,L = 0$. So $(1-r)\hat H - r\hat L$ has the law
of $(1-r)e_1 - r e_2$, and every $r$ for which it is likely belongs to the interval (Fieller's way,
with the exact law instead of a normal one). Where the sum may be nothing, every share does.

The widths of that law are computed at a few shares and serve all groups at once, also where cells
were made to add up. A single ratio of two answers is solved for with the law at each ratio that is
tried (`answers/ratio.py`): by the widths here its interval at epsilon 1, where the lattice shows,
would be a fifth wider.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from headcount.answers.error_law import ErrorLaw
from headcount.answers.linear import CellErrors, cell_errors
from headcount.programme.law import Floats, Ints

if TYPE_CHECKING:
    from headcount.protocols.base.protocol import Protocol

NOTHING = 1e-12  # beside the largest coefficient
COARSE = 2.0  # steps of the lattice in a standard deviation, below which it shows
FIRST = (0.0, 1 / 256, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2)
SHARES = np.array([*FIRST, *(1.0 - share for share in FIRST[-2::-1])])  # at which widths are computed


def share_intervals(rest: Floats, ones: Floats, widths: Floats) -> Floats:
    """For each pair of noisy counts, all likely shares as a row [low, high] within 0 and 1.

    `widths` are the half-widths of the error at each of `SHARES`. An estimate below zero is one of
    nothing, too: both are tried, so that no interval is empty.
    """
    rows = [_accepted(rest, ones, widths), _accepted(rest.clip(0.0), ones.clip(0.0), widths)]
    low, high = np.minimum(rows[0][0], rows[1][0]), np.maximum(rows[0][1], rows[1][1])
    return np.stack([low.clip(0.0, 1.0), high.clip(0.0, 1.0)], axis=1)


def _accepted(rest: Floats, ones: Floats, widths: Floats) -> tuple[Floats, Floats]:
    """The least and the largest share r with |ones - r (ones + rest)| within the width at r;
    infinities where there is none.

    A width is a norm of (1 - r, r), so that it is convex and lies below the chord between two
    shares. Next to 0 and 1, where a lattice shows, the wider end is taken.
    """
    everybody, ones = (rest + ones)[:, None], ones[:, None]
    start, end = SHARES[:-1], SHARES[1:]
    slope = np.diff(widths) / np.diff(SHARES)
    slope[[0, -1]] = 0.0
    origin = np.maximum(widths[:-1], widths[1:])
    origin[1:-1] = (widths[:-1] - slope * start)[1:-1]
    least, most = _above(everybody + slope, origin - ones, start, end)
    least, most = _above(slope - everybody, origin + ones, least, most)
    fits = least <= most
    return np.where(fits, least, np.inf).min(axis=1), np.where(fits, most, -np.inf).max(axis=1)


def _above(slope: Floats, origin: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The part of each interval where a line is not below zero; empty if there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        root = -origin / slope
    level = np.where(origin >= 0.0, -np.inf, np.inf)
    least = np.where(slope > 0.0, root, np.where(slope < 0.0, -np.inf, level))
    most = np.where(slope < 0.0, root, np.inf)
    return np.maximum(low, least), np.minimum(high, most)


@lru_cache(maxsize=64)
def share_widths(errors: CellErrors, times: int, confidence: float, agreed: int = 0) -> Floats:
    """The error's half-width at each of `SHARES`, in sums of `times` cell pairs; the same at 1 - r.

    If cells were made to add up to what is known, `agreed` of them, each has an even share of their
    errors less.

    Noise of hardly more than its own lattice has a step more between them: there the law changes
    with every share.
    """
    tail = (1.0 - confidence) / 2.0
    laws = (errors.combined((spread_evenly(np.array([1.0 - r, -r]), times, agreed),)) for r in FIRST)
    half = [max(abs(end) for end in law.tails(tail)) for law in laws]
    few = errors.step / 2.0 if errors.std_error * math.sqrt(times) < COARSE * errors.step else 0.0
    return np.array([*half, *half[-2::-1]]) * (1.0 + 1e-9) + few


def spread_evenly(weights: Floats, times: int, agreed: int) -> tuple[Floats, Ints]:
    """The coefficients of all errors, and how many have each, where `times` pairs of cells count
    with these weights and all cells, if any are `agreed`, had an even share of their sum's error
    taken away."""
    counts = np.full(weights.size, times)
    if not agreed:
        return weights[weights != 0.0], counts[weights != 0.0]
    mean = float(weights.sum()) * times / agreed
    return np.append(weights - mean, -mean), np.append(counts, agreed - times * weights.size)


@lru_cache(maxsize=64)
def sum_law(protocol: Protocol, reports: int, ends: tuple[float, float], times: int, agreed: int = 0) -> ErrorLaw:
    """The law of the error of a sum over `times` pairs of cells that count with these weights."""
    found, counts = spread_evenly(np.array(ends), times, agreed)
    kept = (np.abs(found) > NOTHING) & (counts > 0)
    return cell_errors(protocol, reports).combined(((found[kept], counts[kept]),))
