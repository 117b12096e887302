"""Broken twins: protocols with one thing wrong each. A suite that passes one of them proves nothing."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from headcount.core.brick import NOTHING, All, Copies, Emit, Maybe
from headcount.core.chance import Chance
from headcount.core.coins import SeededCoins
from headcount.core.law import Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.release import Threshold
from headcount.core.table import Table
from headcount.core.tally import Batch, Tally
from headcount.privacy import laws, tables
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift
from headcount.privacy.pair import Nearly, Pair
from headcount.privacy.tables import AddNoise
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import CHECKS, Nonconforming, conforms

ONE = Emit(0)


class TooLittleCentralNoise(Geometric):
    def released(self):
        return AddNoise(self.rate / Fraction(9, 10))


class TooFewDummies(PoissonCount):
    def share(self):
        return tables.poisson(Fraction(self.mean) * 9 / 10 / self.crowd.honest)


class OneSidedNoise(Geometric):
    def released(self):
        return _Upward(self.rate)


@dataclass(frozen=True)
class _Upward(AddNoise):
    def apply(self, tally, coins):
        noisy = super().apply(tally, coins)
        return Tally(tally.reports, tally.totals + np.abs(noisy.totals - tally.totals))

    def law(self, total):
        parts = Counter()
        for noisy, part in super().law(total).items():
            parts[total + abs(noisy - total)] += part
        return parts


class HalfTheSensitivity(Laplace):
    def view(self, honest):
        return DiscreteLaplaceShift(self.rate, self.levels // 2)


class SwappedArms(Zsum):
    def report(self, value):
        return All(Copies(value, ONE), Maybe(Chance(self.gamma), ONE, NOTHING))


class SwappedConvention(NegativeBinomialCount):
    def share(self):
        return tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, 1 - Fraction(self.decay))


class ThresholdOffByOne(SampleThreshold):
    def released(self):
        return Threshold(self.threshold - 1)


class SharedWords(RandomisedResponse):
    """Everyone's flip is decided by the same word."""

    def reports(self, values, coins):
        flipped = bool(coins.bernoulli(self.flip, 1)[0])
        messages = np.empty(values.size, dtype=self.message)
        messages["kind"] = values ^ flipped
        return Batch(values.size, messages)


class SeededInside(Zsum):
    def reports(self, values, coins):
        return super().reports(values, SeededCoins(7))


class SharedAmongAll(CorrelatedCount):
    """Shares for everyone expected instead of for the honest."""

    def report(self, value):
        return super().report(value) if self.crowd.size == self.crowd.honest else self._for_all().report(value)

    def _for_all(self):
        return replace(self, crowd=type(self.crowd)(self.crowd.size))


class PoissonSharedAmongAll(PoissonCount):
    def share(self):
        return tables.poisson(Fraction(self.mean) / self.crowd.size)


class FloatNoise(Geometric):
    def released(self):
        return _Float(self.rate)


@dataclass(frozen=True)
class _Float(AddNoise):
    def apply(self, tally, coins):
        uniform = coins.uniform(tally.totals.size) - 0.5
        noise = -float(1 / self.rate) * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
        released = Tally(tally.reports, tally.totals)
        object.__setattr__(released, "totals", tally.totals + noise)
        return released


class UnaccountedTail(PoissonCount):
    """Nobody ever sends more than one dummy, and nothing is charged for that."""

    def share(self):
        full = tables.poisson(Fraction(self.mean) / self.crowd.honest)
        return Table.of([full.masses[0], sum(full.masses[1:])])


class RoundedTheWrongWay(Zsum):
    """The chance that is drawn is rounded down to a sixteenth, the one that is claimed is not."""

    def report(self, value):
        coarse = Chance(int(self.gamma * 16) / 16)
        return All(Copies(value, ONE), Maybe(coarse, NOTHING, ONE))


class DeltaRoundedDown(Zsum):
    def view(self, honest):
        return _Less(super().view(honest), 0.0)


class _Less(Nearly):
    def delta(self, epsilon):
        return super().delta(epsilon) * (1 - 1e-6)


class OneDirectionOnly(NegativeBinomialCount):
    def view(self, honest):
        return _Backward(super().view(honest), 0.0)


