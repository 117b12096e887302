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
        if self.rate == 1.0:
            everything = float(self.people >= max(1, self.threshold))
            return everything, everything
        q, s = (1.0 - (1.0 - self.rate) * math.exp(sign * epsilon) for sign in (-1.0, 1.0))
        factor = math.exp(epsilon)
        k = self._about(q)
        more = self._more(k, np.maximum(self.threshold, np.ceil((k + 1) * q)) - 1.0, factor)
        worst_more = max(0.0, float(more.max(initial=0.0)))
        if s <= 0.0:
            return worst_more, 0.0
        k = self._about(s, from_the_start=True)
        fewer = self._fewer(k, np.maximum(self.threshold, np.ceil((k + 1) * s)) - 1.0, factor)
        return worst_more, max(0.0, float(fewer.max(initial=0.0)))

    def _about(self, share: float, *, from_the_start: bool = False) -> Ints:
        """The k near threshold / share, as far as the chance of a sample that large (or small) is not negligible.

        Away from there it falls as exp(-k KL), KL the divergence of the share from the rate; and where so many people
        hold a one that the sample surely passes the threshold, nothing is violated on the lower side.
        """
        rest = max(1.0 - share, 1e-300)
        gap = share * math.log(share / self.rate) + rest * math.log(rest / (1.0 - self.rate))
        reach = min(40.0 / max(gap, 1e-12) + 4.0 / share, (self.threshold + 2) / share) + 50.0
        first = 0.0 if from_the_start else self.threshold / share - reach
        last = self.threshold / share + reach
        if from_the_start:
            last = min(last, (self.threshold + 70.0 + 13.0 * math.sqrt(self.threshold)) / self.rate)
        most = self.people - 1
        return np.arange(max(0, self.threshold - 1, min(most, math.floor(first))), min(most, math.ceil(last)) + 1)

    def _more(self, k: Ints, below: Floats, factor: float) -> Floats:
        with_one_more = laws.binomial_above(np.minimum(below, k + 1), k + 1, self.rate)
        return with_one_more - factor * laws.binomial_above(np.minimum(below, k), k, self.rate)

    def _fewer(self, k: Ints, upto: Floats, factor: float) -> Floats:
        with_one_more = laws.binomial_upto(np.minimum(upto, k + 1), k + 1, self.rate)
        return laws.binomial_upto(np.minimum(upto, k), k, self.rate) - factor * with_one_more
