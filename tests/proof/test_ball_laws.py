"""Balls against mpmath, and divergences against exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.proof.ball_laws import (
    NEGLIGIBLE_BITS,
    BallLaw,
    Tail,
    ball,
    binomial,
    geometric_more,
    least,
    most,
    negative_binomial,
    poisson,
)
from headcount.proof.divergence import BallPair, Bounds, divergence

NEARLY = Fraction(1, 1 << (NEGLIGIBLE_BITS - 10))


@pytest.fixture(autouse=True)
def _precisely() -> object:
    with ctx.workprec(256), mpmath.workprec(400):
        yield


def check(law: BallLaw, mass: Callable[[int], mpmath.mpf], outside_at_most: Fraction = NEARLY) -> None:
    """Every mass lies in its ball, and what is left of one is no more than is said."""
    total = mpmath.mpf(0)
    for k in range(law.start, law.stop):
        exact = mass(k)
        total += exact
        low, high = least(law.at(k)), most(law.at(k))
        slack = mpmath.mpf(2) ** -350
        assert mpmath.mpf(low.numerator) / low.denominator <= exact + slack
        assert exact - slack <= mpmath.mpf(high.numerator) / high.denominator
    left = most(law.outside)
    assert 1 - total <= mpmath.mpf(left.numerator) / left.denominator + mpmath.mpf(2) ** -350
    assert left <= outside_at_most


@pytest.mark.parametrize("trials", [0, 1, 7, 400])
@pytest.mark.parametrize("chance", [Fraction(1, 1 << 64), Fraction(1, 5), Fraction(1, 2), Fraction(999, 1000)])
def test_binomial_masses(trials: int, chance: Fraction) -> None:
    p = mpmath.mpf(chance.numerator) / chance.denominator
    check(binomial(trials, ball(chance)), lambda k: mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k))


@pytest.mark.parametrize("mean", [Fraction(1, 1000), Fraction(1), Fraction(50), Fraction(10_001, 10)])
def test_poisson_masses(mean: Fraction) -> None:
    m = mpmath.mpf(mean.numerator) / mean.denominator
    check(poisson(ball(mean)), lambda k: mpmath.exp(k * mpmath.log(m) - m - mpmath.loggamma(k + 1)))


@pytest.mark.parametrize("shape", [Fraction(1, 100), Fraction(1), Fraction(1, 1) + Fraction(1, 1 << 90), Fraction(40)])
@pytest.mark.parametrize("decay", [Fraction(1, 100), Fraction(9, 10)])
def test_negative_binomial_masses(shape: Fraction, decay: Fraction) -> None:
    r, d = (mpmath.mpf(x.numerator) / x.denominator for x in (shape, decay))
    check(
        negative_binomial(ball(shape), ball(decay)),
        lambda k: mpmath.gammaprod([k + r], [r, k + 1]) * (1 - d) ** r * d**k,
    )


@pytest.mark.parametrize("shape", [Fraction(10), Fraction(12_345, 2), Fraction(10**8)])
def test_masses_of_floods_from_their_middle(shape: Fraction) -> None:
    mean = 3_000
    decay = mean / (shape + mean)
    law = negative_binomial(ball(shape), ball(decay))
    few = [k for k in (0, 1, 500, mean - 1, mean, 3_200) if k >= law.start]
    for k in few:
        r, d = (mpmath.mpf(x.numerator) / x.denominator for x in (shape, decay))
        choose = mpmath.loggamma(k + r) - mpmath.loggamma(r) - mpmath.loggamma(k + 1)
        exact = mpmath.exp(choose + r * mpmath.log(1 - d) + k * mpmath.log(d))
        low, high = (mpmath.mpf(x.numerator) / x.denominator for x in (least(law.at(k)), most(law.at(k))))
        assert low <= exact * (1 + mpmath.mpf(2) ** -350)
        assert exact * (1 - mpmath.mpf(2) ** -350) <= high <= low * (1 + mpmath.mpf(2) ** -150)
    assert least(sum(law.masses, arb(0))) > 1 - most(law.outside) - NEARLY
    assert most(law.outside) < NEARLY


def test_a_geometric_number_more() -> None:
    law = geometric_more(BallLaw(0, [arb(1) / 2, arb(0), arb(1) / 2], arb(0)), arb(1) / 4)
    check(law, lambda k: mpmath.mpf(3) / 8 * (mpmath.mpf(4) ** -k + (mpmath.mpf(4) ** (2 - k) if k >= 2 else 0)))


def _tail(rate: Fraction, trials: int, v: int) -> Fraction:
    return sum((math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(v, trials + 1)), Fraction(0))


@given(st.fractions(Fraction(1, 64), Fraction(63, 64)), st.integers(1, 30), st.lists(st.booleans(), max_size=30))
@settings(max_examples=50, deadline=None)
def test_tails_are_followed(rate: Fraction, trials: int, steps: list[bool]) -> None:
    tail = Tail.all_of(ball(rate), trials)
    for trial in steps:
        if trial or tail.v > tail.trials:
            tail.one_more_trial()
        else:
            tail.one_more_success()
        exact = _tail(rate, tail.trials, tail.v)
        assert least(tail.tail) <= exact <= most(tail.tail)


def test_a_tail_far_out_does_not_stay_at_nothing() -> None:
    """A mass outside of the window is not known, which is not the same as none."""
    tail = Tail.at(arb(1) / 2, 300, 290)
    for _ in range(300):
        tail.one_more_trial()
    assert least(tail.tail) <= _tail(Fraction(1, 2), 600, 290) <= most(tail.tail)
    assert most(tail.mass) > 0


masses = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6).filter(
    lambda both: any(p for p, _ in both) and any(q for _, q in both)
)


def _laws(both: list[tuple[int, int]]) -> list[tuple[Fraction, Fraction]]:
    p, q = (sum(column) for column in zip(*both, strict=True))
    return [(Fraction(a, p), Fraction(b, q)) for a, b in both]


def _pair(both: list[tuple[Fraction, Fraction]]) -> BallPair:
    return BallPair([ball(p) for p, _ in both], [ball(q) for _, q in both])


@given(masses, masses, st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1), Fraction(3)]))
@settings(max_examples=200, deadline=None)
def test_the_divergence_of_a_product(one: list[tuple[int, int]], two: list[tuple[int, int]], epsilon: Fraction) -> None:
    first, second = _laws(one), _laws(two)
    with ctx.workprec(256):
        bounds = divergence(epsilon, _pair(first), _pair(second))
    growth = Fraction(math.exp(epsilon))  # near enough: exact at 0
    exact = sum((max(Fraction(0), a * b - growth * c * d) for (a, c), (b, d) in product(first, second)), Fraction(0))
    slack = Fraction(0) if not epsilon else Fraction(1, 10**13)
    assert bounds.low - slack <= exact <= bounds.high + slack
    assert bounds.high - bounds.low <= Fraction(1, 1 << 90)
    assert bounds.chances[0] - growth * bounds.chances[1] >= bounds.low - slack - Fraction(1, 1 << 200)


def test_what_lies_outside_of_a_window_is_on_nobodys_side() -> None:
    """It may be where P is, or where Q is."""
    outside = arb(1) / 16
    pair = BallPair([arb(15) / 16, arb(0)], [arb(0), arb(15) / 16], outside)
    bounds = divergence(Fraction(0), pair)
    assert bounds.low <= Fraction(14, 16)
    assert bounds.high >= 1


def test_a_mass_that_may_be_nothing_is_not_left_out() -> None:
    unknown = arb(0, 1)
    with pytest.raises(ArithmeticError, match="precision"):
        divergence(Fraction(0), BallPair([unknown, arb(1)], [arb(1), arb(1)]))


def test_what_is_less_certain_is_still_a_chance() -> None:
    bounds = Bounds(Fraction(1, 10), Fraction(9, 10), (Fraction(1, 5), Fraction(4, 5)))
    wide = bounds.widened(Fraction(1, 2), Fraction(1, 2))
    assert (wide.low, wide.high, wide.chances) == (0, 1, (0, 1))
