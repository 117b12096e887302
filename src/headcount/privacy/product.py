r"""The product of two dominating pairs, such as the two cells that a replaced person changes.

For each outcome of one view the other exceeds a likelihood ratio of its own, so
$$D_\epsilon(P_1 P_2 \| Q_1 Q_2) = \sum_x P_1(x)\,F(t_x) - e^\epsilon Q_1(x)\,G(t_x), \quad
t_x = \epsilon - \ln\frac{P_1(x)}{Q_1(x)},$$
where F and G are the masses under $P_2$ and $Q_2$ of the outcomes whose log-ratio exceeds $t_x$: prefix sums of the
second view, sorted once. No plane of pairs of outcomes is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.loss import LARGEST_EPSILON, PrivacyLoss
from headcount.privacy.pair import ByRatio, Pair, exp_down
from headcount.programme.law import Floats


@dataclass(frozen=True, eq=False)
class ProductPair(PrivacyLoss):
    """Two independent views of the same change."""

    kind = "exact"

    first: Pair
    second: Pair

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        forward, backward = (_divergences(*order, epsilon) for order in self._orders)
        return forward, backward

    def slack(self, epsilon: float) -> float:
        """The mass of P1 x P2 outside both windows: at most the sum of the masses outside each."""
        return self.first.slack(epsilon) + self.second.slack(epsilon)

    @cached_property
    def _orders(self) -> tuple[tuple[ByRatio, ByRatio], ...]:
        """The smaller and the larger view by likelihood ratio, in either order of neighbours."""
        few, many = sorted((self.first, self.second), key=lambda pair: pair.p.size)
        return tuple(zip(few.by_ratio, many.by_ratio, strict=True))


@dataclass(frozen=True, eq=False)
class TwoCells(ProductPair):
    """A cell that gains a person, and one with noise of its own and of the same law that loses one.

    In the other order they have only changed places: both orders lose the same, and each cell is
    sorted once.
    """

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        both = _divergences(*self.first.by_ratio, epsilon)
        return both, both


def two_cells(pair: Pair) -> TwoCells:
    return TwoCells(pair, pair.reversed)


def _divergences(few: ByRatio, many: ByRatio, epsilon: Floats) -> Floats:
    # Beyond the largest epsilon e**epsilon overflows; delta only falls, so that epsilon's own is an
    # upper bound.
    return np.array([_divergence(few, many, e) for e in np.minimum(epsilon, LARGEST_EPSILON).tolist()])


def _divergence(few: ByRatio, many: ByRatio, epsilon: float) -> float:
    """The sum over the smaller view, with prefix sums of the larger; both sorted, for the cache."""
    first = np.searchsorted(many.falling, -epsilon - few.falling)  # both log-ratios exceed epsilon
    p, q = many.above
    factor = float(exp_down(np.float64(epsilon)))
    return float(np.maximum(few.p * p[first] - factor * (few.q * q[first]), 0.0).sum())
