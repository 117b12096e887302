"""Amplification by shuffling against brute force, published pairs, and bounds worked out another way."""

from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import truth

import headcount as hc
from headcount.privacy.amplified import Amplified, CrowdLoss, MessageLaws
from headcount.privacy.random_walk import Walk
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats
from stress import lengths

mp = truth.mp
DELTA = 1e-6

# All crowds of random randomisers


def view(rows: Floats) -> dict[tuple[int, ...], float]:
    """The law of how often each message is sent, one row a person."""
    law = {(0,) * rows.shape[1]: 1.0}
    for row in rows:
        following: dict[tuple[int, ...], float] = defaultdict(float)
        for counts, chance in law.items():
            for message, mass in enumerate(row.tolist()):
                if mass:
                    following[(*counts[:message], counts[message] + 1, *counts[message + 1 :])] += chance * mass
        law = following
    return law


def apart(rows: Floats, others: list[int], factor: float) -> float:
    """The largest divergence of two values of one person, the others holding these."""
    views = [view(np.stack([row, *rows[others]])) for row in rows]
    return max(
        sum(max(0.0, mass - factor * second.get(seen, 0.0)) for seen, mass in first.items())
        for first, second in itertools.permutations(views, 2)
    )


def drawn(uniform: Floats) -> tuple[Floats, int, float]:
    """A randomiser of at most 4 values and messages, half of them with zeros, some people, and an epsilon."""
    values, messages, people = (2 + np.floor(uniform[:3] * [3, 3, 4])).astype(int)
    rows = (-np.log(uniform[4:20].reshape(4, 4)[:values, :messages])) ** (1.0 + 2.0 * uniform[3])
    if uniform[20] < 0.5:
        rows *= uniform[21:37].reshape(4, 4)[:values, :messages] > 0.3
        rows[rows.sum(axis=1) == 0.0] = 1.0
    return rows / rows.sum(axis=1, keepdims=True), people, 2.0 * float(uniform[37])


def check_bounds(bound: type[Amplified], seed: int, times: int) -> None:
    for uniform in SeededCoins(seed).uniform(38 * times).reshape(times, 38):
        rows, people, epsilon = drawn(uniform)
        laws = MessageLaws.of(rows)
        crowds = itertools.combinations_with_replacement(range(len(rows)), people - 1)
        exact = {held: apart(rows, [*held], math.exp(epsilon)) for held in crowds}
        alike = max(found for held, found in exact.items() if len({*held}) <= 1)
        assert bound(laws, people).delta(epsilon) >= max(exact.values()) * (1.0 - 1e-12)
        assert CrowdLoss(laws, people).worst(epsilon)[0] == pytest.approx(alike, rel=1e-12, abs=1e-12)


@lengths("times", 40, 1000)
def test_no_crowd_loses_more_and_one_as_much_as_the_lower_bound(times: int) -> None:
    check_bounds(Amplified, 1, times)


class Generous(Amplified):
    """Takes the mean of all laws for the blanket, which some have less of."""

    def __init__(self, laws: MessageLaws, people: int) -> None:
        super().__init__(MessageLaws(laws.rows, laws.rows.mean(axis=0), laws.compared), people)


def test_the_check_of_crowds_catches_a_blanket_that_not_everybody_has() -> None:
    with pytest.raises(AssertionError):
        check_bounds(Generous, 1, 40)


def test_what_others_hold_tells_pairs_apart_that_are_alike_but_for_the_order_of_messages() -> None:
    rows = np.array([[2, 3, 7], [8, 2, 2], [2, 8, 2]]) / 12
    laws, alike = MessageLaws.of(rows), max(apart(rows, [held], math.exp(0.3)) for held in range(3))
    assert len(laws.pairs) < 6 < len(laws.crowds)
    assert CrowdLoss(laws, 2).delta(0.3) == pytest.approx(alike, rel=1e-12)


@pytest.mark.parametrize("people", [5, 2_000])
def test_of_many_pairs_the_worst_is_solved_for(people: int) -> None:
    rows = np.abs(SeededCoins(5).uniform(64).reshape(8, 8)) + 0.2
    loss = Amplified(MessageLaws.of(rows / rows.sum(axis=1, keepdims=True)), people)
    for delta in (0.1, 1e-3, 1e-9):
        epsilon = loss.epsilon(delta)
        assert loss.delta(epsilon) <= delta
        assert epsilon == pytest.approx(super(Amplified, loss).epsilon(delta), rel=1e-8)


