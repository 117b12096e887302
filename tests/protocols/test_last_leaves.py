"""What is particular to almost central sums, recursive sums, Hadamard tuples and Count-Min rows."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from headcount.planner.calibrate import calibrate
from headcount.privacy import laws
from headcount.privacy.almost_central import CAPS, AlmostCentral, flooding_noise
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.budget import Budget
from headcount.privacy.correlated import correlated_loss
from headcount.privacy.crowd import Crowd
from headcount.privacy.many_cells import ManyCells
from headcount.privacy.pair import Pair
from headcount.privacy.product import two_cells
from headcount.privacy.shuffled_digits import ShuffledDigits, _at_least
from headcount.privacy.zero_sum_sets import ZeroSumSets
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Law
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.shuffle.almost_central_sum import AlmostCentralSum
from headcount.protocols.shuffle.count_min_shuffle import CountMinShuffle
from headcount.protocols.shuffle.hadamard_shuffle import HadamardShuffle
from headcount.protocols.shuffle.recursive_sum import RecursiveSum
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum

BUDGET = Budget(1.0, 1e-6)
REAL = Sum((0.0, 1.0))


@pytest.mark.parametrize("top", [2, 3, 6, 7, 32, 100, 129])
def test_floods_dominate_every_value_and_cover_every_atom(top):
    flood, atoms = flooding_noise(top), ZeroSumSets(top)
    assert sorted(name for group in flood.groups for name in group) == sorted(atoms.names)
    group, value, size = flood.entries
    loads = np.bincount(value, (size / flood.weights[group]) ** 2)
    assert loads.max() <= 1.0 + 1e-9
    for i in range(2, top + 1):  # i ones and the atoms make {i}, and coefficients of an atom have one sign
        made = Counter({1: i})
        for name, count in atoms.columns[i].items():
            assert count == 0 or (count > 0) == (name > 0)
            for element in atoms.elements[atoms.names.index(name)]:
                made[element] += count
        assert {number: count for number, count in made.items() if count} == {i: 1}


def test_the_programme_sends_all_elements_of_every_atom():
    protocol = AlmostCentralSum(task=REAL, crowd=Crowd(10), inner=1.0, levels=9, shape=2.0, scale=0.5)
    sent = Counter()
    for brick in protocol.programme.parts[4:]:
        copies = getattr(brick, "brick", None) if hasattr(brick, "times") else brick
        for which in range(getattr(brick, "times", 1)):
            ((multiset, _),) = copies.brick.law({"which": which}).masses.items()
            sent[tuple(sorted(m[0] for m, times in multiset for _ in range(times)))] += 1
    assert sent == Counter(tuple(sorted(elements)) for elements in ZeroSumSets(9).elements)


def test_almost_central_sums_are_almost_central():
    found, central = (calibrate(cls, REAL, Crowd(10_000), BUDGET) for cls in (AlmostCentralSum, Laplace))
    assert found.rmse() <= 1.15 * central.rmse()
    assert found.messages_per_person <= 250
    paper = AlmostCentralSum(task=REAL, crowd=Crowd(10_000), **AlmostCentralSum.published(BUDGET, Crowd(10_000)))
    assert paper.messages_per_person > 100 * found.messages_per_person


@pytest.mark.parametrize("epsilon", [1.1, 1.3, 2.0, 3.0])
def test_with_one_level_the_bound_lies_above_the_exact_loss(epsilon):
    exact = correlated_loss(math.exp(-1.0), 1.0, laws.negative_binomial(5.0, 0.9))
    bound = AlmostCentral(1, math.exp(-1.0), 5.0, (0.9,))
    assert exact.delta(epsilon) <= bound.delta(epsilon)


@pytest.mark.parametrize("shift", [1, 3, 16])
def test_moments_are_upper_sums(shift):
    shape, decay = 6.0, 0.97
    law = laws.negative_binomial(shape, decay)
    loss = AlmostCentral(1, 0.5, shape, (decay,))
    logs, left, reverse = (part[0, 0, -1] for part in loss._parts(decay, np.array([shift]), np.array([2.0])))
    p, q = law.masses[shift:], law.masses[:-shift]
    kept = 2.0 * np.log(p / q) <= CAPS[-1]
    assert np.log((p**3 / q**2)[kept].sum()) <= logs <= np.log((p**3 / q**2)[kept].sum()) + 0.02
    assert law.masses[:shift].sum() <= left + 1e-12
    assert np.log((q**3 / p**2).sum()) - 1e-9 <= reverse <= np.log((q**3 / p**2).sum()) + 0.02


def test_nothing_is_claimed_for_fewer_people_than_planned():
    assert AlmostCentralSum.tiny().loss_if(2).delta(10.0) == 1.0


@pytest.mark.parametrize(("digits", "base", "liars"), [(1, 3.0, 0.2), (1, 9.0, 5.0), (2, 2.0, 40.0), (3, 1.3, 9.0)])
def test_the_error_of_recursive_sums_is_within_its_bound(digits, base, liars):
    n = 100
    protocol = RecursiveSum(task=REAL, crowd=Crowd(n), liars=liars, digits=digits, base=base)
    q = np.cumprod(protocol.precisions)
    bound = n / (4 * q[-1] ** 2 * (1 - protocol.lies[-1]))
    for lie, size, unit in zip(protocol.lies, protocol.alphabets, q, strict=True):
        spread = lie * (size**2 - 1) / 12 + lie * (1 - lie) * (size - 1) ** 2 / 4
        bound += n * spread / (1 - lie) ** 2 / unit**2
    assert protocol.size_of_error(0, n) ** 2 <= bound


def test_without_the_last_digits_own_value_the_bound_would_be_exceeded():
    protocol = RecursiveSum(task=REAL, crowd=Crowd(1), liars=0.3 / 0.7 / 4, digits=1, base=3.0)
    assert protocol.alphabets == [4]
    assert protocol.size_of_error(0, 1) ** 2 == pytest.approx(0.193, abs=1e-3)


def test_the_largest_value_stays_within_the_alphabets():
    protocol = RecursiveSum(task=REAL, crowd=Crowd(9), liars=1e-3, digits=3, base=1.7)
    batch = protocol.randomise(np.ones(9), SeededCoins(1))
    assert batch.messages.size == 27
    assert protocol.point(protocol.tally(batch))[0] == pytest.approx(9.0, abs=0.1)


@pytest.mark.parametrize(("lie", "values", "people"), [(0.5, 3, 4), (0.1, 5, 300), (0.04, 3, 10_000)])
def test_one_digit_loses_no_less_than_its_blanket_says(lie, values, people):
    digit, blanket = ShuffledDigits((lie,), (values,), people), Amplified(MessageLaws.response(lie, values), people)
    for epsilon in (0.1, 0.3, 0.6):
        assert blanket.delta(epsilon) <= digit.delta(epsilon) * (1 + 1e-3)


def test_recursion_beats_one_digit():
    one, more = (calibrate(RecursiveSum, REAL, Crowd(10_000), BUDGET, digits=digits) for digits in (1, 2))
    assert more.rmse() < 0.8 * one.rmse()


@pytest.mark.parametrize(("epsilon", "delta", "least"), [(1.0, 1e-2, 9), (1.0, 1e-6, 43), (0.5, 1e-3, 45)])
def test_hadamard_tuples_need_as_many_blankets_as_poisson_cells(epsilon, delta, least):
    found = calibrate(HadamardShuffle, Histogram(5), Crowd(1 << 20), Budget(epsilon, delta))
    assert (found.blankets, found.indices) == (least, 20)
    assert found.rmse() ** 2 == pytest.approx(found.blankets + 1, rel=0.01)


@pytest.mark.parametrize("cls", [HadamardShuffle, CountMinShuffle])
def test_histograms_come_out_right(cls):
    data = np.repeat([0, 1, 2, 50, 97, 98, 99], [500, 300, 100, 50, 30, 15, 5])
    protocol = calibrate(cls, Histogram(100), Crowd(1_000), Budget(2.0, 1e-4))
    estimate = protocol.point(protocol.tally(protocol.randomise(data, SeededCoins(1))))
    errors = (estimate - np.bincount(data)) / protocol.rmse()
    assert np.abs(errors).max() < 6.0


@pytest.mark.parametrize("buckets", [2, 3, 11])
def test_any_two_categories_meet_in_one_row(buckets):
    protocol = CountMinShuffle(task=Histogram(buckets**2), crowd=Crowd(5), gamma=0.1, buckets=buckets)
    for first, second in combinations(protocol._buckets_of, 2):
        assert np.count_nonzero(first == second) == 1


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
def test_two_cells_on_the_grid_are_nearly_the_exact_two(epsilon):
    law = laws.binomial(1_000, 0.05)
    exact, grid = two_cells(Pair.shifted(law)).delta(epsilon), ManyCells.of(law, 1).delta(epsilon)
    assert exact <= grid <= 1.02 * exact


@pytest.mark.parametrize("pairs", [7, 37, 1_000])
def test_where_no_mass_is_shared_by_both_neighbours_everything_is_lost(pairs):
    """Hardly any noise: what is left of the law of all losses together vanishes, and must not count as privacy."""
    assert ManyCells.of(laws.binomial(4, 1e-5), pairs).delta(1.0) == 1.0
    assert ManyCells.of(Law(0, np.array([1e-9, 1.0])), pairs).delta(1.0) == 1.0


def test_tails_of_fair_coins_are_summed_from_their_ends():
    coins = np.array([0, 1, 2, 7, 40, 1_001, 20_000])
    heads = coins[:, None] // 2 + np.array([-400, -20, -3, -1, 0, 1, 2, 3, 20, 150, 400])
    expected = np.array(
        [
            [float(laws.binomial_above(h - 1, n, 0.5)) for h in row]
            for n, row in zip(coins.tolist(), heads.tolist(), strict=True)
        ]
    )
    found = _at_least(coins, heads)
    assert (found >= expected * (1 - 1e-11)).all()
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-38)
