"""Protocols whose noise is the shuffler's dummies: people send one message each, with no noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd, GroupPrivacy, Model, Neighbours, Pair, PrivacyLoss, laws, many_cells
from headcount.privacy.discrete_laplace import RepeatedResponse
from headcount.privacy.exact_tables import padded, padded_distance
from headcount.privacy.model import Party
from headcount.privacy.padded import PaddedLaw, PaddedTotals
from headcount.privacy.two_sided_noise import AddDiscreteLaplace
from headcount.programme import Batch, Brick, Coins, Emit, Field, Release, Table, Tally, Unchanged
from headcount.programme.field import Values
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.programme.release import Pad
from headcount.protocols.base import Knob, Protocol
from headcount.protocols.shared.cells import one_of_each, touched
from headcount.questions.question import Question

RARELY = 1e-9  # the chance that an honest shuffler's number of messages is taken for another's


@dataclass(frozen=True, kw_only=True)
class PaddedByShuffler(Protocol):
    """One message each; the shuffler adds more, and the analyser noise unknown to the shuffler."""

    model: ClassVar[Model] = Model.DUMMIES
    options: ClassVar[frozenset[str]] = frozenset({"analyser"})
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    independent: ClassVar[bool] = True

    analyser_scale: float = 0.0

    def __post_init__(self) -> None:
        if self.analyser_scale:
            self.require_within("analyser_scale", 0.0, 1e7)
        super().__post_init__()

    @property
    def kinds(self) -> int:
        return self.task.cells if self.task.shape.several else self.task.values

    def report(self, value: Field) -> Brick:
        return one_of_each(self.task, value) if self.task.shape.several else Emit(value)

    @property
    def moved(self) -> int:
        """How many totals a person changes."""
        return _moved(self.task, self.neighbours)

    @classmethod
    def fair_scale(cls, task: Question, crowd: Crowd, budget: Budget) -> float:
        """The scale of two-sided geometric noise that spends all of epsilon."""
        return crowd.each * _moved(task, budget.neighbours) / budget.epsilon

    @property
    @abstractmethod
    def added(self) -> Law:
        """The law of the dummies of one kind."""

    @property
    def dummies(self) -> float:
        """How many messages the shuffler adds on average, of all kinds together."""
        return self.kinds * self.added.mean

    def numbers(self, coins: Coins) -> Ints:
        """How many messages of each kind the shuffler adds to a batch, drawn."""
        return self.released().apply(self.nobody(), coins).totals

    def padding(self, coins: Coins) -> npt.NDArray[Any]:
        """These messages, one kind after the other, not yet mixed."""
        return self.messages_with(kind=np.repeat(np.arange(self.kinds), self.numbers(coins)))

    def padded_by(self, reports: int) -> tuple[int, int]:
        return self._all_added.within(RARELY / 2)

    @cached_property
    def _all_added(self) -> Law:
        """The law of the dummies of all kinds together."""
        return self.added.power(self.kinds)

    def by_analyser(self) -> Release:
        return AddDiscreteLaplace(1 / Fraction(self.analyser_scale)) if self.analyser_scale else Unchanged()

    @property
    def _own(self) -> Law:
        """The analyser's noise."""
        return laws.discrete_laplace(1.0 / self.analyser_scale) if self.analyser_scale else Law(0, np.ones(1))

    def views(self) -> Mapping[Party, PrivacyLoss | None]:
        """The analyser knows its own noise, the shuffler the dummies, the public neither.

        A shuffler takes its dummies off the answer, which leaves every value, unless the analyser
        adds noise.
        """
        own = RepeatedResponse(1 / Fraction(self.analyser_scale), self.moved) if self.analyser_scale else None
        return {
            Party.ANALYSER: self.loss,
            Party.PUBLIC: GroupPrivacy.of(self._both, self.crowd.each) if own else self.loss,
            Party.SHUFFLER: GroupPrivacy.of(own, self.crowd.each) if own else None,
        }

    @cached_property
    def _both(self) -> PrivacyLoss:
        """The loss of totals with dummies and the analyser's noise."""
        replaced = self.task.shape.several and self.neighbours is Neighbours.REPLACE
        return many_cells.one_of_each(self._one_more, touched(self.task), replaced=replaced)

    @property
    def _one_more(self) -> Pair:
        """A padded total, without and with one more message."""
        return Pair.shifted(self.added + self._own)

    def noise(self, truth: int, reports: int) -> Noise:
        return Noise.of(self.added + self._own, centre=self.added.mean)

    @property
    def messages_per_person(self) -> float:
        return float(touched(self.task))


