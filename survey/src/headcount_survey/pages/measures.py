"""Objectives measured again, from the law of the error or from runs, and how far two disagree.

Nothing here is shared with the planner, whose figures are held against these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from headcount.programme.law import Floats, Noise
from headcount.protocols.base.protocol import Protocol

CONFIDENCE = 0.95
SURELY = 0.98  # noticed so often, larger numbers are noticed often enough
FURTHEST = 40.0  # standard errors that are told apart


def predicted(protocol: Protocol, objective: str, truths: Sequence[int], people: int) -> float:
    """The objective in people, for cells with these numbers of people."""
    if objective == "detectable":
        return float(detectable(protocol, people))
    different, times = np.unique(np.array(truths), return_counts=True)
    laws = [protocol.noise(int(truth), people) for truth in different]
    if objective == "rmse":
        squares = [float(law.masses @ law.values**2) / float(law.masses.sum()) for law in laws]
        return math.sqrt(float(np.average(squares, weights=times)))

    def held(width: float) -> float:
        """The chance that a cell's error is no larger, or that no cell's is."""
        each = np.array([float(law.masses[np.abs(law.values) <= width].sum()) - law.dropped for law in laws])
        if objective == "interval":
            return float(np.average(each, weights=times))
        return float(np.prod(each**times)) if protocol.independent else 1.0 - float((1.0 - each) @ times)

    return _first(held, np.unique(np.concatenate([np.abs(law.values) for law in laws])))


def _first(held: Callable[[float], float], widths: Floats) -> float:
    low, high = -1, widths.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if held(float(widths[middle])) >= CONFIDENCE else (middle, high)
    return float(widths[high])


def called_none(noise: Noise) -> float:
    """The smallest answer that is not exceeded 19 times out of 20, and a hair more for rounding."""
    order = np.argsort(noise.values)
    reached = np.cumsum(noise.masses[order]) - noise.dropped
    limit = float(noise.values[order][np.flatnonzero(reached >= CONFIDENCE)[0]])
    return limit + 1e-9 * (1.0 + abs(limit))


def detectable(protocol: Protocol, people: int) -> int:
    """The fewest holders of whom 19 of 20 answers exceed what is still called none.

    Where answers lie on a lattice that moves with the truth, a smaller number may be noticed as
    often by luck.
    """
    limit, missed = called_none(protocol.noise(0, people)), 0
    for truth in range(1, people + 1):
        noise = protocol.noise(truth, people)
        noticed = float(noise.masses[noise.values + truth > limit].sum())
        if noticed < CONFIDENCE:
            missed = truth
        elif noticed > SURELY:
            break
    return missed + 1


def sizes(errors: Floats, objective: str) -> Floats:
    """The figure of each run and cell that is compared: a row a run."""
    if objective == "worst-bin":
        return np.asarray(np.abs(errors).max(axis=1, keepdims=True), dtype=np.float64)
    return np.abs(errors)


def simulated(errors: Floats, objective: str) -> float:
    found = sizes(errors, objective)
    if objective == "rmse":
        return math.sqrt(float(np.mean(found**2)))
    return float(np.quantile(found, CONFIDENCE, method="inverted_cdf"))


def contradiction(first: Floats, second: Floats, objective: str) -> float:
    """By how many standard errors the first errors exceed the second, run by run."""
    if objective == "rmse":
        difference = np.mean(first**2, axis=1) - np.mean(second**2, axis=1)
        error = float(difference.std()) / math.sqrt(difference.size)
        return float(difference.mean()) / error if error else 0.0
    a, b = (sizes(errors, objective) for errors in (first, second))
    return _apart(a, b) - _apart(b, a)


def _apart(larger: Floats, smaller: Floats) -> float:
    """How many standard errors can be taken off one quantile and put on another until they meet.

    They are those of the share of errors below the quantile, run by run, which need no density: off
    and on go ranks.
    """

    def at(errors: Floats, shift: float) -> float:
        quantile = np.quantile(errors, CONFIDENCE, method="inverted_cdf")
        error = float(np.mean(errors <= quantile, axis=1).std()) / math.sqrt(len(errors))
        share = min(max(CONFIDENCE + shift / math.sqrt(2.0) * error, 0.0), 1.0)
        return float(np.quantile(errors, share, method="inverted_cdf"))

    def disjoint(z: float) -> bool:
        low, high = at(larger, -z), at(smaller, z)
        return low > high + 1e-9 * max(1.0, abs(high))

    if not disjoint(0.0):
        return 0.0
    low, high = 0.0, FURTHEST
    while high - low > 0.05:
        middle = (low + high) / 2.0
        low, high = (middle, high) if disjoint(middle) else (low, middle)
    return low