@pytest.mark.parametrize("people", [3, 60, 200, 10**6])
def test_others_never_make_a_message_tell_more(people: int) -> None:
    """Also where it is so likely to be true that hardly a message of others hides it."""
    alone, laws = Amplified(MessageLaws.clones(20.0), 1), MessageLaws.response(1e-8, 3)
    assert clones(20.0, people).epsilon(0.01) <= alone.epsilon(0.01) * (1 + 1e-12)
    for epsilon in (0.0, 1.0, 10.0, 18.0):
        assert Amplified(laws, people).delta(epsilon) <= Amplified(laws, 1).delta(epsilon) * (1 + 1e-12)


def test_a_bound_from_below_is_found_where_the_first_guess_is_far_off() -> None:
    laws = MessageLaws.response(3.0 / (math.exp(20.0) + 2.0), 3)
    started = time.process_time()
    for people in (100, 1_000):
        found = CrowdLoss(laws, people).epsilon(1e-6)
        assert 0.0 <= found <= Amplified(laws, people).epsilon(1e-6)
    assert time.process_time() - started < 10.0


# The walk itself


def by_convolution(steps: list[int], chances: list[float], people: int) -> float:
    law = np.zeros(max(steps) - min(steps) + 1)
    for step, chance in zip((*steps, 0), (*chances, 1.0 - sum(chances)), strict=True):
        law[step - min(steps)] += chance
    total = np.ones(1)
    for bit in f"{people:b}":
        total = np.convolve(total, total)
        total = np.convolve(total, law) if bit == "1" else total
    sums = np.arange(total.size) + people * min(steps)
    return float(total @ np.maximum(sums, 0)) / people


WALKS = [
    ([7, -2], [0.1, 0.5], 300),
    ([3, -5, 1, -1], [0.1, 0.2, 0.05, 0.3], 100),
    ([1, -40], [0.5, 0.1], 60),
    ([5, 2, -1], [0.2, 0.1, 0.7], 50),
]


@pytest.mark.parametrize(("steps", "chances", "people"), WALKS)
def test_the_mean_positive_part_lies_between_its_bounds(steps: list[int], chances: list[float], people: int) -> None:
    exact = by_convolution(steps, chances, people)
    walk = Walk.of(np.array(steps, dtype=np.float64), np.array(chances), people)
    assert walk._from_below() <= exact * (1 + 1e-9) <= walk._from_above() * (1 + 1e-9)
    assert walk._from_above() <= 1.05 * exact
    assert walk._from_below() >= 0.999 * exact


def test_the_bounds_would_miss_a_sum_of_one_step_more() -> None:
    (steps, chances, people), exact = WALKS[0], by_convolution(*WALKS[0])
    walk = Walk.of(np.array(steps, dtype=np.float64), np.array(chances), people - 1)
    assert not walk._from_below() <= exact <= walk._from_above()


# The published pair of clones


def enumerated(local: float, others: int, chance: Any, epsilon: float) -> Any:
    """(A + D, C - A + 1 - D) against (A + 1 - D, C - A + D), coin by coin; both orders are equal."""
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
    return sum(max(mass - factor * second[seen], mp.mpf(0)) for seen, mass in first.items())


def clones(local: float, people: int) -> Amplified:
    return Amplified(MessageLaws.clones(local), people)


def bit(local: float, people: int) -> Amplified:
    return Amplified(MessageLaws.response(2.0 / (math.exp(local) + 1.0), 2), people)


def check_clones(loss: Amplified, expected: Any, epsilon: float) -> None:
    for order in loss.orders(np.array([epsilon])):
        assert order.item() == pytest.approx(float(expected), rel=1e-9, abs=1e-28)
    assert truth.exact(loss.delta(epsilon)) >= expected


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3, 0.9, 1.5])
@pytest.mark.parametrize(("local", "others"), [(2.0, 0), (1.6, 1), (2.0, 2), (3.0, 7), (5.0, 30), (2.0, 60)])
def test_clones_are_the_published_pair(local: float, others: int, epsilon: float) -> None:
    given, ratio = truth.exact(local), mp.exp(truth.exact(local))
    check_clones(clones(local, others + 1), enumerated(local, others, mp.exp(-given), epsilon), epsilon)
    check_clones(bit(local, others + 1), enumerated(local, others, 2 / (ratio + 1), epsilon), epsilon)


