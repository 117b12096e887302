r"""Many independent cells, half of which a replaced person raises by one and half lowers.

The loss is a sum of independent ones. Each outcome of a cell is split in two whose losses lie on a
grid, so that its masses under both views stay as they are: whoever sees which half it was sees
more, and the law on the grid dominates. Losses on one grid add up by convolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.loss import LARGEST_EPSILON, PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.programme.law import FOURIER_ERROR, Floats, Law, weighed

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
        losses, masses, gone = self._composed
        asked = np.minimum(epsilon, LARGEST_EPSILON)
        falls = np.exp(np.minimum(-losses, 1.0))  # from there on nothing is lost at any epsilon
        bound = np.array([(np.maximum(1.0 - exp_down(e) * falls, 0.0) * masses).sum() for e in asked])
        bound = np.minimum(bound + gone, 1.0)
        return bound, bound

    def slack(self, epsilon: float) -> float:
        return 2 * self.pairs * (self.noise.dropped + 2.0 * FOURIER_ERROR)

    @cached_property
    def _composed(self) -> tuple[Floats, Floats, float]:
        """The losses on the grid with their masses, and the mass of infinite ones."""
        without, with_one = np.append(self.noise.masses, 0.0), np.append(0.0, self.noise.masses)
        kept = (without > CUT) & (with_one > CUT)
        gone = self.pairs * float(without[~kept].sum() + with_one[~kept].sum())
        if gone >= 1.0 or not kept.any():
            return np.zeros(1), np.zeros(1), gone
        raised, lowered = with_one[kept], without[kept]
        ratio = np.log(raised / lowered)
        grid = max(float(np.sqrt(raised @ ratio**2 / raised.sum())), 1e-6) / FINE
        total = (_on_grid(ratio, raised, grid) + _on_grid(-ratio, lowered, grid)).power(self.pairs)
        return grid * total.values, total.masses, gone + total.dropped


def _on_grid(losses: Floats, masses: Floats, grid: float) -> Law:
    """Each mass split between the two neighbouring losses, so that the other view's is kept too."""
    below = np.floor(losses / grid).astype(np.int64)
    share = np.clip(np.expm1(below * grid - losses) / np.expm1(-grid), 0.0, 1.0)
    first = int(below.min())
    lower, upper = weighed(below - first, masses * (1.0 - share)), weighed(below - first + 1, masses * share)
    return Law(first, np.append(lower, 0.0) + upper)
