"""Privacy loss: for each epsilon, the smallest delta. An upper bound, always in both directions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from headcount.core.law import Floats
from headcount.core.root import crossing

ROUND_UP = 1.0 + 1e-10  # masses are good to 1e-11 and sums of them to about as much; claims are rounded up by this
LARGEST_EPSILON = 700.0


class PrivacyLoss(ABC):
    """The hockey-stick divergence between neighbouring crowds, as a function of epsilon."""

    kind: Literal["exact", "bound"] = "exact"

    @abstractmethod
    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """The divergence at each epsilon from 0 on, in either order of the neighbours, for the worst pair."""

    def slack(self, epsilon: float) -> float:
        """The part of delta that pays for rounded tables and cut tails."""
        return 0.0

    def delta(self, epsilon: float) -> float:
        """The smallest delta for this epsilon, rounded up."""
        forward, backward = self.orders(np.array([epsilon], dtype=np.float64))
        return min(1.0, max(forward.item(), backward.item()) * ROUND_UP + self.slack(epsilon))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon for this delta, rounded up; infinite if there is none."""
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2.0
            if high > LARGEST_EPSILON:
                return math.inf
        low = high / 2.0 if high > 1.0 else 0.0

        def excess(epsilon: float) -> float:
            """On a logarithmic scale, nearly a straight line; only the sign if delta is 0."""
            here = self.delta(epsilon)
            return math.log(max(here, 1e-300) / delta) if delta else math.copysign(1.0, here - 1e-300)

        return crossing(excess, (low, excess(low)), (high, excess(high)), tight=1e-10 if delta else 0.0)


@dataclass(frozen=True, eq=False)
class Together(PrivacyLoss):
    """That of so many reports of the same person, which are changed one after the other.

    Each step multiplies chances by e^(epsilon/k) and adds a delta, which the steps after it multiply again.
    """

    one: PrivacyLoss
    reports: int
    kind: Literal["exact", "bound"] = "bound"

    @classmethod
    def of(cls, one: PrivacyLoss, reports: int) -> PrivacyLoss:
        return one if reports == 1 else cls(one, reports)

    def _grown(self, epsilon: Floats) -> Floats:
        return np.asarray(np.exp(np.multiply.outer(epsilon / self.reports, np.arange(self.reports))).sum(axis=-1))

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worse = np.maximum(*self.one.orders(epsilon / self.reports)) * self._grown(epsilon)
        return worse, worse

    def slack(self, epsilon: float) -> float:
        return self.one.slack(epsilon / self.reports) * float(self._grown(np.array(epsilon)))


@dataclass(frozen=True, eq=False)
class Nearly(PrivacyLoss):
    """A loss computed for ideal laws, where what is drawn lies within `distance` of them in total variation."""

    ideal: PrivacyLoss
    distance: float
    kind: Literal["exact", "bound"] = "exact"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        return self.ideal.orders(epsilon)

    def slack(self, epsilon: float) -> float:
        return self.ideal.slack(epsilon) + (1.0 + float(np.exp(epsilon))) * self.distance
