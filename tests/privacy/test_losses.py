"""Every protocol's privacy loss against the same loss worked out from scratch, in both orders of the neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
import truth

from headcount.core.budget import Budget, Neighbours
from headcount.core.chance import Chance
from headcount.core.crowd import Crowd
from headcount.core.histogram import Histogram
from headcount.core.loss import PrivacyLoss
from headcount.core.protocol import Protocol
from headcount.core.task import Count, Sum
from headcount.privacy import laws
from headcount.privacy.calibrate import calibrate
from headcount.privacy.correlated import Halved, Plane
from headcount.privacy.pair import Pair
from headcount.privacy.product import Product
from headcount.privacy.shares import share_distance
from headcount.privacy.shuffled import COVERED
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.cheu_sum import CheuSum
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.correlated_histogram import CorrelatedHistogram
from headcount.protocols.shuffle.dummies import Dummies
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.split_and_mix import SplitAndMix
from headcount.protocols.shuffle.zsum import Zsum

DIGITS = 1e-6
Truth = Callable[[float], tuple[Any, Any]]


def check_never_below(loss: PrivacyLoss, epsilon: float, orders: tuple[Any, Any]) -> None:
    assert truth.exact(loss.delta(epsilon)) >= max(orders)


def check_agreement(loss: PrivacyLoss, epsilon: float, orders: tuple[Any, Any]) -> None:
    """Delta less its slack is the truth to six digits and not below it; so is either order where it matters."""
    worst, negligible = max(orders), truth.exact(1e-30)
    claim = truth.exact(loss.delta(epsilon)) - truth.exact(loss.slack(epsilon))
    assert worst - negligible <= claim <= worst * (1 + DIGITS) + negligible
    for side, expected in zip(loss.orders(np.array([epsilon])), orders, strict=True):
        assert abs(truth.exact(side.item()) - expected) <= DIGITS * expected + 1e-9 * worst + negligible


def check_loss(loss: PrivacyLoss, orders_at: Truth, epsilons: list[float]) -> None:
    for epsilon in epsilons:
        orders = orders_at(epsilon)
        check_never_below(loss, epsilon, orders)
        check_agreement(loss, epsilon, orders)


EPSILONS = [0.0, 0.1, 0.5, 1.0, 3.0]


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


# A person who moves from one category to another changes two counts


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
    law, same = truth.poisson(12.0), Product(pair, pair)
    with pytest.raises(AssertionError):
        check_loss(same, lambda epsilon: truth.moved(law, epsilon), [0.5])


CORRELATED_HISTOGRAMS = [
    CorrelatedHistogram.tiny(),
    CorrelatedHistogram(task=Histogram(9), crowd=Crowd(10), inner=1.5, shape=3.0, decay=0.4),
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


def test_a_plane_too_large_for_pairs_is_bounded_by_halves() -> None:
    wide = CorrelatedHistogram(task=Histogram(9), crowd=Crowd(10), inner=0.25, shape=2.0, decay=0.997)
    assert wide.loss_if(9).kind == "bound"
    small = CORRELATED_HISTOGRAMS[0]
    halves = Halved(Plane(laws.negative_binomial(2 / 3, small.cancel), laws.negative_binomial(2 / 3, small.decay)))
    for epsilon in (0.0, 1.0, 4.0):
        check_never_below(halves, epsilon, two_planes(small, 2)(epsilon))


# Sums


@pytest.mark.parametrize(
    ("n", "levels", "lam", "epsilons"),
    [(2, 3, 1.0, [0.0, 0.5, 2.0]), (12, 4, 5.0, [0.3, 1.0]), (20, 8, 12.0, [0.7, 2.0]), (40, 5, 20.0, [0.5, 1.0])],
)
def test_cheu_sum_finds_the_worst_of_all_crowds(n: int, levels: int, lam: float, epsilons: list[float]) -> None:
    protocol, others = CheuSum(task=Sum((0, 1)), crowd=Crowd(n), lam=lam, levels=levels), (n - 1) * levels

    def over_all_ones(epsilon: float) -> tuple[Any, Any]:
        ones = range(others // 2 + 1)
        return worst_of([truth.shuffled_bits(protocol.flip, others, k, epsilon, levels) for k in ones])

    check_loss(protocol.loss, over_all_ones, epsilons)


def test_the_check_of_cheu_sum_catches_a_person_who_changes_one_bit() -> None:
    protocol = CheuSum(task=Sum((0, 1)), crowd=Crowd(12), lam=5.0, levels=4)
    one_bit = worst_of([truth.shuffled_bits(protocol.flip, 44, k, 0.3) for k in range(23)])
    assert float(one_bit[0]) < 0.5 * protocol.loss.delta(0.3)


SPLIT = SplitAndMix(task=Sum((0, 1)), crowd=Crowd(4), inner=2.0, levels=6, modulus=1 << 12, shares=40)


def noise_of(protocol: SplitAndMix, honest: int) -> truth.Masses:
    """Everybody's two draws, added up one by one."""
    own = truth.negative_binomial(Fraction(1, protocol.crowd.honest), Fraction(protocol.decay))
    return reduce(truth.Masses.__add__, [own + own.mirrored()] * honest)


