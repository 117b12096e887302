r"""Several losses at once, from their curves alone, for protocols that show one crowd several independent views.

As a function of $x = e^\epsilon$ a divergence is convex, so that the chords of any curve above it lie above it too. A
chain of chords is the curve of a law on the grid [DGKKM22]: at $\epsilon_i$ the second view has the mass by which the
slope changes there, the first $e^{\epsilon_i}$ times that, and what is left at the end is lost for sure. Such laws
dominate, and losses on one grid add up by convolution.

[DGKKM22] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the Dots, PETS 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from headcount.core.law import Floats
from headcount.core.loss import LARGEST_EPSILON, ROUND_UP, PrivacyLoss
from headcount.privacy.pair import exp_down

POINTS = 48  # of each curve, on either side of zero
FLAT = 1e-15  # the curve is followed down to here


@dataclass(frozen=True, eq=False)
class Together(PrivacyLoss):
    """Losses that are the same in both orders, of views that are independent of each other."""

    losses: Sequence[PrivacyLoss]
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        losses, masses, gone = self._composed
        asked = np.minimum(epsilon, LARGEST_EPSILON)
        room = np.maximum(1.0 - exp_down(asked[:, None]) * np.exp(-losses), 0.0)
        bound = np.minimum(room @ masses + gone, 1.0)
        return bound, bound

    @cached_property
    def _composed(self) -> tuple[Floats, Floats, float]:
        """The losses on the grid with their masses, and the mass of infinite ones."""
        top = max(_top(loss) for loss in self.losses)
        grid = top / POINTS
        parts = [_dots(loss, grid) for loss in self.losses]
        masses = reduce(np.convolve, (part for part, _ in parts))
        reach = len(parts) * POINTS
        return grid * np.arange(-reach, reach + 1), masses, sum(gone for _, gone in parts)


def _top(loss: PrivacyLoss) -> float:
    """Where the curve ends, within a factor."""
    low, high = 0.0, 1.0
    while loss.delta(high) > FLAT + 2.0 * loss.slack(high) and high < LARGEST_EPSILON / 8.0:
        low, high = high, 2.0 * high
    for _ in range(5):
        middle = (low + high) / 2.0
        low, high = (middle, high) if loss.delta(middle) > FLAT + 2.0 * loss.slack(middle) else (low, middle)
    return high


def _dots(loss: PrivacyLoss, grid: float) -> tuple[Floats, float]:
    """Masses of the first view at the losses -POINTS .. POINTS times the grid, and the mass of an infinite one."""
    steps = np.arange(1, POINTS + 1) * grid
    middle, right = loss.delta(0.0), np.array([loss.delta(float(e)) for e in steps])
    left = np.minimum(1.0 - np.exp(-steps) + np.exp(-steps) * right, 1.0)[::-1]
    x = np.exp(np.concatenate([[-np.inf], -steps[::-1], [0.0], steps]))
    curve = np.concatenate([[1.0], left, [middle], right])
    kept = _hull(x, curve)
    slopes = np.append(np.diff(curve[kept]) / np.diff(x[kept]), 0.0)
    masses = np.zeros(x.size)
    masses[kept[1:]] = np.diff(slopes) * x[kept[1:]]
    return np.maximum(masses[1:], 0.0) * ROUND_UP, float(curve[-1])


def _hull(x: Floats, y: Floats) -> list[int]:
    """The points on the largest convex function below all of them; whatever is convex and below them is below it."""
    kept: list[int] = []
    for at in range(x.size):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (y[b] - y[a]) * (x[at] - x[a]) < (y[at] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(at)
    return kept
