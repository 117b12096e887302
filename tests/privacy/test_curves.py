"""The shapes of the curves: falling, the same one by one or together, and at nothing from where privacy is pure."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from headcount.privacy import laws
from headcount.privacy.budget import Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift, RepeatedResponse
from headcount.privacy.loss import ClaimedDelta, GroupPrivacy, PrivacyLoss, TotalVariationSlack
from headcount.privacy.pair import FEW, Pair
from headcount.programme.law import Law
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.correlated_histogram import CorrelatedHistogram
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.split_and_mix import SplitAndMix
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum

PROTOCOLS = [
    *[tiny for cls in CATALOGUE for tiny in cls.tinies()],
    Zsum(crowd=Crowd(10**4), gamma=0.0034),
    CorrelatedCount(crowd=Crowd(10), inner=0.9, shape=5.0, decay=0.8),
]
all_protocols = pytest.mark.parametrize(
    "protocol", PROTOCOLS, ids=lambda p: f"{p.name}-{p.task.name}-{p.neighbours}-{p.crowd.size}"
)


@all_protocols
def test_divergences_fall_as_epsilon_grows(protocol: Protocol) -> None:
    curves = [
        np.array([protocol.loss.orders(np.array([e]))[i].item() for e in np.linspace(0.0, 6.0, 61)]) for i in (0, 1)
    ]
    assert all((np.diff(curve) <= 1e-12 * curve[:-1] + 1e-30).all() for curve in curves)


@all_protocols
def test_divergences_lie_between_nothing_and_everything(protocol: Protocol) -> None:
    for order in protocol.loss.orders(np.array([0.0, 0.1, 1.0, 10.0, 50.0])):
        assert ((order >= 0.0) & (order <= 1.0 + 1e-12)).all()


@all_protocols
def test_both_orders_agree_at_epsilon_zero(protocol: Protocol) -> None:
    forward, backward = protocol.loss.orders(np.array([0.0]))
    assert forward.item() == pytest.approx(backward.item(), rel=1e-9)


@all_protocols
def test_many_epsilons_at_once_are_priced_as_one_by_one(protocol: Protocol) -> None:
    epsilons = np.linspace(0.0, 3.0, 4 * FEW)
    for together, side in zip(protocol.loss.orders(epsilons), (0, 1), strict=True):
        single = [protocol.loss.orders(np.array([e]))[side].item() for e in epsilons]
        assert together.tolist() == pytest.approx(single, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    "protocol",
    [
        *(protocol for protocol in PROTOCOLS if protocol.neighbours is Neighbours.REPLACE),
        SampleThreshold(crowd=Crowd(10), rate=0.3, threshold=17),
    ],
    ids=lambda p: p.name,
)
def test_the_promise_of_the_fewest_holds_for_all_who_may_come(protocol: Protocol) -> None:
    fewest = protocol.crowd.honest
    loose = protocol.among(Crowd(10 * fewest, least=fewest))
    for epsilon in (0.5, 1.0):
        promised = loose.loss.delta(epsilon)
        assert max(loose.view(some).delta(epsilon) for some in (2 * fewest, 10 * fewest)) <= promised * (1 + 1e-9)


def test_the_sorted_curve_at_negative_epsilons_follows_from_the_other_order() -> None:
    epsilons = np.linspace(0.0, 3.0, 20)
    pair = Pair.shifted(laws.poisson(34.07))
    (forward, _), (_, backward) = pair.orders(-epsilons), pair.orders(epsilons)
    assert forward.tolist() == pytest.approx(
        (1.0 - np.exp(-epsilons) + np.exp(-epsilons) * backward).tolist(), rel=1e-12
    )


def test_a_distance_is_paid_once_for_either_neighbour() -> None:
    ideal = Pair.shifted(laws.poisson(34.07))
    paid = TotalVariationSlack(ideal, 1e-9, "exact").slack(1.0) - ideal.slack(1.0)
    assert paid == pytest.approx((1.0 + math.e) * 1e-9, rel=1e-12)


# A promise at a smaller epsilon is one at a larger


ROUNDING = 1e-9
BILLION = Crowd(10**9)
EVER_LARGER = np.unique([*np.linspace(0.0, 6.0, 25), *np.linspace(6.5, 40.0, 45), *np.linspace(42.0, 100.0, 30)])
LARGE = [
    PoissonCount(crowd=BILLION, mean=26.0),
    NegativeBinomialCount(crowd=BILLION, shape=3.0, decay=0.999),
    CorrelatedCount(crowd=BILLION, inner=0.9, shape=5.0, decay=0.8),
    PoissonHistogram(task=Histogram(5), crowd=BILLION, mean=30.0),
    CorrelatedHistogram(task=Histogram(5), crowd=Crowd(10**6), inner=0.9, shape=5.0, decay=0.8),
    SplitAndMix(task=Sum((0, 1)), crowd=Crowd(1000), inner=1.0, levels=8, modulus=1 << 20, shares=6),
    Geometric(crowd=Crowd(5), scale=0.02),
    Geometric(task=Histogram(4), crowd=Crowd(5), scale=0.05),
    Geometric(crowd=Crowd(10, each=3), scale=0.5, neighbours=Neighbours.ADD_REMOVE),
]


def check_it_never_rises(loss: PrivacyLoss) -> None:
    deltas = np.array([loss.delta(float(epsilon)) for epsilon in EVER_LARGER])
    assert (np.diff(deltas) <= ROUNDING * deltas[:-1]).all()


@pytest.mark.parametrize("protocol", [*PROTOCOLS, *LARGE], ids=lambda p: f"{p.name}-{p.task.name}-{p.crowd.size}")
def test_no_claim_rises_with_epsilon(protocol: Protocol) -> None:
    check_it_never_rises(protocol.loss)


@pytest.mark.parametrize("protocol", LARGE, ids=lambda p: f"{p.name}-{p.crowd.size}")
def test_no_claim_lies_below_the_ideal_divergence(protocol: Protocol) -> None:
    loss = protocol.loss.one if isinstance(protocol.loss, GroupPrivacy) else protocol.loss
    forward, backward = loss.orders(EVER_LARGER)
    assert all(
        loss.delta(float(e)) >= max(f, b)
        for e, f, b in zip(EVER_LARGER, forward.tolist(), backward.tolist(), strict=True)
    )


def test_a_billion_poisson_dummies_lose_no_more_at_50_than_at_20() -> None:
    loss = PoissonCount(crowd=BILLION, mean=26.0).loss
    nobody = math.exp(-26.0)
    assert nobody <= loss.delta(50.0) <= loss.delta(20.0) <= nobody * (1 + 1e-5)
    assert loss.delta_slack(50.0) <= 1e-5 * nobody < loss.slack(50.0)


class RawSlack(TotalVariationSlack):
    """Charges a distance at the epsilon that is asked, however large."""

    def claim(self, epsilon: float) -> ClaimedDelta:
        return self.at(epsilon)


class TurnedSlack(TotalVariationSlack):
    """Takes the slack from where it is least, and the divergence from further on."""

    def claim(self, epsilon: float) -> ClaimedDelta:
        return ClaimedDelta(self.ideal.at(epsilon).delta, min(super().claim(epsilon).slack, self.slack(1.0)))


def test_the_check_of_rising_claims_catches_a_slack_that_grows_with_epsilon() -> None:
    with pytest.raises(AssertionError):
        check_it_never_rises(RawSlack(Pair.shifted(laws.poisson(26.0)), 1e-24, "exact"))


def drawn_and_ideal(cells: int) -> tuple[Pair, Pair, float]:
    """Poisson dummies cut to so many cells, what they stand for, and how far the one lies from the other."""
    ideal = laws.poisson(2.0)
    kept = ideal.masses[:cells] / ideal.masses[:cells].sum()
    apart = np.abs(kept - ideal.masses[:cells]).sum() + ideal.masses[cells:].sum()
    return Pair.shifted(Law(0, kept)), Pair.shifted(ideal), float(apart) / 2.0 + ideal.dropped


def check_it_covers_what_is_drawn(made: type[TotalVariationSlack], cells: int) -> None:
    drawn, ideal, distance = drawn_and_ideal(cells)
    loss = made(ideal, distance, "exact")
    truth = np.maximum(*drawn.orders(EVER_LARGER))
    assert all(loss.delta(float(e)) >= delta for e, delta in zip(EVER_LARGER, truth.tolist(), strict=True))


@pytest.mark.parametrize("cells", [3, 6, 9, 14, 20])
def test_a_claim_that_stays_covers_what_is_drawn(cells: int) -> None:
    check_it_covers_what_is_drawn(TotalVariationSlack, cells)


def test_the_check_of_what_is_drawn_catches_a_slack_of_another_epsilon() -> None:
    with pytest.raises(AssertionError):
        check_it_covers_what_is_drawn(TurnedSlack, 3)


# Purity


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0, 3.3, 10.0, 1e5])
@pytest.mark.parametrize("cls", [Geometric, Laplace])
def test_central_noise_is_pure_from_its_epsilon_on(cls: type[Protocol], scale: float) -> None:
    loss = cls(crowd=Crowd(5), scale=scale).loss
    pure = 1 / Fraction(scale)
    epsilon = float(pure) if Fraction(float(pure)) >= pure else math.nextafter(float(pure), math.inf)
    assert [loss.delta(e) for e in (epsilon, 1.001 * epsilon, 2.0 * epsilon)] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0, 3.3, 10.0, 1e5])
@pytest.mark.parametrize("cls", [Geometric, Laplace])
def test_central_noise_is_not_pure_just_below_its_epsilon(cls: type[Protocol], scale: float) -> None:
    loss = cls(crowd=Crowd(5), scale=scale).loss
    pure = 1 / Fraction(scale)
    below = float(pure) if Fraction(float(pure)) < pure else math.nextafter(float(pure), 0.0)
    assert loss.delta(below) > 0.0


@pytest.mark.parametrize("keep", [0.500001, 0.6, 0.75, 0.9, 0.999])
def test_randomised_response_is_pure_from_its_local_epsilon_on(keep: float) -> None:
    protocol = RandomisedResponse(crowd=Crowd(5), keep=keep)
    assert protocol.local_epsilon is not None
    rounding = 2.0**-49
    assert [protocol.loss.delta(protocol.local_epsilon + more) for more in (rounding, 0.01, 5.0)] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("keep", [0.500001, 0.6, 0.75, 0.9, 0.999])
def test_randomised_response_is_not_pure_below_its_local_epsilon(keep: float) -> None:
    protocol = RandomisedResponse(crowd=Crowd(5), keep=keep)
    assert protocol.local_epsilon is not None
    assert protocol.loss.delta(protocol.local_epsilon * (1.0 - 1e-9)) > 0.0


def test_purity_is_decided_in_rationals() -> None:
    loss = DiscreteLaplaceShift(Fraction(1, 3), 3)
    assert loss.delta(1.0) == 0.0
    assert loss.delta(math.nextafter(1.0, 0.0)) > 0.0


def test_purity_of_two_shifts_is_decided_in_rationals() -> None:
    loss = RepeatedResponse(Fraction(1, 2), 2)
    assert loss.delta(1.0) == 0.0
    assert loss.delta(math.nextafter(1.0, 0.0)) > 0.0
