"""Exact tables of the laws that are drawn, in integer arithmetic throughout."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import repeat

from headcount.errors import Infeasible
from headcount.programme.table import Table, rounding

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
    """P[k] proportional to exp(-rate |k - shift|) from k = 0; to twice the shift if filled up."""
    falling = _weights(repeat(1 / exp_below(rate), shift if filled else shift + padded_reach(rate)))
    return Table.of([*falling[shift:0:-1], *(falling[: shift + 1] if filled else falling)])


def padded_reach(rate: Fraction) -> int:
    """How many cells beyond the shift leave at most 2**-112 outside."""
    return _affordable(math.ceil((TAIL_BITS * math.log(2.0) + 1.0) / float(rate)) + 1)


def padded_distance(rate: Fraction, shift: int) -> float:
    """Total variation of `padded` from its law: cut, rounded, weights good to 2**-118 a step."""
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


def exp_below(rate: Fraction) -> Fraction:
    """At most e**rate, and good to 50 digits."""
    with localcontext() as context:
        context.prec = 60
        context.rounding = ROUND_FLOOR
        power = (Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        return Fraction(int(power * 2**120 * (1 - Decimal(10) ** -50)), 2**120)
