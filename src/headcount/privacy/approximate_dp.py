"""A mechanism of which nothing is known but its (epsilon, delta)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headcount.privacy.budget import Budget
from headcount.privacy.loss import ClaimedDelta, PrivacyLoss
from headcount.programme.law import Floats


@dataclass(frozen=True, eq=False)
class ApproximateDP(PrivacyLoss):
    """The dominating pair of all (epsilon, delta)-DP mechanisms.

    It tells everything with chance delta, and is randomised response at epsilon otherwise.
    """

    budget: Budget
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        pure, delta = self.budget.epsilon, self.budget.delta
        high = -np.expm1(np.minimum(epsilon - pure, 0.0)) / (1.0 + math.exp(-pure))
        worst = delta + (1.0 - delta) * high
        return worst, worst

    def claim(self, epsilon: float) -> ClaimedDelta:
        """The given delta from the given epsilon on, not rounded up."""
        return ClaimedDelta(self.budget.delta, 0.0) if epsilon >= self.budget.epsilon else super().claim(epsilon)
