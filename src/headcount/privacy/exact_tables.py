"""Exact tables of the laws that are drawn, in integer arithmetic throughout."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, repeat
from typing import Any

import numpy as np

from headcount.errors import Infeasible
from headcount.programme.chance import WORD
from headcount.programme.coins import Coins
from headcount.programme.draw import encoded
from headcount.programme.law import Law
from headcount.programme.release import FAINT_BITS, Release
from headcount.programme.report_law import WHOLE, Parts
from headcount.programme.table import Ints, Table, rounding
from headcount.programme.tally import Tally

TAIL_BITS = 112
GUARD_BITS = 320
MOST_CELLS = 1 << 22
ORDINARY_CELLS = 1 << 10
MOST_DUMMIES = 4_000


def poisson_cells(mean: float) -> int:
    """How many cells leave at most 2**-112 of a Poisson law outside, by Chernoff's bound."""
    if mean > MOST_DUMMIES:
        raise Infeasible("each person would send thousands of dummies", "use a larger epsilon or more people")
    k = math.ceil(math.e * math.e * mean) + 8
    while k * (math.log(k / mean) - 1.0) + mean < TAIL_BITS * math.log(2.0):
        k += 8
    return k


def negative_binomial_cells(shape: float, decay: float) -> int:
    """Cells that leave at most 2**-112 outside: P[Z >= k] <= 10**shape * decay**(0.9 k)."""
    reach = TAIL_BITS * math.log(2.0) + shape * math.log(10.0)
    return _affordable(math.ceil(reach / (-0.9 * math.log(decay))) + 1)


def logarithmic_cells(decay: float) -> int:
    """Cells that leave at most 2**-112 outside: P[k] <= decay**k / (-log(1 - decay))."""
    tail = TAIL_BITS * math.log(2.0) - math.log((1.0 - decay) * -math.log1p(-decay))
    return _affordable(2 + math.ceil(tail / -math.log(decay)))


def distance(cells: int) -> float:
    """A bound on the total variation distance of a table with this many cells from its law."""
    return 2.0**-TAIL_BITS + rounding(cells)


def affordable_epsilon(tables: int, delta: float) -> float:
    """About the epsilon, from 1 on, up to which these tables cost no more than this delta."""
    return max(1.0, math.log(delta / (tables * distance(ORDINARY_CELLS))))


@lru_cache(maxsize=64)
def poisson(mean: Fraction) -> Table:
    ratios = (mean / (k + 1) for k in range(poisson_cells(float(mean)) - 1))
    return Table.of(_weights(ratios))


@lru_cache(maxsize=64)
def negative_binomial(shape: Fraction, decay: Fraction) -> Table:
    """Weights with ratio decay (k + shape) / (k + 1), over a common denominator."""
    scale = shape.denominator * decay.denominator
    cells = negative_binomial_cells(float(shape), float(decay))
    weight, weights = 1 << GUARD_BITS, [1 << GUARD_BITS]
    for k in range(cells - 1):
        weight = weight * decay.numerator * (k * shape.denominator + shape.numerator) // ((k + 1) * scale)
        weights.append(weight)
    return Table.of(weights)


