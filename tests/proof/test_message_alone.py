"""A message among others tells no more than alone: where the blanket claims more, the proof claims that."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from headcount.proof import amplification

TRUTH, LIE = Fraction(9, 10), Fraction(1, 10)
BITS = {(TRUTH, LIE, LIE): 1, (LIE, TRUTH, LIE): 1}
GROWTH, PEOPLE = 2, 2


def proved() -> Fraction:
    return amplification._lost(BITS, arb(GROWTH), PEOPLE, min(amplification.NOISES))


def attained() -> float:
    """Two people, of whom one answers otherwise: the loss of the number of ones, whatever the other one holds."""
    t, f = float(TRUTH), float(LIE)
    first, second = ([t * f, t * t + f * f, t * f], [f * f, 2 * f * t, t * t])
    pairs = [(first, second), (second, first), (first[::-1], second[::-1]), (second[::-1], first[::-1])]
    return max(sum(max(0.0, p - GROWTH * q) for p, q in zip(*pair, strict=True)) for pair in pairs)


def test_a_message_among_two_is_lost_as_alone():
    alone = TRUTH - GROWTH * LIE
    assert attained() < proved() <= alone + Fraction(1, 10**12)


def test_claiming_half_of_it_would_be_wrong():
    assert proved() / 2 < attained()


def test_the_blanket_says_more_here():
    """Otherwise nothing above would tell the one from the other."""
    walk = [(arb(9 - GROWTH), LIE), (arb(1 - 9 * GROWTH), LIE)]
    assert amplification._mean_positive_part(walk, PEOPLE, min(amplification.NOISES)) > TRUTH - GROWTH * LIE
