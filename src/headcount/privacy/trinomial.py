r"""The expectation behind privacy blankets: $E[(a N_1 - b N_2 - c N_3)_+]$ of a trinomial.

Cells 1 and 2, equally likely, are those of the victim's two possible values; cell 3 counts against
both. Given $T = N_1 + N_2$ and $N_3$ the second count is Bin(T, 1/2), and a positive part of it is
a mass less a tail. Either is about $z^2$ times the difference, z standard deviations from the mean,
so that few digits cancel.

A binomial count with thousands of likely values is visited at every h-th of them. The error of such
a sum is the characteristic function at 2 pi / h, at most $\exp(-\sigma^2 (1 - \cos(2\pi/h)))$:
below 2e-8 if h is 2, and 1e-13 from there on, while h is at most two thirds of the standard
deviation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from headcount.privacy import laws
from headcount.programme.law import Floats, Law
from headcount.programme.table import Ints

MOST_PAIRS = 1 << 11  # values of T: while it is narrow, how it splits into integers matters
WIDE = 1e3  # a standard deviation so large that the integers hardly matter
FEW = 64
FAR, MOST_KEPT = 10.0, 1 << 22  # standard deviations of such a split, and cells of a table of them
MOST_CELLS = 1 << 17  # of T and N3 together
NEGLIGIBLE = 1e-17
SKIPPED = 1.0 + 1e-4  # a sum over every h-th value misses kinks at the integers: up to a relative 1e-5 of it was seen
CUT_ON_THE_WAY = 8.0 * laws.CUT


def mean_shortfall(reach: Floats, n: Floats, known: tuple[Halves, Ints] | None = None) -> Floats:
    """E[(reach - Bin(n, 1/2))_+]; with masses that are known, and the rows of n in them."""
    last = np.clip(np.ceil(reach) - 1.0, 0.0, n)  # the largest count that is less than reach
    mass, upto = known[0].at(last, n, known[1]) if known else _mass_and_upto(last, n)
    value = (reach - n / 2.0) * upto + (n - last) / 2.0 * mass
    value = np.where(last > 0, value, reach * mass)  # one term: nothing to cancel
    return np.where(reach > 0, np.maximum(value, 0.0), 0.0)


def _mass_and_upto(k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """P[Bin(n, 1/2) = k] and P[Bin(n, 1/2) <= k]."""
    return laws.binomial_masses(k, n, 0.5, 0.5), laws.binomial_above(n - k - 1.0, n, 0.5)


@dataclass(frozen=True, eq=False)
class Halves:
    """The masses of Bin(n, 1/2) from n / 2 down, and the sums of those below, for each n of a
    rising list.

    They take as long as a dozen epsilons of a trinomial without, and each epsilon with them a
    tenth.
    """

    masses: Floats
    upto: Floats

    @classmethod
    def of(cls, n: Floats) -> Halves:
        middle = np.floor(n / 2.0)
        down = np.arange(1.0, 2.0 + math.ceil(FAR * math.sqrt(float(n.max())) / 2.0))
        ratios = np.maximum(middle[:, None] - down + 1.0, 0.0) / ((n - middle)[:, None] + down)
        first = laws.binomial_masses(middle, n, 0.5, 0.5)[:, None]
        masses = first * np.cumprod(np.concatenate([np.ones_like(first), ratios], axis=1), axis=1)
        last = middle - down[-1]
        below = np.where(last > 0.0, laws.binomial_above(n - np.maximum(last, 1.0), n, 0.5), 0.0)
        return cls(masses, np.cumsum(masses[:, ::-1], axis=1)[:, ::-1] + below[:, None])

    def at(self, k: Floats, n: Floats, row: Ints) -> tuple[Floats, Floats]:
        """P[Bin(n, 1/2) = k] and P[Bin(n, 1/2) <= k], where n is that of the row."""
        down = (np.floor(n / 2.0) - k).astype(np.int64)
        known = (down >= 0) & (down < self.masses.shape[1])
        place = row, np.where(known, down, 0)
        mass, upto = self.masses[place], self.upto[place]
        mass[~known], upto[~known] = _mass_and_upto(k[~known], n[~known])
        return mass, upto


def _most_below_half(reach: Floats, n: Floats) -> Floats:
    """An upper bound of `mean_shortfall` by Hoeffding's inequality: some ten times as much."""
    short = np.maximum(n / 2.0 - reach, 0.0)
    beyond = np.divide(n, 4.0 * short, out=np.full_like(n, np.inf), where=short > 0.0)
    return np.asarray(np.minimum(reach, beyond) * np.exp(-2.0 * short**2 / np.maximum(n, 1.0)))


def mean_excess(level: Floats, n: int, chance: float) -> Floats:
    """E[(Bin(n, chance) - level)_+]"""
    first = np.clip(np.floor(level) + 1.0, 0.0, n)  # the smallest count that exceeds the level
    no = 1.0 - chance
    mass = laws.binomial_masses(first, n, chance, no)
    value = (n * chance - level) * laws.binomial_above(first - 1.0, n, chance) + no * first * mass
    return np.where(level < n, np.maximum(value, 0.0), 0.0)


