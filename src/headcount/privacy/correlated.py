r"""Privacy loss of correlated noise: the view $(S + A + Z,\; B + Z)$ against $S + 1$."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy import laws
from headcount.privacy.budget import Budget
from headcount.privacy.loss import NoGuarantee, PrivacyLoss, TotalVariationSlack
from headcount.privacy.many_cells import one_of_each
from headcount.privacy.pair import Pair, exp_down
from headcount.privacy.product import TwoCells, two_cells
from headcount.programme.law import FOURIER_ERROR, Floats, Law

NEGLIGIBLE = 1e-25
COARSE_CUT = 1e-18
RARE = 1e-19  # cells less likely than that are charged in full
FEW_CELLS, MOST_CELLS = 1 << 22, 1 << 26
QUICK_CELLS = 1 << 16
GRID, FURTHEST = 2.0**-14, 1 << 16  # of the losses of more cells, and how many steps from 0 it reaches


def correlated_loss(cancel: float, own: float, flood: Law) -> PrivacyLoss:
    """The loss with A, B ~ NB(own, cancel) and the flood Z.

    With the shape 1 A and B are geometric, and one dimension suffices.

    Then P[A - B = w, B + Z = v] is (1-q)^2 q^|w| g(v - max(0, -w)), g proportional to the law of G
    = Z + Geom(q^2): all w > 0 share one likelihood ratio, and all w <= 0 that of G at t against G
    at t - 1.
    """
    if own == 1.0:
        q = cancel
        masses = _plus_geometric(flood.masses, q * q)
        here, before = np.append(masses, 0.0), np.append(0.0, masses)
        return Pair(np.append(here, q) / (1.0 + q), np.append(q * before, 1.0) / (1.0 + q), flood.dropped + NEGLIGIBLE)
    return CorrelatedView(laws.negative_binomial(own, cancel), flood)


def _plus_geometric(masses: Floats, x: float) -> Floats:
    """The law of Z + Geom(x).

    With s a shift by one, 1/(1 - x s) is the product of 1 + (x s)^k over k = 1, 2, 4, ...
    """
    reach = math.ceil(math.log(NEGLIGIBLE) / math.log(x)) + 1
    total, step = np.append(masses, np.zeros(reach)), 1
    while step < total.size and x**step > NEGLIGIBLE:
        moved = x**step * total[:-step]
        total[step:] += moved
        step *= 2
    return (1.0 - x) * total


def noise_that_errs(cancel: float, own: int) -> Law:
    """The law of A - B, without transforms, whose errors would pass for losses in the far tails."""
    half = laws.negative_binomial(float(own), cancel)
    masses = half.masses[::-1]
    for _ in range(own):
        masses = _plus_geometric(masses, cancel)
        masses = masses[: int(np.flatnonzero(masses > NEGLIGIBLE)[-1]) + 1]
    return Law(1 - half.masses.size, masses, 2.0 * half.dropped + NEGLIGIBLE * half.masses.size)


def two_correlated_losses(cancel: float, own: float, flood: Law, families: int) -> PrivacyLoss:
    """The loss of two changed cells in each family: one gains a person and one loses them."""
    one = correlated_loss(cancel, own, flood)
    if isinstance(one, Pair):
        return one_of_each(one, families)
    if isinstance(one, CorrelatedView) and one.cells <= FEW_CELLS:
        return TwoPlanes(one.pair, one.pair.reversed, one) if families == 1 else one_of_each(one.pair, families)
    if isinstance(one, CorrelatedView) and one.cells <= MOST_CELLS:
        return TotalVariationSlack(one_of_each(one.merged, families), 0.0, "rounded")
    # Basic composition over many families is worth nothing, and takes minutes over as many cells.
    return BasicComposition(one) if families == 1 else NoGuarantee()


@dataclass(frozen=True, eq=False)
class BasicComposition(PrivacyLoss):
    """Basic composition: either order shares epsilon with itself in the other; deltas add up."""

    one: PrivacyLoss
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        both = np.minimum(np.add(*self.one.orders(epsilon / 2.0)), 1.0)
        return both, both

    def slack(self, epsilon: float) -> float:
        return 2.0 * self.one.slack(epsilon / 2.0)


@dataclass(frozen=True, eq=False)
class CorrelatedView(PrivacyLoss):
    """Every outcome of (A - B, B + Z), row by row of A - B: for fewer people than planned.

    The rows come from Fourier transforms, whose errors are absolute: what lies below them is cut
    away, and charged.
    """

    kind = "exact"

    own: Law
    flood: Law

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        if self.cells <= FEW_CELLS:
            return self.pair.orders(epsilon)
        factors = exp_down(epsilon)
        forward, backward = np.zeros_like(epsilon), np.zeros_like(epsilon)
        for lower, upper in self._neighbours():
            for i, factor in enumerate(factors):
                forward[i] += np.maximum(upper - factor * lower, 0.0).sum()
                backward[i] += np.maximum(lower - factor * upper, 0.0).sum()
        return forward, backward

    @property
    def cells(self) -> int:
        own, flood = (side.size for side in self._likely)
        return 2 * own * (own + flood)

    @cached_property
    def _likely(self) -> tuple[Floats, Floats]:
        """What is left of A and of Z where what is far below their modes is cut away."""
        a, z = (law.masses[law.masses > COARSE_CUT * law.masses.max()] for law in (self.own, self.flood))
        return a, z

    @cached_property
    def pair(self) -> Pair:
        """Every outcome at once, for planes that are small."""
        lower, upper = (np.concatenate(side) for side in zip(*self._neighbours(), strict=True))
        kept = np.maximum(lower, upper) > RARE
        return Pair(upper[kept], lower[kept], self.slack(0.0) + RARE * (kept.size - int(kept.sum())))

    @cached_property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """Composed with others, a large plane is rounded first: many epsilons are asked then."""
        return (self,) if self.cells <= QUICK_CELLS else (self.rounded,)

    @property
    def rounded(self) -> PrivacyLoss:
        """The loss of the merged pair."""
        return TotalVariationSlack(self.merged, 0.0, "rounded")

    @cached_property
    def merged(self) -> Pair:
        """A pair of a few thousand outcomes that dominates: each cell is split in two whose losses
        lie on a grid, so that its masses stay as they are (see `many_cells`)."""
        masses, gone, missed = np.zeros(2 * FURTHEST + 2), 0.0, 0.0
        for lower, upper in self._neighbours():
            known = (lower > RARE) & (upper > RARE)
            p, losses = upper[known], np.log(upper[known] / lower[known]) / GRID
            place = np.clip(np.floor(losses), -FURTHEST, FURTHEST).astype(np.int64)
            share = np.clip(np.expm1((place - losses) * GRID) / math.expm1(-GRID), 0.0, 1.0)
            masses += np.bincount(place + FURTHEST, p * (1.0 - share), masses.size)
            masses += np.bincount(place + FURTHEST + 1, p * share, masses.size)
            far = losses > FURTHEST  # counted as told with certainty, besides
            gone += float(p[far].sum()) + float(upper[~known].sum())
            missed += float(lower[known][losses < -FURTHEST].sum()) + float(lower[~known].sum())
        told = np.flatnonzero(masses)
        p = np.append(masses[told], [gone, 0.0])
        q = np.append(masses[told] * np.exp((FURTHEST - told) * GRID), [0.0, missed])
        return Pair(p, q, self.slack(0.0))

    def _neighbours(self) -> Iterator[tuple[Floats, Floats]]:
        """P[A - B = w, B + Z = v] over v, next to w + 1's, for each w; an empty row at either end.

        With A and B exchanged, the row of -w is that of w, moved by w.
        """
        a, z = self._likely
        size = a.size + z.size - 1
        length = 1 << (size - 1).bit_length()  # transforms of such a length are quick
        spectrum = np.fft.rfft(z, length)

        def row(w: int) -> Floats:
            joint = a[w:] * a[: a.size - w]  # A = b + w and B = b for b = 0, 1, ...
            found = np.fft.irfft(np.fft.rfft(joint, length) * spectrum, length)[:size]
            return np.where(found > FOURIER_ERROR * found.max(), found, 0.0)

        def moved(row: Floats, w: int) -> Floats:
            return np.append(np.zeros(w), row[: size - w])

        before = row(0)
        for w in range(1, a.size):
            here = row(w)
            yield before, here
            yield moved(here, w), moved(before, w - 1)
            before = here
        yield before, np.zeros(size)
        yield np.zeros(size), moved(before, a.size - 1)

    def slack(self, epsilon: float) -> float:
        cells = self.own.masses.size + self.flood.masses.size
        return FOURIER_ERROR * (1.0 + cells * float(self.flood.masses.max())) + COARSE_CUT * cells


@dataclass(frozen=True, eq=False)
class TwoPlanes(TwoCells):
    """Two changed cells, each with all outcomes of a plane: exact, and slow where many epsilons are
    asked."""

    plane: CorrelatedView

    @cached_property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """Composed with others, the planes are rounded first."""
        return (TotalVariationSlack(two_cells(self.plane.merged), 0.0, "rounded"),)


def inner_for(epsilon: float, overhead: float) -> float:
    """The inner epsilon whose standard error is (1 + overhead) times that of epsilon."""
    # The variance is 1 / (2 sinh^2(epsilon / 2)).
    return 2.0 * math.asinh(math.sinh(epsilon / 2.0) / (1.0 + overhead))


def likely_spread(budget: Budget, inner: float) -> float:
    """About the variance with which a flood hides one pair behind what is left of epsilon."""
    return math.log(1.0 / budget.delta) / max(budget.epsilon - inner, 1e-9) ** 2


def likely_pairs(budget: Budget, inner: float, shape: float) -> float:
    """A first guess of the flood's mean number of pairs, divided by its shape.

    For a heavy flood, what is left of epsilon must be smaller than its flank is steep; m pairs in
    all have the variance m (1 + m / shape).
    """
    steep = 0.08 * math.log(1.0 / budget.delta) ** 2 / max(budget.epsilon - inner, 1e-9)
    spread = likely_spread(budget, inner)
    wide = 2.0 * spread / (1.0 + math.sqrt(1.0 + 4.0 * spread / shape))
    return max(steep, wide) / shape
