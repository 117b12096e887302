r"""Many independent cells at once, half of which a replaced person raises by one and the other half lowers by one.

The loss is a sum of independent ones. Each outcome of a cell is split in two whose losses lie on a grid, so that its
masses under both views stay as they are: whoever sees which half it was sees more, and the law on the grid dominates.
Losses on one grid add up by convolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.core.law import FOURIER_ERROR, Floats, Law, weighed
from headcount.core.loss import LARGEST_EPSILON, PrivacyLoss
from headcount.privacy.pair import exp_down

FINE = 24  # points of the grid to a standard deviation of one cell's loss
CUT = 1e-24  # outcomes less likely than that count as lost for sure


@dataclass(frozen=True, eq=False)
class ManyCells(PrivacyLoss):
    """So many `pairs` of cells with noise of this law each."""

    noise: Law
    pairs: int
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """Equal, as every cell that is raised has one that is lowered."""
        losses, masses = self._composed
        asked = np.minimum(epsilon, LARGEST_EPSILON)
        bound = np.array([float(np.maximum(1.0 - exp_down(e) * np.exp(-losses), 0.0) @ masses) for e in asked])
        return np.minimum(bound, 1.0), np.minimum(bound, 1.0)

    def slack(self, epsilon: float) -> float:
        return 2 * self.pairs * (self._lost + self.noise.dropped) + 4 * self.pairs * FOURIER_ERROR

    @cached_property
    def _cells(self) -> tuple[Floats, Floats, Floats]:
        """A cell with and without the person, and the logarithm of the ratio, where neither is all but impossible."""
        masses = self.noise.masses
        without, with_one = np.append(masses, 0.0), np.append(0.0, masses)
        likely = (without > CUT) & (with_one > CUT)
        return (
            with_one,
            without,
            np.where(likely, np.log(np.where(likely, with_one / np.maximum(without, CUT), 1.0)), np.nan),
        )

    @cached_property
    def _lost(self) -> float:
        """What is too unlikely to be looked at, in either view."""
        with_one, without, ratio = self._cells
        return float(max(side[np.isnan(ratio)].sum() for side in (with_one, without)))

    @cached_property
    def _composed(self) -> tuple[Floats, Floats]:
        with_one, without, ratio = self._cells
        kept = ~np.isnan(ratio)
        raised, lowered, ratio = with_one[kept], without[kept], ratio[kept]
        if not ratio.size:
            return np.zeros(1), np.zeros(1)
        spread = float(np.sqrt(raised @ ratio**2 / raised.sum()))
        grid = max(spread, 1e-6) / FINE
        both = _on_grid(ratio, raised, grid) + _on_grid(-ratio, lowered, grid)
        total = both.times(self.pairs)
        return grid * total.values, total.masses


def _on_grid(losses: Floats, masses: Floats, grid: float) -> Law:
    """Each mass split between the two neighbouring losses, so that the other view's is kept too."""
    below = np.floor(losses / grid).astype(np.int64)
    share = np.clip(np.expm1(below * grid - losses) / np.expm1(-grid), 0.0, 1.0)
    first = int(below.min())
    lower, upper = weighed(below - first, masses * (1.0 - share)), weighed(below - first + 1, masses * share)
    return Law(first, np.append(lower, 0.0) + upper)