@pytest.mark.parametrize("honest", [1, 2, 3, 4])
def test_split_and_mix_loses_what_the_sum_does(honest: int) -> None:
    law, loss = noise_of(SPLIT, honest), SPLIT.loss_if(honest)
    for epsilon in (0.0, 0.5, 1.0, 1.9):
        orders = truth.both_orders(law, law.shifted(SPLIT.levels), epsilon)
        check_never_below(loss, epsilon, orders)
        claim = truth.exact(loss.delta(epsilon)) - truth.exact(loss.slack(epsilon))
        assert float(claim) == pytest.approx(float(max(orders)), rel=DIGITS)


def test_no_shorter_shift_of_split_and_mix_is_worse() -> None:
    law = noise_of(SPLIT, 3)
    for epsilon in (0.0, 0.5, 1.5):
        shifts = [max(truth.both_orders(law, law.shifted(by), epsilon)) for by in range(1, SPLIT.levels + 1)]
        assert shifts == sorted(shifts)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("shares", [3, 5, 12])
def test_split_and_mix_pays_for_what_the_shares_themselves_betray(shares: int, epsilon: float) -> None:
    protocol = SplitAndMix(task=Sum((0, 1)), crowd=Crowd(1000), inner=1.0, levels=64, modulus=1 << 20, shares=shares)
    mixed = (1.0 + math.exp(epsilon)) * share_distance(1000, 1 << 20, shares)
    assert mixed <= protocol.loss.slack(epsilon) <= mixed * (1 + 1e-9) + 1e-25


@pytest.mark.parametrize("keep", [0.501, 0.6, 0.75, 0.9999])
def test_randomised_response_loses_what_one_flipped_bit_does(keep: float) -> None:
    protocol = RandomisedResponse(crowd=Crowd(10**9), keep=keep)
    local = protocol.local_epsilon
    assert local is not None
    check_loss(
        protocol.loss, lambda epsilon: truth.flipped_bit(protocol.keep, epsilon), [0.0, 0.5 * local, 0.99 * local]
    )


