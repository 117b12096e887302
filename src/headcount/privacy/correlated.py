r"""Exact accounting of noise that cancels: the view $(S + A + Z,\; B + Z)$ against the same with $S + 1$."""

from __future__ import annotations

import math

import numpy as np

from headcount.core.law import Floats, Law
from headcount.privacy import laws
from headcount.privacy.pair import Pair

NEGLIGIBLE = 1e-25


def cancelling_pair(cancel: float, share: float, flood: Law) -> Pair:
    """A, B ~ NB(share, cancel) and the flood Z. With the whole share, A and B are geometric and one dimension suffices.

    Then P[A - B = w, B + Z = v] is (1-q)^2 q^|w| g(v - max(0, -w)), g proportional to the law of G = Z + Geom(q^2): all
    w > 0 share one likelihood ratio, and all w <= 0 that of G at t against G at t - 1.
    """
    if share == 1.0:
        q = cancel
        masses = _plus_geometric(flood.masses, q * q)
        here, before = np.append(masses, 0.0), np.append(0.0, masses)
        return Pair(np.append(here, q) / (1.0 + q), np.append(q * before, 1.0) / (1.0 + q), flood.dropped + NEGLIGIBLE)
    return _plane(laws.negative_binomial(share, cancel), flood)


def _plus_geometric(masses: Floats, x: float) -> Floats:
    """The law of Z + Geom(x): with s a shift by one, 1/(1 - x s) is the product of 1 + (x s)^k over k = 1, 2, 4, ..."""
    reach = math.ceil(math.log(NEGLIGIBLE) / math.log(x)) + 1
    total, step = np.append(masses, np.zeros(reach)), 1
    while step < total.size and x**step > NEGLIGIBLE:
        moved = x**step * total[:-step]
        total[step:] += moved
        step *= 2
    return (1.0 - x) * total


def _plane(own: Law, flood: Law) -> Pair:
    """Every outcome of (A - B, B + Z), row by row of A - B: needed only when fewer people came than planned."""
    reach = int(np.searchsorted(-own.masses, -NEGLIGIBLE))
    a = own.masses[: max(2, reach)]
    size = a.size + flood.masses.size - 1
    spectrum = np.fft.rfft(flood.masses, size)
    rows = []
    for w in range(1 - a.size, a.size):
        joint = np.zeros(a.size)  # P[A = b + w, B = b] for b = 0, 1, ...
        joint[max(0, -w) : a.size - max(0, w)] = a[max(0, w) : a.size - max(0, -w)] * a[max(0, -w) : a.size - max(0, w)]
        rows.append(np.maximum(np.fft.irfft(np.fft.rfft(joint, size) * spectrum, size), 0.0))
    plane, blank = np.array(rows), np.zeros((1, size))
    p, q = np.concatenate([plane, blank]), np.concatenate([blank, plane])
    return Pair(p.ravel(), q.ravel(), flood.dropped + 2.0 * own.dropped + 1e-13)


def inner_for(epsilon: float, overhead: float) -> float:
    """The inner epsilon whose geometric noise has a standard error (1 + overhead) times that of epsilon itself."""
    # The variance is 1 / (2 sinh^2(epsilon / 2)).
    return 2.0 * math.asinh(math.sinh(epsilon / 2.0) / (1.0 + overhead))
