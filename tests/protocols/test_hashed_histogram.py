"""Hashed families of cells: decoding, the loss of the view, and the errors of ranges."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount.privacy import laws
from headcount.programme.coins import SeededCoins
from headcount.programme.field import Field
from headcount.protocols.shared.cubic_hash import CubicHash
from headcount.protocols.shuffle.hashed_histogram import HashedHistogram


@pytest.mark.parametrize(("values", "buckets"), [(3, 2), (100, 7), (257, 256), (1_000, 11)])
def test_decoding_finds_the_values_that_hash_to_what_is_named(values: int, buckets: int) -> None:
    hashing = CubicHash.over(values, buckets)
    u, v = (SeededCoins(seed).below(hashing.prime - 1, 200) for seed in (1, 2))
    bucket = SeededCoins(3).below(buckets, 200)
    hashed = [hashing.of(Field.of(value)).at({"u": u, "v": v}) for value in range(values)]
    expected = [int(np.count_nonzero(each == bucket)) for each in hashed]
    assert hashing.agreeing(u, v, bucket, values).tolist() == expected


def test_two_values_collide_exactly_as_often_as_is_said() -> None:
    hashing = CubicHash.over(10, 3)
    every = np.arange(hashing.functions)
    u, v = every // hashing.prime, every % hashing.prime
    first, second = (hashing.of(Field.of(x)).at({"u": u, "v": v}) for x in (2, 7))
    assert np.count_nonzero(first == second) / every.size == pytest.approx(hashing.collision, abs=1e-12)


def exactly(mean: float, shared: float, epsilon: float) -> float:
    """Delta where x and x' agree with dummies of their own, and with some together: all cases added up."""
    most = 60
    own, both = (laws.poisson(part) for part in (mean * (1.0 - shared), mean * shared))
    mass = [np.array([law.masses[n - law.start] if 0 <= n - law.start < law.masses.size else 0.0 for n in range(most)])
            for law in (own, own, both)]  # fmt: skip
    a, b, c = np.ogrid[:most, :most, :most]
    excess = np.maximum(a + c - math.exp(epsilon) * (b + c), 0.0) / mean
    return float(np.einsum("i,j,k,ijk", *mass, excess))


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
def test_the_view_is_at_most_that_of_two_cells(epsilon: float) -> None:
    protocol = hc.protocol("hashed-histogram", hc.Distribution((0, 3), 3, radices=(3,)), n=100, mean=20.0, buckets=2)
    assert isinstance(protocol, HashedHistogram)
    claimed = protocol.loss.delta(epsilon)
    assert exactly(20.0, protocol.hashes[0].collision, epsilon) <= claimed
    assert exactly(20.0, 1e-9, epsilon) == pytest.approx(claimed, rel=1e-5)  # what is attained where nothing is shared
    assert exactly(10.0, protocol.hashes[0].collision, epsilon) > claimed  # the twin: with half of the dummies


def test_a_range_of_many_bins_errs_little_with_few_messages() -> None:
    advice = hc.advise(
        hc.Distribution((0, 1), 1 << 16),
        n=10_000,
        epsilon=1,
        delta=1e-6,
        models="shuffle",
        max_messages=30,
        protocols=["hashed-histogram", "poisson-histogram"],
    )
    best = advice.options[0]
    assert best.name == "hashed-histogram"
    assert best.rmse < 45
    assert best.protocol.messages_per_person < 30


def test_errors_of_ranges_are_as_predicted() -> None:
    """Of 1,024 bins, with every message drawn: the mean squares of all prefixes, over runs."""
    question = hc.Distribution((0, 1), 1_024)
    protocol = hc.advise(
        question, n=3_000, epsilon=1, delta=1e-6, models="shuffle", protocols="hashed-histogram", max_messages=16
    ).best.protocol
    codes = np.minimum(SeededCoins(5).below(1_500, 3_000), 1_023)
    truth, spread = np.cumsum(np.bincount(codes, minlength=1_024)), protocol.rmse(0) ** 2
    runs, total = 60, np.zeros(1_024)
    for seed in range(runs):
        released = protocol.release(protocol.tally(protocol.reports(codes, SeededCoins(100 + seed))))
        total += (np.cumsum(protocol.estimate(released).people) - truth) ** 2
    expected = spread * protocol.strategy.prefix_variances[1:-1].mean()
    assert total[:-1].mean() / runs == pytest.approx(expected, rel=0.15)


def test_messages_of_no_function_are_not_counted() -> None:
    protocol = hc.protocol("hashed-histogram", hc.Distribution((0, 9), 9, radices=(3, 3)), n=10, mean=1.0, buckets=4)
    messages = np.zeros(4, dtype=protocol.message)
    messages["place"] = [0, 0, 3, 3]
    messages["u"], messages["v"] = [0, 1, 9, 10], [0, 0, 10, 0]
    assert protocol.genuine(messages).tolist() == [True, False, True, False]


def test_an_answer_says_that_its_intervals_are_approximate() -> None:
    answer = hc.distribution(
        np.linspace(0, 1, 2_000), bounds=(0, 1), bins=1_024, epsilon=1, delta=1e-6, protocol="hashed-histogram"
    )
    assert "only nearly" in str(answer)
    low, high = answer.between(0.2, 0.7).interval(1 - 1e-9)
    assert low < 1_000 < high
    assert answer.median.interval(1 - 1e-9)[0] < 0.5 < answer.median.interval(1 - 1e-9)[1]
    assert (np.diff(answer.band()[:, 2:4], axis=1) > 0).any()
