r"""Rigorous divergences between what two neighbouring crowds may look like.

For independent pairs, $D_\epsilon(P_1 P_2 \| Q_1 Q_2)$ is a sum over the outcomes of the first of a
prefix of those of the second, sorted by likelihood ratio. Any choice of prefixes is an event and so
a lower bound; log-ratios are known to a few 2**-100, so that a wrong choice misses next to nothing,
which the upper bound adds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from flint import arb

from headcount.proof.ball_laws import BallLaw, ball, floor, least, most
from headcount.proof.effort import spend

RATIO_BITS = 100
DOUBT = 8  # units of that, within which it is not sure which of two ratios is the larger
MISSED = Fraction(1, 1 << 94)  # of the mass, at most, where there was a doubt
CERTAIN = 1 << 200  # stands for an infinite log-ratio
ZERO = arb(0)
SORTED, FOUND = 3, 2  # units: an outcome's log-ratio and place, and its best prefix of the others'


@dataclass(frozen=True)
class Bounds:
    """A divergence that certainly lies between the two, and an event that shows the lower one.

    The event has at least the first chance among one crowd and at most the second among its
    neighbour.
    """

    low: Fraction
    high: Fraction
    chances: tuple[Fraction, Fraction]
    crowds: str = ""

    @classmethod
    def at_most(cls, high: Fraction, crowds: str = "") -> Bounds:
        """The bounds of which only the upper one is known, and no event."""
        return cls(Fraction(0), min(Fraction(1), high), (Fraction(0), Fraction(0)), crowds)

    @property
    def only_above(self) -> Bounds:
        """The same where the event shown may not be one of these crowds': it refutes nothing."""
        return Bounds.at_most(self.high, self.crowds)

    def widened(self, low: Fraction, high: Fraction) -> Bounds:
        """The bounds moved apart by this much, but never below 0 or above 1."""
        likely, unlikely = self.chances
        chances = (max(Fraction(0), likely - low), min(Fraction(1), unlikely + low))
        low, high = max(Fraction(0), self.low - low), min(Fraction(1), self.high + high)
        return replace(self, low=low, high=high, chances=chances)

    def among(self, crowds: str) -> Bounds:
        return replace(self, crowds=crowds)


def worst_of(found: Iterable[Bounds]) -> Bounds:
    """The largest of several divergences."""
    every = list(found)
    return replace(max(every, key=lambda bounds: bounds.low), high=max(bounds.high for bounds in every))


@dataclass(frozen=True)
class BallPair:
    """Masses of the same outcomes under P and under Q, and how much of either lies elsewhere."""

    p: Sequence[arb]
    q: Sequence[arb]
    outside: arb = ZERO

    @classmethod
    def of(cls, first: BallLaw, second: BallLaw) -> BallPair:
        """Outcomes in both windows. What lies outside of them may be lost altogether."""
        start, stop = min(first.start, second.start), max(first.stop, second.stop)
        spend(stop - start)
        p, q = [[law.at(k) for k in range(start, stop)] for law in (first, second)]
        return cls(p, q, first.outside.max(second.outside))

    @classmethod
    def shifted(cls, law: BallLaw, by: int = 1) -> BallPair:
        return cls.of(law, BallLaw(law.start + by, law.masses, law.outside))

    @cached_property
    def reversed(self) -> BallPair:
        """The pair in the other order, kept with its sorted outcomes."""
        return BallPair(self.q, self.p, self.outside)

    @cached_property
    def _sorted(self) -> tuple[list[int], list[arb], list[arb]]:
        """The outcomes of P by falling log-ratio: minus it in units of 2**-100, and the masses."""
        spend(SORTED * len(self.p))
        possible = ((i, p, q) for i, (p, q) in enumerate(zip(self.p, self.q, strict=True)) if not p.is_zero())
        keyed = sorted((_falling(p, q), i) for i, p, q in possible)
        return [key for key, _ in keyed], [self.p[i] for _, i in keyed], [self.q[i] for _, i in keyed]

    @cached_property
    def _prefixes(self) -> tuple[list[arb], list[arb]]:
        _, p, q = self._sorted
        spend(len(p))
        return list(accumulate(p, initial=arb(0))), list(accumulate(q, initial=arb(0)))


NOTHING = BallPair([arb(1)], [arb(1)])


def _falling(p: arb, q: arb) -> int:
    if q == 0:
        return -CERTAIN
    scaled = (q / p).log() * arb(2) ** RATIO_BITS
    if not scaled.rad() < 1:
        raise ArithmeticError("a likelihood ratio is not known well enough; more precision is needed")
    return floor(scaled)


def divergence(epsilon: Fraction, first: BallPair, second: BallPair = NOTHING) -> Bounds:
    """The divergence of P1 P2 from Q1 Q2 at this epsilon."""
    if len(first.p) > len(second.p):
        first, second = second, first
    growth = ball(epsilon).exp()
    limit = int(epsilon * (1 << RATIO_BITS))
    few, p, q = first._sorted
    many, _, _ = second._sorted
    with_p, with_q = second._prefixes
    here, there, doubtful = arb(0), arb(0), False
    spend(FOUND * len(few))
    for key, mine, others in zip(few, p, q, strict=True):
        chosen = bisect_left(many, -limit - key)
        here += mine * with_p[chosen]
        there += others * with_q[chosen]
        doubtful |= chosen != bisect_left(many, DOUBT - limit - key) or chosen != bisect_left(
            many, -DOUBT - limit - key
        )
    excess = here - growth * there
    lost = most(first.outside + second.outside)
    high = max(Fraction(0), most(excess)) + lost + (MISSED if doubtful else 0)
    low = max(Fraction(0), least(excess) - (1 + most(growth)) * lost)  # what Q has outside may be where P is
    return Bounds(low, high, (least(here) - lost, most(there) + lost))


def either_order(epsilon: Fraction, first: BallPair, second: BallPair = NOTHING) -> Bounds:
    return worst_of([divergence(epsilon, first, second), divergence(epsilon, first.reversed, second.reversed)])


_ = NOTHING._prefixes, NOTHING.reversed._prefixes  # kept from here on, so that no certificate pays for them