def worst_of(pairs: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """With k or with n - 1 - k ones among the others, the orders change places."""
    worst = max(max(pair) for pair in pairs)
    return worst, worst


@pytest.mark.parametrize(
    ("n", "lam", "epsilons"),
    [
        (2, 1.0, [0.1, 0.5, 1.0]), (3, 0.03, [0.5, 2.0]), (10, 1.0, [0.1, 1.0, 3.0]), (10, 9.0, [0.0, 0.1]),
        (50, 20.0, [0.3, 1.0]), (161, 60.0, [0.5, 1.0]), (250, 55.0, [0.8]), (250, 160.0, [0.05]),
    ],
)  # fmt: skip
def test_cheu_count_finds_the_worst_of_all_crowds(n: int, lam: float, epsilons: list[float]) -> None:
    protocol = CheuCount(crowd=Crowd(n), lam=lam)

    def over_all_ones(epsilon: float) -> tuple[Any, Any]:
        return worst_of([truth.shuffled_bits(protocol.flip, n - 1, k, epsilon) for k in range((n + 1) // 2)])

    check_loss(protocol.loss, over_all_ones, epsilons)


@pytest.mark.parametrize(
    ("n", "lam", "epsilon"),
    [(20_000, 38.1, 1.0), (10**5, 98.4, 0.5), (10**6, 66.7, 1.0), (10**9, 190.0, 1.0), (10**9, 30.0, 3.0)],
)
def test_cheu_count_understates_no_crowd_of_a_large_one(n: int, lam: float, epsilon: float) -> None:
    protocol = CheuCount(crowd=Crowd(n), lam=lam)
    period = 1.0 / (2.0 * protocol.flip)
    ones = np.unique([*np.linspace(0.0, 2.0 * period, 50).astype(int), n // 7, n // 3, (n - 1) // 2]).tolist()
    found = worst_of([truth.shuffled_bits(protocol.flip, n - 1, k, epsilon) for k in ones])
    check_never_below(protocol.loss, epsilon, found)
    assert protocol.loss.delta(epsilon) == pytest.approx(float(found[0]) * COVERED, rel=1e-4)


def test_cheu_count_at_a_delta_above_one_percent_is_within_a_ten_thousandth() -> None:
    protocol = CheuCount(crowd=Crowd(235), lam=22.754356174122073)
    found = worst_of([truth.shuffled_bits(protocol.flip, 234, k, 0.0108) for k in range(118)])
    assert protocol.loss.delta(0.0108) == pytest.approx(float(found[0]), rel=1e-4)


sampling = pytest.mark.parametrize(
    ("rate", "threshold"), [(0.05, 2), (0.302, 17), (0.302, 1), (0.6, 5), (0.9, 12), (1.0, 3)]
)


@sampling
def test_sample_threshold_finds_the_worst_of_all_counts(rate: float, threshold: int) -> None:
    protocol, most = SampleThreshold(crowd=Crowd(200), rate=rate, threshold=threshold), 200
    epsilons = [0.1, 0.5, 1.0, 3.0]
    check_loss(protocol.loss, lambda epsilon: truth.sampled_counts(protocol.rate, threshold, most, epsilon), epsilons)


@sampling
@pytest.mark.parametrize("n", [2, 15, 40])
def test_sample_threshold_understates_no_count_of_a_small_crowd(n: int, rate: float, threshold: int) -> None:
    protocol = SampleThreshold(crowd=Crowd(n), rate=rate, threshold=threshold)
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        check_never_below(protocol.loss, epsilon, truth.sampled_counts(protocol.rate, threshold, n, epsilon))


@pytest.mark.parametrize(("rate", "threshold", "most"), [(0.302, 17, 400), (0.64, 30, 400)])
def test_sample_threshold_in_a_huge_crowd_finds_the_worst_of_many_counts(
    rate: float, threshold: int, most: int
) -> None:
    protocol = SampleThreshold(crowd=Crowd(10**9), rate=rate, threshold=threshold)
    epsilons = [0.3, 1.0]
    check_loss(protocol.loss, lambda epsilon: truth.sampled_counts(protocol.rate, threshold, most, epsilon), epsilons)


def test_corrupt_people_lower_the_threshold() -> None:
    crowd = Crowd(100, least=90, corrupt=4)
    protocol = SampleThreshold(crowd=crowd, rate=0.3, threshold=9)
    check_loss(protocol.loss, lambda epsilon: truth.sampled_counts(protocol.rate, 5, 86, epsilon), [0.5, 1.0])


def plane(protocol: CorrelatedCount, honest: int) -> Truth:
    share = Fraction(honest, protocol.crowd.honest)
    own = truth.negative_binomial(share, protocol.cancel)
    flood = truth.negative_binomial(Fraction(protocol.shape) * share, protocol.decay)
    return lambda epsilon: truth.cancelling_noise(own, flood, epsilon)


def nearly(orders: tuple[float, float]) -> tuple[Any, Any]:
    """Sums over the plane are made in doubles."""
    return truth.exact(orders[0] * (1 - 1e-11)), truth.exact(orders[1] * (1 - 1e-11))


CORRELATED = [
    CorrelatedCount.tiny(),
    CorrelatedCount(crowd=Crowd(10), inner=0.9, shape=5.0, decay=0.8),
    CorrelatedCount(crowd=Crowd(1000, least=500), inner=1.9, shape=16.6, decay=0.95),
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


def test_the_check_of_cheu_count_catches_a_search_that_only_looks_at_no_ones() -> None:
    flip, n = Chance.up(60 / 800), 400
    alone = Pair.of(*[laws.binomial(n - 1, flip).shifted(by) + law for by, law in victims(flip)])
    worst = max(max(truth.shuffled_bits(flip, n - 1, k, 0.8)) for k in range(6))
    assert truth.exact(alone.delta(0.8)) < worst


def victims(flip: float) -> list[tuple[int, Any]]:
    victim = laws.binomial(1, flip)
    return [(1, -victim), (0, victim)]


# What is drawn, and not only what it stands for


@pytest.mark.parametrize("protocol", [PoissonCount.tiny(), NegativeBinomialCount.tiny()])
def test_the_tables_of_six_people_lose_no_more_than_is_claimed(protocol: Dummies) -> None:
    share = np.array([mass << (truth.BITS - 128) for mass in protocol.share().masses], dtype=object)
    everyone = reduce(truth.Masses.__add__, [truth.Masses(0, share)] * 6)
    for epsilon in (0.0, 0.5, 1.0, 2.0, 5.0):
        check_never_below(protocol.loss, epsilon, truth.shifted(everyone, epsilon))
