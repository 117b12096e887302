"""The error and cost predicted by a protocol's formulas: of a cell, an answer, a report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from headcount.answers.worst_case import worst_truth
from headcount.programme.law import Noise
from headcount.protocols.base.declaration import Declaration
from headcount.questions.strategies.own_cells import Own

FEW_VALUES = 1 << 12  # that are all looked at


@dataclass(frozen=True, kw_only=True)
class Predicted(Declaration):
    """A protocol's predicted error, messages and bits."""

    @cached_property
    def spread(self) -> float:
        """An answer's typical standard error, in standard errors of an empty first-family cell."""
        return self.task.spread(self.strategy)

    @cached_property
    def own_part(self) -> Own:
        """The variance that people add to an answer in their own cells, in people: mostly none."""
        variances = [self.own_variance(family) for family in range(self.strategy.families)]
        return self.task.own(self.strategy, variances) if any(variances) else Own(0.0, 0.0)

    def error_of_answer(self, reports: int | None = None) -> float:
        """The typical RMSE of an answer, in people: for the truth that makes it largest.

        Parameters
        ----------
        reports : int, optional
            People who report; the crowd's size unless given.
        """
        people = self.crowd.size if reports is None else reports
        return math.sqrt((self.rmse(None, people) * self.spread) ** 2 + people * self.own_part.worst)

    @property
    def average_error(self) -> float:
        """The same on average over answers, where `spread` is the worst, and over values held."""
        cell = self.rmse() * self.task.average(self.strategy)
        return math.sqrt(cell**2 + self.crowd.size * self.own_part.mean)

    def error(self, truth: int | None = None, reports: int | None = None) -> Noise:
        """The law of a cell's error.

        Parameters
        ----------
        truth : int, optional
            People in the cell; those that are hardest to estimate unless given.
        reports : int, optional
            People who report; the crowd's size unless given.
        """
        people = self.crowd.size if reports is None else reports
        return self.noise(self._hardest(people) if truth is None else truth, people)

    def _hardest(self, people: int) -> int:
        if extremes := self.extremes(people):
            return max(extremes, key=lambda truth: self.size_of_error(truth, people))
        return worst_truth(lambda truth: self.size_of_error(truth, people), people)[1]

    def rmse(self, truth: int | None = None, reports: int | None = None) -> float:
        """The root mean square error of a cell.

        Parameters
        ----------
        truth : int, optional
            People in the cell; those that are hardest to estimate unless given.
        reports : int, optional
            People who report; the crowd's size unless given.

        Returns
        -------
        float
        """
        people = self.crowd.size if reports is None else reports
        return self.size_of_error(self._hardest(people) if truth is None else truth, people)

    @property
    def costliest(self) -> Iterable[int]:
        """Values among which is one that costs most messages."""
        if "value" not in self.programme.sized_by:
            return (0,)
        last = self.task.values - 1
        return range(last + 1) if last < FEW_VALUES else (0, last // 2, last)

    @cached_property
    def messages_per_person(self) -> float:
        """Messages a person sends on average, for the value that costs most."""
        return self._messages_of_the_costliest

    @cached_property
    def _messages_of_the_costliest(self) -> float:
        return max(self.programme.mean({"value": value}) for value in self.costliest)
