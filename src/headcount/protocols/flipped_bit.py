"""What randomised response shares with its shuffled form: everybody sends one bit, flipped with a small chance."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headcount.core.brick import Brick, Emit, Field, Maybe
from headcount.core.chance import Chance
from headcount.core.coins import Coins
from headcount.core.law import Law, Noise
from headcount.core.protocol import Protocol, half_width
from headcount.core.table import Ints
from headcount.core.tally import Tally
from headcount.privacy import laws

COARSE = 64


@dataclass(frozen=True, kw_only=True)
class FlippedBit(Protocol):
    """One bit a person; with f the chance of a flip, the estimate is (ones - n f) / (1 - 2f)."""

    kinds: ClassVar[int] = 2

    @property
    @abstractmethod
    def flip(self) -> Chance: ...

    def report(self, value: Field) -> Brick:
        return Maybe(self.flip, Emit(1 - value), Emit(value))

    def point(self, tally: Tally) -> float:
        return (int(tally.totals[1]) - tally.reports * self.flip) / (1.0 - 2.0 * self.flip)

    def _ones(self, truth: int, reports: int) -> Law:
        lost, gained = laws.binomial(truth, self.flip), laws.binomial(reports - truth, self.flip)
        return (gained + -lost).shifted(truth)

    def noise(self, truth: int, reports: int) -> Noise:
        expected = truth + (reports - 2 * truth) * self.flip
        return Noise.of(self._ones(truth, reports), centre=expected, scale=1.0 / (1.0 - 2.0 * self.flip))

    def interval(self, tally: Tally, confidence: float) -> tuple[float, float]:
        """Wide enough for every truth that would have called this estimate likely.

        How wide that is depends a little on the truth, by the lattice of possible estimates; hardly in a large crowd.
        """
        value, reports, step = self.point(tally), tally.reports, 1.0 / (1.0 - 2.0 * self.flip)
        half = half_width(self, min(max(round(value), 0), reports), reports, confidence)
        if half < COARSE * step:
            near = {k for end in (value - half, value + half) for k in range(*_about(end, 4.0 * step))}
            for k in near if reports > COARSE else range(reports + 1):
                if 0 <= k <= reports and half < abs(value - k) <= half_width(self, k, reports, confidence):
                    half = abs(value - k)
        return value - half, value + half

    def sample(self, truth: int, reports: int, coins: Coins, runs: int) -> Ints:
        lost = laws.binomial(truth, self.flip).sample(coins, runs)
        gained = laws.binomial(reports - truth, self.flip).sample(coins, runs)
        ones = truth - lost + gained
        return np.stack([reports - ones, ones], axis=1)

    @property
    def local_epsilon(self) -> float | None:
        return math.log((1.0 - self.flip) / self.flip) if self.flip else None


def _about(end: float, reach: float) -> tuple[int, int]:
    return math.floor(end - reach), math.ceil(end + reach) + 1
