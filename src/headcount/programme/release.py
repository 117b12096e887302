"""Releases: what the trusted side does to a tally before anybody else sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from headcount.programme.coins import Coins
from headcount.programme.report_law import WHOLE, Parts
from headcount.programme.table import Ints
from headcount.programme.tally import Tally


class Release(ABC):
    """The step between the tally and the outside. Totals are treated alike, each for itself."""

    @abstractmethod
    def apply(self, tally: Tally, coins: Coins) -> Tally: ...

    @property
    def scale(self) -> Fraction:
        """The factor from a total to what is released, but for noise."""
        return Fraction(1)

    @abstractmethod
    def law(self, total: int) -> Parts:
        """The law of a single total's release: in parts of `WHOLE`, rounded down.

        Outcomes that are less likely than 2**-100 may be left out.
        """

    @abstractmethod
    def encode(self) -> dict[str, Any]:
        """The step as JSON."""


@dataclass(frozen=True)
class Unchanged(Release):
    """Nothing is added or dropped: the messages themselves were safe to see."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return tally

    def law(self, total: int) -> Parts:
        return {total: WHOLE}

    def encode(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Threshold(Release):
    """Totals below the threshold become 0 and lose their key; `passed` says what below means."""

    threshold: int

    def passed(self, totals: Ints) -> Ints:
        return np.where(totals >= self.threshold, totals, 0)

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return without_zeros(tally.with_totals(self.passed(tally.totals)))

    def law(self, total: int) -> Parts:
        return {int(self.passed(np.array(total))): WHOLE}

    def encode(self) -> dict[str, Any]:
        return {"threshold": self.threshold}


def without_zeros(tally: Tally) -> Tally:
    """A key that nothing is to be said about must not be shown either."""
    if tally.keys is None:
        return tally
    shown = tally.totals != 0
    return Tally(tally.reports, tally.totals[shown], tally.keys[shown])
