"""Losses of added noise against the same losses worked out from scratch, in both orders of the neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
import truth
from losses import EPSILONS, Truth, check_agreement, check_loss, check_never_below, nearly, plane

from headcount.planner.calibrate import calibrate
from headcount.privacy import laws
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.pair import Pair
from headcount.privacy.product import ProductPair
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.shared.dummy_messages import DummyMessages
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum


@pytest.mark.parametrize(
    ("n", "gamma"),
    [(2, 0.5), (3, 0.01), (10, 0.3), (1000, 0.04), (10**4, 0.0034), (10**6, 5e-3), (10**9, 3.4e-8), (10**9, 1.3e-7)],
)
def test_zsum_loses_what_shifted_binomial_noise_does(n: int, gamma: float) -> None:
    protocol = Zsum(crowd=Crowd(n), gamma=gamma)
    law = truth.binomial(n, protocol.gamma)
    check_loss(protocol.loss, lambda epsilon: truth.shifted(law, epsilon), EPSILONS)


@pytest.mark.parametrize(
    ("n", "mean"), [(2, 0.5), (2, 3.0), (10**4, 34.07), (10**9, 34.07), (10**9, 110.0), (10**6, 5e3)]
)
def test_poisson_count_loses_what_shifted_poisson_noise_does(n: int, mean: float) -> None:
    law = truth.poisson(mean)
    check_loss(PoissonCount(crowd=Crowd(n), mean=mean).loss, lambda epsilon: truth.shifted(law, epsilon), EPSILONS)


@pytest.mark.parametrize(
    ("n", "shape", "decay"),
    [(2, 2.0, 0.25), (10, 0.3, 0.9), (10**4, 57.74, 0.36787944117144233), (10**9, 170.0, 0.3679), (10**6, 11.0, 0.99)],
)
def test_negative_binomial_count_loses_what_its_shifted_noise_does(n: int, shape: float, decay: float) -> None:
    law, protocol = (
        truth.negative_binomial(shape, decay),
        NegativeBinomialCount(crowd=Crowd(n), shape=shape, decay=decay),
    )
    check_loss(protocol.loss, lambda epsilon: truth.shifted(law, epsilon), EPSILONS)


CENTRAL: list[Callable[[float], Geometric | Laplace]] = [
    lambda scale: Geometric(crowd=Crowd(5), scale=scale),
    lambda scale: Laplace(crowd=Crowd(5), scale=scale),
    lambda scale: Laplace(crowd=Crowd(5), scale=scale, levels=100),
    lambda scale: Laplace(task=Sum((-3, 7), steps=10), crowd=Crowd(5), scale=scale, levels=10),
]


central = pytest.mark.parametrize("make", CENTRAL, ids=["geometric", "laplace", "laplace of 100", "laplace sum"])


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 3.3, 20.0])
@central
def test_central_noise_loses_what_shifted_discrete_laplace_noise_does(
    make: Callable[[float], Geometric | Laplace], scale: float
) -> None:
    protocol = make(scale)
    epsilons = [share / scale for share in (0.0, 0.3, 0.77, 0.99)]
    rate = 1 / (Fraction(scale) * protocol.grid)
    check_loss(protocol.loss, lambda epsilon: truth.shifted_discrete_laplace(rate, protocol.grid, epsilon), epsilons)


@pytest.mark.parametrize("scale", [50.0, 1e4, 1e5])
@central
def test_huge_central_noise_is_never_understated(make: Callable[[float], Geometric | Laplace], scale: float) -> None:
    protocol = make(scale)
    rate = 1 / (Fraction(scale) * protocol.grid)
    for share in (0.0, 0.5, 0.999, 1.0, 1.1):
        orders = truth.shifted_discrete_laplace(rate, protocol.grid, share / scale)
        check_never_below(protocol.loss, share / scale, orders)


@pytest.mark.parametrize(("bounds", "most"), [((0, 8), 8), ((-8, 0), 8), ((-4, 4), 4)])
def test_somebody_who_comes_or_goes_moves_a_sum_by_no_more_than_the_larger_bound(
    bounds: tuple[float, float], most: int
) -> None:
    protocol = Laplace(
        task=Sum(bounds, steps=8), crowd=Crowd(5), scale=0.7, levels=8, neighbours=Neighbours.ADD_REMOVE
    )  # fmt: skip
    rate = 1 / (Fraction(0.7) * 8)
    check_loss(protocol.loss, lambda epsilon: truth.shifted_discrete_laplace(rate, most, epsilon), [0.0, 0.3, 0.6])


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.2])
def test_a_central_histogram_loses_what_two_shifts_do(scale: float) -> None:
    protocol = Geometric(task=Histogram(5), crowd=Crowd(5), scale=scale)
    law = truth.discrete_laplace(1 / Fraction(scale))
    check_loss(protocol.loss, lambda e: truth.moved(law, e), [part / scale for part in (0.0, 0.5, 1.0, 1.5, 1.99)])
    pure = math.nextafter(2.0 / scale, math.inf)
    assert protocol.loss.delta(pure) == 0.0
    assert max(truth.moved(law, pure)) < 1e-50


def test_somebody_who_comes_or_goes_changes_one_count_only() -> None:
    protocol = Geometric(task=Histogram(5), crowd=Crowd(5), scale=1.0, neighbours=Neighbours.ADD_REMOVE)
    check_loss(protocol.loss, lambda e: truth.shifted_discrete_laplace(Fraction(1), 1, e), [0.0, 0.5, 0.99])


@pytest.mark.parametrize(("n", "mean"), [(2, 0.5), (10**4, 12.0), (10**9, 47.3)])
def test_poisson_histogram_loses_what_two_shifts_do(n: int, mean: float) -> None:
    protocol, law = PoissonHistogram(task=Histogram(7), crowd=Crowd(n), mean=mean), truth.poisson(mean)
    check_loss(protocol.loss, lambda epsilon: truth.moved(law, epsilon), EPSILONS)


@pytest.mark.parametrize("honest", [1, 40, 99])
def test_poisson_histogram_loses_what_is_left_of_its_dummies_if_fewer_come(honest: int) -> None:
    protocol = PoissonHistogram(task=Histogram(7), crowd=Crowd(100), mean=20.0)
    law = truth.poisson(Fraction(20 * honest, 100))
    check_loss(protocol.loss_if(honest), lambda epsilon: truth.moved(law, epsilon), [0.0, 1.0])


@pytest.mark.parametrize(("n", "gamma"), [(2, 0.5), (10, 0.3), (1000, 0.04), (10**9, 4.7e-8)])
def test_balcer_cheu_histogram_loses_what_two_shifts_do(n: int, gamma: float) -> None:
    protocol = BalcerCheuHistogram(task=Histogram(7), crowd=Crowd(n), gamma=gamma)
    law = truth.binomial(n, protocol.gamma)
    check_loss(protocol.loss, lambda epsilon: truth.moved(law, epsilon), EPSILONS)


def test_the_check_of_two_shifts_catches_one_left_out() -> None:
    law, single = truth.poisson(12.0), PoissonCount(crowd=Crowd(10**4), mean=12.0)
    with pytest.raises(AssertionError):
        check_loss(single.loss, lambda epsilon: truth.moved(law, epsilon), [0.5])


def test_the_check_of_two_shifts_catches_both_in_the_same_direction() -> None:
    pair = Pair.shifted(laws.poisson(12.0))
    law, same = truth.poisson(12.0), ProductPair(pair, pair)
    with pytest.raises(AssertionError):
        check_loss(same, lambda epsilon: truth.moved(law, epsilon), [0.5])


def truth_of(protocol: Protocol) -> Truth:
    n = protocol.crowd.honest
    match protocol:
        case Zsum():
            law = truth.binomial(n, protocol.gamma)
        case PoissonCount():
            law = truth.poisson(protocol.mean)
        case NegativeBinomialCount():
            law = truth.negative_binomial(protocol.shape, protocol.decay)
        case CorrelatedCount():
            return lambda epsilon: nearly(plane(protocol, n)(epsilon))
        case SampleThreshold():
            return lambda epsilon: truth.sampled_counts(protocol.rate, protocol.threshold, 300, epsilon)
    return lambda epsilon: truth.shifted(law, epsilon)


def calibrated(cls: type[Protocol], **given: Any) -> Protocol:
    return calibrate(cls, Count(), Crowd(10**9), Budget(1.0, 1e-15), **given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: calibrated(Zsum),
        lambda: calibrated(PoissonCount),
        lambda: calibrated(NegativeBinomialCount),
        lambda: calibrated(CorrelatedCount, overhead=0.05),
        lambda: SampleThreshold(crowd=Crowd(10**9), rate=0.1344662110570053, threshold=25),
    ],
    ids=["zsum", "poisson-count", "negative-binomial-count", "correlated-count", "sample-threshold"],
)
def test_a_delta_of_1e_minus_15_among_a_thousand_million_people_is_right(make: Callable[[], Protocol]) -> None:
    protocol = make()
    orders = truth_of(protocol)(1.0)
    check_never_below(protocol.loss, 1.0, orders)
    check_agreement(protocol.loss, 1.0, orders)
    assert float(max(orders)) == pytest.approx(1e-15, rel=1e-4)


def test_the_check_of_losses_catches_noise_one_part_in_a_million_smaller() -> None:
    law, less = truth.poisson(34.07), PoissonCount(crowd=Crowd(10**4), mean=34.07 * (1 + 1e-6))
    with pytest.raises(AssertionError):
        check_loss(less.loss, lambda epsilon: truth.shifted(law, epsilon), [1.0])


def test_the_check_of_losses_catches_one_order_left_out() -> None:
    class OneWay(Pair):
        def orders(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            backward = super().orders(epsilon)[1]
            return backward, backward

    law, exact = laws.poisson(34.07), truth.poisson(34.07)
    with pytest.raises(AssertionError):
        check_loss(OneWay.shifted(law), lambda epsilon: truth.shifted(exact, epsilon), [1.0])


@pytest.mark.parametrize("protocol", [PoissonCount.tiny(), NegativeBinomialCount.tiny()])
def test_the_tables_of_six_people_lose_no_more_than_is_claimed(protocol: DummyMessages) -> None:
    share = np.array([mass << (truth.BITS - 128) for mass in protocol.share().masses], dtype=object)
    everyone = reduce(truth.Masses.__add__, [truth.Masses(0, share)] * 6)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 5.0):
        check_never_below(protocol.loss, epsilon, truth.shifted(everyone, epsilon))
