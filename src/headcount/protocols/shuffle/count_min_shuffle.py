r"""Count-Min shuffling [GGKPV21]: a sketch in which everybody marks their category's buckets.

Randomiser: category $j = us + v$ with $s$ the `buckets`, a prime; send $(t, (ut+v) \bmod s)$ for
            each row $t < s$ and $(s, u)$; and every one of the $\tau s$ messages once more with
            chance $\gamma$ (`gamma`), $\tau = s+1$.
Analyser:   with $N_j$ messages in the $\tau$ buckets of a category,
            $\hat c_j = (N_j - n - \tau n\gamma)/(\tau-1)$.
View:       the counts of all buckets, each with $\mathrm{Bin}(n, \gamma)$; a replaced person moves
            in all rows but one.
Error:      unbiased, $\mathrm{Var}\,\hat c_j = \tau n\gamma(1-\gamma)/(\tau-1)^2$, whatever the
            data.

The paper draws the rows at random, and takes the least of a category's buckets less the noise; then
it is biased by other people who are in all of them. Here rows are the lines of a plane over the
integers modulo s: any two categories meet in exactly one row, so that everybody else adds exactly
one to $N_j$ and nothing is left to chance, or to any minimum.

[GGKPV21] Ghazi, Golowich, Kumar, Pagh and Velingker, On the Power of Multiple Anonymous Messages,
EUROCRYPT 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd, Model, PrivacyLoss, laws
from headcount.privacy.many_cells import ManyCells
from headcount.programme import All, Brick, Chance, Coins, Each, Emit, Field, Maybe, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings, Shape, likely_variance
from headcount.protocols.shared.hashing import next_prime
from headcount.questions import Histogram, Question

ROW, CELL = Field.named("row"), Field.named("cell")


@dataclass(frozen=True, kw_only=True)
class CountMinShuffle(Protocol):
    """Short messages, and a sketch of about as many counts as categories, with little noise."""

    name: ClassVar[str] = "count-min-shuffle"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    knob: ClassVar[Knob] = Knob.logistic(
        "gamma",
        lambda budget, given: 1.3 * likely_variance(budget) * given["buckets"] / given["crowd"].honest,
        high=0.0,
    )
    reference: ClassVar[str] = "Ghazi, Golowich, Kumar, Pagh and Velingker 2021, arXiv:1908.11358"

    gamma: float
    buckets: int

    def __post_init__(self) -> None:
        self.as_chance("gamma", 0.0, 0.5, Chance.up)
        self.whole("buckets", 2, 1 << 13)
        super().__post_init__()
        if self.buckets != next_prime(self.buckets) or self.buckets**2 < self.task.values:
            works = f"use {next_prime(math.isqrt(self.task.values - 1) + 1):,}"
            raise BadArgument(
                "buckets", f"is {self.buckets}, no prime, or its square too few for all categories", works
            )

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        yield {"buckets": next_prime(max(2, math.isqrt(task.values - 1) + 1))}

    @property
    def rows(self) -> int:
        return self.buckets + 1

    @property
    def kinds(self) -> int:
        return self.rows * self.buckets

    def report(self, value: Field) -> Brick:
        s = self.buckets
        own = Each("row", s, Emit(ROW * s + (value // s * ROW + value) % s))
        return All(own, Emit(value // s + s * s), Each("cell", self.kinds, Maybe(Chance(self.gamma), Emit(CELL))))

    def telling(self) -> npt.NDArray[Any]:
        """One of a line's buckets, and one of the last row, shared by whole category blocks."""
        return self.messages_with(kind=[0, self.buckets**2])

    @cached_property
    def _buckets_of(self) -> Ints:
        """A row for each category: its bucket in every row of the sketch."""
        u, v = np.divmod(np.arange(self.task.values), self.buckets)
        t = np.arange(self.buckets)
        lines = t * self.buckets + (u[:, None] * t + v[:, None]) % self.buckets
        return np.append(lines, u[:, None] + self.buckets**2, axis=1)

    def view(self, honest: int) -> PrivacyLoss:
        return ManyCells.of(laws.binomial(honest, self.gamma), self.rows - 1)

    def point(self, tally: Tally) -> Floats:
        found = tally.totals[self._buckets_of].sum(axis=1)
        return np.asarray((found - tally.reports * (1.0 + self.rows * self.gamma)) / (self.rows - 1.0))

    def noise(self, truth: int, reports: int) -> Noise:
        extra = laws.binomial(self.rows * reports, self.gamma)
        return Noise.of(extra, centre=self.rows * reports * self.gamma, scale=1.0 / (self.rows - 1.0))

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(self.rows * reports * self.gamma * (1.0 - self.gamma)) / (self.rows - 1.0)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        own = np.bincount(self._buckets_of.ravel(), np.repeat(held, self.rows), self.kinds).astype(np.int64)
        extra = laws.binomial(int(held.sum()), self.gamma).sample(coins, runs * self.kinds)
        return own + extra.reshape(runs, self.kinds)

    @property
    def messages_per_person(self) -> float:
        return self.rows + self.kinds * self.gamma

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), gamma=0.25, buckets=2)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Lemma 4.10 with the four rows that up to nine categories need."""
        noise = 90.0 * 16.0 * math.log(8.0 / budget.delta) / budget.epsilon**2
        return {"gamma": noise / crowd.honest, "buckets": 3}
