r"""The same question in many rounds: the divergence of all of them, from bounds on that of one.

Divergences are convex in $\gamma=e^\epsilon$. Bounds from above on a geometric grid $r^i$, r
rational, therefore bound them everywhere by the chords of their lower convex hull, and these are
the divergences of a pair of laws with rational masses at the log-ratios $i\ln r$. A person's values
may change in either direction in any round, so that the bound is that of the worse order, and is
mirrored below 1: the pair dominates the question in both directions, whatever was published before.
Losses add up: a power of one polynomial in balls.

From below: in every round look for one event, and count how often it came.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb, arb_poly

from headcount.proof.ball_laws import ball, least, most
from headcount.proof.divergence import Bounds
from headcount.proof.effort import TooLarge, spend

DOTS = 384  # of a round's divergences above 1
NEGLIGIBLE = Fraction(1, 1 << 20)  # of the smallest delta claimed: what all rounds may lose beyond the last dot
LARGEST = 64  # epsilons of a round that are looked for
FINEST_RATIO = 40  # bits of r - 1 at most
TERM = 4  # units for each coefficient of a power
EVENTS = tuple(Fraction(i, 8) for i in range(9))  # of a round's epsilon: where events are taken from

Divergence = Callable[[Fraction], Bounds]
Dot = tuple[Fraction, Fraction, int]  # the likelihood ratio, the divergence there, and its place on the grid


@dataclass(frozen=True)
class RoundLosses:
    """Several rounds of one question with the same divergences, for deltas down to `smallest`."""

    each: Divergence
    rounds: int
    smallest: Fraction

    def bounds(self, epsilon: Fraction) -> Bounds:
        """The divergence of all rounds together."""
        high = self._above(epsilon)
        found = max((self._below(epsilon, at) for at in self._events), key=lambda bounds: bounds.low)
        return Bounds(min(found.low, high), high, found.chances, found.crowds)

    @cached_property
    def _reach(self) -> Fraction:
        """An epsilon beyond which next to nothing is left of a round, to about a hundredth."""
        enough = NEGLIGIBLE * self.smallest / self.rounds
        high = Fraction(1, 1 << 12)
        while self.each(high).high > enough:
            high *= 2
            if high > LARGEST:
                raise TooLarge("a round may tell too much to add up many of them")
        low = high / 2
        for _ in range(7):
            middle = (low + high) / 2
            low, high = (low, middle) if self.each(middle).high <= enough else (middle, high)
        return high

    @cached_property
    def _ratio(self) -> Fraction:
        """The grid's ratio r: one plus a power of two, as fine as `DOTS` dots' reach allows."""
        bits = max(1, math.ceil(-math.log2(math.expm1(float(self._reach) / DOTS))))
        if bits > FINEST_RATIO:
            raise TooLarge("a round tells too little to be told from nothing")
        return 1 + Fraction(1, 1 << bits)

    @cached_property
    def _hull(self) -> list[Dot]:
        """The lower convex hull of the bounds, mirrored below 1: places from first to last."""
        ratio, step = self._ratio, ball(self._ratio).log()
        above = [(Fraction(1), self.each(Fraction(0)).high, 0)]
        here = Fraction(1)
        while Fraction(above[-1][2]) * least(step) < self._reach:
            here, place = here * ratio, above[-1][2] + 1
            epsilon = Fraction(math.floor(least(place * step) * (1 << 100)), 1 << 100)  # the divergence only falls
            above.append((here, min(self.each(epsilon).high, above[-1][1]), place))
        below = [(1 / at, 1 - 1 / at + delta / at, -place) for at, delta, place in above[:0:-1]]
        spend(TERM * len(above) ** 2 // 8)
        hull: list[Dot] = []
        for dot in [*below, *above]:
            while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], dot):
                hull.pop()
            hull.append(dot)
        return hull

    @cached_property
    def _masses(self) -> tuple[arb_poly, int, Fraction]:
        """The law of the sum of all losses under the first crowd, the place of its first
        coefficient, and the chance that some loss is infinite."""
        hull = self._hull
        lost = hull[-1][1]
        slopes = [lost - 1, *(_slope(one, two) for one, two in itertools.pairwise(hull)), Fraction(0)]
        first, last = hull[0][2], hull[-1][2]
        masses = [arb(0)] * (last - first + 1)
        for (at, _, place), before, after in zip(hull, slopes[:-1], slopes[1:], strict=True):
            masses[place - first] = ball(at * max(Fraction(0), after - before))
        size = (last - first) * self.rounds + 1
        spend(TERM * size * self.rounds.bit_length())
        return arb_poly(masses) ** self.rounds, first * self.rounds, 1 - (1 - lost) ** self.rounds

    def _above(self, epsilon: Fraction) -> Fraction:
        if self.each(epsilon / self.rounds).high == 0:
            return Fraction(0)
        power, first, lost = self._masses
        coefficients = power.coeffs()
        growth, step = ball(epsilon).exp(), ball(self._ratio).log()
        start = max(0, math.floor(epsilon / most(step)) - first)
        spend(TERM * max(0, len(coefficients) - start))
        total, left, shrink = arb(0), growth * (-(first + start) * step).exp(), 1 / ball(self._ratio)
        for mass in coefficients[start:]:
            share = 1 - left
            if not share < 0:
                total += mass * share.max(arb(0))
            left *= shrink
        return min(Fraction(1), most(total) + lost)

    @cached_property
    def _events(self) -> list[Bounds]:
        """Events that tell a round's crowds apart, each with its chances."""
        return [self.each(part * self._reach) for part in EVENTS]

    def _below(self, epsilon: Fraction, event: Bounds) -> Bounds:
        """How well the number of rounds in which the event comes tells the crowds apart."""
        spend(TERM * self.rounds)
        if event.chances[0] <= event.chances[1]:  # chances are known on one side: that it stays away tells nothing
            return Bounds.at_most(Fraction(1), event.crowds)
        likely, unlikely = (ball(chance) for chance in event.chances)
        growth, n = ball(epsilon).exp(), self.rounds
        here = there = excess = arb(0)
        for times in range(n + 1):
            ways = math.comb(n, times)
            first = ways * likely**times * (1 - likely) ** (n - times)
            second = ways * unlikely**times * (1 - unlikely) ** (n - times)
            gain = first - growth * second
            if gain > 0:
                here, there, excess = here + first, there + second, excess + gain
        low = max(Fraction(0), least(excess))
        often = f"{event.crowds}; one event in each of {n:,} rounds, counted"
        return Bounds(low, Fraction(1), (least(here), most(there)), often)


def _slope(one: Dot, two: Dot) -> Fraction:
    return (two[1] - one[1]) / (two[0] - one[0])
