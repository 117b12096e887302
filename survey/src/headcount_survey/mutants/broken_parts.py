"""Broken parts for mutations: noise, coins and claims with one thing wrong each."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.privacy.loss import TotalVariationSlack
from headcount.privacy.rounded_once import RoundThenNoise
from headcount.programme.chance import Chance
from headcount.programme.coins import Bytes, Coins
from headcount.programme.law import Floats, Law
from headcount.programme.release import Release
from headcount.programme.report_law import WHOLE, Parts
from headcount.programme.table import Ints
from headcount.programme.tally import Tally

RETRIES = 8
ONE_IN_A_HUNDRED = Chance.up(0.01)
RARELY = int(1e-12 * WHOLE)
HARDLY_EVER = int(4e-25 * WHOLE)


@dataclass(frozen=True)
class ChangedNoise(Release):
    """A release that changes the noise of another."""

    inner: Release

    def encode(self) -> dict[str, Any]:
        return self.inner.encode()

    def _noise(self, tally: Tally, coins: Coins) -> Ints:
        return np.asarray(self.inner.apply(tally, coins).totals - tally.totals)


@dataclass(frozen=True)
class ShrunkNoise(ChangedNoise):
    """Noise times a factor, rounded at random."""

    factor: Fraction

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        scaled = self._noise(tally, coins).astype(np.int64) * self.factor.numerator
        down, rest = np.divmod(scaled, self.factor.denominator)
        return tally.with_totals(tally.totals + down + (coins.below(self.factor.denominator, rest.size) < rest))

    def law(self, total: int) -> Parts:
        parts: Counter[int] = Counter()
        for out, part in self.inner.law(total).items():
            down, rest = divmod((out - total) * self.factor.numerator, self.factor.denominator)
            up = part * rest // self.factor.denominator
            parts[total + down] += part - up
            parts[total + down + 1] += up
        return +parts


@dataclass(frozen=True)
class OneSidedNoise(ChangedNoise):
    """The absolute value of the noise."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return tally.with_totals(tally.totals + np.abs(self._noise(tally, coins)))

    def law(self, total: int) -> Parts:
        parts: Counter[int] = Counter()
        for out, part in self.inner.law(total).items():
            parts[total + abs(out - total)] += part
        return parts


@dataclass(frozen=True)
class SometimesNoNoise(ChangedNoise):
    """One total in a hundred has no noise."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        missed = coins.bernoulli(ONE_IN_A_HUNDRED, tally.totals.size)
        return tally.with_totals(np.where(missed, tally.totals, self.inner.apply(tally, coins).totals))

    def law(self, total: int) -> Parts:
        missed = int(ONE_IN_A_HUNDRED * WHOLE)
        parts = Counter({out: part * (WHOLE - missed) // WHOLE for out, part in self.inner.law(total).items()})
        parts[total] += missed
        return parts


@dataclass(frozen=True)
class AveragedNoise(ChangedNoise):
    """The mean of several releases with independent noise, rounded down."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        noise = sum(self._noise(tally, coins) for _ in range(RETRIES))
        return tally.with_totals(tally.totals + noise // RETRIES)

    def law(self, total: int) -> Parts:
        once = self.inner.law(total)
        first = min(once)
        masses = np.array([once.get(out, 0) / WHOLE for out in range(first, max(once) + 1)])
        law = Law(first - total, masses).power(RETRIES)
        parts: Counter[int] = Counter()
        for noise, mass in zip(law.values.tolist(), law.masses.tolist(), strict=True):
            parts[total + noise // RETRIES] += int(mass * 2.0**60) * (WHOLE >> 60)
        parts[total] += WHOLE - sum(parts.values())  # doubles do not add up to one
        return parts


@dataclass(frozen=True)
class CutLaw(ChangedNoise):
    """The law lacks its far tails; draws do not."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return self.inner.apply(tally, coins)

    def law(self, total: int) -> Parts:
        return {out: part for out, part in self.inner.law(total).items() if part >= HARDLY_EVER}


@dataclass(frozen=True)
class ClippedDraws(ChangedNoise):
    """Draws lack their far tails; the law does not."""

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        furthest = max(abs(out) for out, part in self.inner.law(0).items() if part >= RARELY)
        return tally.with_totals(tally.totals + np.clip(self._noise(tally, coins), -furthest, furthest))

    def law(self, total: int) -> Parts:
        return self.inner.law(total)


@dataclass(frozen=True)
class RoundedDown(RoundThenNoise):
    """Totals are always rounded down."""

    def rounded(self, totals: npt.NDArray[Any], coins: Coins) -> npt.NDArray[Any]:
        return np.asarray(totals.astype(object) * self.scale // 1)

    def law(self, total: int) -> Parts:
        return self.noise.law(math.floor(total * self.scale))


class DoubledCoins(Coins):
    """Coins of which every word decides two draws in a row."""

    secret = False

    def __init__(self, coins: Coins) -> None:
        self.coins = coins

    def stream(self, size: int) -> Bytes:
        words = -(-size // 8)
        return self.coins.words(-(-words // 2)).repeat(2)[:words].view(np.uint8)[:size]


class CopiedCoins(Coins):
    """Coins that begin again from the same words whenever they are forked."""

    secret = False

    def __init__(self, coins: Coins) -> None:
        self.coins, self.past, self.at = coins, b"", 0

    def forked(self) -> CopiedCoins:
        self.at = 0
        return self

    def stream(self, size: int) -> Bytes:
        if self.at + size > len(self.past):
            self.past += self.coins.stream(self.at + size - len(self.past)).tobytes()
        self.at += size
        return np.frombuffer(bytearray(self.past[self.at - size : self.at]), dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class OneOrderLoss(TotalVariationSlack):
    """The loss in one order of the neighbours, for both."""

    which: int = 0

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        order = super().orders(epsilon)[self.which]
        return order, order


@dataclass(frozen=True, eq=False)
class TruncatedDelta(TotalVariationSlack):
    """Delta rounded down to millionths."""

    def delta(self, epsilon: float) -> float:
        return int(self.ideal.delta(epsilon) * 1e6) / 1e6