def thinned(law: Law, most: int) -> tuple[Ints, Floats, int]:
    """About `most` evenly spaced values of a law, their weights, and the step between them."""
    spread = math.sqrt(law.variance)
    wanted = min(most, FEW) if spread > WIDE else most
    step = max(1, min(int(spread / 1.5), -(-law.masses.size // wanted)))
    return law.values[::step], law.masses[::step] * step, step


@dataclass(frozen=True, eq=False)
class Trinomial:
    """Slots that fall independently into cell 1 or 2 (`each`), 3 (`third`) or none (`none`).

    There are `slots[i]` of them with chance `chances[i]`, where every `step`-th number is given.
    The expectation is taken per slot.
    """

    slots: Ints
    chances: Floats
    each: float
    third: float
    none: float
    step: int = 1
    _halves: list[Halves] = field(default_factory=list)

    def prepare(self) -> None:
        """Computes what many expectations share, unless it is large."""
        pairs = self._table[0]
        if not self._halves and pairs.size * FAR * math.sqrt(float(pairs[-1])) < MOST_KEPT:
            self._halves.append(Halves.of(pairs))

    def excess(self, gain: float, loss: float, third: float) -> float:
        """E[(gain N1 - loss N2 - third N3)_+ / slots]"""
        if gain <= 0.0:
            return 0.0
        row, n, thirds, weights, skipped = self._likely
        with np.errstate(over="ignore"):  # to minus infinity: such a loss is never made up for
            reach = (gain * n - third * thirds) / (gain + loss)
        some = reach > 0
        row, n, reach, weights = row[some], n[some], reach[some], weights[some]
        most = weights * _most_below_half(reach, n)
        matters = most > NEGLIGIBLE * most.sum()  # the others count in full
        short = mean_shortfall(reach[matters], n[matters], *((each, row[matters]) for each in self._halves))
        total = float((weights[matters] * short).sum() + most[~matters].sum())
        return total * (gain + loss) * (SKIPPED if skipped else 1.0)

    @cached_property
    def _likely(self) -> tuple[Ints, Floats, Floats, Floats, bool]:
        """The cells of the table that have weight: their rows, T, N3 and weights; and whether
        values were skipped."""
        pairs, thirds, weights, skipped = self._table
        row, column = np.nonzero(weights > 0.0)
        return row, pairs[row], thirds[row, column], weights[row, column], skipped

    def cut(self, gain: float) -> float:
        """A bound on what was left out: beyond the ends N1 <= T, and E[N1] per slot is `each`."""
        fewest, most = self._ends
        beyond = (fewest.dropped + most.dropped) * 2.0 * (most.start + most.masses.size)
        return gain * (beyond * float(self.chances @ (1.0 / self.slots)) + self.each * CUT_ON_THE_WAY)

    @cached_property
    def _table(self) -> tuple[Floats, Floats, Floats, bool]:
        """T, N3 (one row for each T), their weights, and whether values were skipped."""
        pairs, step = self._pairs()
        thirds, leap = self._thirds(pairs)
        # How many slots fall into any of the three does not depend on how those are split.
        together = np.maximum(pairs[:, None] + thirds, 0.0)
        fewest, most = together.min(), together.max()
        any_of_them = np.arange(fewest, most + 1.0) if most - fewest < together.size else np.unique(together)
        chance, weights = 2.0 * self.each + self.third, np.zeros_like(any_of_them)
        for slots, weight in zip(self.slots.tolist(), self.chances.tolist(), strict=True):
            low, high = laws.binomial_window(slots, chance)
            likely = slice(*np.searchsorted(any_of_them, (low, high + 1)))
            weights[likely] += weight / slots * laws.binomial_masses(any_of_them[likely], slots, chance, self.none)
        weights = np.where(thirds >= 0.0, weights[np.searchsorted(any_of_them, together)], 0.0)
        seen = weights > 0.0
        part, whole = np.broadcast_to(pairs[:, None], thirds.shape)[seen], together[seen]
        weights[seen] *= laws.binomial_masses(part, whole, 2.0 * self.each / chance, self.third / chance)
        return pairs, thirds, weights * (step * leap), step * leap * self.step > 1

    @property
    def _split(self) -> tuple[float, float]:
        """The chances of cell 3 and of none, given that it is neither 1 nor 2."""
        rest = self.third + self.none
        return (self.third / rest, self.none / rest) if rest > 0.0 else (0.0, 1.0)

    @cached_property
    def _ends(self) -> tuple[Law, Law]:
        """The laws of T for the fewest and for the most slots."""
        most = laws.binomial(int(self.slots[-1]), 2.0 * self.each)
        return (most if self.slots.size == 1 else laws.binomial(int(self.slots[0]), 2.0 * self.each)), most

    def _pairs(self) -> tuple[Floats, int]:
        fewest, most = self._ends
        _, _, step = thinned(fewest if fewest.masses.size > most.masses.size else most, MOST_PAIRS)
        step |= 1  # even and odd T alternate between two kinds of kink
        return np.arange(fewest.start, most.start + most.masses.size, step, dtype=np.float64), step

    def _thirds(self, pairs: Floats) -> tuple[Floats, int]:
        """About the mean of N3 given T, as far as the widest of its laws reaches."""
        share = self._split[0]
        trials = [int(self.slots[0]) - int(pairs[-1]), int(self.slots[-1]) - int(pairs[0])]
        low, high = (laws.binomial(max(0, n), share) for n in trials)
        _, _, leap = thinned(high, MOST_CELLS // pairs.size)
        down = max(int(np.ceil(law.mean)) - law.start for law in (low, high)) + 1
        up = max(law.start + law.masses.size - int(law.mean) for law in (low, high)) + 1
        spread = abs(trials[1] - trials[0]) if self.slots.size > 1 else 0
        down, up = (int(side + share * spread) for side in (down, up))
        centre = np.floor((float(self.slots @ self.chances) - pairs) * share)
        return centre[:, None] + np.arange(-down, up + 1, leap, dtype=np.float64), leap