def test_the_check_of_clones_catches_one_too_few_and_the_withdrawn_chance() -> None:
    with pytest.raises(AssertionError):
        check_clones(clones(2.0, 9), enumerated(2.0, 8, mp.exp(-2) * 7 / 8, 0.3), 0.3)
    with pytest.raises(AssertionError):
        check_clones(bit(2.0, 9), enumerated(2.0, 8, mp.exp(-2), 0.3), 0.3)


def test_alone_nothing_is_amplified() -> None:
    loss, keep = clones(2.0, 1), 1.0 / (1.0 + math.exp(-2.0))
    assert loss.delta(1.0) == pytest.approx(keep - math.e * (1.0 - keep), rel=1e-9)


def test_nothing_is_lost_from_the_local_epsilon_on() -> None:
    loss = clones(0.7, 101)
    assert loss.delta(0.7) < 1e-25  # 0.7 may have been rounded down
    assert loss.delta(0.7 * (1 + 1e-9)) == loss.delta(50.0) == loss.delta(1000.0) == 0.0
    assert 0.0 < loss.delta(math.nextafter(0.7, 0.0)) < 1e-12
    assert loss.epsilon(0.0) == pytest.approx(0.7, rel=1e-6)


@pytest.mark.parametrize(("local", "n"), [(1.0, 2), (2.0, 10), (1.0, 100), (3.0, 200)])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_one_flipped_bit_loses_no_more_and_not_much_less(local: float, n: int, share: float) -> None:
    flip = Chance.up(1.0 / (math.exp(local) + 1.0))
    exact = ShuffledBits(flip, n - 1).delta(share * local)
    sharp, general = bit(local, n).delta(share * local), clones(local, n).delta(share * local)
    assert exact * (1 - 1e-9) <= sharp <= general * (1 + 1e-9)
    if exact > 1e-18:
        assert sharp <= 3.0 * exact


def test_more_people_and_a_larger_epsilon_lose_less() -> None:
    crowds = [1, 2, 3, 6, 31, 1001, 10**5, 10**7, 10**9]
    deltas = [clones(3.0, people).delta(0.0003) for people in crowds]
    assert deltas == sorted(deltas, reverse=True)
    loss = clones(8.0, 10**6)
    deltas = [loss.delta(epsilon) for epsilon in (0.0, 0.001, 0.1, 0.5, 1.0, 2.0, 4.0, 7.9)]
    assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize(("local", "people"), [(2.0, 10**9), (12.0, 10**9), (40.0, 10**9), (1e-3, 10**9), (250.0, 6)])
def test_extremes_stay_chances(local: float, people: int) -> None:
    loss = clones(local, people)
    assert all(0.0 <= loss.delta(epsilon) <= 1.0 for epsilon in (0.0, 0.001, 1.0, 50.0, 700.0))
    assert loss.epsilon(1e-18) <= local * (1 + 1e-9)


def test_a_thousand_million_people_follow_the_normal_limit() -> None:
    people, local = 10**9, 2.0
    spread = 2.0 * math.tanh(local / 2.0) / math.sqrt(people * math.exp(-local))
    for z in (0.5, 3.0, 6.0):
        limit = spread * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2)
        assert clones(local, people).delta(z * spread) == pytest.approx(limit, rel=2e-3)


# Figures to compare with: epsilon at a delta of a millionth, from above and from below


def unary(local: float, keep: float, other: float) -> MessageLaws:
    return MessageLaws.supporting(math.exp(local), other, other**2, other**3, values=100)


def laws_of(name: str, local: float) -> MessageLaws:
    odds = math.exp(local)
    if name.startswith("response"):
        kinds = int(name.split()[1])
        return MessageLaws.response(kinds / (odds + kinds - 1.0), kinds)
    if name == "optimised unary":
        return unary(local, 0.5, 1.0 / (odds + 1.0))
    if name == "rappor":
        return unary(local, 1.0 / (1.0 + math.exp(-local / 2.0)), 1.0 / (1.0 + math.exp(local / 2.0)))
    if name == "hadamard":
        return MessageLaws.supporting(odds, 0.5, 0.25, 0.25, values=100)
    if name == "local hashing":
        buckets = round(odds) + 1
        return MessageLaws.supporting(odds, 1 / buckets, buckets**-2, buckets**-3, values=100)
    if name.startswith("subset"):
        values = int(name.split()[1])
        return hc.protocol("subset-selection", hc.Histogram(values), n=100, epsilon=local).message_laws
    if name == "piecewise":
        return hc.protocol("piecewise", hc.Sum((0, 1)), n=10_000, epsilon=local).message_laws
    return MessageLaws.clones(local)


