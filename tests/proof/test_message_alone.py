"""A message among others tells no more than alone: where the blanket claims more, the proof claims that."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from headcount.proof import amplification

TRUTH, LIE = Fraction(999, 1000), Fraction(1, 1000)
BITS = {(TRUTH, LIE, LIE): 1, (LIE, TRUTH, LIE): 1}
GROWTH, PEOPLE, NOISE = 2, 2, max(amplification.NOISES)
ALONE = TRUTH - GROWTH * LIE


@pytest.fixture(autouse=True)
def approximate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk's law is bounded, as that of many people is, and not gone through step by step."""
    monkeypatch.setattr(amplification, "FEW", 0)


def attained() -> float:
    """What the number of ones tells of two people, of whom one answers otherwise and the other one holds a zero."""
    t, f = float(TRUTH), float(LIE)
    zero, one = [t * t, 2 * t * f, f * f], [f * t, t * t + f * f, t * f]
    return max(sum(max(0.0, p - GROWTH * q) for p, q in zip(*pair, strict=True)) for pair in ((zero, one), (one, zero)))


def test_a_message_among_two_is_lost_as_alone() -> None:
    proved = amplification._lost(BITS, arb(GROWTH), PEOPLE, NOISE)
    assert attained() <= proved <= ALONE + Fraction(1, 10**12)
    assert proved / 2 < attained()


def test_the_blanket_alone_claims_more() -> None:
    odds = TRUTH / LIE
    walk = [(arb(int(odds) - GROWTH), LIE), (arb(1 - GROWTH * int(odds)), LIE)]
    assert amplification._mean_positive_part(walk, PEOPLE, NOISE) > ALONE
