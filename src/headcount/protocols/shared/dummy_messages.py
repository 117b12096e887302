"""Dummy messages: everybody sends their ones, and a few dummy ones that look the same."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from headcount.privacy import Model, Pair, PrivacyLoss, TotalVariationSlack
from headcount.programme import All, Brick, Coins, Copies, Emit, Field, Table, Tally
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.protocols.base import Protocol

ONE = Emit(0)


@dataclass(frozen=True, kw_only=True)
class DummyMessages(Protocol):
    """The honest people's dummies follow an infinitely divisible law, of which each has a share."""

    model: ClassVar[Model] = Model.SHUFFLE

    @abstractmethod
    def dummies(self, people: int) -> Law:
        """The law of the number of dummies from this many people."""

    @abstractmethod
    def share(self) -> Table:
        """How many dummies one person sends."""

    @property
    @abstractmethod
    def expected(self) -> float:
        """How many dummies one person sends on average."""

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
