"""Checks of bias, variance and intervals, from the enumerated law of the estimate."""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from headcount.audit.conformance.check import require
from headcount.audit.conformance.coverage import exact_coverage
from headcount.audit.enumeration import Enumerated, Held, crowds
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape

CONFIDENCE = 0.95
MANY = 20_000
SOME, RUNS = 1_000, 500  # people and runs of a simulation
LEAST = 0.88  # of intervals that cover: 7 standard errors below 95%


def the_error_is_as_stated(protocol: Protocol) -> None:
    """Bias and variance from the enumerated law of the estimate, for every crowd.

    A count of holders has one variance; a sum has that of the crowd that is hardest to estimate,
    and no crowd has more.
    """
    people, task = protocol.crowd.size, protocol.task
    enumerated = Enumerated(protocol)
    largest: dict[tuple[int, int], float] = {}
    for held in crowds(task.values, people):
        estimates, masses = enumerated.estimates(held)
        for cell, truth in enumerate(_truth(protocol, held)):
            holders = people if task.paired or task.shape is Shape.AMOUNT else round(truth)
            family = _family(protocol, cell)
            stated = protocol.noise_in(family, holders, people)
            mean = float(estimates[:, cell] @ masses) / float(masses.sum())
            variance = float((estimates[:, cell] - mean) ** 2 @ masses) / float(masses.sum())
            require(
                math.isclose(mean - truth, stated.bias, abs_tol=1e-7),
                f"{protocol.name}: {held} has a bias of {mean - truth:.6g}, and {stated.bias:.6g} is stated",
            )
            largest[family, holders] = max(largest.get((family, holders), 0.0), variance)
    for (family, holders), variance in largest.items():
        stated, size = protocol.noise_in(family, holders, people), protocol.size_of_error(holders, people)
        require(
            family > 0 or math.isclose(size, stated.rmse, rel_tol=1e-9, abs_tol=1e-9),
            f"{protocol.name}: with {holders} holders the error has two sizes, {size:.9g} and {stated.rmse:.9g}",
        )
        require(
            math.isclose(variance, stated.variance, rel_tol=1e-6, abs_tol=1e-9),
            f"{protocol.name}: with {holders} holders the variance is {variance:.6g}; {stated.variance:.6g} is stated",
        )


def _family(protocol: Protocol, cell: int) -> int:
    """The family of a cell: a person is in one cell of each."""
    if protocol.task.shape is not Shape.K_OF:
        return 0
    return bisect_right([*accumulate(protocol.strategy.sizes_of_families)], cell)


def _truth(protocol: Protocol, held: Held) -> list[float]:
    """Each cell's true value, in people, relative to the protocol's origin."""
    truth = protocol.task.truth(np.repeat(np.arange(len(held)), held))
    missing = protocol.task.low - protocol.origin
    return [float(part) + missing * sum(held) / protocol.task.width for part in truth]


def large_counts_are_unbiased(protocol: Protocol) -> None:
    """Large counts are unbiased, even where small counts are suppressed."""
    people = 10_000
    bias = protocol.among(Crowd(people)).noise(people * 9 // 10, people).bias
    require(abs(bias) <= 1e-6 * people, f"{protocol.name}: a large count is biased by {bias:.6g}")


def intervals_cover(protocol: Protocol) -> None:
    """A 95% interval covers its truth with that probability, exactly, in every crowd; so do
    simultaneous intervals. Approximate ones do in a crowd that is not as small."""
    if protocol.approximate:
        approximate_intervals_cover(protocol)
        return
    people = protocol.crowd.size
    enumerated = Enumerated(protocol)

    @cache
    def intervals(*totals: int) -> tuple[Floats, Floats]:
        tally = Tally(people, np.array(totals), None, protocol.nobody().modulus, released=True)
        estimate = protocol.estimate(tally)
        each = CONFIDENCE ** (1.0 / len(totals)) if protocol.task.paired else estimate.each_at(CONFIDENCE)
        return estimate.people_intervals(CONFIDENCE), estimate.people_intervals(each)

    for held in crowds(protocol.task.values, people):
        truth = protocol.rebuilt(np.array(_truth(protocol, held)), people)
        covered, together = np.zeros(truth.size), 0.0
        for totals, mass in zip(*enumerated.released(held), strict=True):
            if mass > 1e-9:
                single, joint = (_within(truth, ends) for ends in intervals(*totals.tolist()))
                covered += mass * single
                together += mass * bool(joint.all())
        for what, chance in (("a 95% interval", float(covered.min())), ("all intervals together", together)):
            require(chance >= CONFIDENCE - 1e-5, f"{protocol.name}: with {held}, {what} covers with {chance:.4f}")


def approximate_intervals_cover(protocol: Protocol) -> None:
    """Intervals of sums whose law is only nearly known cover often enough in simulations of many
    people, who all hold the same or are spread evenly."""
    large = protocol.among(Crowd(SOME))
    values, parts = protocol.task.values, large.strategy.parts
    for held in (np.bincount([0], [SOME], values), np.bincount(np.arange(SOME) % values)):
        truth = large.rebuilt(large.task.truth(np.repeat(np.arange(values), held.astype(np.int64))), SOME)
        covered = np.zeros(parts)
        for totals in large.sample(held.astype(np.int64), SeededCoins(7), RUNS):
            estimate = large.estimate(Tally(SOME, totals, None, large.nobody().modulus, released=True))
            ends = [estimate.linear(weights).interval(CONFIDENCE) for weights in np.tri(parts)]
            covered += _within(np.cumsum(truth), np.array(ends))
        chance = float(covered.min()) / RUNS
        require(
            chance >= LEAST, f"{protocol.name}: of {RUNS} intervals of a sum {chance:.1%} cover, with {held.tolist()}"
        )


def intervals_cover_at_size(protocol: Protocol) -> None:
    """Intervals cover with many people, where the size of the error depends on the truth: from the
    error's exact law."""
    if protocol.steady or type(protocol).intervals is not Protocol.intervals:
        return
    large = protocol.among(Crowd(MANY))
    for share in (0, 1, 10, 19, 20):
        truth = MANY * share // 20
        chance = exact_coverage(large, truth, MANY, CONFIDENCE)
        said = f"{protocol.name}: of {MANY:,} people {truth:,} hold it, and a 95% interval covers with {chance:.6f}"
        require(chance >= CONFIDENCE - 1e-9, said)


def _within(truth: Floats, ends: Floats) -> Any:
    return (ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9)
