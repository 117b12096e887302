"""Defects of published code: ours does not have them, and the tests would notice if it had."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from headcount.errors import OverBudget
from headcount.planner.calibrate import calibrate
from headcount.privacy import exact_tables as tables
from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import TotalVariationSlack
from headcount.privacy.share_distance import fewest_shares, published_shares, share_distance
from headcount.privacy.zero_sum_sets import ZeroSumSets
from headcount.programme.brick import All, Copies, Emit, Let, Maybe
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.programme.draw import Below, From
from headcount.programme.field import Field
from headcount.programme.rows import Shares
from headcount.programme.tally import Tally
from headcount.protocols.shared.stochastic_rounding import levelled
from headcount.protocols.shuffle.blanket_histogram import BlanketHistogram
from headcount.protocols.shuffle.blanket_sum import BlanketSum
from headcount.protocols.shuffle.cheu_sum import CheuSum
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.split_and_mix import DOWN, UP, SplitAndMix
from headcount.questions.sum_and_mean import Sum
from headcount.testing import Nonconforming, conforms, the_claimed_loss_covers_every_view

BUDGET = Budget(1.0, 1e-6)
ANY = Field.named("any")


# The negative binomial's parameter taken for its complement: next to no noise


class SwappedShare(SplitAndMix):
    def report(self, value):
        noise = From(tables.negative_binomial(Fraction(1, self.crowd.honest), 1 - Fraction(self.decay)))

        def send(level):
            return Let("up", noise, Let("down", noise, Shares(level + UP - DOWN, self.modulus, self.shares)))

        return levelled(value, self.task, self.levels, send)


def among_a_thousand(cls):
    given = cls.published(BUDGET, Crowd(1000))
    return cls(task=Sum((0, 1), steps=1), crowd=Crowd(1000), **given)


def check_variance(protocol, runs=400):
    """Of the sum that a crowd of zeros ends with, in squared levels, within five standard errors of what is stated."""
    totals = protocol.repeated(np.zeros(1000, dtype=np.int64), SeededCoins(1), runs)
    seen = [float(protocol.point(Tally(1000, row))[0]) * protocol.levels for row in totals]
    stated = protocol.noise(0, 1000).variance * protocol.levels**2
    assert abs(np.var(seen) - stated) <= 5.0 * stated * math.sqrt(5.0 / runs)  # the law's kurtosis is 6


def test_the_noise_of_split_and_mix_is_that_of_the_convention_in_which_the_decay_is_near_one():
    protocol = among_a_thousand(SplitAndMix)
    levels = protocol.levels
    assert levels == math.ceil(math.sqrt(1000))
    assert protocol.noise(0, 1000).variance * levels**2 == pytest.approx(2 * levels**2, rel=1e-3)
    assert protocol.noise(0, 1000).variance * 1000 == pytest.approx(2000, rel=1e-3)  # published: 1999.8 at 1000
    table = tables.negative_binomial(Fraction(1, 1000), Fraction(protocol.decay))
    chances = np.array([float(Fraction(mass, table.total)) for mass in table.masses])
    values = np.arange(chances.size)
    assert 2 * 1000 * (chances @ values**2 - (chances @ values) ** 2) == pytest.approx(2 * levels**2, rel=1e-3)
    check_variance(protocol)


def test_the_swapped_convention_has_next_to_no_noise_and_is_caught():
    swapped = among_a_thousand(SwappedShare)
    a = 1.0 - swapped.decay
    assert 2 * a / (1 - a) ** 2 == pytest.approx(0.066, abs=2e-3)
    with pytest.raises(AssertionError):
        check_variance(swapped)


# Lies over one value too many or too few


class TooManyLies(BlanketHistogram):
    def report(self, value):
        return Maybe(Chance(self.lie), Let("any", Below(self.kinds + 1), Emit(ANY)), Emit(value))

    def tally(self, batch):
        return Tally(batch.reports, np.bincount(batch.messages["kind"], minlength=self.kinds + 1)[: self.kinds])


class TooFewLies(BlanketHistogram):
    def report(self, value):
        return Maybe(Chance(self.lie), Let("any", Below(self.kinds - 1), Emit(ANY)), Emit(value))


class TooManyLiesOfASum(BlanketSum):
    more = 1

    def report(self, value):
        lie = Let("any", Below(self.kinds + self.more), Emit(ANY))
        return levelled(value, self.task, self.levels, lambda level: Maybe(Chance(self.lie), lie, Emit(level)))


class TooFewLiesOfASum(TooManyLiesOfASum):
    more = -1


@pytest.mark.parametrize("twin", [TooManyLies, TooFewLies, TooManyLiesOfASum, TooFewLiesOfASum])
def test_lies_over_other_values_than_the_true_ones_are_caught(twin):
    with pytest.raises(Nonconforming):
        conforms(twin)


@pytest.mark.parametrize("twin", [TooFewLies, TooFewLiesOfASum])
def test_a_value_that_nobody_lies_about_is_a_breach_of_privacy(twin):
    with pytest.raises(Nonconforming, match="is claimed"):
        the_claimed_loss_covers_every_view(twin.tiny())


def test_lies_calibrated_for_one_value_fewer_are_over_the_budget():
    thin = calibrate(BlanketSum, Sum((0, 1)), Crowd(10_000), BUDGET)
    assert Amplified(MessageLaws.response(thin.lie, thin.kinds), 10_000).delta(1.0) <= 1e-6
    assert Amplified(MessageLaws.response(thin.lie, thin.kinds + 1), 10_000).delta(1.0) > 1.1e-6


# Weights by the wrong logarithm, and a nothing that is said aloud


def weighed_by(log, top):
    gamma = top * (math.ceil(log(top)) + 1)
    return np.ceil(gamma / np.abs(np.array(ZeroSumSets(top).names, dtype=np.float64)))


@pytest.mark.parametrize("top", [6, 7, 20, 128])
def test_zero_sum_sets_weighed_by_natural_logarithms_do_not_cover_every_value(top):
    assert ZeroSumSets(top).published().tolist() == weighed_by(math.log2, top).tolist()
    assert ZeroSumSets(top).loads(weighed_by(math.log2, top)).max() <= 1.0 + 1e-12
    assert ZeroSumSets(top).loads(weighed_by(math.log, top)).max() > 1.0 + 1e-12


class SaysNothingAloud(CheuSum):
    """A value above 0 that is rounded to level 0 says so with a message that 0 itself never sends."""

    @property
    def kinds(self):
        return 3

    def report(self, value):
        steps, levels = self.task.steps, self.levels
        one, zero = Maybe(self.flip, Emit(0), Emit(1)), Maybe(self.flip, Emit(1), Emit(0))
        some = (value + (steps - 1)) // steps  # 1 if there is anything

        def send(level):
            rounded_away = some * (1 - (level + (levels - 1)) // levels)
            return All(Copies(level, one), Copies(levels - level, zero), Copies(rounded_away, Emit(2)))

        return levelled(value, self.task, levels, send)


def check_rounded_to_nothing_is_nothing(protocol):
    """Half a level above 0 sends what 0 sends half of the time, and what the next level sends otherwise."""
    laws = [protocol.programme.law({"value": value}) for value in (0, 1, 2)]
    chances = [{sent: mass / law.total for sent, mass in law.masses.items()} for law in laws]
    for sent in set().union(*chances):
        nothing, between, next_level = (law.get(sent, 0.0) for law in chances)
        assert between == pytest.approx((nothing + next_level) / 2, abs=1e-15)


@pytest.mark.parametrize("cls", [CheuSum, BlanketSum])
def test_what_is_rounded_to_nothing_looks_like_nothing(cls):
    check_rounded_to_nothing_is_nothing(cls.tiny())


def test_a_nothing_that_is_said_aloud_is_caught():
    with pytest.raises(AssertionError):
        check_rounded_to_nothing_is_nothing(SaysNothingAloud.tiny())
    with pytest.raises(Nonconforming, match="is claimed"):
        the_claimed_loss_covers_every_view(SaysNothingAloud.tiny())


# As many shares as an average crowd needs


def seen_of(values, modulus, shares):
    """How often each multiset of residues is sent by people who hold these values."""
    law = Counter()
    for free in product(range(modulus), repeat=len(values) * (shares - 1)):
        rows = [free[i * (shares - 1) : (i + 1) * (shares - 1)] for i in range(len(values))]
        last = [(value - sum(row)) % modulus for value, row in zip(values, rows, strict=True)]
        law[tuple(sorted([*free, *last]))] += 1
    return law


def furthest_apart(people, modulus, shares):
    """The largest total variation between two crowds with the same total."""
    ways = modulus ** (people * (shares - 1))
    crowds = list(combinations_with_replacement(range(modulus), people))
    laws = {crowd: seen_of(crowd, modulus, shares) for crowd in crowds}
    pairs = [(a, b) for a in crowds for b in crowds if sum(a) % modulus == sum(b) % modulus]
    return max(sum((laws[a] - laws[b]).values()) / ways for a, b in pairs)


def test_shares_for_an_average_crowd_are_too_few_for_the_worst():
    worst = furthest_apart(2, 3, 4)
    average = 0.5 * share_distance(2, 3, 5)  # as if a share more were there, and half the distance
    assert average < worst <= share_distance(2, 3, 4)


@pytest.mark.parametrize("people", [1000, 10_000])
def test_a_share_fewer_than_needed_is_noticed(people):
    modulus, distance = 1 << 32, 2.0**-40
    needed = fewest_shares(people, modulus, distance)
    assert share_distance(people, modulus, needed) <= distance < share_distance(people, modulus, needed - 1)
    assert published_shares(people, modulus, distance) > needed  # the formula for the worst crowds is cautious


def test_split_and_mix_with_too_few_shares_is_over_its_budget():
    protocol = calibrate(SplitAndMix, Sum((0, 1)), Crowd(10_000), BUDGET)
    with pytest.raises(OverBudget):
        calibrate(
            SplitAndMix, Sum((0, 1)), Crowd(10_000), BUDGET, inner=protocol.inner, shares=protocol.shares - 2
        )  # fmt: skip
    assert share_distance(10_000, protocol.modulus, protocol.shares - 1) > 0.01 * BUDGET.delta / (1.0 + math.e)


# One side of a pair looked at twice


class OneSide(PoissonCount):
    def view(self, honest):
        return _Twice(super().view(honest), 0.0, "exact")


class _Twice(TotalVariationSlack):
    def orders(self, epsilon):
        _, upper = super().orders(epsilon)
        return upper, upper


def test_one_side_is_not_enough_where_the_sides_differ():
    with pytest.raises(Nonconforming, match="is claimed"):
        the_claimed_loss_covers_every_view(OneSide.tiny())


def test_the_sides_of_clones_do_not_differ_and_both_are_claimed():
    local, others, chance = 1.5, 6, math.exp(-1.5)
    keep = 1.0 / (1.0 + chance)
    first, second = Counter(), Counter()
    for clones in range(others + 1):
        for ones in range(clones + 1):
            mass = math.comb(others, clones) * chance**clones * (1 - chance) ** (others - clones)
            mass *= math.comb(clones, ones) / 2**clones
            for own, weight in ((1, keep), (0, 1 - keep)):
                first[ones + own, clones - ones + 1 - own] += mass * weight
                second[ones + 1 - own, clones - ones + own] += mass * weight
    for epsilon in (0.0, 0.3, 1.0):
        factor = math.exp(epsilon)
        sides = [sum(max(p[seen] - factor * q[seen], 0.0) for seen in p) for p, q in ((first, second), (second, first))]
        claimed = Amplified(MessageLaws.clones(local), others + 1).orders(np.array([epsilon]))
        assert [side.item() for side in claimed] == pytest.approx(sides, rel=1e-9)
        assert sides[0] == pytest.approx(sides[1], rel=1e-12)
