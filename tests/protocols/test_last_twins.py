"""Broken twins of almost central sums, recursive sums, Hadamard tuples and Count-Min rows."""

import pytest

from headcount.programme.brick import All, Copies, Each, Emit, Let, Maybe
from headcount.programme.chance import Chance
from headcount.programme.draw import Below
from headcount.programme.field import Field
from headcount.protocols.shared.stochastic_rounding import levelled, steps_of
from headcount.protocols.shuffle.almost_central_sum import AlmostCentralSum
from headcount.protocols.shuffle.count_min_shuffle import CELL, ROW, CountMinShuffle
from headcount.protocols.shuffle.hadamard_shuffle import HadamardShuffle
from headcount.protocols.shuffle.recursive_sum import ANY, RecursiveSum
from headcount.testing import Nonconforming, conforms
from stress import some


class NoAtoms(AlmostCentralSum):
    """Numbers among ones and minus ones only."""

    def report(self, value):
        return All(*super().report(value).parts[:4])


class SendsZeros(AlmostCentralSum):
    """Says that a value is not zero even when it is rounded to zero."""

    def report(self, value):
        steps = steps_of(self.task)

        def send(level):
            return Copies((value + (steps - 1)) // steps, Emit(level))

        return All(levelled(value, self.task, self.levels, send), *super().report(value).parts[1:])


class AtomsThatDoNotCancel(AlmostCentralSum):
    """One half of an atom too few."""

    def report(self, value):
        *parts, last = super().report(value).parts
        amount = last.brick.amount if isinstance(last, Each) else last.amount
        return All(*parts, Copies(amount, All(Emit(self.levels), Emit(-1))))


class LiesOffByOne(RecursiveSum):
    """Lies are drawn from one value more than the first digit has."""

    @property
    def kinds(self):
        return super().kinds + 1

    def report(self, value):
        whole = super().report(value)
        first, *others = whole.brick.parts
        lie = Let("any", Below(self.alphabets[0] + 1), Emit(ANY))
        return Let("level", whole.source, All(Maybe(first.chance, lie, first.otherwise), *others))


class DigitsNotComposed(RecursiveSum):
    """As if only the last digit told anything."""

    def view(self, honest):
        whole = super().view(honest).most
        return type(whole)(whole.lies[-1:], whole.values[-1:], honest)


class AnyNumbers(HadamardShuffle):
    """Nobody looks whether the numbers agree."""

    def report(self, value):
        return Copies(Field.of(1 + self.blankets), super().report(value).parts[1].brick)


class OneBlanketFewer(HadamardShuffle):
    def report(self, value):
        return super().report(value).parts[0]


class TheMinimum(CountMinShuffle):
    """The paper's estimate."""

    def point(self, tally):
        return tally.totals[self._buckets_of].min(axis=1) - tally.reports * self.gamma


class RowsAlike(CountMinShuffle):
    """Categories that meet in one row meet in all."""

    def report(self, value):
        s = self.buckets
        own = Each("row", s, Emit(ROW * s + value % s))
        return All(own, Emit(value // s + s * s), Each("cell", self.kinds, Maybe(Chance(self.gamma), Emit(CELL))))


class HalfTheRows(CountMinShuffle):
    def view(self, honest):
        whole = super().view(honest)
        return type(whole)(whole.pair, whole.times // 2)


TWINS = [
    NoAtoms, SendsZeros, AtomsThatDoNotCancel, LiesOffByOne, DigitsNotComposed, AnyNumbers, OneBlanketFewer, TheMinimum,
    RowsAlike, HalfTheRows,
]  # fmt: skip
LONG = (SendsZeros, AtomsThatDoNotCancel, AnyNumbers)


@pytest.mark.parametrize("twin", some(TWINS, lambda twin: twin not in LONG), ids=lambda twin: twin.__name__)
def test_the_suite_catches(twin):
    with pytest.raises(Nonconforming):
        conforms(twin)


def test_zeros_are_told_from_nothing_by_what_is_sent():
    tiny = list(AlmostCentralSum.tinies())[-1]
    honest, twin = tiny, SendsZeros(**{name: getattr(tiny, name) for name in ("task", "crowd", *tiny.parameters)})
    laws = [protocol.programme.law({"value": 1}).masses for protocol in (honest, twin)]
    assert [any(message == (0,) for sent in law for message, _ in sent) for law in laws] == [False, True]
