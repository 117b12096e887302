"""A loss held against the same loss worked out from scratch, in both orders of the neighbours."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import truth

from headcount.privacy.loss import PrivacyLoss
from headcount.protocols.shuffle.correlated_count import CorrelatedCount

DIGITS = 1e-6


Truth = Callable[[float], tuple[Any, Any]]


def check_never_below(loss: PrivacyLoss, epsilon: float, orders: tuple[Any, Any]) -> None:
    assert truth.exact(loss.delta(epsilon)) >= max(orders)


def check_agreement(loss: PrivacyLoss, epsilon: float, orders: tuple[Any, Any]) -> None:
    """Delta less its slack is the truth to six digits and not below it; so is either order where it matters."""
    worst, negligible = max(orders), truth.exact(1e-30)
    delta, paid, slack = (truth.exact(part(epsilon)) for part in (loss.delta, loss.delta_slack, loss.slack))
    assert worst - negligible <= delta - paid
    assert delta - slack <= worst * (1 + DIGITS) + negligible
    for side, expected in zip(loss.orders(np.array([epsilon])), orders, strict=True):
        assert abs(truth.exact(side.item()) - expected) <= DIGITS * expected + 1e-9 * worst + negligible


def check_loss(loss: PrivacyLoss, orders_at: Truth, epsilons: list[float]) -> None:
    for epsilon in epsilons:
        orders = orders_at(epsilon)
        check_never_below(loss, epsilon, orders)
        check_agreement(loss, epsilon, orders)


EPSILONS = [0.0, 0.1, 0.5, 1.0, 3.0]


def worst_of(pairs: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """With k or with n - 1 - k ones among the others, the orders change places."""
    worst = max(max(pair) for pair in pairs)
    return worst, worst


def plane(protocol: CorrelatedCount, honest: int) -> Truth:
    share = Fraction(honest, protocol.crowd.honest)
    own = truth.negative_binomial(share, protocol.cancel)
    flood = truth.negative_binomial(Fraction(protocol.shape) * share, protocol.decay)
    return lambda epsilon: truth.cancelling_noise(own, flood, epsilon)


def nearly(orders: tuple[float, float]) -> tuple[Any, Any]:
    """Sums over the plane are made in doubles."""
    return truth.exact(orders[0] * (1 - 1e-11)), truth.exact(orders[1] * (1 - 1e-11))
