"""Two-sided noise, drawn exactly, that the analyser adds to totals: mainly discrete Laplace."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from headcount.privacy.exact_tables import exp_below
from headcount.programme.chance import WORD
from headcount.programme.coins import Coins
from headcount.programme.draw import encoded
from headcount.programme.law import Law
from headcount.programme.release import FAINT_BITS, Release
from headcount.programme.report_law import WHOLE, Parts
from headcount.programme.table import Ints, Table
from headcount.programme.tally import Tally


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

    The last cell on either side means "this far or further": another table, which spills into
    itself in the same way, says how much further. No tail is cut, so that privacy can be pure.
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

    No weight falls faster than the ideal one, $v_k = v_0 a^{|k|}$ with $a = e^{-rate}$, from the
    same centre: $w \ge v$ everywhere, so that the distance $\sum (v/V - w/W)_+$ is at most $1 - V/W
    = (W - V)/W$. Each weight of a table was rounded up once and so was every one before it: it is
    too large by at most $m = \min(reach, 1/(1-a))$. Beyond the reach R the table `beyond` starts
    again, on a weight that is itself too large by m and was rounded up, twice; as its own weights
    are, too, the rest of a side is too large by at most

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
