r"""Divergences of many independent pairs: their log-ratios are added up in integers on a grid.

For the upper bound each outcome is split between the two grid points around its log-ratio, so that
its masses under both laws stay as they are: seeing which half it was tells more. Masses are rounded
up to multiples of $2^{-160}$, and sums of log-ratios are products of polynomials with whole
coefficients. For the lower bound each outcome has a place on the grid, and the event that the
places add up to epsilon, about, has its chance under both laws bounded in the same way: every event
is a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from flint import arb, fmpz, fmpz_poly

from headcount.proof.ball_laws import ball, floor, least, most
from headcount.proof.divergence import BallPair, Bounds, worst_of
from headcount.proof.effort import TooLarge, spend

FINE = 512  # points of the grid to a standard deviation of the sum
SCALE = 160  # bits of masses
LATTICE = 90  # bits of the grid's step
MOST_POINTS = 1 << 19
OUTCOME, POINT = 12, 4  # units
NOTHING = Fraction(0)

Outcome = tuple[arb, arb, arb]  # the log-ratio, the mass under P and the one under Q
Placed = Callable[[Outcome], Iterable[tuple[int, arb]]]


@dataclass(frozen=True, eq=False)
class ManyPairs:
    """Pairs of laws, and how many of each; `symmetric` if each has its reverse among them."""

    pairs: Sequence[tuple[BallPair, int]]
    symmetric: bool = False

    def worst(self, epsilon: Fraction) -> Bounds:
        """The divergence in the worse order."""
        if self.symmetric:
            return self.divergence(epsilon)
        return worst_of([self.divergence(epsilon), self._reversed.divergence(epsilon)])

    @cached_property
    def _reversed(self) -> ManyPairs:
        return ManyPairs([(pair.reversed, times) for pair, times in self.pairs])

    def divergence(self, epsilon: Fraction) -> Bounds:
        """The divergence of all pairs together from their second laws."""
        many = sum(times for _, times in self.pairs)
        first = ceil(epsilon / self._step - Fraction(many, 2)) + 1  # a place is half a step too low, about
        likely = Fraction(_from(self._here, first), 1 << SCALE) + self._impossible
        unlikely = Fraction(_from(self._there, first), 1 << SCALE) + self._outside
        low = max(NOTHING, likely - self._outside - most(ball(epsilon).exp()) * unlikely)
        return Bounds(low, self._high(epsilon), (likely, unlikely))

    def _high(self, epsilon: Fraction) -> Fraction:
        start, masses = self._above
        begin = max(start, floor(ball(epsilon / self._step)))
        step, total = ball(self._step), arb(0)
        weight, fall = (ball(epsilon) - step * begin).exp(), (-step).exp()
        spend(POINT * len(masses))
        for mass in masses[begin - start :]:
            left = 1 - weight
            if not left <= 0:
                total += arb(mass) * left
            weight = weight * fall
        return min(Fraction(1), most(total / arb(2) ** SCALE) + self._gone)

    @cached_property
    def _outcomes(self) -> list[list[Outcome]]:
        """The outcomes that both laws of a pair have, for each pair."""
        found = []
        for pair, _ in self.pairs:
            spend(OUTCOME * len(pair.p))
            both = ((p, q) for p, q in zip(pair.p, pair.q, strict=True) if not p.is_zero() and not q.is_zero())
            found.append([((p / q).log(), p, q) for p, q in both])
        return found

    @cached_property
    def _alone(self) -> list[arb]:
        """The mass of each pair's first law where the second has none."""
        return [sum((p for p, q in zip(pair.p, pair.q, strict=True) if q.is_zero()), arb(0)) for pair, _ in self.pairs]

    @cached_property
    def _never(self) -> arb:
        """The chance that no outcome is one that the second laws do not have."""
        found = arb(1)
        for (_, times), alone in zip(self.pairs, self._alone, strict=True):
            found = found * (1 - alone) ** times
        return found

    @property
    def _impossible(self) -> Fraction:
        return max(NOTHING, least(1 - self._never))

    @property
    def _gone(self) -> Fraction:
        return most(1 - self._never) + self._outside

    @cached_property
    def _outside(self) -> Fraction:
        return most(sum((times * pair.outside for pair, times in self.pairs), arb(0)))

    @cached_property
    def _step(self) -> Fraction:
        """A part of the standard deviation of the sum, about, and of the likeliest log-ratio;
        bounds hold whatever it is. Where all log-ratios are one or minus that, but for rounding,
        they come to lie just within grid points.
        """
        spread = reach = 0.0
        for (_, times), outcomes in zip(self.pairs, self._outcomes, strict=True):
            spend(POINT * len(outcomes))
            values = [(float(ratio), float(p)) for ratio, p, _ in outcomes]
            mean = sum(value * mass for value, mass in values)
            spread += times * sum(mass * (value - mean) ** 2 for value, mass in values)
            every = [value for value, _ in values] or [0.0]
            reach += times * (max(every) - min(every))
        step = Fraction(max(math.sqrt(spread) / FINE, reach / MOST_POINTS, 2.0**-30))
        likeliest = max(
            (outcome for outcomes in self._outcomes for outcome in outcomes),
            key=lambda outcome: float(outcome[1]),
            default=None,
        )
        base = abs(most(likeliest[0])) if likeliest is not None else NOTHING
        whole = base / ceil(base / step) if base > step else step
        return Fraction(int(whole * (1 << LATTICE)) + 1, 1 << LATTICE)

    @cached_property
    def _above(self) -> tuple[int, list[int]]:
        """The law of a sum that dominates: its first place, and masses from there on."""
        step = ball(self._step)
        fall = 1 - (-step).exp()

        def split(outcome: Outcome) -> Iterable[tuple[int, arb]]:
            ratio, p, q = outcome
            place = ratio / step
            below, above = floor(place.lower()), floor(place.upper())
            if below != above:  # on a grid point, about: beyond it for sure
                return [(above + 1, p)]
            upper = (p - q * (step * below).exp()) / fall
            return [(below, p - upper), (below + 1, upper)]

        return self._sum(split, up=True)

    @cached_property
    def _here(self) -> tuple[int, list[int]]:
        """At least the masses of the first laws by place."""
        return self._sum(lambda outcome: [(self._place(outcome), outcome[1])], up=False)

    @cached_property
    def _there(self) -> tuple[int, list[int]]:
        """At most those of the second laws."""
        return self._sum(lambda outcome: [(self._place(outcome), outcome[2])], up=True)

    def _place(self, outcome: Outcome) -> int:
        return floor(outcome[0] / ball(self._step))

    def _sum(self, placed: Placed, *, up: bool) -> tuple[int, list[int]]:
        """The first place of a sum, and its masses in units of 2**-160, all rounded to one side."""
        start, product = 0, fmpz_poly([1 << SCALE])
        for (_, times), outcomes in zip(self.pairs, self._outcomes, strict=True):
            masses: dict[int, arb] = {}
            for outcome in outcomes:
                for place, mass in placed(outcome):
                    masses[place] = masses.get(place, arb(0)) + mass
            first, last = min(masses, default=0), max(masses, default=0)
            if (last - first) * times > 2 * MOST_POINTS:
                raise TooLarge("log-ratios are spread over too many points of a grid")
            spend(OUTCOME * len(outcomes) + POINT * (last - first + 1) * times)
            one = fmpz_poly([_whole(masses.get(place, arb(0)), up) for place in range(first, last + 1)])
            start, product = start + times * first, _multiplied(product, _power(one, times, up), up)
        return start, [int(mass) for mass in product.coeffs()]


def _from(law: tuple[int, list[int]], first: int) -> int:
    start, masses = law
    return sum(masses[max(0, first - start) :])


def _whole(mass: arb, up: bool) -> fmpz:
    """A mass in units of 2**-160, rounded; 0 if not surely positive, or upwards its upper bound."""
    scaled = mass * arb(2) ** SCALE
    whole = (scaled.upper().ceil() if up else scaled.lower().floor()).unique_fmpz()
    if whole is None:
        raise ArithmeticError("more precision is needed")
    return max(whole, fmpz(0))


def _multiplied(first: fmpz_poly, second: fmpz_poly, up: bool) -> fmpz_poly:
    half = (1 << SCALE) - 1 if up else 0
    return fmpz_poly([(mass + half) >> SCALE for mass in (first * second).coeffs()])


def _power(law: fmpz_poly, times: int, up: bool) -> fmpz_poly:
    found = fmpz_poly([1 << SCALE])
    while times:
        if times & 1:
            found = _multiplied(found, law, up)
        times >>= 1
        if times:
            law = _multiplied(law, law, up)
    return found
