"""Several flipped bits a person: the claim against all values of everybody, and against fixed-point laws."""

from __future__ import annotations

import math
from functools import reduce
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
import truth

from headcount.privacy import laws
from headcount.privacy import shuffled_bits as shuffled
from headcount.privacy.shuffled_bits import COVERED, SEARCHED, WIDE, ShuffledBits
from headcount.programme.chance import Chance

FLIPS = [Chance(0.01), Chance(0.125), Chance(0.3), Chance(0.5)]


def sent(ones: float, bits: int, flip: float) -> np.ndarray:
    """How many ones somebody sends whose value sets `ones` bits, the last of them by chance if that is a fraction."""
    whole = math.floor(ones)
    if ones > whole:
        return (1 - (ones - whole)) * sent(whole, bits, flip) + (ones - whole) * sent(whole + 1, bits, flip)
    chances = [1.0 - flip] * whole + [float(flip)] * (bits - whole)
    return reduce(np.convolve, [np.array([1.0 - chance, chance]) for chance in chances])


def all_values(flip: float, people: int, bits: int, epsilon: float, values: list[float]) -> float:
    """The largest divergence between any two crowds that differ in one person's value."""
    one, worst = {value: sent(value, bits, flip) for value in values}, 0.0
    for rest in combinations_with_replacement(values, people - 1):
        others = reduce(np.convolve, [one[value] for value in rest], np.ones(1))
        total = {value: np.convolve(others, one[value]) for value in values}
        for x, y in product(values, values):
            worst = max(worst, float(np.maximum(total[x] - math.exp(epsilon) * total[y], 0.0).sum()))
    return worst


@pytest.mark.parametrize("flip", FLIPS)
@pytest.mark.parametrize(("people", "bits"), [(1, 5), (2, 1), (2, 5), (3, 2), (3, 4), (4, 3), (4, 5)])
def test_no_two_values_are_worse_than_all_bits_and_none(flip: Chance, people: int, bits: int) -> None:
    # An account of one changed bit, or of one k only, falls below; one that composes the bits lies far above.
    loss = ShuffledBits(flip, (people - 1) * bits, bits)
    for epsilon in (0.0, 0.2, 1.0, 3.0, 8.0):
        found = all_values(flip, people, bits, epsilon, [float(x) for x in range(bits + 1)])
        assert found * (1 - 1e-12) <= loss.delta(epsilon) <= found * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize(("people", "bits"), [(2, 3), (3, 2), (4, 2)])
def test_values_between_two_bits_are_no_worse(people: int, bits: int) -> None:
    loss, values = ShuffledBits(Chance(0.125), (people - 1) * bits, bits), [x / 4 for x in range(4 * bits + 1)]
    for epsilon in (0.0, 0.5, 2.0):
        assert all_values(0.125, people, bits, epsilon, values) <= loss.delta(epsilon)


def exactly(flip: float, others: int, bits: int, ones: int, epsilon: float) -> Any:
    """The worse order, with so many ones among the others."""
    rest = truth.binomial(others - ones, flip)
    if ones:
        rest = rest + truth.binomial(ones, flip).mirrored()
    victim = truth.binomial(bits, flip)
    return max(truth.both_orders(rest + victim.mirrored().shifted(bits), rest + victim, epsilon))