class _Backward(Nearly):
    def orders(self, epsilon):
        _, backward = super().orders(epsilon)
        return backward, backward


class BiasedEstimator(RandomisedResponse):
    def point(self, tally):
        return super().point(tally) + 0.01


class WrongVariance(Zsum):
    def noise(self, truth, reports):
        missing = laws.binomial(reports, self.gamma)
        return Noise.of(-missing, centre=-reports * self.gamma, scale=0.95)


class UncountedMessages(CorrelatedCount):
    @property
    def messages_per_person(self):
        return 1.0


class WishfulCollusion(Zsum):
    @property
    def local_epsilon(self):
        return 1.0


class ReleasesTooEarly(Zsum):
    def release(self, tally, coins=None):
        return tally


class NoFlood(CorrelatedCount):
    """Pluses and minuses without the flood that hides them."""

    def report(self, value):
        own = tables.negative_binomial(Fraction(1, self.crowd.honest), Fraction(self.cancel))
        return All(Copies(value, Emit(1)), Copies(own, Emit(1)), Copies(own, ONE))


class IndependentFlood(CorrelatedCount):
    """The flood's pluses and minuses drawn apart: they hide, and no longer cancel."""

    def report(self, value):
        own = tables.negative_binomial(Fraction(1, self.crowd.honest), Fraction(self.cancel))
        flood = tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, Fraction(self.decay))
        plus, minus = Emit(1), ONE
        return All(
            Copies(value, plus), Copies(own, plus), Copies(own, minus), Copies(flood, plus), Copies(flood, minus)
        )


class TooConfident(RandomisedResponse):
    def intervals(self, tally, confidence):
        return super().intervals(tally, confidence - 0.2)


class ForgetsDropouts(PoissonCount):
    def view(self, honest) -> PrivacyLoss:
        return Pair.shifted(laws.poisson(self.mean))


TWINS = [
    TooLittleCentralNoise, TooFewDummies, OneSidedNoise, HalfTheSensitivity, SwappedArms, SwappedConvention,
    ThresholdOffByOne, SharedWords, SeededInside, SharedAmongAll, PoissonSharedAmongAll, FloatNoise, UnaccountedTail,
    RoundedTheWrongWay, DeltaRoundedDown, OneDirectionOnly, BiasedEstimator, WrongVariance, UncountedMessages,
    WishfulCollusion, ReleasesTooEarly, NoFlood, IndependentFlood, TooConfident, ForgetsDropouts,
]  # fmt: skip


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_the_suite_catches(twin):
    with pytest.raises(Nonconforming):
        conforms(twin)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_check_catches_a_twin(check):
    assert any(_caught(check, twin) for twin in [*TWINS, Leaky, Untight, Forgetful, StillBiased, Misdrawn])


def _caught(check, twin):
    try:
        check(twin.tiny())
    except Nonconforming:
        return True
    return False


class Leaky(Zsum):
    """Half the dummies it claims."""

    def report(self, value):
        return All(Copies(value, ONE), Maybe(Chance(self.gamma / 2), NOTHING, ONE))


class Untight(Zsum):
    """A knob with few settings, so that calibration wastes the budget."""

    knob = replace(Zsum.knob, along=lambda u, _: min(0.5, 2.0 ** math.ceil(u / math.log(2.0))))


@dataclass(frozen=True, kw_only=True)
class Forgetful(Zsum):
    """Its JSON does not say how much noise there is."""

    def to_json(self):
        described = super().to_json()
        return {**described, "parameters": {**described["parameters"], "gamma": 0.25}}


class StillBiased(Zsum):
    def noise(self, truth, reports):
        exact = super().noise(truth, reports)
        return Noise(exact.values + reports / 100, exact.masses)


class Misdrawn(Zsum):
    """The interpreter swaps its arms."""

    def report(self, value):
        return All(Copies(value, ONE), _Swapped(Chance(self.gamma), NOTHING, ONE))


class _Swapped(Maybe):
    def draw(self, people, coins, outbox):
        yes = coins.bernoulli(self.chance, people.size)
        self.then.draw(people.chosen(~yes, self.then.reads), coins, outbox)
        self.otherwise.draw(people.chosen(yes, self.otherwise.reads), coins, outbox)
