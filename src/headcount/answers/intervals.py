"""Intervals that cover: every truth that would have called the estimate likely."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.domains.domain import Shape

if TYPE_CHECKING:
    from headcount.protocols.base.protocol import Protocol

Width = TypeVar("Width", float, Floats)

COARSE = 64  # steps of the lattice in an interval from which on the lattice hardly matters
SKEWED = 64  # people: the law of the error of fewer is far from a bell curve
FEW = 48  # different estimates that get an interval of their own; more share a grid of truths


def covering(protocol: Protocol, people: Floats, reports: int, confidence: float) -> Floats:
    """For each estimate a row [low, high] that holds its truth with this confidence."""
    if protocol.steady:
        half = np.full(people.size, half_width(protocol, 0, reports, confidence))
        if protocol.task.shape in (Shape.AMOUNT, Shape.SHARE, Shape.SHARES):
            half += protocol.noise(0, reports).step  # the lattice of a sum lies differently for every crowd
    else:
        different, place = np.unique(people, return_inverse=True)
        if different.size <= FEW or reports <= COARSE:
            half = np.array([_inverted(protocol, float(value), reports, confidence) for value in different])[place]
        else:
            half = _shared(protocol, people, reports, confidence)
    return np.stack([people - half, people + half], axis=1)


def _shared(protocol: Protocol, people: Floats, reports: int, confidence: float) -> Floats:
    """The half-widths for many estimates at once, with one step of the lattice added."""
    middle = int(np.clip(np.rint(np.median(people)), 0, reports))
    return _at_the_ends(protocol, people, reports, confidence) + protocol.noise(middle, reports).step


def _at_the_ends(protocol: Protocol, people: Floats, reports: int, confidence: float) -> Floats:
    """The half-width of the error at the interval's own ends, found by iteration.

    It changes slowly with the truth; from further away an error hardly ever reaches the estimate.
    """
    half = half_widths(protocol, np.clip(np.rint(people), 0, reports).astype(np.int64), reports, confidence)
    while True:
        ends = [np.clip(np.rint(people + side * half), 0, reports).astype(np.int64) for side in (-1.0, 1.0)]
        wider = np.maximum.reduce([half, *(half_widths(protocol, end, reports, confidence) for end in ends)])
        if np.array_equal(wider, half):
            return half
        half = wider


def half_widths(protocol: Protocol, truths: Ints, reports: int, confidence: float) -> Floats:
    """The half-width of the error at each truth.

    Many truths share a grid, on which the larger of the two neighbours is taken.
    """
    if protocol.steady:
        return np.full(truths.size, half_width(protocol, 0, reports, confidence))
    grid = np.unique(np.concatenate([[0], np.geomspace(1, max(1, reports), FEW)]).astype(np.int64))
    grid = grid if truths.size > FEW else np.unique(truths)
    found = np.array([half_width(protocol, int(truth), reports, confidence) for truth in grid])
    above = np.searchsorted(grid, truths)
    below = np.maximum(above - (grid[above] > truths), 0)
    return np.asarray(np.maximum(found[above], found[below]))


@lru_cache(maxsize=1 << 13)
def half_width(protocol: Protocol, truth: int, reports: int, confidence: float) -> float:
    """The half-width of the error's law; cached, as many tallies share a protocol."""
    half = protocol.noise(truth, reports).half_width(confidence)
    return half if half.is_integer() else half * (1.0 + 1e-12)  # a sum of doubles must not exclude its own end


def _inverted(protocol: Protocol, value: float, reports: int, confidence: float) -> float:
    """Wide enough for every truth that would have called this estimate likely.

    How wide that is depends on the truth, by the size of the error and by the lattice of possible
    estimates.
    """
    guess = min(max(round(value), 0), reports)
    half, step = half_width(protocol, guess, reports, confidence), protocol.noise(guess, reports).step
    near: Iterable[int] = range(reports + 1)
    if reports > COARSE:
        half = float(_at_the_ends(protocol, np.array([value]), reports, confidence)[0])
        if half >= COARSE * step:
            return half + step  # by which the half-widths of neighbouring truths may differ
        near = {k for end in (value - half, value + half) for k in range(*_about(end, 4.0 * step))}
    for k in near:
        if 0 <= k <= reports and half < abs(value - k) <= half_width(protocol, k, reports, confidence):
            half = abs(value - k)
    return half


def _about(end: float, reach: float) -> tuple[int, int]:
    return math.floor(end - reach), math.ceil(end + reach) + 1


def sure_half_width(most: float, spread: float, reports: int, confidence: float) -> float:
    """For a sum of independent scores of a range up to `most`, whose error is at most `spread`.

    By the inequalities of Hoeffding and Bernstein.
    """
    log = math.log(2.0 / (1.0 - confidence))
    jump = most * log / 3.0
    return min(most * math.sqrt(reports * log / 2.0), jump + math.sqrt(jump**2 + 2.0 * log * spread**2))


def skewed_by(half: Width, spread: float, most: float) -> Width:
    """Edgeworth's shift of a quantile for the largest skewness and kurtosis such scores have."""
    return (half / spread) ** 3 / 10.0 * most**2 / spread


def digits(low: float, high: float) -> int:
    """How many places of an answer mean something: to about a tenth of its interval."""
    half = (high - low) / 2.0
    return min(max(1 - math.floor(math.log10(half)), 0 if half >= 100.0 else 1), 9) if half > 0.0 else 1
