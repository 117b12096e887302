"""Doubles of known error against balls, and the tables' stated distance against the one that is summed up."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import ctx

from headcount.privacy.two_sided_noise import discrete_laplace, discrete_laplace_distance
from headcount.programme.draw import encoded
from headcount.proof.ball_laws import ball, binomial
from headcount.proof.central import nearest_laplace
from headcount.proof.claim import TableNoise
from headcount.proof.doubles import Window, loss
from headcount.proof.flipped_bits import Totals
from headcount.proof.programme import Table

CURVE = tuple((Fraction(epsilon), Fraction(1, 10**7)) for epsilon in (0.0, 0.1, 0.5, 1.0))


@pytest.mark.parametrize(
    ("trials", "chance"), [(0, 0.3), (1, 0.5), (40, 0.9), (10**4, 0.001), (10**6, 0.3), (10**9, 1e-6)]
)
def test_masses_are_wrong_by_no_more_than_is_said(trials: int, chance: float) -> None:
    with ctx.workprec(256):
        exact = binomial(trials, ball(Fraction(chance)), 700)
        near = Window.binomial(trials, ball(Fraction(chance)), 100)
    for k in range(near.start, near.start + near.masses.size, 1 + near.masses.size // 500):
        truth = float(exact.at(k).mid())
        assert abs(float(near.masses[k - near.start]) - truth) <= loss(near.masses.size) * truth
    assert float(near.masses.sum()) + near.outside >= 1.0 - loss(near.masses.size)
    assert near.outside <= 2.0**-100


def test_too_little_precision_is_refused() -> None:
    with ctx.workprec(53), pytest.raises(ArithmeticError, match="precision"):
        Window.binomial(10**9, ball(Fraction(1, 10**6)), 100)


@pytest.mark.parametrize(
    ("flip", "bits", "others", "ones"),
    [(0.001, 1, 20_000, 0), (0.01, 32, 60_000, 7), (0.0001, 5, 10**6, 400_000), (0.2, 3, 9_000, 4_000)],
)
def test_a_stretch_in_doubles_covers_its_first_number_of_ones(flip: float, bits: int, others: int, ones: int) -> None:
    totals = Totals(Fraction(flip), bits, others, dict(CURVE))
    with ctx.workprec(128):
        exact, covered = totals._at(ones, others), totals._covered(ones, others)
    for epsilon, truth in exact.items():
        assert truth.low <= covered[epsilon].high
        assert covered[epsilon].high <= truth.high * Fraction(1_000_001, 1_000_000) + Fraction(1, 10**18)


@pytest.mark.parametrize("rate", [8.0, 2.0, 0.7, 0.05, 1e-3, 1e-5, 3e-6, 2e-7])
def test_two_sided_tables_lie_no_further_from_their_law_than_is_charged(rate: float) -> None:
    drawn = discrete_laplace(Fraction(rate))
    with ctx.workprec(256):
        _, distance = nearest_laplace(TableNoise(Table.read(encoded(drawn.centre)), Table.read(encoded(drawn.beyond))))
    assert float(distance) <= discrete_laplace_distance(Fraction(rate)) <= 40 * float(distance) + 1e-18
