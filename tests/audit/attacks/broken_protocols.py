"""Protocols with one thing wrong each, for the audits to find."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.privacy import exact_tables as tables
from headcount.privacy.two_sided_noise import AddDiscreteLaplace
from headcount.programme.brick import All, Copies, Emit, Maybe
from headcount.programme.chance import Chance
from headcount.programme.coins import SeededCoins
from headcount.programme.rows import Row, packed
from headcount.programme.table import Table
from headcount.programme.tally import Batch, Tally
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.local.basic_rappor import BasicRappor
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum

ONE = Emit(0)


class TooLittleNoise(Geometric):
    """Nine tenths of the scale."""

    def released(self):
        return AddDiscreteLaplace(self.rate / Fraction(9, 10))


class TooFewDummies(PoissonCount):
    """Nine tenths of them."""

    def share(self):
        return tables.poisson(Fraction(self.mean) * 9 / 10 / self.crowd.honest)


class UnaccountedTail(PoissonCount):
    """Nobody ever sends more than one dummy."""

    def share(self):
        full = tables.poisson(Fraction(self.mean) / self.crowd.honest)
        return Table.of([full.masses[0], sum(full.masses[1:])])


class ThresholdOffByOne(SampleThreshold):
    def released(self):
        return type(super().released())(self.threshold - 1)


class KeepsTooOften(RandomisedResponse):
    """The bit is flipped less often than is said."""

    def report(self, value):
        return Maybe(Chance(self.flip * 0.9), Emit(1 - value), Emit(value))


class OneCoinForAll(CheuCount):
    """Everyone's flip is decided by the same word."""

    def reports(self, values, coins):
        messages = np.empty(values.size, dtype=self.message)
        messages["kind"] = values ^ bool(coins.bernoulli(self.flip, 1)[0])
        return Batch(values.size, messages)


class SharedMask(BasicRappor):
    """Bit i of byte b is flipped by word b + i, so that bytes share words: every single bit is right."""

    def report(self, value):
        honest = super().report(value)
        return SharedMaskRow(honest.width, honest.off, honest.here, honest.on)


class SharedMaskRow(Row):
    def draw(self, people, coins, outbox):
        place, person = self.here.column(people.held, people.size), np.arange(people.size)
        words = coins.words(people.size * self.width).reshape(people.size, self.width)
        bit = np.arange(self.width)
        shared = words[:, bit // 8 + bit % 8]
        bits = shared < np.uint64(self.off.threshold)
        bits[person, place] = shared[person, place] < np.uint64(self.on.threshold)
        outbox.send([packed(bits)], people)


class SeededInside(Zsum):
    """Every call draws the same."""

    def attributed(self, values, owners, coins):
        return super().attributed(values, owners, SeededCoins(7))


class DrawsForOnes(Zsum):
    """Whoever holds a one takes more coins."""

    def report(self, value):
        return All(super().report(value), Copies(value, Maybe(Chance(0.5), ONE)))


class BranchesOnData(Zsum):
    def reports(self, values, coins):
        if values.any():
            coins = coins
        return super().reports(values, coins)


class ScaledByTheLargest(Zsum):
    """A bound that is read from the data: one person changes what the others count for."""

    def tally(self, batch):
        tally = super().tally(batch)
        return Tally(tally.reports, tally.totals * (2 if tally.totals[0] > self.crowd.size else 1))


class NoiseByTheTotal(Geometric):
    """Large counts get more noise."""

    def released(self):
        return _Proportional(self.rate)


@dataclass(frozen=True)
class _Proportional(AddDiscreteLaplace):
    def apply(self, tally, coins):
        noise = super().apply(tally, coins).totals - tally.totals
        return Tally(tally.reports, tally.totals + noise * (1 + tally.totals))


class TellsTheNeighbour(Zsum):
    """What one person sends depends on the person before."""

    def attributed(self, values, owners, coins):
        return super().attributed(values | np.roll(values, 1), owners, coins)
