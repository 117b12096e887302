"""An accountant of its own for a few small mechanisms: every outcome of every question, in rationals, in both orders.

It knows nothing of the library but what each protocol sends: no curves, no grids, no transforms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import mpmath

DIGITS = 60


def power(exponent: float | Fraction) -> Fraction:
    """e to this, to sixty digits."""
    with mpmath.workdps(DIGITS):
        exact = mpmath.mpf(exponent.numerator) / exponent.denominator if isinstance(exponent, Fraction) else exponent
        return Fraction(int(mpmath.floor(mpmath.ldexp(mpmath.exp(exact), 200))), 1 << 200)


@dataclass(frozen=True)
class Pair:
    """What is seen from either of two neighbours: each outcome's two chances, outcomes of equal ratio taken as one."""

    chances: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def of(cls, outcomes: Iterable[tuple[Fraction, Fraction]]) -> Pair:
        """Exactly: outcomes of one ratio say the same."""
        merged: dict[Fraction | None, tuple[Fraction, Fraction]] = {}
        for p, q in outcomes:
            ratio = p / q if q else None
            before = merged.get(ratio, (Fraction(0), Fraction(0)))
            merged[ratio] = (before[0] + p, before[1] + q)
        return cls(tuple(merged.values()))

    def then(self, other: Pair) -> Pair:
        return Pair.of((p * r, q * s) for p, q in self.chances for r, s in other.chances)

    def mirrored(self) -> Pair:
        """The neighbours exchanged."""
        return Pair(tuple((q, p) for p, q in self.chances))

    def delta(self, epsilon: float) -> Fraction:
        """The divergence, in the worse of the two orders."""
        factor, zero = power(epsilon), Fraction(0)
        there = sum((max(p - factor * q, zero) for p, q in self.chances), zero)
        back = sum((max(q - factor * p, zero) for p, q in self.chances), zero)
        return max(there, back)

    def epsilon(self, delta: float) -> float:
        """Where the divergence comes down to this, by bisection."""
        low, high = 0.0, 64.0
        if self.delta(low) <= delta:
            return 0.0
        while high - low > 1e-13 * high:
            middle = (low + high) / 2.0
            low, high = (low, middle) if self.delta(middle) <= delta else (middle, high)
        return high


NOTHING = Pair(((Fraction(1), Fraction(1)),))


def randomised_response(keep: float) -> Pair:
    """Warner's coin: the true bit with this chance, else the other one."""
    truth = Fraction(keep)
    return Pair.of([(truth, 1 - truth), (1 - truth, truth)])


def zsum(people: int, gamma: float) -> Pair:
    """How many ones arrive: everybody's dummy comes unless a coin of chance gamma says no; neighbours differ by one."""
    no = Fraction(gamma)
    dummies = [comb(people, k) * (1 - no) ** k * no ** (people - k) for k in range(people + 1)]
    zero = Fraction(0)
    return Pair.of(zip([*dummies, zero], [zero, *dummies], strict=True))


def geometric(scale: float) -> Pair:
    """A count plus two-sided geometric noise, against the next count: the ratio is e**(1/scale) or its inverse."""
    decay = power(-1 / Fraction(scale))
    return randomised_response(1 / (1 + decay))
