"""Just below the epsilon from which on nothing is lost, where all but a few digits of two chances cancel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import truth

from headcount.privacy import laws
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import WITHIN, PrivacyLoss
from headcount.privacy.pair import Pair
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats
from headcount.protocols.local.generalised_response import GeneralisedResponse
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.questions.histogram import Histogram

BELOW = [0.0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-9, 1e-5, 1e-2]  # the local epsilon, relatively
FEWEST = 1e-40

Loss = Callable[[Chance, int], PrivacyLoss]


def flips(seed: int, most: float) -> Iterator[tuple[Chance, int]]:
    """Chances of a flip, small and near one half, in crowds of any size."""
    for size, rare, even in SeededCoins(seed).uniform(45).reshape(15, 3).tolist():
        n = round(10.0 ** (0.5 + (most - 0.5) * size))
        yield Chance.up(min(10.0 ** (4.0 * rare - 2.5) / n, 0.4)), n
        yield Chance.up(0.5 - 10.0 ** (8.0 * even - 9.0)), min(n, 60)


def close_to_pure(flip: Chance) -> list[float]:
    local = math.log((1.0 - flip) / flip)
    return sorted(
        {local * (1.0 - below) for below in BELOW} | {math.nextafter(local, 0.0), math.nextafter(local, 99.0)}
    )


def check_near_pure(made: Loss, seed: int, most: float) -> None:
    """Never below the truth; as near it as its kind says, if there is more of it than doubles can tell from nothing."""
    for flip, n in flips(seed, most):
        loss = made(flip, n)
        for epsilon in close_to_pure(flip):
            orders = [truth.shuffled_bits(flip, n - 1, ones, epsilon) for ones in range(min(3, (n + 1) // 2))]
            exact = max(map(max, orders))
            claim = truth.exact(loss.delta(epsilon)) if exact > FEWEST else exact
            assert exact <= claim
            assert loss.kind == "bound" or claim <= exact * (1 + WITHIN[loss.kind]) or n > 6


def test_one_flipped_bit_keeps_its_digits_up_to_the_local_epsilon() -> None:
    check_near_pure(lambda flip, n: ShuffledBits(flip, n - 1), seed=1, most=6.5)


def test_cheu_count_claims_no_less_than_the_truth_near_1e_15() -> None:
    protocol = CheuCount(crowd=Crowd(6451945), lam=0.07016044494589559)
    assert protocol.local_epsilon is not None
    for steps in range(1, 12):
        epsilon = protocol.local_epsilon - steps * 2.0**-48
        exact = max(truth.shuffled_bits(protocol.flip, 6451944, 0, epsilon))
        assert exact <= truth.exact(protocol.loss.delta(epsilon)) <= exact * (1 + 1.1 * WITHIN["rounded"])


class InDoubles(ShuffledBits):
    """Subtracts the two chances of an outcome, each of them a double."""

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        rest, victim = laws.binomial(self.others, self.flip), laws.binomial(1, self.flip)
        return Pair.of(rest + (-victim).shifted(1), rest + victim).orders(epsilon)


def test_the_check_of_digits_catches_a_difference_of_doubles() -> None:
    with pytest.raises(AssertionError):
        check_near_pure(lambda flip, n: InDoubles(flip, n - 1), seed=1, most=6.5)


def test_clones_of_a_bit_are_no_better_hidden_than_the_bit() -> None:
    check_near_pure(lambda flip, n: Amplified(MessageLaws.response(2.0 * flip, 2), n), seed=2, most=4.0)


def one_report(own: Any, other: Any, epsilon: float) -> Any:
    """What a report gives away that says the truth and any given other value with these chances."""
    return max(own - mp_exp(epsilon) * other, truth.exact(0))


def mp_exp(epsilon: float) -> Any:
    return truth.mp.exp(truth.exact(epsilon))


@pytest.mark.parametrize("values", [2, 3, 10, 1000])
@pytest.mark.parametrize("lie", [0.9, 0.3, 1e-3, 1e-9])
def test_a_report_alone_keeps_its_digits_under_a_blanket(values: int, lie: float) -> None:
    chance = Chance.up(lie)
    loss, exact = Amplified(MessageLaws.response(chance, values), 1), truth.exact(chance)
    for below in BELOW:
        epsilon = loss.laws.local_epsilon * (1.0 - below)
        alone = one_report(1 - exact + exact / values, exact / values, epsilon)
        assert alone <= truth.exact(loss.delta(epsilon))


@pytest.mark.parametrize("values", [2, 3, 50])
@pytest.mark.parametrize("keep", [0.51, 0.7, 0.99, 1.0 - 1e-9])
def test_a_local_report_keeps_its_digits(values: int, keep: float) -> None:
    crowd = Crowd(5)
    protocol = (
        RandomisedResponse(crowd=crowd, keep=keep)
        if values == 2
        else GeneralisedResponse(task=Histogram(values), crowd=crowd, keep=keep)
    )
    local, own = protocol.local_epsilon, truth.exact(protocol.keep)
    assert local is not None
    for below in BELOW:
        epsilon = local * (1.0 - below)
        alone = one_report(own, (1 - own) / (values - 1), epsilon)
        assert alone <= truth.exact(protocol.loss.delta(epsilon))


@pytest.mark.parametrize("bits", [2, 3, 5])
def test_several_flipped_bits_are_never_below_the_truth(bits: int) -> None:
    for flip, n in flips(bits, 1.5):
        others, local = (n - 1) * bits, bits * math.log((1.0 - flip) / flip)
        loss = ShuffledBits(flip, others, bits)
        for epsilon in local * (1.0 - np.array(BELOW)):
            orders = [
                truth.shuffled_bits(flip, others, ones, float(epsilon), bits) for ones in range(min(3, others + 1))
            ]
            assert max(map(max, orders)) <= truth.exact(loss.delta(float(epsilon))) + FEWEST


def test_bits_that_are_never_flipped_tell_everything():
    assert ShuffledBits(Chance(0.0), 5).delta(40.0) == 1.0
    assert ShuffledBits(Chance(0.0), 5, 3).delta(40.0) == 1.0
    assert ShuffledBits(Chance.up(1e-9), 5).delta(40.0) < 1e-6  # and those that hardly ever are do not