FIGURES = {
    ("clones", 1.0): [(0.182, None), (0.0530, None), (0.0043, None)],
    ("clones", 2.0): [(0.546, None), (0.155, None), (0.0130, None)],
    ("clones", 4.0): [(3.99, None), (0.601, None), (0.0493, None)],
    ("response 10", 1.0): [(0.0802, 0.0801), (0.0233, 0.0233), (0.0019, 0.0019)],
    ("response 10", 2.0): [(0.273, 0.273), (0.0798, 0.0798), (0.0066, 0.0066)],
    ("response 100", 2.0): [(0.101, 0.101), (0.0292, 0.0292), (0.0023, 0.0023)],
    ("response 100", 4.0): [(None, None), (0.234, 0.234), (0.0198, 0.0198)],
    ("response 1000", 2.0): [(0.0348, 0.0348), (0.0088, 0.0088), (0.0007, 0.0007)],
    ("response 1000", 4.0): [(0.307, 0.307), (0.0845, 0.0845), (0.0069, 0.0069)],
    ("optimised unary", 1.0): [(0.103, 0.0926), (0.0297, 0.0269), (0.0024, 0.0022)],
    ("optimised unary", 2.0): [(0.270, 0.254), (0.0788, 0.0744), (0.0065, 0.0061)],
    ("optimised unary", 4.0): [(0.939, 0.927), (0.279, 0.276), (0.0236, 0.0233)],
    ("rappor", 1.0): [(0.106, 0.0913), (0.0307, 0.0265), (0.0025, 0.0021)],
    ("rappor", 4.0): [(None, None), (0.361, 0.337), (0.0302, 0.0282)],
    ("hadamard", 2.0): [(0.276, 0.269), (0.0790, 0.0788), (0.0065, 0.0065)],
    ("hadamard", 4.0): [(None, 0.935), (0.285, 0.279), (0.0236, 0.0236)],
    ("local hashing", 1.0): [(0.101, 0.0921), (0.0293, 0.0267), (0.0024, 0.0021)],
    ("local hashing", 2.0): [(0.273, 0.256), (0.0797, 0.0749), (0.0066, 0.0062)],
    ("local hashing", 4.0): [(0.937, 0.925), (0.278, 0.276), (0.0235, 0.0233)],
    ("subset 10", 1.0): [(0.110, 0.100), (0.0320, 0.0292), (0.0026, 0.0023)],
    ("subset 10", 2.0): [(0.273, 0.273), (0.0798, 0.0798), (0.0066, 0.0066)],
    ("subset 10", 4.0): [(None, None), (0.381, 0.381), (0.0319, 0.0319)],
    ("subset 100", 1.0): [(0.103, 0.0933), (0.0299, 0.0271), (0.0024, 0.0022)],
    ("subset 100", 2.0): [(0.272, 0.257), (0.0794, 0.0751), (0.0066, 0.0062)],
    ("subset 100", 4.0): [(0.978, 0.971), (0.288, 0.287), (0.0244, 0.0242)],
    ("piecewise", 1.0): [(0.136, 0.128), (0.0396, 0.0372), (0.0032, 0.0030)],
    ("piecewise", 2.0): [(0.357, 0.357), (0.104, 0.104), (0.0086, 0.0086)],
    ("piecewise", 4.0): [(None, None), (0.386, 0.386), (0.0323, 0.0323)],
}


@pytest.mark.parametrize(("name", "local"), FIGURES)
def test_epsilon_is_that_of_the_table(name: str, local: float) -> None:
    for people, (most, least) in zip((10**3, 10**4, 10**6), FIGURES[name, local], strict=True):
        loss = Amplified(laws_of(name, local), people)
        digits = 5e-5 if people == 10**6 else 0.0  # the table has four
        if most is not None:
            assert loss.epsilon(DELTA) == pytest.approx(most, rel=0.01, abs=digits)
        if least is not None and loss.attained is not None:
            assert loss.attained.epsilon(DELTA) == pytest.approx(least, rel=0.01, abs=digits)
            assert loss.attained.epsilon(DELTA) <= loss.epsilon(DELTA)


def test_a_million_people_take_no_time() -> None:
    loss = Amplified(laws_of("optimised unary", 2.0), 10**6)
    started = time.process_time()
    assert loss.epsilon(DELTA) < 0.0066
    assert time.process_time() - started < 2.0  # about 0.05 seconds; the rest is for a processor that others use