@pytest.mark.parametrize(
    ("people", "bits", "lam", "epsilon"),
    [(12, 4, 5.0, 1.0), (20, 8, 12.0, 0.7), (30, 3, 9.0, 2.0), (10, 16, 3.0, 4.0), (25, 2, 0.7, 6.0)],
)
def test_every_pattern_of_the_others_is_covered(people: int, bits: int, lam: float, epsilon: float) -> None:
    flip, others = Chance.up(lam / (2 * people)), (people - 1) * bits
    found = max(exactly(flip, others, bits, k, epsilon) for k in range(others // 2 + 1))
    delta = ShuffledBits(flip, others, bits).delta(epsilon)
    assert found <= truth.exact(delta) <= found * (1 + 1e-6)


@pytest.mark.parametrize(
    ("people", "bits", "lam", "epsilon"),
    [
        (1000, 16, 324.35, 1.0),
        (400, 5, 60.0, 0.8),
        (2000, 4, 40.0, 4.0),
        (10**6, 16, 119.7, 5.0),
        (10**9, 7, 60.0, 9.0),
    ],
)
def test_no_pattern_of_a_large_crowd_is_understated(people: int, bits: int, lam: float, epsilon: float) -> None:
    # A scan that knows nothing of the period 1/2f would miss the peak among many people.
    flip, others = Chance.up(lam / (2 * people)), (people - 1) * bits
    ones = np.unique([*np.linspace(0.0, 1.0 / flip, 25).astype(int), *range(6), others // 9, others // 2]).tolist()
    found = max(exactly(flip, others, bits, k, epsilon) for k in ones)
    delta = ShuffledBits(flip, others, bits).delta(epsilon)
    assert found <= truth.exact(delta)
    rounded = COVERED if others > 2 * SEARCHED else 1.0
    assert delta == pytest.approx(float(found) * rounded, rel=2e-4)


@pytest.mark.parametrize(("people", "bits", "epsilon"), [(10**6, 64, 1.0), (5000, 100, 0.5), (300, 2000, 15.0)])
def test_a_wide_law_is_rounded_up_by_more_than_the_integers_cost(people: int, bits: int, epsilon: float) -> None:
    others = (people - 1) * bits
    flip = Chance.up(0.5 - math.sqrt(0.25 - 1.1 * WIDE / others))
    loss, period = ShuffledBits(flip, others, bits), max(1.0 / (2.0 * flip), 1.0 / (1.0 - 2.0 * flip))
    ones = np.unique([*np.linspace(0.0, period, 7).astype(int), others // 2]).tolist()
    found = max(loss._alone(k, epsilon) for k in ones)
    assert found <= loss.delta(epsilon) <= found * COVERED * (1 + 1e-9)


@pytest.mark.parametrize(("people", "bits", "lam"), [(1000, 16, 324.8), (10**4, 32, 996.4)])
def test_the_noise_needed_at_epsilon_one_and_delta_a_millionth(people: int, bits: int, lam: float) -> None:
    # The paper composes the bits and would need more noise than there are people.
    enough, too_little = (Chance.up(part * lam / (2 * people)) for part in (1.0, 0.998))
    others = (people - 1) * bits
    assert ShuffledBits(enough, others, bits).delta(1.0) <= 1e-6 < ShuffledBits(too_little, others, bits).delta(1.0)


def test_the_worst_pattern_is_not_always_without_ones() -> None:
    flip, others, bits = Chance.up(75 / 800), 399 * 2, 2
    alone, worst = exactly(flip, others, bits, 0, 1.1), ShuffledBits(flip, others, bits).delta(1.1)
    assert float(alone) * 1.02 < worst


@pytest.mark.parametrize("bits", [1, 3, 40])
def test_from_the_local_epsilon_on_nothing_is_lost(bits: int) -> None:
    loss = ShuffledBits(Chance(0.25), 60, bits)
    assert loss.delta(bits * math.log(3.0) * (1 + 1e-12)) == 0.0 < loss.delta(bits * math.log(3.0) * 0.6)
    assert loss.delta(700.0) == 0.0


def check_tails(loss: ShuffledBits, epsilon: float) -> None:
    assert loss._widely(epsilon) == pytest.approx(loss._alone(0, epsilon), rel=1e-11)


WIDE_ONES = pytest.mark.parametrize(
    "loss", [ShuffledBits(Chance(0.01), 3 * 10**7, 300), ShuffledBits(Chance(0.25), 6 * 10**5, 40)]
)


@WIDE_ONES
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3, 1.0])
def test_two_tails_of_a_wide_law_are_all_of_its_divergence(loss: ShuffledBits, epsilon: float) -> None:
    assert loss.wide
    check_tails(loss, epsilon)


@WIDE_ONES
@pytest.mark.parametrize("otherwise", [{"STRETCH": 64, "FAINT": 0.5}, {"STRETCH": 0}, {"ROUNDED": 1e-4}], ids=str)
def test_the_check_of_the_tails_catches_one_that_is_cut_or_begins_elsewhere(
    loss: ShuffledBits, otherwise: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = loss._alone(0, 0.3)
    for name, value in otherwise.items():
        monkeypatch.setattr(shuffled, name, value)
    monkeypatch.setattr(ShuffledBits, "_alone", lambda *_: whole)
    with pytest.raises(AssertionError):
        check_tails(loss, 0.3)


@pytest.mark.parametrize("deviations", [0.0, 0.003, 0.03, 0.5])
@pytest.mark.parametrize(("flip", "people"), [(1 / 3, 300), (1 / 3, 1_000), (0.45, 400)])
def test_near_epsilon_0_the_worst_crowd_may_be_any(flip: float, people: int, deviations: float) -> None:
    chance, others = Chance.down(flip), people - 1
    epsilon = deviations * (1 - 2 * flip) / math.sqrt(others * flip * (1 - flip))
    gain, loss = 1 - flip - math.exp(epsilon) * flip, math.exp(epsilon) * (1 - flip) - flip
    worst = 0.0
    for ones in range(others // 2 + 1):
        kept, turned = (laws.binomial(many, each) for many, each in ((others - ones, flip), (ones, 1 - flip)))
        rest = (kept + turned).masses
        more, fewer = np.append(0.0, rest), np.append(rest, 0.0)
        worst = max(worst, *(np.maximum(gain * p - loss * q, 0.0).sum() for p, q in ((more, fewer), (fewer, more))))
    assert worst * (1 - 1e-9) <= ShuffledBits(chance, others).delta(epsilon) <= worst * (1 + 1e-5)