@lru_cache(maxsize=64)
def logarithmic(decay: Fraction) -> Table:
    """The logarithmic law, P[k] proportional to decay**k / k from k = 1 on.

    A Poisson number of such draws is NB(r, decay).

    The Poisson mean is then -r log(1 - decay).
    """
    powers = _weights(repeat(decay, logarithmic_cells(float(decay)) - 2))
    return Table.of([0, *(power // k for k, power in enumerate(powers, 1))])


@lru_cache(maxsize=64)
def padded(rate: Fraction, shift: int, filled: bool) -> Table:
    """P[k] proportional to exp(-rate |k - shift|) from k = 0 on: up to twice the shift if it is filled up."""
    falling = _weights(repeat(1 / exp_below(rate), shift if filled else shift + padded_reach(rate)))
    return Table.of([*falling[shift:0:-1], *(falling[: shift + 1] if filled else falling)])


def padded_reach(rate: Fraction) -> int:
    """How many cells beyond the shift leave at most 2**-112 outside."""
    return _affordable(math.ceil((TAIL_BITS * math.log(2.0) + 1.0) / float(rate)) + 1)


def padded_distance(rate: Fraction, shift: int) -> float:
    """How far, in total variation, `padded` lies from its law: cut, rounded, and each weight good to 2**-118 a step."""
    cells = 2 * shift + padded_reach(rate) + 1
    return distance(cells) + cells * 2.0**-118


def _weights(ratios: Iterable[Fraction]) -> list[int]:
    """Integers of which each is the one before it times a ratio, rounded down."""
    weights = [1 << GUARD_BITS]
    for ratio in ratios:
        weights.append(weights[-1] * ratio.numerator // ratio.denominator)
    return weights


def _affordable(cells: int) -> int:
    if cells > MOST_CELLS:
        raise Infeasible("each person's noise would be spread too far to draw", "use a larger epsilon or more people")
    return cells


class AddTwoSidedNoise(Release):
    """The analyser's own noise, on every total."""

    @property
    @abstractmethod
    def noise(self) -> TwoSidedNoise: ...

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return tally.with_totals(tally.totals + self.noise.draw(coins, tally.totals.size))

    def law(self, total: int) -> Parts:
        return {total + noise: part for noise, part in self.noise.parts.items() if part}

    def encode(self) -> dict[str, Any]:
        return {"add": {"centre": encoded(self.noise.centre), "beyond": encoded(self.noise.beyond)}}


@dataclass(frozen=True)
class AddDiscreteLaplace(AddTwoSidedNoise):
    """Discrete Laplace noise of this rate."""

    rate: Fraction

    @property
    def noise(self) -> TwoSidedNoise:
        return discrete_laplace(self.rate)


@dataclass(frozen=True)
class TwoSidedNoise:
    """Symmetric noise of unbounded support, drawn exactly from two tables.

    The last cell on either side means "this far or further": another table, which spills into itself in the same way,
    says how much further. No tail is cut, so that privacy can be pure.
    """

    centre: Table
    beyond: Table

    @property
    def reach(self) -> int:
        return -self.centre.start

    @cached_property
    def law(self) -> Law:
        """The law that is drawn, until restarts have less than 2**-100 of the mass."""
        centre, step = (np.array(t.coarse, dtype=np.float64) / sum(t.coarse) for t in (self.centre, self.beyond))
        side, left = [], float(centre[-1])
        while left > 2.0**-100:
            side.append(left * step[:-1])
            left *= float(step[-1])
        outer = np.concatenate(side)
        masses = np.concatenate([outer[::-1], centre[1:-1], outer])
        return Law(1 - self.reach - outer.size, masses, 2.0 * left)

    @cached_property
    def parts(self) -> Parts:
        """The law in integers, in parts of `WHOLE`, rounded down."""
        centre, step = (t.coarse for t in (self.centre, self.beyond))
        whole, again = sum(centre), sum(step)
        parts = {1 - self.reach + cell: mass * WHOLE // whole for cell, mass in enumerate(centre[1:-1])}
        left, start = centre[-1] * WHOLE // whole, self.reach
        while left >> FAINT_BITS:
            for cell, mass in enumerate(step[:-1]):
                parts[start + cell] = parts[-start - cell] = left * mass // again
            left, start = left * step[-1] // again, start + self.reach
        return parts

    def draw(self, coins: Coins, size: int) -> Ints:
        drawn = coins.draw(self.centre, size)
        open_ = np.flatnonzero(np.abs(drawn) == self.reach)
        while open_.size:
            step = coins.draw(self.beyond, open_.size)
            drawn[open_] += np.sign(drawn[open_]) * step
            open_ = open_[step == self.reach]
        return drawn


@lru_cache(maxsize=64)
def discrete_laplace(rate: Fraction) -> TwoSidedNoise:
    """Discrete Laplace noise: consecutive masses differ by at most a factor e**rate, exactly."""
    growth = exp_below(rate)  # at most e**rate, so that a mass is at most growth times its neighbour
    reach = _reach(rate)
    first = int(WORD * (1 - 1 / growth) * Fraction(15, 16))
    falling = _falling(first, growth, reach)
    go_on = math.ceil(falling[-1] * sum(falling) / (first * growth - falling[-1]))
    beyond = Table(0, (*falling, go_on))
    side = _falling(first // 2, growth, reach)
    further = math.ceil(Fraction(side[-1] * (sum(falling) + go_on)) / (growth * first))
    centre = Table(-reach, (further, *reversed(side[1:]), *side, further))
    return TwoSidedNoise(centre, beyond)


def discrete_laplace_distance(rate: Fraction) -> float:
    r"""A bound on the total variation distance of `discrete_laplace` from the ideal law.

    No weight falls faster than the ideal one, $v_k = v_0 a^{|k|}$ with $a = e^{-rate}$, from the same centre: $w \ge v$
    everywhere, so that the distance $\sum (v/V - w/W)_+$ is at most $1 - V/W = (W - V)/W$. Each weight of a table was
    rounded up once and so was every one before it: it is too large by at most $m = \min(reach, 1/(1-a))$. Beyond the
    reach R the table `beyond` starts again, on a weight that is itself too large by m and was rounded up, twice; as its
    own weights are, too, the rest of a side is too large by at most

    $$2 + \frac{m a}{1-a} + \frac{a^R}{1-a^R}\Bigl(\frac{R m}{2} + \frac{2 m a}{1-a}\Bigr).$$
    """
    reach, step, gone = _reach(rate), -math.expm1(-float(rate)), math.exp(-float(rate) * _reach(rate))
    most = min(reach, 1.0 / step)
    further = most * (1.0 - step) / step
    beyond = 2.0 + further + gone / -math.expm1(-float(rate) * reach) * (reach * most / 2.0 + 2.0 * further)
    weights = 15 / 32 * (2.0 - step) * WORD  # of `centre`, at least, but for what a thousandth pays for
    return 1.001 * 2.0 * ((reach - 1) * most + beyond) / weights


def _reach(rate: Fraction) -> int:
    return max(2, min(math.ceil(14 / rate), 1 << 18))


def _falling(first: int, growth: Fraction, size: int) -> list[int]:
    """Weights that fall as slowly as privacy allows: each is the last over growth, rounded up."""

    def step(weight: int, _: None) -> int:
        return -(-weight * growth.denominator // growth.numerator)

    return list(accumulate([None] * (size - 1), step, initial=first))


def exp_below(rate: Fraction) -> Fraction:
    """At most e**rate, and good to 50 digits."""
    with localcontext() as context:
        context.prec = 60
        context.rounding = ROUND_FLOOR
        power = (Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        return Fraction(int(power * 2**120 * (1 - Decimal(10) ** -50)), 2**120)
