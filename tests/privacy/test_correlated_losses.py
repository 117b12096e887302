"""Losses of noise that cancels, against sums over the plane of both totals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import truth
from losses import DIGITS, Truth, check_loss, check_never_below, nearly, plane

from headcount.privacy import correlated, laws
from headcount.privacy.correlated import BasicComposition, CorrelatedView
from headcount.privacy.crowd import Crowd
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.correlated_histogram import CorrelatedHistogram
from headcount.questions.histogram import Histogram

CORRELATED_HISTOGRAMS = [
    CorrelatedHistogram.tiny(),
    CorrelatedHistogram(task=Histogram(9), crowd=Crowd(10), inner=1.5, shape=3.0, decay=0.4),
    CorrelatedHistogram(task=Histogram(9), crowd=Crowd(10), inner=1.5, shape=900.0, decay=0.01),
    CorrelatedHistogram(task=Histogram(4), crowd=Crowd(1000, least=500), inner=0.9, shape=5.0, decay=0.8),
]


def two_planes(protocol: CorrelatedHistogram, honest: int) -> Truth:
    share = Fraction(honest, protocol.crowd.honest)
    own = truth.negative_binomial(share, protocol.cancel)
    flood = truth.negative_binomial(Fraction(protocol.shape) * share, protocol.decay)

    def orders_at(epsilon: float) -> tuple[Any, Any]:
        forward, backward = truth.two_cancelling_noises(own, flood, epsilon)
        return truth.exact(forward * (1 - 1e-8)), truth.exact(backward * (1 - 1e-8))

    return orders_at


@pytest.mark.parametrize("protocol", CORRELATED_HISTOGRAMS)
def test_correlated_histogram_loses_what_the_four_totals_of_two_categories_do(protocol: CorrelatedHistogram) -> None:
    orders_at = two_planes(protocol, protocol.crowd.honest)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 4.0):
        orders = orders_at(epsilon)
        check_never_below(protocol.loss, epsilon, orders)
        assert protocol.loss.delta(epsilon) == pytest.approx(float(max(orders)), rel=DIGITS, abs=1e-15)


@pytest.mark.parametrize("honest", [1, 2])
def test_correlated_histogram_loses_what_is_left_if_fewer_come(honest: int) -> None:
    protocol = CORRELATED_HISTOGRAMS[0]
    orders_at = two_planes(protocol, honest)
    for epsilon in (0.0, 1.0, 4.0):
        orders = orders_at(epsilon)
        check_never_below(protocol.loss_if(honest), epsilon, orders)
        assert protocol.loss_if(honest).delta(epsilon) == pytest.approx(float(max(orders)), rel=DIGITS, abs=1e-11)


def test_a_plane_too_large_to_go_through_is_bounded_by_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = CorrelatedHistogram(task=Histogram(9), crowd=Crowd(10), inner=0.25, shape=2.0, decay=0.997)
    assert wide.loss_if(9).kind == "rounded"
    monkeypatch.setattr(correlated, "MOST_CELLS", 1)
    assert replace(wide).loss_if(9).kind == "bound"
    small = CORRELATED_HISTOGRAMS[0]
    own, flood = (laws.negative_binomial(2 / 3, decay) for decay in (small.cancel, small.decay))
    halves = BasicComposition(CorrelatedView(own, flood))
    for epsilon in (0.0, 1.0, 4.0):
        check_never_below(halves, epsilon, two_planes(small, 2)(epsilon))


CORRELATED = [
    CorrelatedCount.tiny(),
    CorrelatedCount(crowd=Crowd(10), inner=0.9, shape=5.0, decay=0.8),
    CorrelatedCount(crowd=Crowd(1000, least=500), inner=1.9, shape=16.6, decay=0.95),
    CorrelatedCount(crowd=Crowd(10), inner=0.9, shape=3000.0, decay=0.01),
]


@pytest.mark.parametrize("protocol", CORRELATED)
def test_correlated_count_loses_what_its_two_totals_do(protocol: CorrelatedCount) -> None:
    orders_at = plane(protocol, protocol.crowd.honest)
    check_loss(protocol.loss, lambda epsilon: nearly(orders_at(epsilon)), [0.0, 0.5, 1.0, 2.0, 4.0])


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("protocol", CORRELATED)
def test_correlated_count_loses_what_its_two_totals_do_if_fewer_come(protocol: CorrelatedCount, part: float) -> None:
    honest = max(1, int(part * protocol.crowd.honest))
    loss, orders_at = protocol.loss_if(honest), plane(protocol, honest)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 4.0):
        orders = orders_at(epsilon)
        check_never_below(loss, epsilon, nearly(orders))
        assert loss.delta(epsilon) == pytest.approx(max(orders), rel=DIGITS, abs=1e-11)


@pytest.mark.parametrize("epsilon", [16.0, 24.0, 32.0, 50.0])
def test_what_remains_if_fewer_come_is_not_understated_at_large_epsilons(epsilon: float) -> None:
    protocol = CORRELATED[1]
    check_never_below(protocol.loss_if(7), epsilon, nearly(plane(protocol, 7)(epsilon)))


def test_the_one_dimensional_loss_continues_the_plane_s() -> None:
    protocol = CorrelatedCount(crowd=Crowd(10**6), inner=1.0, shape=6.0, decay=0.7)
    whole, nearly_all = protocol.loss.delta(1.2), protocol.loss_if(10**6 - 1).delta(1.2)
    assert nearly_all == pytest.approx(whole, rel=1e-3)
