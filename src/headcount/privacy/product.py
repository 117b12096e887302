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
from headcount.privacy.pair import Pair, exp_down
from headcount.programme.law import Floats


@dataclass(frozen=True, eq=False)
class ProductPair(PrivacyLoss):
    """Two independent views of the same change."""

    kind = "exact"

    first: Pair
    second: Pair

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        forward, backward = self._orders
        # Beyond the largest epsilon e**epsilon overflows; delta only falls, so that epsilon's own
        # is an upper bound.
        asked = np.minimum(epsilon, LARGEST_EPSILON).tolist()
        return np.array([forward.divergence(e) for e in asked]), np.array([backward.divergence(e) for e in asked])

    def slack(self, epsilon: float) -> float:
        """What P1 x P2 leaves outside both windows is at most the sum of what either does."""
        return self.first.slack(epsilon) + self.second.slack(epsilon)

    @cached_property
    def _orders(self) -> tuple[_Joint, _Joint]:
        few, many = sorted((self.first, self.second), key=lambda pair: pair.p.size)
        return (
            _Joint(_Sorted.of(few.p, few.q), _Sorted.of(many.p, many.q)),
            _Joint(_Sorted.of(few.q, few.p), _Sorted.of(many.q, many.p)),
        )


def two_cells(pair: Pair) -> ProductPair:
    """One cell gains a person and another, with noise of its own and of the same law, loses one."""
    return ProductPair(pair, pair.reversed)


@dataclass(frozen=True, eq=False)
class _Sorted:
    """The outcomes that P can have, by falling likelihood ratio."""

    falling: Floats  # minus the log-ratio, which rises
    p: Floats
    q: Floats

    @classmethod
    def of(cls, p: Floats, q: Floats) -> _Sorted:
        p, q = p[p > 0], q[p > 0]  # the others never count
        with np.errstate(divide="ignore"):
            falling = np.log(q) - np.log(p)
        order = np.argsort(falling, kind="stable")
        return cls(falling[order], p[order], q[order])


@dataclass(frozen=True, eq=False)
class _Joint:
    """One order of the neighbours: the few outcomes are gone through, the many looked up."""

    few: _Sorted
    many: _Sorted

    @cached_property
    def _above(self) -> tuple[Floats, Floats]:
        """The masses of the first 0, 1, 2, ... of the many under P and under Q."""
        p, q = (np.concatenate([[0.0], np.cumsum(side)]) for side in (self.many.p, self.many.q))
        return p, q

    def divergence(self, epsilon: float) -> float:
        # The two log-ratios exceed epsilon together. The look-ups walk through the table, as the
        # few are sorted too.
        above = np.searchsorted(self.many.falling, -epsilon - self.few.falling)
        p, q = self._above
        factor = float(exp_down(np.float64(epsilon)))
        return float(np.maximum(self.few.p * p[above] - factor * (self.few.q * q[above]), 0.0).sum())
