"""Dummy messages: everybody sends their ones, and a few dummy ones that look the same."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from headcount.privacy import Model, Pair, PrivacyLoss, TotalVariationSlack, laws, many_cells
from headcount.privacy import exact_tables as tables
from headcount.programme import All, Brick, Coins, Copies, Emit, Field, Table, Tally
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.protocols.base import Protocol

ONE = Emit(0)


@lru_cache(maxsize=256)
def poisson_loss(mean: float, families: int, keep: float = 1.0) -> PrivacyLoss:
    """The loss of a person in a cell of each family, with Poisson dummies of this mean per cell."""
    dummies = laws.poisson(mean)
    return many_cells.one_of_each(Pair.of(dummies, dummies + laws.binomial(1, keep)), families)


@dataclass(frozen=True, kw_only=True)
class DummyMessages(Protocol):
    """The honest people's dummies follow an infinitely divisible law, of which each has a share."""

    model: ClassVar[Model] = Model.SHUFFLE

    @abstractmethod
    def dummies(self, people: int) -> Law:
        """The law of the number of dummies from this many people, in one cell."""

    @abstractmethod
    def share(self) -> Table:
        """How many dummies one person sends."""

    @property
    @abstractmethod
    def expected(self) -> float:
        """The mean number of one person's dummies in one cell."""

    @property
    @abstractmethod
    def distance(self) -> float:
        """A bound on the total variation distance of one person's table from their share."""

    def report(self, value: Field) -> Brick:
        return All(Copies(value, ONE), Copies(self.share(), ONE))

    def view(self, honest: int) -> PrivacyLoss:
        return TotalVariationSlack(Pair.shifted(self.dummies(honest)), honest * self.distance, "exact")

    def point(self, tally: Tally) -> Floats:
        return tally.totals - tally.reports * self.expected

    def noise(self, truth: int, reports: int) -> Noise:
        return Noise.of(self.dummies(reports), centre=reports * self.expected)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        return self.dummies(int(held.sum())).shifted(int(held[1])).sample(coins, runs)[:, None]

    @property
    def messages_per_person(self) -> float:
        return 1.0 + self.expected


@dataclass(frozen=True, kw_only=True)
class PoissonDummies(DummyMessages):
    """A Poisson number of dummies in each cell, of this `mean` from all honest people together."""

    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi and Pagh 2020, arXiv:2106.04247"

    mean: float

    def __post_init__(self) -> None:
        self.require_within("mean", 0.0, 1e12)
        super().__post_init__()

    @property
    def expected(self) -> float:
        return self.mean / self.crowd.honest

    @property
    def sent(self) -> Fraction:
        """How many dummies one person sends on average, in all cells together."""
        return self.task.cells * Fraction(self.mean) / self.crowd.honest

    def dummies(self, people: int) -> Law:
        return laws.poisson(self.mean * people / self.crowd.honest)

    def share(self) -> Table:
        return tables.poisson(self.sent)

    @property
    def distance(self) -> float:
        return tables.distance(tables.poisson_cells(float(self.sent)))

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self.expected)
