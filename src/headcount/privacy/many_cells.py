r"""Many independent cells that one person changes at once: the loss of all of them together.

A person who touches one cell in each of k families changes, if replaced, k pairs of cells: one is raised by one, one
is lowered. Families in which nothing changes drop out, so that all k are the worst case. The loss of the whole view is
the sum of the cells' independent losses, and
$$\delta(\epsilon) = \mathrm{E}\big[(1 - e^{\epsilon - L})_+\big], \quad L = L_1 + \dots + L_{2k}.$$

Each outcome of a cell is split in two whose losses lie on a grid, so that its masses under both
views stay as they are: showing which half it was tells more, and the pair on the grid dominates.
Losses on one grid add up by one Fourier transform. Its errors are absolute, so that the masses are
tilted by $e^{\theta L}$ before it, with a $\theta$ that puts the asked epsilon near their middle,
and tilted back after it: deltas down to about 1e-20 keep their relative accuracy.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.loss import LARGEST_EPSILON, PrivacyLoss
from headcount.privacy.pair import Pair, exp_down
from headcount.privacy.product import two_cells
from headcount.programme.law import FOURIER_ERROR, Floats, Law, expected, weighed

FINE = 300  # points of the grid to a standard deviation of the whole loss
FINER = 30  # times as many for the lower bound
LONGEST = 1 << 21  # points of the grid; beyond, it gets coarser
CUT = 1e-24  # outcomes less likely than this are counted into delta
TILTS: tuple[float, ...] = (0.0, *np.geomspace(0.25, 4096.0, 43).tolist())


@dataclass(frozen=True, eq=False)
class ManyCells(PrivacyLoss):
    """`times` independent cells with these laws; if `replaced`, each has a partner moving back."""

    pair: Pair
    times: int
    replaced: bool = True
    kind = "rounded"

    @classmethod
    def of(cls, noise: Law, times: int, *, replaced: bool = True) -> ManyCells:
        """This many cells with noise of one law."""
        return cls(Pair.shifted(noise), times, replaced)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        asked = np.minimum(epsilon, LARGEST_EPSILON).tolist()
        forward = np.array([self._sides[0].delta(e) for e in asked])
        return forward, forward if self.replaced else np.array([self._sides[1].delta(e) for e in asked])

    def slack(self, epsilon: float) -> float:
        return self.times * (1 + self.replaced) * self.pair.dropped

    def least(self, epsilon: float) -> float:
        """A lower bound on delta: nearly equal losses are merged and rounded down.

        Merging is post-processing; the bound is good to a few rounding errors.
        """
        return max(side.least(epsilon) for side in self._sides)

    @cached_property
    def _sides(self) -> tuple[_Sum, _Sum]:
        """The losses in either order; the same in both where cells have partners."""
        there, back = self.pair, self.pair.reversed
        if self.replaced:
            both = _Sum.of(self.times, there, back)
            return both, both
        return _Sum.of(self.times, there), _Sum.of(self.times, back)


def one_of_each(pair: Pair, families: int, *, replaced: bool = True) -> PrivacyLoss:
    """The loss of a person in one cell of each family, with equal laws: exact for one family."""
    if families > 1:
        return ManyCells(pair, families, replaced)
    return two_cells(pair) if replaced else pair


@dataclass(frozen=True, eq=False)
class _Losses:
    """The finite losses of one cell with their masses, and the mass of infinite ones."""

    losses: Floats
    masses: Floats
    gone: float

    @classmethod
    def of(cls, pair: Pair) -> _Losses:
        kept = (pair.p > CUT) & (pair.q > CUT)
        p, q = pair.p[kept], pair.q[kept]
        return cls(np.log(p) - np.log(q), p, float(pair.p[~kept].sum()))

    @property
    def variance(self) -> float:
        whole = float(self.masses.sum())
        if not whole:
            return 0.0
        mean = float((self.masses * self.losses).sum()) / whole
        return float((self.masses * (self.losses - mean) ** 2).sum()) / whole

    def merged(self, grid: float) -> _Losses:
        """The losses with outcomes of nearly equal loss merged."""
        place = np.floor(self.losses / grid).astype(np.int64)
        place -= place.min(initial=0)
        p, q = weighed(place, self.masses), weighed(place, self.masses * np.exp(-self.losses))
        return _Losses(np.log(p[p > 0]) - np.log(q[p > 0]), p[p > 0], self.gone)

    def above(self, grid: float) -> Law:
        """The masses split between grid points, which keeps the other view's masses."""
        below = np.floor(self.losses / grid).astype(np.int64)
        share = np.clip(np.expm1(below * grid - self.losses) / np.expm1(-grid), 0.0, 1.0)
        first = int(below.min())
        lower = weighed(below - first, self.masses * (1.0 - share))
        return Law(first, np.append(lower, 0.0) + weighed(below - first + 1, self.masses * share))

    def below(self, grid: float) -> Law:
        """Each loss rounded down."""
        place = np.floor(self.losses / grid).astype(np.int64)
        return Law(int(place.min()), weighed(place - place.min(), self.masses))


