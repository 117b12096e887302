r"""Poisson histogram [GKMP20]: everybody sends their category and dummies of random ones.

Randomiser: send the category with chance `keep`, which is 1 unless cells are nearly empty, and
            $\mathrm{Poi}(d\lambda/n)$ dummies, each of any of the $d$ categories: that makes
            $\mathrm{Poi}(\lambda/n)$ of every category, $\lambda$ the `mean` that the $n$ honest
            bring to each.
Analyser:   with $m_j$ messages of a category, $\hat c_j = (m_j - \lambda)/\mathrm{keep}$ (in
            proportion when more people report).
View:       $m_j = \mathrm{Bin}(c_j, \mathrm{keep}) + \mathrm{Poi}(\lambda)$, independently; a
            replaced person may be one more in one and is not in another, which is seen best where
            nobody else is.
Error:      unbiased, cell by cell independent,
            $\mathrm{Var}\,\hat c_j = (\lambda +
            c_j\,\mathrm{keep}(1-\mathrm{keep}))/\mathrm{keep}^2$.

Where a message may be missing, an empty cell tells little, and $\lambda$ falls to a tenth.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.common.short_decimals import shortened
from headcount.privacy import Budget, Crowd, PrivacyLoss, TotalVariationSlack, laws
from headcount.programme import All, Below, Brick, Chance, Coins, Copies, Emit, Field, Let, Maybe, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Choices, Knob, Shape, likely_variance
from headcount.protocols.shared.cells import one_of_each, touched
from headcount.protocols.shared.dummy_messages import PoissonDummies, poisson_loss
from headcount.questions import Distribution, Histogram, Question, Table

ANY = Field.named("any")


@dataclass(frozen=True, kw_only=True)
class PoissonHistogram(PoissonDummies):
    """Count each category with Poisson dummies, drawn in time proportional to the messages."""

    name: ClassVar[str] = "poisson-histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.K_OF})
    independent: ClassVar[bool] = True
    later: ClassVar[frozenset[str]] = frozenset({"keep"})
    knob: ClassVar[Knob] = Knob.logarithmic(
        "mean", 1e-3, 1e12, lambda budget, given: 1.3 * likely_variance(budget) * touched(given["task"])
    )

    keep: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_chance("keep", 0.0, 1.0, Chance.down)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """All messages, or about as few as leave the fewest dummies: for nearly empty cells."""
        fewer = {"keep": shortened(min(0.5, -math.expm1(-budget.epsilon / 2.0)), 1.0, 0.0)}
        return ({},) if task.shape is Shape.K_OF else ({}, fewer)

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return self.keep == 1.0

    def report(self, value: Field) -> Brick:
        own = one_of_each(self.task, value, self._perhaps)
        return All(own, Copies(self.share(), Let("any", Below(self.kinds), Emit(ANY))))

    def _perhaps(self, cell: Field) -> Brick:
        return Emit(cell) if self.keep == 1.0 else Maybe(Chance(self.keep), Emit(cell))

    def view(self, honest: int) -> PrivacyLoss:
        ideal = poisson_loss(self.mean * honest / self.crowd.honest, touched(self.task), self.keep)
        attained = self.keep == 1.0 or self.kinds > 2  # where all others may be in a third cell
        return TotalVariationSlack(ideal, honest * self.distance, ideal.kind if attained else "bound")

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        dummies = self.dummies(int(held.sum())).sample(coins, runs * self.kinds)
        counts = self.task.strategy.counts(held)
        kept = (
            [laws.binomial(many, self.keep).sample(coins, runs) for many in counts.tolist()] if self.keep < 1.0 else []
        )
        return (np.stack(kept, axis=1) if kept else counts) + dummies.reshape(runs, self.kinds)

    def point(self, tally: Tally) -> Floats:
        return super().point(tally) / self.keep

    def noise(self, truth: int, reports: int) -> Noise:
        law = self.dummies(reports) + laws.binomial(truth, self.keep)
        return Noise.of(law, centre=reports * self.expected + truth * self.keep, scale=1.0 / self.keep)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self.expected + truth * self.keep * (1.0 - self.keep)) / self.keep

    def extremes(self, reports: int) -> tuple[int, ...]:
        return super().extremes(reports) if self.keep == 1.0 else (0, reports)

    @property
    def messages_per_person(self) -> float:
        return touched(self.task) * self.keep + float(self.sent)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), mean=0.7)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(3), crowd=Crowd(2), mean=0.5, keep=0.625)
        yield cls(task=Distribution((0.0, 2.0), 2, radices=(2, 1)), crowd=Crowd(2), mean=0.1)
        yield cls(task=Table({"a": 2, "b": 2}, margins=1, measured=["a", "b"]), crowd=Crowd(2), mean=0.1)
