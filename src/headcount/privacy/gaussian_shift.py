r"""Discrete Gaussian noise on totals that a person changes by whole numbers: their joint loss.

Let Z be noise with $P[Z = k] \propto e^{-k^2/2s^2}$ on each total, and v what a person changes. Take continuous
Gaussian noise of variance $s^2 - r^2$ and round it at random, to k with weight $e^{-(k-y)^2/2r^2}$: the weights' sum
over the integers is the same for all y but for a factor within $1 \pm 2.1 e^{-2\pi^2 r^2}$ (Poisson's formula), so that
the result has the law of Z but for that factor, and with a whole v added before or after the rounding. The totals are
therefore post-processing of a Gaussian mechanism with $\mu = |v| / \sqrt{s^2 - r^2}$, whose divergence is
$$\delta(\epsilon) = \Phi(\mu/2 - \epsilon/\mu) - e^\epsilon\,\Phi(-\mu/2 - \epsilon/\mu).$$
It grows with $|v|$, so that only the longest v matters; and it is a bound however v is chosen from what was released
before, since Gaussian mechanisms of lengths that are chosen one after the other are one Gaussian mechanism of the
length of them all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.errors import Infeasible
from headcount.privacy.loss import LARGEST_EPSILON, PrivacyLoss, TotalVariationSlack
from headcount.programme.law import Floats

ROUNDING = 2  # r squared
UNEVEN = 2.1 * math.exp(-2.0 * math.pi**2 * ROUNDING)  # of each total
CANCELLED = 1e-13  # of the larger of both terms: what their difference may be wrong by


@dataclass(frozen=True, eq=False)
class GaussianShift(PrivacyLoss):
    """The loss of continuous Gaussian noise for a change of squared length `square`."""

    variance: Fraction
    square: int
    kind = "bound"

    @property
    def _mu(self) -> float:
        return math.sqrt(self.square / self.variance) * (1.0 + 1e-15)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        found = np.array([self._delta(e) for e in np.minimum(epsilon, LARGEST_EPSILON).tolist()])
        return found, found

    def _delta(self, epsilon: float) -> float:
        mu = self._mu
        above = 0.5 * math.erfc((epsilon / mu - mu / 2.0) / math.sqrt(2.0))
        below = 0.5 * math.erfc((epsilon / mu + mu / 2.0) / math.sqrt(2.0))
        below = math.exp(epsilon + math.log(below)) if below else 0.0
        return min(1.0, max(0.0, above - below) + CANCELLED * above)


def shifted(scale: Fraction, square: int, totals: int, distance: float) -> PrivacyLoss:
    """The loss of discrete Gaussian noise on totals: draws within a total variation of its law."""
    variance = scale * scale - ROUNDING
    if variance <= 0:
        raise Infeasible(f"noise with a scale of {float(scale):g} is too narrow for weights", "use a scale above 2")
    return TotalVariationSlack(GaussianShift(variance, square), totals * (distance + UNEVEN), "bound")
