"""Binary randomised response, local or shuffled: everybody sends one bit, perhaps flipped."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headcount.privacy import PrivacyLoss, laws
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme import Brick, Chance, Coins, Emit, Field, Maybe, Tally
from headcount.programme.law import Ints
from headcount.protocols.base import Shape
from headcount.protocols.shared.frequency_oracle import FrequencyOracle


@dataclass(frozen=True, kw_only=True)
class OneBit(FrequencyOracle):
    """One bit a person, which is on with one chance for a one and with another for a zero."""

    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT})

    @property
    def kinds(self) -> int:
        return 2

    def supporters(self, tally: Tally) -> Ints:
        return tally.totals[1:]

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        people, truth = int(held.sum()), int(held[1])
        kept = laws.binomial(truth, self.supports_own).sample(coins, runs)
        ones = kept + laws.binomial(people - truth, self.supports_other).sample(coins, runs)
        return np.stack([people - ones, ones], axis=1)


@dataclass(frozen=True, kw_only=True)
class FlippedBit(OneBit):
    """With f the chance of a flip, the estimate is (ones - n f) / (1 - 2f)."""

    @property
    @abstractmethod
    def flip(self) -> Chance: ...

    @property
    def supports_own(self) -> float:
        return 1.0 - self.flip

    @property
    def supports_other(self) -> float:
        return float(self.flip)

    def shuffled_loss(self, honest: int) -> PrivacyLoss:
        return ShuffledBits(self.flip, honest - 1)

    def report(self, value: Field) -> Brick:
        return Maybe(self.flip, Emit(1 - value), Emit(value))

    @property
    def local_epsilon(self) -> float | None:
        return math.log((1.0 - self.flip) / self.flip) if self.flip else None
