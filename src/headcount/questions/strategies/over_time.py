"""The base of strategies over periods, whose sums can be told while periods go on."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from headcount.programme.law import Floats
from headcount.questions.strategies.strategy import Strategy, Terms


class OverTime(Strategy):
    """How many have come up to each period, from cells that are known at its end.

    The last code is of people who have come in no period.
    """

    @property
    def periods(self) -> int:
        """How many there are."""
        return self.codes - 1

    @property
    def parts(self) -> int:
        return self.periods

    @property
    @abstractmethod
    def prefix_variances(self) -> Floats:
        """Of the sums of the first 1, 2, 3, ... periods, if a first-family cell has variance 1."""

    @abstractmethod
    def of_periods(self, weights: Floats) -> Floats:
        """How much each cell counts in the sum of periods with these weights."""

    def coefficients(self, weights: Floats) -> Floats:
        return self.of_periods(np.cumsum(weights[::-1])[::-1])

    @property
    def typical(self) -> Terms:
        """The sum of the first periods that errs most."""
        weights = np.zeros(self.periods)
        weights[int(np.argmax(self.prefix_variances))] = 1.0
        return self.terms(weights)
