"""What is particular to the local protocols; the rest is in test_conformance."""

import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from headcount.audit.conformance.loss_checks import looser
from headcount.common.short_decimals import NEAR
from headcount.errors import BadArgument, Unsupported
from headcount.planner.calibrate import calibrate
from headcount.privacy import laws
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Law
from headcount.programme.rows import bit_totals, packed
from headcount.programme.tally import Batch, Tally
from headcount.protocols import CATALOGUE, named
from headcount.protocols.local.basic_rappor import BasicRappor
from headcount.protocols.local.duchi import Duchi
from headcount.protocols.local.generalised_response import GeneralisedResponse
from headcount.protocols.local.hadamard_response import HadamardResponse
from headcount.protocols.local.hybrid import Hybrid
from headcount.protocols.local.local_hashing import LocalHashing
from headcount.protocols.local.optimised_unary import OptimisedUnary
from headcount.protocols.local.piecewise import Piecewise
from headcount.protocols.local.subset_selection import SubsetSelection
from headcount.protocols.local.succinct_histogram import SuccinctHistogram
from headcount.protocols.shared.hadamard import walsh_hadamard
from headcount.protocols.shared.hashing import LinearHash, next_prime, support
from headcount.protocols.shared.shuffled_local import shuffled
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.testing import intervals_cover, the_claimed_loss_covers_every_view, the_error_is_as_stated

LOCAL = [cls for cls in CATALOGUE if cls.model == "local"]
SHUFFLED = [cls for cls in CATALOGUE if cls.name.startswith("shuffled-")]
ORACLES = [cls for cls in LOCAL if Shape.ONE_OF in cls.shapes]
E, S = math.e, math.exp(0.5)
IDLE = E / (E + 1) / 16  # the chance of the index that agrees with all of 16 categories, and is not counted
SHORT = 2.0 * NEAR  # how far a short setting may be from the one that just fits


def pure(cls, task, epsilon=1.0, n=1):
    return calibrate(cls, task, Crowd(n), Budget(epsilon))


@pytest.mark.parametrize(
    ("cls", "variance"),
    [
        (GeneralisedResponse, (E + 14) / (E - 1) ** 2),
        (BasicRappor, S / (S - 1) ** 2),
        (OptimisedUnary, 4 * E / (E - 1) ** 2),
        (HadamardResponse, (1 - 4 * IDLE**2) * ((E + 1) / (E - 1)) ** 2),
        (SuccinctHistogram, (1 - 4 * IDLE**2) * ((E + 1) / (E - 1)) ** 2),
    ],
)
def test_a_category_that_nobody_holds_has_the_published_variance(cls, variance):
    oracle = pure(cls, Histogram(16))
    assert oracle.size_of_error(0, 1) ** 2 == pytest.approx(variance, rel=SHORT)
    assert oracle.noise(0, 1000).variance == pytest.approx(1000 * variance, rel=SHORT)


def test_holders_make_a_hadamard_count_no_harder():
    """((e + 1)/(e - 1))^2 - 1 for each of them, and what it costs not to count an index that agrees with everything."""
    for cls in (HadamardResponse, SuccinctHistogram):
        own = E / (E + 1) - IDLE
        variance = own * (1 - own) * (2 * (E + 1) / (E - 1)) ** 2
        assert pure(cls, Histogram(16)).size_of_error(1, 1) ** 2 == pytest.approx(variance, rel=SHORT)
        assert variance < ((E + 1) / (E - 1)) ** 2


def test_local_hashing_has_the_published_variance_but_for_collisions():
    oracle = pure(LocalHashing, Histogram(16))
    g, q = 4, 17
    assert (oracle.range, oracle.hashing.prime) == (g, q)
    published = (E + g - 1) ** 2 / ((g - 1) * (E - 1) ** 2)
    assert oracle.size_of_error(0, 1) ** 2 < published  # a prime modulus has fewer collisions than chance
    p = E / (E + g - 1)
    other = p * oracle.collision + (1 - p) * (1 - oracle.collision) / (g - 1)
    assert oracle.size_of_error(0, 1) ** 2 == pytest.approx(other * (1 - other) / (p - other) ** 2, rel=SHORT)
    wide = pure(LocalHashing, Histogram(100_003))
    assert wide.size_of_error(0, 1) ** 2 == pytest.approx(published, rel=1e-3)


def test_subset_selection_is_the_most_accurate():
    oracle = pure(SubsetSelection, Histogram(16))
    assert oracle.size == 4
    p = 4 * E / (4 * E + 12)
    assert oracle.keep == pytest.approx(p, rel=SHORT)
    assert oracle.supports_other == pytest.approx(p * 3 / 15 + (1 - p) * 4 / 15, rel=SHORT)
    assert oracle.size_of_error(0, 1) ** 2 == pytest.approx(3.11, abs=0.005)
    others = [cls for cls in ORACLES if cls is not SubsetSelection]
    assert all(oracle.size_of_error(0, 1) < pure(cls, Histogram(16)).size_of_error(0, 1) for cls in others)


