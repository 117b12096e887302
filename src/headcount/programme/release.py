"""Releases: what the trusted side does to a tally before anybody else sees it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Coins
from headcount.programme.draw import encoded
from headcount.programme.report_law import WHOLE, Parts
from headcount.programme.table import Ints, Table
from headcount.programme.tally import Tally

FAINT_BITS = 28  # 2**-100 in parts of WHOLE


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
    """The release that adds and drops nothing, where the messages are safe to see themselves."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return tally

    def law(self, total: int) -> Parts:
        return {total: WHOLE}

    def encode(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Pad(Release):
    """Messages of the shuffler's own: every total grows by one draw from the table.

    With `filled` there is one total, and messages of the other kind make up this number in all.
    """

    table: Table
    filled: int | None = None

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return tally.with_totals(tally.totals + coins.draw(self.table, tally.totals.size))

    def law(self, total: int) -> Parts:
        masses = enumerate(self.table.masses, total + self.table.start)
        return {padded: mass * WHOLE // self.table.total for padded, mass in masses if mass}

    def encode(self) -> dict[str, Any]:
        filled = {} if self.filled is None else {"filled": self.filled}
        return {"pad": encoded(self.table), **filled}


@dataclass(frozen=True)
class SampleAndPad(Release):
    """The shuffler keeps each message with one chance, and adds more while another comes true."""

    keep: Chance
    more: Chance

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        kept = [np.count_nonzero(coins.bernoulli(self.keep, total)) for total in tally.totals.tolist()]
        totals = np.array(kept, dtype=np.int64)
        growing = np.arange(totals.size)
        while (growing := growing[coins.bernoulli(self.more, growing.size)]).size:
            totals[growing] += 1
        return tally.with_totals(totals)

    def law(self, total: int) -> Parts:
        kept = _binomial(total, self.keep.threshold)
        parts: Counter[int] = Counter()
        mass, added = WHOLE * (WORD - self.more.threshold) // WORD, 0
        while mass >> FAINT_BITS:
            for messages, part in kept.items():
                parts[messages + added] += part * mass // WHOLE
            mass, added = mass * self.more.threshold // WORD, added + 1
        return dict(parts)

    def encode(self) -> dict[str, Any]:
        return {"keep": str(self.keep.threshold), "more": str(self.more.threshold)}


def _binomial(total: int, threshold: int) -> Parts:
    """Messages kept, each with chance threshold / 2**64: parts of `WHOLE`, rounded down."""
    whole = WORD**total
    masses = (math.comb(total, k) * threshold**k * (WORD - threshold) ** (total - k) for k in range(total + 1))
    return {k: mass * WHOLE // whole for k, mass in enumerate(masses) if mass}


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
