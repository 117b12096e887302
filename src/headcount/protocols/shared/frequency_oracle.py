"""Frequency oracles: a report supports the own value more often than any other.

A report supports the value its sender holds with chance p, and any other with chance q. With s
reports in support of a value, the number of its holders is estimated as (s - n q)/(p - q), and s is
exactly Bin(holders, p) + Bin(rest, q).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from headcount.errors import BadArgument
from headcount.privacy import laws
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Tally
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.protocols.base import Protocol, Shape

MANY = 300.0  # steps of the lattice in an error, so that intervals follow the variance to 0.3%


@dataclass(frozen=True, kw_only=True)
class FrequencyOracle(Protocol):
    """A frequency oracle, by its two chances of support."""

    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    steady: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.task.values < 2:
            raise BadArgument("categories", "are fewer than two", f"{self.name} needs at least 2")

    @property
    @abstractmethod
    def supports_own(self) -> float:
        """The chance p that a report supports what its sender holds."""

    @property
    @abstractmethod
    def supports_other(self) -> float:
        """The chance q that it supports a given other value."""

    def supporting(self, once: float, twice: float, thrice: float) -> MessageLaws:
        """The laws of a message whose blanket supports one, two, three values so often."""
        return MessageLaws.supporting(math.exp(self.local_epsilon or 0.0), once, twice, thrice, values=self.task.values)

    def supporters(self, tally: Tally) -> Ints:
        """How many reports support each value."""
        return tally.totals

    @property
    def _gap(self) -> float:
        return self.supports_own - self.supports_other

    def point(self, tally: Tally) -> Floats:
        return (self.supporters(tally) - tally.reports * self.supports_other) / self._gap

    def _supporting(self, truth: int, reports: int) -> Law:
        return laws.binomial(truth, self.supports_own) + laws.binomial(reports - truth, self.supports_other)

    def noise(self, truth: int, reports: int) -> Noise:
        expected = truth * self.supports_own + (reports - truth) * self.supports_other
        return Noise.of(self._supporting(truth, reports), centre=expected, scale=1.0 / self._gap)

    def size_of_error(self, truth: int, reports: int) -> float:
        p, q = self.supports_own, self.supports_other
        return float((truth * p * (1.0 - p) + (reports - truth) * q * (1.0 - q)) ** 0.5) / self._gap

    def extremes(self, reports: int) -> tuple[int, ...]:
        """The ends, as the variance is affine; none where the lattice matters as well."""
        steps = self.size_of_error(reports // 2, reports) * self._gap
        return (0, reports) if steps > MANY else ()