@pytest.mark.parametrize(("d", "g"), [(2, 2), (3, 2), (5, 3), (7, 4), (8, 3), (3, 5), (13, 6)])
def test_the_chance_of_a_collision(d, g):
    hashing = LocalHashing(task=Histogram(d), crowd=Crowd(1), keep=0.9, range=g)
    q = hashing.hashing.prime
    hashes = list(product(range(1, q), range(q)))
    for x, y in ((0, 1), (0, d - 1), (d // 2, d - 1)):
        if x != y:
            same = sum((u * x + v) % q % g == (u * y + v) % q % g for u, v in hashes)
            assert hashing.collision == pytest.approx(same / len(hashes), rel=1e-12)


@pytest.mark.parametrize(("prime", "buckets"), [(3, 2), (7, 7), (11, 3), (13, 6), (29, 14), (29, 28), (101, 4)])
def test_the_chance_that_three_residues_collide_is_exact(prime, buckets):
    def collide(residues):
        return len({residue % prime % buckets for residue in residues}) == 1

    def chance(first):
        return sum(collide((v, v + u, v + 2 * u)) for u, v in product(range(first, prime), range(prime)))

    of_all = prime * (prime - 1)
    assert LinearHash(prime, buckets).triple_collision == pytest.approx(chance(1) / of_all, rel=1e-12)
    assert chance(0) > chance(1)  # a function that does not move, which is never drawn, would be seen


def test_primes():
    assert [next_prime(n) for n in (1, 2, 3, 4, 8, 14, 90, 7920)] == [2, 2, 3, 5, 11, 17, 97, 7927]


@pytest.mark.parametrize(("d", "g"), [(3, 2), (100, 7), (200, 1000), (40_000, 3)])
def test_support_is_counted_as_defined(d, g):
    q, coins, n = next_prime(max(d, g)), SeededCoins(1), 300 if d < 1000 else 20
    hashing = LocalHashing(task=Histogram(d), crowd=Crowd(n), keep=0.999, range=g)
    batch = hashing.reports(np.arange(n) % d, coins)
    u, v, bucket = (batch.messages[name].astype(np.int64) for name in ("u", "v", "bucket"))
    expected = [(((u * x + v) % q % g) == bucket).sum() for x in range(d)]
    assert support(batch.messages, d, q, g).tolist() == expected


def test_rows_are_counted_bit_by_bit():
    for rows, width in ((1, 1), (300, 7), (700, 9), (2000, 1000)):
        bits = SeededCoins(rows).words(rows * width).reshape(rows, width) % 3 == 0
        assert bit_totals(packed(bits), width).tolist() == bits.sum(axis=0).tolist()
    assert bit_totals(np.empty((0, 2), dtype=np.uint8), 9).tolist() == [0] * 9


def test_the_transform_is_hadamards():
    totals = np.array([3, -1, 4, 1, 5, 9, 2, 6])
    signs = [[(-1) ** (x & y).bit_count() for y in range(8)] for x in range(8)]
    assert walsh_hadamard(totals).tolist() == (np.array(signs) @ totals).tolist()


@pytest.mark.parametrize("d", [3, 1000])
@pytest.mark.parametrize(
    "cls", ORACLES + [cls for cls in SHUFFLED if Shape.ONE_OF in cls.shapes], ids=lambda cls: cls.name
)
def test_calibration_meets_budgets_for_few_and_for_many_categories(cls, d):
    for epsilon, delta in ((1.0, 1e-6), (0.05, 1e-9), (5.0, 1e-5)):
        found = calibrate(cls, Histogram(d), Crowd(10_000), Budget(epsilon, delta))
        assert found.loss.delta(epsilon) <= delta < looser(found).loss.delta(epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 0.4, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("cls", LOCAL, ids=lambda cls: cls.name)
def test_pure_budgets_are_used_to_the_end(cls, epsilon):
    task = Histogram(10) if Shape.ONE_OF in cls.shapes else Sum((0, 1)) if Shape.AMOUNT in cls.shapes else None
    found = calibrate(cls, cls.tiny().task if task is None else task, Crowd(1000), Budget(epsilon))
    assert found.loss.delta(epsilon) == 0.0
    assert epsilon * (1.0 - SHORT) <= found.local_epsilon <= epsilon


@pytest.mark.parametrize("epsilon", [0.3, 0.7, 1.0, 2.0, 4.0])
def test_means_have_the_published_variances_on_a_fine_grid(epsilon):
    """On [-1, 1], where they are four times those on [0, 1]."""
    s, ratio, task = math.exp(epsilon / 2), math.exp(epsilon), Sum((-1, 1), steps=1 << 12)
    duchi = ((ratio + 1) / (ratio - 1)) ** 2
    mixed = (s + 3) / (3 * s * (s - 1)) + duchi / s
    fine = {"levels": 1 << 12, "window": round((1 << 12) / s)}
    for x in (-1.0, -0.5, 0.0, 0.25, 1.0):
        value = round((x + 1) * (1 << 11))
        piecewise = x * x / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
        exact = [(pure(Duchi, task, epsilon), duchi - x * x)]
        exact += [(calibrate(Piecewise, task, Crowd(1), Budget(epsilon), **fine), piecewise)]
        if epsilon > 0.61:
            exact += [(calibrate(Hybrid, task, Crowd(1), Budget(epsilon)), mixed)]
        for protocol, variance in exact:
            assert 4 * protocol._one(value).variance / protocol._gain**2 == pytest.approx(variance, rel=2e-3)


def test_the_hybrid_is_nearly_as_accurate_whatever_people_hold():
    for epsilon in (0.7, 1.0, 2.0, 5.0):
        hybrid = pure(Hybrid, Sum((0, 1)), epsilon)
        variances = [hybrid._one(value).variance for value in np.linspace(0, 1 << 40, 33).astype(int).tolist()]
        assert max(variances) < 1.003 * min(variances)
    assert pure(Hybrid, Sum((0, 1)), 0.6).alpha == 0.0


def test_the_mean_of_a_score_is_affine_in_the_level():
    for protocol in (
        Piecewise(task=Sum((0, 1)), crowd=Crowd(1), keep=0.7, window=5, levels=9),
        Hybrid(task=Sum((0, 1)), crowd=Crowd(1), odds=3.0, alpha=0.25, window=5, levels=9, weight=11),
    ):
        means = [protocol.chances(level) @ protocol.scores for level in range(10)]
        assert np.diff(means, n=2) == pytest.approx(np.zeros(8), abs=1e-12)


@pytest.mark.parametrize("check", [the_claimed_loss_covers_every_view, the_error_is_as_stated, intervals_cover])
@pytest.mark.parametrize("keep", [0.75, 0.99, 0.9999])
@pytest.mark.parametrize(
    ("steps", "levels", "window"), [(1, 3, 1), (3, 2, 1), (2, 3, 2), (7, 3, 1), (5, 2, 2), (4, 1, 2)]
)
def test_the_hardest_crowd_is_found_whatever_the_grid(check, keep, steps, levels, window):
    task = Sum((0, 1), steps=steps)
    check(Piecewise(task=task, crowd=Crowd(2), keep=keep, levels=levels, window=window))
    check(Hybrid(task=task, crowd=Crowd(2), odds=3.0, alpha=keep, levels=levels, window=window, weight=4))


def test_the_hardest_of_many_values_is_found_without_trying_them():
    few, many = Sum((0, 1), steps=1 << 16), Sum((0, 1), steps=1 << 40)
    for keep in (0.6, 0.9, 0.99, 0.999, 1 - 1e-6):
        for levels in (1, 2, 5, 64):
            grid = {"keep": keep, "window": 1, "levels": levels}
            one, other = (Piecewise(task=task, crowd=Crowd(1), **grid).size_of_error(1, 1) for task in (few, many))
            assert one == pytest.approx(other, rel=1e-7)


def test_sums_over_a_crowd_keep_mean_and_variance_in_blocks():
    one = Law(-3, np.array([0.1, 0.0, 0.2, 0.4, 0.3]))
    for n in (1, 2, 7, 1000, 10**6, 10**9):
        total, block = one.coarse_power(n)
        assert total.mean * block == pytest.approx(n * one.mean, rel=1e-9)
        assert total.variance * block**2 == pytest.approx(n * one.variance, rel=1e-5)
        assert total.masses.size <= 1 << 18
    exact, (total, block) = laws.binomial(1000, 0.3), Law(0, np.array([0.7, 0.3])).coarse_power(1000)
    assert block == 1
    assert total.masses == pytest.approx(exact.masses[total.start - exact.start :][: total.masses.size], abs=1e-13)


def test_intervals_of_sums_cover_in_every_crowd_of_one_value():
    for cls, epsilon in product((Duchi, Piecewise, Hybrid), (0.5, 2.0)):
        protocol = pure(cls, Sum((0, 1), steps=8), epsilon, n=100)
        low, high = protocol.intervals(Tally(100, np.array([0])), 0.95)[0]
        for value in range(9):
            one = protocol._one(value)
            law = one.power(100)
            errors = np.abs(law.values - 100 * one.mean) / protocol._gain
            assert law.masses[errors <= (high - low) / 2 + 1e-9].sum() >= 0.95


def test_what_is_sent_at_full_size():
    n, rng = 4000, np.arange(4000)
    for cls in ORACLES:
        protocol = pure(cls, Histogram(100), 4.0, n)
        tally = protocol.tally(protocol.reports((rng % 100) ** 2 // 100, SeededCoins(3)))
        truth = np.bincount((rng % 100) ** 2 // 100, minlength=100)
        errors = (protocol.point(tally) - truth) / [protocol.size_of_error(int(count), n) for count in truth]
        assert np.abs(errors).max() < 6.5
        assert 0.6 < np.mean(errors**2) < 1.6
    for cls in (Duchi, Piecewise, Hybrid):
        protocol = pure(cls, Mean((-1, 1)), 4.0, n)
        data = np.linspace(-1, 0.5, n)
        estimate = protocol.estimate(protocol.tally(protocol.reports(protocol.task.domain.codes(data), SeededCoins(4))))
        assert abs(estimate.value - data.mean()) < 5.5 * estimate.std_error


def test_a_report_costs_its_bits():
    assert pure(BasicRappor, Histogram(1000)).bits_per_person == 1000
    assert pure(HadamardResponse, Histogram(1000)).bits_per_person == 10
    assert pure(SuccinctHistogram, Histogram(1000)).bits_per_person == 11
    assert pure(Duchi, Sum((0, 1))).bits_per_person == 1


def test_parameters_that_hide_nothing_or_everything_are_refused():
    crowd, task = Crowd(10), Histogram(4)
    for cls, given in (
        (BasicRappor, {"keep": 0.5}), (OptimisedUnary, {"flip": 0.5}), (OptimisedUnary, {"flip": 0.0}),
        (LocalHashing, {"keep": 0.5, "range": 2}), (LocalHashing, {"keep": 0.9, "range": 1}),
        (HadamardResponse, {"keep": 0.5}), (SubsetSelection, {"keep": 0.5, "size": 2}),
        (SubsetSelection, {"keep": 0.9, "size": 4}), (SuccinctHistogram, {"keep": 0.4}),
    ):  # fmt: skip
        with pytest.raises(BadArgument):
            cls(task=task, crowd=crowd, **given)
    with pytest.raises(BadArgument):
        Piecewise(task=Sum((0, 1)), crowd=crowd, keep=0.5, window=2, levels=2)
    with pytest.raises(BadArgument, match="fewer than two"):
        BasicRappor(task=Histogram(1), crowd=crowd, keep=0.9)


@pytest.mark.parametrize("cls", SHUFFLED, ids=lambda cls: cls.name)
def test_shuffling_helps(cls):
    local = cls.local
    assert named(cls.name) is cls
    for tiny in cls.tinies():
        budget = Budget(1.0, 1e-6)
        here, there = (calibrate(kind, tiny.task, Crowd(10_000), budget) for kind in (cls, local))
        assert here.loss.kind == ("rounded" if local is Duchi else "bound")
        assert here.local_epsilon > 2.0 * there.local_epsilon
        assert here.rmse() < 0.6 * there.rmse()
        assert pickle.loads(pickle.dumps(here)) == here
        assert type(pickle.loads(pickle.dumps(here))) is cls


def test_what_can_be_shuffled():
    assert shuffled(Duchi) is shuffled(Duchi)
    with pytest.raises(Unsupported, match="local"):
        shuffled(Zsum)
    told = shuffled(GeneralisedResponse)(task=Histogram(3), crowd=Crowd(100), keep=1.0)
    assert told.local_epsilon is None
    assert told.loss.delta(10.0) == 1.0


def test_a_batch_of_rows_is_shuffled_like_any_other():
    protocol = BasicRappor(task=Histogram(20), crowd=Crowd(50), keep=0.75)
    batch = protocol.randomise(np.arange(50) % 20, SeededCoins(5))
    assert isinstance(batch, Batch)
    assert protocol.tally(batch).totals.sum() == np.unpackbits(batch.messages["row"]).sum()


def test_the_collision_chance_is_a_fraction_of_small_integers():
    hashing = LocalHashing(task=Histogram(1000), crowd=Crowd(1), keep=0.5, range=4)
    assert hashing.collision == float(Fraction(252 * (1 + 1009 - 4), 1009 * 1008))


def test_the_bits_of_a_set_do_not_take_a_number_with_as_many_digits():
    for values, size in ((5_000, 1_300), (4_097, 1), (20_000, 9_999)):
        protocol = SubsetSelection(task=Histogram(values), crowd=Crowd(10), keep=0.75, size=size)
        assert protocol.bits_per_person == (protocol.kinds - 1).bit_length()
