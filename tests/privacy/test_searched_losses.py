"""Losses that are the worst over what the others hold, and of shares, against all of it worked out from scratch."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
import truth
from losses import DIGITS, check_loss, check_never_below, worst_of

from headcount.privacy import laws
from headcount.privacy.crowd import Crowd
from headcount.privacy.pair import Pair
from headcount.privacy.share_distance import share_distance
from headcount.privacy.shuffled_bits import COVERED
from headcount.programme.chance import Chance
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.cheu_sum import CheuSum
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.split_and_mix import SplitAndMix
from headcount.questions.sum_and_mean import Sum


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


def test_the_check_of_cheu_count_catches_a_search_that_only_looks_at_no_ones() -> None:
    flip, n = Chance.up(60 / 800), 400
    alone = Pair.of(*[laws.binomial(n - 1, flip).shifted(by) + law for by, law in victims(flip)])
    worst = max(max(truth.shuffled_bits(flip, n - 1, k, 0.8)) for k in range(6))
    assert truth.exact(alone.delta(0.8)) < worst


def victims(flip: float) -> list[tuple[int, Any]]:
    victim = laws.binomial(1, flip)
    return [(1, -victim), (0, victim)]
