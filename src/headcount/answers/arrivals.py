"""The answer about arrivals: people so far, and in any stretch of periods, from one release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from headcount.answers.error_law import ErrorLaw
from headcount.answers.estimate import Estimate
from headcount.answers.linear import Linear
from headcount.common.quantity import require_confidence
from headcount.errors import BadArgument
from headcount.programme.law import Floats
from headcount.questions.arrivals import Arrivals
from headcount.questions.strategies.over_time import OverTime
from headcount.questions.strategies.strategy import Terms


@dataclass(frozen=True, eq=False, repr=False)
class ArrivalsEstimate(Estimate):
    """The answer to `hc.Arrivals`: the arrivals up to each period, and in any stretch of periods.

    All of it comes from one release. The value of a period is how many have come so far.

    Parameters
    ----------
    protocol, tally, people, budget, secret, within, simulated, habit, rules, most, before
        As for `Estimate`; `people` are those who have come up to each period.

    Examples
    --------
    >>> came = [1] * 300 + [2] * 400 + [5] * 200 + [None] * 100
    >>> answer = hc.ask(came, hc.Arrivals(5), epsilon=1, model="central")
    >>> low, high = answer.between(2, 5).interval(0.999999)
    >>> low < 600 < high
    True
    """

    @property
    def _question(self) -> Arrivals:
        return cast(Arrivals, self.protocol.task)

    def until(self, last: int) -> Linear:
        """How many people have come up to a period.

        Parameters
        ----------
        last : int
            Number of the period, from 1 on.

        Returns
        -------
        Linear
        """
        return self.between(1, last)

    def between(self, first: int, last: int) -> Linear:
        """How many people have come in these periods, both included.

        Parameters
        ----------
        first, last : int
            Numbers of periods, the smaller first.

        Returns
        -------
        Linear

        Raises
        ------
        errors.BadArgument
            If there are no such periods.
        """
        if not 1 <= first <= last <= self._question.periods:
            works = f"use numbers from 1 to {self._question.periods:,}, the smaller first"
            raise BadArgument("periods", f"{first} to {last} do not lie in the question's", works)
        weights = np.zeros(self._question.periods)
        weights[first - 1 : last] = 1.0
        return self.linear(weights)

    def linear(self, weights: npt.ArrayLike) -> Linear:
        """A sum of periods with these weights, and its exact interval.

        Parameters
        ----------
        weights : array-like
            One for each period.

        Returns
        -------
        Linear

        Raises
        ------
        errors.BadArgument
            If there are not as many weights as periods.

        Examples
        --------
        >>> answer = hc.ask([1] * 300 + [2] * 400, hc.Arrivals(2), epsilon=1, model="central")
        >>> 50 < answer.linear([-1, 1]).value < 150
        True
        """
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != (self._question.periods,):
            raise BadArgument("weights", "are not one for each period", f"give {self._question.periods:,}")
        so_far = given - np.append(given[1:], 0.0)  # the same sum of the people up to each period
        part = float(self._strategy.of_periods(given) @ self._cells), self._law_of(so_far)
        return Linear(part[0], part, part, self.promises())

    @property
    def _strategy(self) -> OverTime:
        return cast(OverTime, self.protocol.strategy)

    @cached_property
    def _cells(self) -> Floats:
        return self.protocol.point(self.tally)

    def people_intervals(self, confidence: float) -> Floats:
        require_confidence(confidence)
        tail = (1.0 - confidence) / 2.0
        ends = [law.tails(tail) for law in self._laws]
        found = np.array([(value - high, value - low) for value, (low, high) in zip(self.measured, ends, strict=True)])
        return self._bounded(found) if self.within else found

    def each_at(self, confidence: float) -> float:
        """Sums share cells: the chance that any interval fails is at most the sum of theirs."""
        return 1.0 - (1.0 - confidence) / self._question.periods

    @property
    def simultaneous95(self) -> float:
        """The half-width that covers the people up to every period at once with 95% confidence."""
        ends = self.people_intervals(self.each_at(0.95))
        return float(np.abs(ends - self.people[:, None]).max())

    @property
    def _laws(self) -> Sequence[ErrorLaw]:
        each = np.eye(self._question.periods)
        return [self._alike(self._strategy.terms(weights)) for weights in each]

    @cached_property
    def _alike(self) -> Callable[[Terms], ErrorLaw]:
        """Laws by their terms, of which sums of as many blocks have the same."""
        known: dict[tuple[bytes, ...], ErrorLaw] = {}

        def law(terms: Terms) -> ErrorLaw:
            key = tuple(part.tobytes() for term in terms for part in term)
            if key not in known:
                known[key] = self._errors.combined(terms)
            return known[key]

        return law

    @property
    def std_error(self) -> float:
        """The root mean square of the error of the people so far, where it is largest."""
        return self._errors.std_error * self._question.spread(self._strategy)
