"""Unary encodings: a row of bits, one for each category, every bit drawn independently."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from headcount.privacy import Model, Pair, PrivacyLoss, laws
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Brick, Chance, Coins, Field, Row
from headcount.programme.law import Ints
from headcount.protocols.shared.bit_rows import BitRows, heaviest_row
from headcount.protocols.shared.frequency_oracle import FrequencyOracle


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(BitRows, FrequencyOracle):
    """The bit of the own category is on with one chance, each of the others with another."""

    model: ClassVar[Model] = Model.LOCAL
    pure: ClassVar[bool] = True
    independent: ClassVar[bool] = True

    @property
    @abstractmethod
    def own(self) -> Chance: ...

    @property
    @abstractmethod
    def other(self) -> Chance: ...

    @property
    def supports_own(self) -> float:
        return float(self.own)

    @property
    def supports_other(self) -> float:
        return float(self.other)

    @property
    def message_laws(self) -> MessageLaws:
        other = float(self.other)
        return self.supporting(other, other**2, other**3)

    @cached_property
    def heaviest(self) -> int:
        return heaviest_row(self.supports_own, self.supports_other, self.task.values, self.crowd.size)

    def report(self, value: Field) -> Brick:
        return Row(self.task.values, self.other, value, self.own)

    def view(self, honest: int) -> PrivacyLoss:
        """The pair of the two bits in question: equal bits tell nothing."""
        p, q = self.own, self.other
        right, wrong, both, none = p * (1.0 - q), (1.0 - p) * q, p * q, (1.0 - p) * (1.0 - q)
        return Pair(np.array([right, wrong, both, none]), np.array([wrong, right, both, none]))

    @property
    def local_epsilon(self) -> float | None:
        p, q = self.own, self.other
        return math.log(p / q) + math.log((1.0 - q) / (1.0 - p)) if q > 0.0 and p < 1.0 else None

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        people = int(held.sum())
        kept = (laws.binomial(holders, self.own).sample(coins, runs) for holders in held.tolist())
        gained = (laws.binomial(people - holders, self.other).sample(coins, runs) for holders in held.tolist())
        return np.stack([a + b for a, b in zip(kept, gained, strict=True)], axis=1)
