"""The stability histogram against the joint law of the bins that change, over all counts that matter."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import truth

from headcount.errors import BadArgument
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.pair import Pair
from headcount.privacy.stability import StabilityAddRemove, StabilityReplace, reveals
from headcount.privacy.two_sided_noise import discrete_laplace


def loss_of(rate: Fraction, threshold: int, cells: int) -> PrivacyLoss:
    """One bin changes if a person comes or goes, two if one is replaced."""
    return StabilityAddRemove(rate, threshold) if cells == 1 else StabilityReplace(rate, threshold)


def reported(rate: float, threshold: int, count: int, most: int) -> np.ndarray:
    """P[0 is reported], then P[threshold .. most], the last cell holding whatever lies beyond."""
    if count == 0:
        return np.eye(1, most - threshold + 2)[0]
    a = math.exp(-rate)
    noise = np.arange(threshold, most) - count
    masses = (1 - a) / (1 + a) * a ** np.abs(noise)
    beyond = a ** (most - count) / (1 + a)  # most is never below the count
    return np.concatenate([[1.0 - masses.sum() - beyond], masses, [beyond]])


def divergence(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def all_counts(rate: float, threshold: int, cells: int, epsilon: float) -> tuple[float, float]:
    """Every count up to twice the threshold in each bin that changes: the first gains, the second loses."""
    most = 2 * threshold + 2
    laws = [reported(rate, threshold, count, most) for count in range(2 * threshold + 2)]
    counts = range(2 * threshold + 1)
    if cells == 1:
        pairs = [(laws[c + 1], laws[c]) for c in counts]
    else:
        both = product(counts, counts)
        pairs = [(np.outer(laws[c], laws[d + 1]), np.outer(laws[c + 1], laws[d])) for c, d in both]
    return max(divergence(p, q, epsilon) for p, q in pairs), max(divergence(q, p, epsilon) for p, q in pairs)


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize(("rate", "threshold"), [(1.0, 1), (1.0, 2), (0.5, 3), (0.5, 6), (0.1, 4), (2.0, 5), (0.05, 1)])
def test_the_claim_is_the_worst_of_all_counts(rate: float, threshold: int, cells: Any) -> None:
    # A union bound over the two bins, a bin left out, or one order left out would all differ here.
    loss = loss_of(Fraction(rate), threshold, cells)
    for share in (0.0, 0.3, 0.9, 1.0, 1.2, 1.9, 2.0, 2.5, 8.0):
        found = all_counts(rate, threshold, cells, share * rate)
        claimed = [side.item() for side in loss.orders(np.array([share * rate]))]
        assert claimed == pytest.approx(found, rel=1e-9, abs=1e-14)
        assert loss.delta(share * rate) >= max(found) - 1e-14


def test_neither_two_filled_bins_nor_two_empty_ones_are_always_the_worst() -> None:
    # So a search of only these would understate; the mixed pair has to be looked at.
    rate, threshold, epsilon = 0.5, 3, 0.2
    laws = [reported(rate, threshold, count, 20) for count in range(9)]
    shift, alone, mixed = (
        divergence(np.outer(laws[c], laws[d + 1]), np.outer(laws[c + 1], laws[d]), epsilon)
        for c, d in ((5, 5), (0, 0), (5, 0))
    )
    worst = loss_of(Fraction(rate), threshold, 2).delta(epsilon)
    assert max(shift, alone, mixed) <= worst
    assert max(shift, alone) < worst * (1 - 1e-3)


@pytest.mark.parametrize(("rate", "cells", "threshold"), [(Fraction(1, 2), 2, 28), (Fraction(1), 1, 15)])
def test_thresholds_at_epsilon_one_and_delta_a_millionth(rate: Fraction, cells: Any, threshold: int) -> None:
    # The union bound over two bins would ask for 30.
    delta, a = loss_of(rate, threshold, cells).delta(1.0), math.exp(-float(rate))
    assert delta <= 1e-6 < loss_of(rate, threshold - 1, cells).delta(1.0)
    assert delta == pytest.approx(a ** (threshold - 1) / (1 + a), rel=1e-9)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(0.1), Fraction(2)])
@pytest.mark.parametrize("cells", [1, 2])
def test_from_the_pure_epsilon_on_only_somebody_alone_costs_anything(rate: Fraction, cells: Any) -> None:
    loss = loss_of(rate, 200, cells)
    pure = float(cells * rate)
    pure = pure if Fraction(pure) >= cells * rate else math.nextafter(pure, math.inf)
    assert loss.slack(pure) == 0.0
    assert loss.delta(pure) == pytest.approx(reveals(rate, 200), rel=1e-9)
    assert loss.delta(700.0) == loss.delta(pure)
    assert loss.delta(math.nextafter(math.nextafter(pure, 0.0), 0.0)) > loss.delta(pure)


@pytest.mark.parametrize("threshold", [1, 2, 28, 29, 40, 60, 100])
def test_the_chance_to_reveal_somebody_is_that_of_the_noise_drawn(threshold: int) -> None:
    # The ideal a**(T-1) / (1+a) lies below what is drawn: its masses were rounded up.
    noise = discrete_laplace(Fraction(1))
    centre, beyond = noise.centre.coarse, noise.beyond.coarse
    share, first = Fraction(1, sum(centre)), threshold - 1
    if first < noise.reach:
        tail = share * sum(centre[first + noise.reach :])
    else:
        tail, left = share * centre[-1], first - noise.reach
        while left >= noise.reach:
            tail, left = tail * Fraction(beyond[-1], sum(beyond)), left - noise.reach
        tail *= Fraction(sum(beyond[left:]), sum(beyond))
    claim = loss_of(Fraction(1), threshold, 1).delta(5.0)
    if threshold > 1:
        assert tail <= claim
    assert reveals(Fraction(1), threshold) == pytest.approx(float(tail), rel=1e-11, abs=1e-29)
    ideal = truth.mp.exp(-first) / (1 + truth.mp.exp(-1))
    assert float(tail) == pytest.approx(float(ideal), rel=1e-6)


def test_what_is_drawn_loses_no_more_than_is_claimed() -> None:
    # The tables' own law on both bins, not the ideal one: slack has to pay for the difference below the pure epsilon.
    rate, threshold = Fraction(1, 2), 4
    law = discrete_laplace(rate).law

    def cut(count: int) -> np.ndarray:
        masses = np.zeros(401)
        shown = law.values + count
        np.add.at(masses, np.clip(np.where(shown >= threshold, shown, 0), 0, 400), law.masses)
        return masses if count else np.eye(1, 401)[0]

    for epsilon in (0.0, 0.3, 0.5, 0.9, 1.0, 2.0):
        loss = loss_of(rate, threshold, 2)
        for c, d in ((0, 0), (0, 6), (6, 0), (6, 6), (1, 2)):
            p, q = np.outer(cut(c), cut(d + 1)).ravel(), np.outer(cut(c + 1), cut(d)).ravel()
            assert Pair(p, q).delta(epsilon) <= loss.delta(epsilon) + 1e-15


def test_a_threshold_that_empty_bins_reach_is_refused() -> None:
    with pytest.raises(BadArgument, match="threshold"):
        loss_of(Fraction(1), 0, 1)


def test_no_epsilon_makes_up_for_a_threshold_too_low() -> None:
    loss = loss_of(Fraction(1, 2), 28, 2)
    assert loss.epsilon(1e-6) == pytest.approx(1.0, abs=1e-5)
    assert loss.epsilon(1e-7) == math.inf


def spreads(reports: int, largest: int) -> Any:
    """Every way to spread so many reports over bins, the fullest bin first."""
    if reports == 0:
        yield ()
    for most in range(min(reports, largest), 0, -1):
        yield from ((most, *rest) for rest in spreads(reports - most, most))


def every_spread(rate: float, threshold: int, reports: int, bins: int, epsilon: float) -> tuple[float, float]:
    """All ways to spread the reports, over bins that any number of others hold."""
    most = 2 * threshold + reports + 3
    laws = [reported(rate, threshold, count, most) for count in range(threshold + reports + 1)]
    forward, backward = 0.0, 0.0
    for spread in spreads(reports, reports):
        for others in product(range(threshold + 1), repeat=len(spread)) if len(spread) <= bins else ():
            p, q = np.ones(1), np.ones(1)
            for many, count in zip(spread, others, strict=True):
                p, q = np.outer(p, laws[count + many]).ravel(), np.outer(q, laws[count]).ravel()
            forward, backward = max(forward, divergence(p, q, epsilon)), max(backward, divergence(q, p, epsilon))
    return forward, backward


@pytest.mark.parametrize("bins", [1, 2, 9])
@pytest.mark.parametrize("reports", [2, 3])
@pytest.mark.parametrize(("rate", "threshold"), [(1.0, 1), (1.0, 3), (0.5, 3), (0.1, 4), (2.0, 3), (0.05, 1), (0.7, 2)])
def test_several_reports_are_priced_by_the_worst_way_to_spread_them(
    rate: float, threshold: int, reports: int, bins: int
) -> None:
    # One bin for all, or one for each: either may be the worse, and neither may stand in for the other.
    loss = StabilityAddRemove(Fraction(rate), threshold, reports, bins)
    for share in (0.0, 0.4, 1.0, 1.5, 2.0, 3.0, 4.0):
        claimed = [side.item() for side in loss.orders(np.array([share * rate]))]
        found = every_spread(rate, threshold, reports, bins, share * rate)
        assert claimed == pytest.approx(found, rel=1e-9, abs=1e-13)


def test_neither_one_bin_nor_many_is_always_the_worst_for_those_alone() -> None:
    for rate, worst in ((0.1, "apart"), (2.0, "together")):
        alone, both = reveals(Fraction(rate), 30), reveals(Fraction(rate), 29)
        apart = 1.0 - (1.0 - alone) ** 2
        assert (apart > both) == (worst == "apart")
        assert StabilityAddRemove(Fraction(rate), 30, 2).delta(9.0) == pytest.approx(max(apart, both), rel=1e-9)


def test_a_crowd_too_small_for_the_worst_is_told_as_a_bound() -> None:
    assert StabilityReplace(Fraction(1), 4, 7).kind == "exact"
    assert StabilityReplace(Fraction(1), 4, 6).kind == "bound"