@dataclass(frozen=True, kw_only=True)
class TwoSidedPadding(PaddedByShuffler):
    """Dummies: two-sided geometric around `shift`, ratio exp(-1/scale) a step, never negative."""

    knob: ClassVar[Knob] = Knob.logarithmic("shift", 1, 1e8, lambda budget, _: _likely(budget), whole=True)

    scale: float
    shift: int

    def __post_init__(self) -> None:
        self.require_within("scale", 0.01, 1e6)
        self.whole("shift", 1, 10**8)
        super().__post_init__()
        if self.analyser_scale and self.analyser_scale < self.scale:
            raise BadArgument("analyser_scale", "is less than scale", "use 0 for none, or at least as much as scale")

    @classmethod
    def choices(
        cls, task: Question, crowd: Crowd, budget: Budget, analyser: bool = True
    ) -> Iterable[Mapping[str, Any]]:
        """The noise that geometric needs, and the analyser's own unless it is to add none."""
        scale = cls.fair_scale(task, crowd, budget)
        yield {"scale": scale, "analyser_scale": scale if analyser else 0.0}

    @property
    def filled(self) -> bool:
        """Whether dummies of two kinds make up a fixed number, so that only one need be random."""
        return not self.task.shape.several and self.neighbours is Neighbours.REPLACE

    @property
    def _rate(self) -> Fraction:
        return 1 / Fraction(self.scale)

    @property
    def _table(self) -> Table:
        return padded(self._rate, self.shift, self.filled)

    @cached_property
    def added(self) -> Law:
        table = self._table
        return Law(0, np.array(table.masses, dtype=np.float64) / table.total)

    def released(self) -> Release:
        return Pad(self._table, 2 * self.shift if self.filled else None)

    def view(self, honest: int) -> PrivacyLoss:
        law = PaddedLaw(self._rate, self.shift, self.filled)
        both = self.neighbours is Neighbours.REPLACE and self.task.shape.several
        up, down = (self.moved // 2, self.moved // 2) if both else (self.moved, 0)
        return PaddedTotals(law, up, down, padded_distance(self._rate, self.shift))

    def tally(self, batch: Batch) -> Tally:
        return self._kept(super().tally(batch))

    def counted(self, values: Values, people: Ints) -> Tally:
        return self._kept(super().counted(values, people))

    def _kept(self, tally: Tally) -> Tally:
        """The ones of a count with filled-up dummies: the number of messages gives the zeros."""
        return Tally(tally.reports, tally.totals[1:]) if self.filled else tally

    def point(self, tally: Tally) -> Floats:
        cells = tally.totals if self.filled or self.task.shape.several else tally.totals[1:]
        return cells - self.added.mean

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        cells = self.task.strategy.counts(held) if self.task.shape.several else held
        totals = cells[1:] if self.filled else cells
        size = runs * totals.size
        noise = self.added.sample(coins, size) + self._own.sample(coins, size)
        return np.asarray(totals + noise.reshape(runs, totals.size))

    def numbers(self, coins: Coins) -> Ints:
        numbers = super().numbers(coins)
        return np.array([2 * self.shift - numbers[0], numbers[0]]) if self.filled else numbers

    def padded_by(self, reports: int) -> tuple[int, int]:
        return (2 * self.shift, 2 * self.shift) if self.filled else super().padded_by(reports)


def _moved(task: Question, neighbours: Neighbours) -> int:
    return touched(task) * (2 if task.shape.several and neighbours is Neighbours.REPLACE else 1)


def _likely(budget: Budget) -> float:
    """About the shift at which a total of 0 is as likely as delta."""
    return 1.0 + 2.0 * math.log(1.0 / max(budget.delta, 1e-300)) / budget.epsilon
