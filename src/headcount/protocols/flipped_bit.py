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
from headcount.core.protocol import Protocol
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
        value, (low, high) = self.point(tally), super().interval(tally, confidence)
        half, step = high - value, 1.0 / (1.0 - 2.0 * self.flip)
        if half < COARSE * step:
            near = [k for end in (low, high) for k in range(math.floor(end - 4 * step), math.ceil(end + 4 * step) + 1)]
            truths = range(tally.reports + 1) if tally.reports <= COARSE else near
            for k in truths:
                apart = abs(value - k)
                if apart > half and 0 <= k <= tally.reports and apart <= self._half(k, tally.reports, confidence):
                    half = apart
        return value - half, value + half

    def _half(self, truth: int, reports: int, confidence: float) -> float:
        return self.noise(truth, reports).half_width(confidence) * (1.0 + 1e-12)

    def sample(self, truth: int, reports: int, coins: Coins, runs: int) -> Ints:
        lost = laws.binomial(truth, self.flip).sample(coins, runs)
        gained = laws.binomial(reports - truth, self.flip).sample(coins, runs)
        ones = truth - lost + gained
        return np.stack([reports - ones, ones], axis=1)

    @property
    def local_epsilon(self) -> float | None:
        return math.log((1.0 - self.flip) / self.flip)
