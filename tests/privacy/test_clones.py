"""The clones' pair against its enumeration, and against randomised response whose exact loss is known."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import truth

from headcount.privacy.blanket import ResponseBlanket
from headcount.privacy.clones import Clones
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance

mp = truth.mp


def enumerated(local: float, others: int, chance: Any, epsilon: float) -> tuple[Any, Any]:
    """(A + D, C - A + 1 - D) against (A + 1 - D, C - A + D), coin by coin, in both orders."""
    keep = mp.exp(local) / (mp.exp(local) + 1)
    first: dict[tuple[int, int], Any] = defaultdict(mp.mpf)
    second: dict[tuple[int, int], Any] = defaultdict(mp.mpf)
    for c in range(others + 1):
        of_c = mp.binomial(others, c) * chance**c * (1 - chance) ** (others - c)
        for a in range(c + 1):
            mass = of_c * mp.binomial(c, a) / mp.mpf(2) ** c
            for d, of_d in ((1, keep), (0, 1 - keep)):
                first[a + d, c - a + 1 - d] += mass * of_d
                second[a + 1 - d, c - a + d] += mass * of_d
    factor = mp.exp(epsilon)
    forward = sum(max(mass - factor * second[seen], mp.mpf(0)) for seen, mass in first.items())
    backward = sum(max(mass - factor * first[seen], mp.mpf(0)) for seen, mass in second.items())
    return forward, backward


def check_orders(loss: Clones, chance: Any, epsilon: float) -> None:
    expected = enumerated(loss.local_epsilon, loss.others, chance, epsilon)
    for found, order in zip(loss.orders(np.array([epsilon])), expected, strict=True):
        assert found.item() == pytest.approx(float(order), rel=1e-9, abs=1e-28)
    assert truth.exact(loss.delta(epsilon)) >= max(expected)


# Only the outcomes of one side violate in either order. Code that looks at the same side for both would give 0 for one
# of them, and code that takes C for C + 1, or a fair coin for the victim's, another number.
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3, 0.9, 1.5])
@pytest.mark.parametrize(("local", "others"), [(2.0, 0), (1.6, 1), (2.0, 2), (3.0, 7), (5.0, 30), (2.0, 60)])
def test_both_orders_are_the_enumerated_pair_s(local: float, others: int, epsilon: float) -> None:
    check_orders(Clones(local, others), mp.exp(-truth.exact(local)), epsilon)
    check_orders(Clones(local, others, binary=True), 2 / (mp.exp(truth.exact(local)) + 1), epsilon)


def test_the_check_of_orders_catches_one_clone_too_few_and_the_withdrawn_chance() -> None:
    with pytest.raises(AssertionError):
        check_orders(Clones(2.0, 8), mp.exp(-2) * 7 / 8, 0.3)
    with pytest.raises(AssertionError):
        check_orders(Clones(2.0, 8, binary=True), mp.exp(-2), 0.3)


def test_alone_nothing_is_amplified() -> None:
    loss, keep = Clones(2.0, 0), 1.0 / (1.0 + math.exp(-2.0))
    assert loss.delta(1.0) == pytest.approx(keep - math.e * (1.0 - keep), rel=1e-9)


def test_ten_thousand_people_turn_a_local_2_into_0_155() -> None:
    loss = Clones(2.0, 9_999)
    assert loss.epsilon(1e-6) == pytest.approx(0.155, abs=5e-4)
    a = math.exp(2.0) / 10_000  # the closed form of the same theorem is three times as large
    closed = math.log1p(math.tanh(1.0) * (8.0 * math.sqrt(a * math.log(4e6)) + 8.0 * a))
    assert closed == pytest.approx(0.501, abs=1e-3)


def test_nothing_is_lost_from_the_local_epsilon_on() -> None:
    loss = Clones(0.7, 100)
    assert loss.delta(0.7) < 1e-25  # 0.7 may have been rounded down
    assert loss.delta(0.7 * (1 + 1e-9)) == loss.delta(50.0) == loss.delta(1000.0) == 0.0
    assert 0.0 < loss.delta(math.nextafter(0.7, 0.0)) < 1e-12
    assert loss.epsilon(0.0) == pytest.approx(0.7, rel=1e-6)


@pytest.mark.parametrize(("local", "n"), [(1.0, 2), (2.0, 10), (1.0, 100), (3.0, 200)])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_one_flipped_bit_loses_no_more_and_not_much_less(local: float, n: int, share: float) -> None:
    flip = Chance.up(1.0 / (math.exp(local) + 1.0))
    exact = ShuffledBits(flip, n - 1).delta(share * local)
    sharp, general = (Clones(local, n - 1, binary=binary).delta(share * local) for binary in (True, False))
    assert exact * (1 - 1e-9) <= sharp <= general
    if exact > 1e-18:
        assert sharp <= 3.0 * exact


@pytest.mark.parametrize("n", [1, 3, 1000, 10**6])
def test_for_one_bit_the_clones_are_the_blanket(n: int) -> None:
    lie = 2.0 / (math.exp(1.5) + 1.0)
    clones, blanket = Clones(1.5, n - 1, binary=True), ResponseBlanket(lie, 2, n)
    for epsilon in (0.0, 0.002, 0.3, 1.2):
        assert clones.delta(epsilon) == pytest.approx(blanket.delta(epsilon), rel=1e-9, abs=1e-30)


def test_more_people_and_a_larger_epsilon_lose_less() -> None:
    crowds = [0, 1, 2, 5, 30, 1000, 10**5, 10**7, 10**9]
    deltas = [Clones(3.0, others).delta(0.0003) for others in crowds]
    assert deltas == sorted(deltas, reverse=True)
    loss = Clones(8.0, 10**6)
    deltas = [loss.delta(epsilon) for epsilon in (0.0, 0.001, 0.1, 0.5, 1.0, 2.0, 4.0, 7.9)]
    assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize(("local", "others"), [(2.0, 10**9), (12.0, 10**9), (40.0, 10**9), (1e-3, 10**9), (690.0, 5)])
def test_extremes_stay_chances(local: float, others: int) -> None:
    loss = Clones(local, others)
    assert all(0.0 <= loss.delta(epsilon) <= 1.0 for epsilon in (0.0, 0.001, 1.0, 50.0, 700.0))
    assert loss.epsilon(1e-18) <= local * (1 + 1e-9)


def test_a_thousand_million_people_follow_the_normal_limit() -> None:
    # Given C the log-ratio is nearly normal with variance 4 tanh^2(local/2) / C; skipped values would show here.
    others, local = 10**9, 2.0
    spread = 2.0 * math.tanh(local / 2.0) / math.sqrt(others * math.exp(-local))
    for z in (0.5, 3.0, 6.0):
        limit = spread * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2)
        assert Clones(local, others).delta(z * spread) == pytest.approx(limit, rel=2e-3)