@dataclass(frozen=True, eq=False)
class _Sum:
    """One order of the neighbours: the sum of independent losses, as many of each kind."""

    times: int
    parts: tuple[_Losses, ...]

    @classmethod
    def of(cls, times: int, *pairs: Pair) -> _Sum:
        return cls(times, tuple(map(_Losses.of, pairs)))

    @cached_property
    def gone(self) -> float:
        """The chance that the loss of any cell is infinite."""
        if any(part.gone >= 1.0 for part in self.parts):
            return 1.0
        return -math.expm1(math.fsum(self.times * math.log1p(-part.gone) for part in self.parts))

    @cached_property
    def _grid(self) -> float:
        spread = math.sqrt(math.fsum(self.times * part.variance for part in self.parts))
        reach = math.fsum(self.times * float(np.ptp(part.losses)) for part in self.parts)
        return max(spread / FINE, reach / LONGEST, 1e-9)

    @cached_property
    def _points(self) -> _OnGrid:
        return _OnGrid(self._grid, self.times, [part.above(self._grid) for part in self.parts])

    @property
    def _lost(self) -> bool:
        """Whether there is nothing to add up."""
        return self.gone >= 1.0 or any(not part.masses.size for part in self.parts)

    def delta(self, epsilon: float) -> float:
        if self._lost:
            return 1.0
        points, tilt = self._points, self._points.tilt(epsilon)
        return min(1.0, points.delta(epsilon, tilt) + points.error(epsilon, tilt) + self.gone)

    def least(self, epsilon: float) -> float:
        if self._lost:
            return 0.0
        fine = self._grid / FINER
        merged = [part.merged(self._grid).below(fine) for part in self.parts]
        return _OnGrid(fine, self.times, merged).delta(epsilon, self._points.tilt(epsilon))


class _OnGrid:
    """Laws of losses on one grid, as many of each, and the law of their sum."""

    def __init__(self, grid: float, times: int, laws: Sequence[Law]) -> None:
        self.grid, self.times, self.laws = grid, times, laws
        self.start = times * sum(law.start for law in laws)
        self.size = 1 + times * sum(law.masses.size - 1 for law in laws)
        self._summed: dict[float, Floats] = {}
        self._cumulants: dict[float, float] = {}

    def delta(self, epsilon: float, tilt: float) -> float:
        if tilt not in self._summed:
            self._summed[tilt] = self._sum(tilt)
        first = max(0, math.floor(epsilon / self.grid) - self.start)
        above = self.grid * np.arange(self.start + first, self.start + self.size)
        left = np.exp(self._cumulant(tilt) - tilt * above) * self._summed[tilt][first:]
        return float((np.maximum(1.0 - exp_down(np.float64(epsilon)) * np.exp(-above), 0.0) * left).sum())

    def error(self, epsilon: float, tilt: float) -> float:
        """A bound on the transform's error in the tilted masses, tilted back at epsilon."""
        back = math.exp(min(0.0, self._cumulant(tilt) - tilt * epsilon))
        return 2.0 * self.times * len(self.laws) * FOURIER_ERROR * back

    def tilt(self, epsilon: float) -> float:
        """The tilt of least Chernoff bound, convex in the tilt: downhill from a normal law's."""

        def bound(place: int) -> float:
            return self._cumulant(TILTS[place]) - TILTS[place] * epsilon

        mean, variance = self._moments
        place = min(bisect_left(TILTS, (epsilon - mean) / max(variance, 1e-300)), len(TILTS) - 1)
        while place > 0 and bound(place - 1) <= bound(place):
            place -= 1
        while place + 1 < len(TILTS) and bound(place + 1) < bound(place):
            place += 1
        return TILTS[place]

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Mean and variance of the sum."""
        masses = [law.masses / law.masses.sum() for law in self.laws]
        means = [expected(each, law.values) for each, law in zip(masses, self.laws, strict=True)]
        squares = [expected(each, law.values**2) for each, law in zip(masses, self.laws, strict=True)]
        variance = math.fsum(square - mean**2 for square, mean in zip(squares, means, strict=True))
        return self.times * math.fsum(means) * self.grid, self.times * variance * self.grid**2

    def _cumulant(self, tilt: float) -> float:
        """The logarithm of E[exp(tilt L)] of the sum."""
        if tilt not in self._cumulants:
            self._cumulants[tilt] = math.fsum(self.times * _tilted(law, tilt * self.grid)[1] for law in self.laws)
        return self._cumulants[tilt]

    def _sum(self, tilt: float) -> Floats:
        """The tilted masses of the sum, from `start` on."""
        length = 1 << (self.size - 1).bit_length()
        spectrum = np.ones(length // 2 + 1, dtype=np.complex128)
        for law in self.laws:
            spectrum *= np.fft.rfft(_tilted(law, tilt * self.grid)[0], length) ** self.times
        return np.maximum(np.fft.irfft(spectrum, length)[: self.size], 0.0)


def _tilted(law: Law, tilt: float) -> tuple[Floats, float]:
    """The masses times exp(tilt · value), normalised, and the logarithm of their sum."""
    exponent = tilt * law.values
    top = float(exponent.max())
    masses = law.masses * np.exp(exponent - top)
    whole = float(masses.sum())
    return masses / whole, top + math.log(whole)
