"""Hadamard oracles: signs of a Hadamard matrix, of which every category has a row."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy.typing as npt

from headcount.privacy import Budget, Crowd, Model
from headcount.programme import Chance
from headcount.programme.law import Ints
from headcount.protocols.base import Knob, Settings, truthful
from headcount.protocols.shared.frequency_oracle import FrequencyOracle


@dataclass(frozen=True, kw_only=True)
class HadamardOracle(FrequencyOracle):
    """A report supports half of the categories: the own one with chance `keep`, others evenly."""

    model: ClassVar[Model] = Model.LOCAL
    knob: ClassVar[Knob] = Knob.by_epsilon("keep", truthful)
    pure: ClassVar[bool] = True

    keep: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_chance("keep", 0.5, 1.0, Chance.down)

    @property
    @abstractmethod
    def idle(self) -> float:
        """The chance of an uncounted index that supports every category: it serves liars only."""

    def most_and_fewest(self, balance: Ints, first: int) -> npt.NDArray[Any]:
        """The messages of the largest and the smallest balance, where `first` comes first."""
        return self.messages_with(kind=[first + int(balance.argmax()), first + int(balance.argmin())])

    @property
    def supports_own(self) -> float:
        return self.keep - self.idle

    @property
    def supports_other(self) -> float:
        return 0.5 - self.idle

    @property
    def local_epsilon(self) -> float | None:
        return math.log(self.keep / (1.0 - self.keep)) if self.keep < 1.0 else None

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"keep": truthful(budget.epsilon)}


def walsh_hadamard(totals: Ints) -> Ints:
    """For each x, the sum of totals[y] (-1)^<x,y>, in integers; the length is a power of two."""
    result, half = totals.copy(), 1
    while half < totals.size:
        pairs = result.reshape(-1, 2, half)
        even, odd = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        pairs[:, 0], pairs[:, 1] = even, odd
        half *= 2
    return result
