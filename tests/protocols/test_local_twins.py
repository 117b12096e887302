"""Broken twins of the local protocols: one thing wrong with each, and some check sees it."""

import math

import numpy as np
import pytest

from headcount.privacy.amplified import Amplified, MessageLaws
from headcount.privacy.pair import Pair
from headcount.programme.brick import Emit, Let, Maybe
from headcount.programme.chance import Chance
from headcount.programme.draw import Below, Rounded
from headcount.programme.field import Field
from headcount.programme.rows import Row, Subset
from headcount.programme.tally import Tally
from headcount.protocols import CATALOGUE
from headcount.protocols.local.basic_rappor import BasicRappor
from headcount.protocols.local.duchi import Duchi
from headcount.protocols.local.generalised_response import GeneralisedResponse
from headcount.protocols.local.hadamard_response import POINT, HadamardResponse
from headcount.protocols.local.hybrid import BIT, Hybrid
from headcount.protocols.local.local_hashing import LocalHashing
from headcount.protocols.local.optimised_unary import OptimisedUnary
from headcount.protocols.local.piecewise import Piecewise
from headcount.protocols.local.subset_selection import SubsetSelection
from headcount.protocols.local.succinct_histogram import SuccinctHistogram
from headcount.protocols.shared.hadamard import walsh_hadamard
from headcount.protocols.shared.hashing import LinearHash
from headcount.protocols.shared.shuffled_local import shuffled
from headcount.protocols.shared.sliding_window import PLACE, sent
from headcount.protocols.shared.stochastic_rounding import levelled
from headcount.testing import Nonconforming, conforms
from headcount_survey.mutants.catalogue import MUTATIONS
from headcount_survey.mutants.detection import try_mutation


class OtherMayBeTheSame(GeneralisedResponse):
    """The lie is drawn from all categories, the own one included."""

    def report(self, value):
        return Maybe(Chance(self.keep), Emit(value), Let("step", Below(self.kinds), Emit(Field.named("step"))))


class OnlyTheOwnBitIsFlipped(BasicRappor):
    def report(self, value):
        return Row(self.task.values, Chance(0.0), value, self.own)


class SurveysRatio(OptimisedUnary):
    """A survey's remark that p/q is what counts: only the bits that are on."""

    def view(self, honest):
        p, q = self.own, self.other
        return Pair(np.array([p, 1.0 - p]), np.array([q, 1.0 - q]))

    @property
    def local_epsilon(self):
        return math.log(self.own / self.other)


class IdealCollisions(LocalHashing):
    """As if the hash were uniform."""

    @property
    def collision(self):
        return 1.0 / self.range


class LooseHash(LocalHashing):
    """Modulo the number of categories, which need not be a prime."""

    @property
    def hashing(self):
        return LinearHash(self.task.values + 1, self.range)


class ZeroHasNoSet(HadamardResponse):
    """Category 0 has all points for its set: the masks begin at 0 instead of 1."""

    def report(self, value):
        return super().report(value - 1)


class UnmovedPoints(HadamardResponse):
    def report(self, value):
        return Let("point", Below(self.kinds), Maybe(Chance(self.keep), Emit(POINT), Emit(POINT ^ 1)))


class OneMoreInTheSet(SubsetSelection):
    def report(self, value):
        return Subset(self.task.values, self.size + 1, value, Chance(self.keep))


class ForgetsTheOwnPlace(SubsetSelection):
    @property
    def supports_other(self):
        return self.size / self.task.values


class WrongSign(SuccinctHistogram):
    def supporters(self, tally):
        minus, plus = tally.totals[::2], tally.totals[1::2]
        return (walsh_hadamard(plus - minus)[: self.task.values] + int(tally.totals.sum())) // 2


class RandomMatrix(SuccinctHistogram):
    """Rows that are not orthogonal: the last one is the first again."""

    def report(self, value):
        minus = (Field.named("row") % (self.rows - 1) & value).parity
        row = Field.named("row") * 2
        return Let("row", Below(self.rows), Maybe(Chance(self.keep), Emit(row + minus), Emit(row + 1 - minus)))


class RoundsDown(Duchi):
    def report(self, value):
        bit, flip = value // self.task.steps, Chance(1.0 - self.keep)
        return Maybe(flip, Emit(1 - bit), Emit(bit))


class AverageCrowd(Duchi):
    """The error of people who hold nothing, stated for everybody."""

    @property
    def hardest_value(self):
        return 0


class BiasedWindow(Piecewise):
    """The rest begins within the window."""

    def report(self, value):
        return levelled(value, self.task, self.levels, self._sent)

    def _sent(self, level):
        outside = Let("place", Below(self.levels), Emit((level + self.window - 1 + PLACE) % self.kinds))
        return Maybe(Chance(self.keep), Let("place", Below(self.window), Emit(level + PLACE)), outside)


class WiderWindow(Piecewise):
    """Claims the loss of a window twice as wide."""

    def view(self, honest):
        own, other = self.keep / 2.0, (1.0 - self.keep) / 2.0
        return Pair(np.array([own, other, 0.5]), np.array([other, own, 0.5]))


class EagerBit(Hybrid):
    """The bit is drawn with the odds of both parts together."""

    def _told(self, level):
        right = Chance.down(1.0 / (1.0 + self.odds**-2))
        flipped = Maybe(right, Emit(BIT + self.numbers), Emit(self.numbers + 1 - BIT))
        bit = Let("bit", Rounded(level, self.levels, 1), flipped)
        return Maybe(Chance(self.alpha), sent(level, self.keep, self.window, self.levels), bit)


class Unweighted(Hybrid):
    """Bits are sent for the weight and counted without."""

    def tally(self, batch):
        scores = np.concatenate([self.scores[:-2], [-1, 1]])
        return Tally(batch.reports, np.array([int(scores[batch.messages["kind"]].sum())]))


class HalfTheLocalLoss(shuffled(GeneralisedResponse)):
    def view(self, honest):
        return Amplified(MessageLaws.clones(self.local_epsilon / 2.0), honest)


class ClonesOfMore(shuffled(HadamardResponse)):
    """As many clones as there were tenfold people."""

    def view(self, honest):
        return Amplified(self.message_laws, 10 * honest)


TWINS = [
    OtherMayBeTheSame, OnlyTheOwnBitIsFlipped, SurveysRatio, IdealCollisions, LooseHash, ZeroHasNoSet,
    UnmovedPoints, OneMoreInTheSet, ForgetsTheOwnPlace, WrongSign, RandomMatrix, RoundsDown, AverageCrowd, BiasedWindow,
    WiderWindow, EagerBit, Unweighted, HalfTheLocalLoss, ClonesOfMore,
]  # fmt: skip


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.__name__)
def test_the_suite_catches(twin):
    with pytest.raises(Nonconforming):
        conforms(twin)


LOCAL = [cls for cls in CATALOGUE if cls.model == "local"]


@pytest.mark.parametrize("cls", LOCAL, ids=lambda cls: cls.name)
def test_a_local_protocol_with_less_noise_is_caught(cls):
    """A twin that any protocol has, whether or not somebody wrote one of its own."""
    less = next(mutation for mutation in MUTATIONS if mutation.name == "noise times 0.9")
    assert try_mutation(cls.tiny(), less).check == "the_claimed_loss_covers_every_view"
