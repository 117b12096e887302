"""Exact accounting of a sampled and thresholded count."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headcount.core.law import Floats
from headcount.core.loss import PrivacyLoss
from headcount.core.table import Ints
from headcount.privacy import laws


@dataclass(frozen=True, eq=False)
class SampledCount(PrivacyLoss):
    """Bin(k, rate) against Bin(k + 1, rate), both reported only from the threshold on, for the worst k below `people`.

    The likelihood ratio of one holder more, (k+1)(1-rate)/(k+1-v), grows with the sampled count v, so that either order
    is violated on one tail only: one more from v = (k+1) q on, q = 1 - (1-rate) e^-epsilon; one fewer below
    v = (k+1) s, s = 1 - (1-rate) e^epsilon. The worst k lies near threshold / q or threshold / s; beyond, tails vanish.
    """

    rate: float
    threshold: int
    people: int

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        both = [self._worst(float(e)) for e in epsilon]
        return np.array([more for more, _ in both]), np.array([fewer for _, fewer in both])

    def _worst(self, epsilon: float) -> tuple[float, float]:
        q, s = (1.0 - (1.0 - self.rate) * math.exp(sign * epsilon) for sign in (-1.0, 1.0))
        reach = 2.0 * (self.threshold + 2) / q
        if s > 0.0:
            reach = max(reach, 4.0 * (self.threshold + 2) / max(s, self.rate / 4.0))
        k = np.arange(max(0, self.threshold - 1), min(self.people - 1, math.ceil(reach)) + 1)
        if not k.size:
            return 0.0, 0.0
        factor = math.exp(epsilon)
        more = self._more(k, np.maximum(self.threshold, np.ceil((k + 1) * q)) - 1.0, factor)
        fewer = self._fewer(k, np.maximum(self.threshold, np.ceil((k + 1) * s)) - 1.0, factor)
        return max(0.0, float(more.max())), max(0.0, float(fewer.max()))

    def _more(self, k: Ints, below: Floats, factor: float) -> Floats:
        with_one_more = laws.binomial_above(np.minimum(below, k + 1), k + 1, self.rate)
        return with_one_more - factor * laws.binomial_above(np.minimum(below, k), k, self.rate)

    def _fewer(self, k: Ints, upto: Floats, factor: float) -> Floats:
        with_one_more = laws.binomial_upto(np.minimum(upto, k + 1), k + 1, self.rate)
        return laws.binomial_upto(np.minimum(upto, k), k, self.rate) - factor * with_one_more
