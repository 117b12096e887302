r"""Balcer and Cheu's histogram [BC20]: zsum for every category, with nearly d messages each.

Randomiser: send the category; and for each of the $d$ categories one more message, except with
            chance $\gamma$.
Analyser:   with $m_j$ messages of a category from $n$ people, $\hat c_j = m_j - n(1-\gamma)$.
View:       $m_j = c_j + n - \mathrm{Bin}(n, \gamma)$, independently; a replaced person shifts one
            up and another down.
Error:      unbiased, $\mathrm{Var}\,\hat c_j = n\gamma(1-\gamma)$, whatever the data, cell by cell
            independent.

[BC20] Balcer and Cheu, Separating Local and Shuffled Differential Privacy via Histograms, ITC 2020,
section 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss, laws
from headcount.privacy.product import two_cells
from headcount.programme import NOTHING, All, Brick, Chance, Coins, Each, Emit, Field, Maybe, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Knob, Protocol, Settings, Shape, likely_variance
from headcount.questions import Histogram

BIN = Field.named("bin")


@dataclass(frozen=True, kw_only=True)
class BalcerCheuHistogram(Protocol):
    """Count each category with a dummy from nearly everybody: as many messages as categories."""

    name: ClassVar[str] = "balcer-cheu-histogram"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    independent: ClassVar[bool] = True
    knob: ClassVar[Knob] = Knob.logarithmic(
        "gamma", 1e-12, 0.5, lambda budget, given: 1.3 * likely_variance(budget) / given["crowd"].honest
    )
    reference: ClassVar[str] = "Balcer and Cheu 2020, arXiv:1911.06879"

    gamma: float

    def __post_init__(self) -> None:
        self.as_chance("gamma", 0.0, 0.5, Chance.up)
        super().__post_init__()

    def report(self, value: Field) -> Brick:
        return All(Emit(value), Each("bin", self.kinds, Maybe(Chance(self.gamma), NOTHING, Emit(BIN))))

    def view(self, honest: int) -> PrivacyLoss:
        return two_cells(Pair.shifted(laws.binomial(honest, self.gamma)))

    def point(self, tally: Tally) -> Floats:
        return (tally.totals - tally.reports) + tally.reports * self.gamma

    def noise(self, truth: int, reports: int) -> Noise:
        return Noise.of(-laws.binomial(reports, self.gamma), centre=-reports * self.gamma)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self.gamma * (1.0 - self.gamma))

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        people = int(held.sum())
        missing = laws.binomial(people, self.gamma).sample(coins, runs * held.size)
        return np.asarray(held + people - missing.reshape(runs, held.size))

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), gamma=0.4)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Half of epsilon and delta for either category that changes."""
        return {"gamma": 50.0 * math.log(4.0 / budget.delta) / ((budget.epsilon / 2.0) ** 2 * crowd.honest)}
