r"""Poisson histogram [GKMP20]: everybody sends their category and dummies of random ones.

Randomiser: send the category, and $\mathrm{Poi}(d\lambda/n)$ dummies, each of any of the $d$
            categories: that makes $\mathrm{Poi}(\lambda/n)$ of every category, $\lambda$ the `mean`
            that the $n$ honest bring to each.
Analyser:   with $m_j$ messages of a category, $\hat c_j = m_j - \lambda$ (in proportion when more
            people report).
View:       $m_j = c_j + \mathrm{Poi}(\lambda)$, independently; a replaced person shifts one up by
            one and another down.
Error:      unbiased, $\mathrm{Var}\,\hat c_j = \lambda$, whatever the data, cell by cell
            independent.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from headcount.privacy import Crowd, Model, Pair, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy import exact_tables as tables
from headcount.privacy.product import two_cells
from headcount.programme import All, Below, Brick, Coins, Copies, Emit, Field, Let, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Knob, Protocol, Shape, likely_variance
from headcount.questions import Histogram

ANY = Field.named("any")


@dataclass(frozen=True, kw_only=True)
class PoissonHistogram(Protocol):
    """Count each category with Poisson dummies, drawn in time proportional to the messages."""

    name: ClassVar[str] = "poisson-histogram"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    independent: ClassVar[bool] = True
    knob: ClassVar[Knob] = Knob.logarithmic("mean", 1e-3, 1e12, lambda budget, _: 1.3 * likely_variance(budget))
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi and Pagh 2020, arXiv:2106.04247"

    mean: float

    def __post_init__(self) -> None:
        self.bounded("mean", 0.0, 1e12)
        super().__post_init__()

    @property
    def kinds(self) -> int:
        return self.task.values

    @property
    def _dummies(self) -> Fraction:
        """How many one person sends on average, of all categories together."""
        return self.kinds * Fraction(self.mean) / self.crowd.honest

    def report(self, value: Field) -> Brick:
        return All(Emit(value), Copies(tables.poisson(self._dummies), Let("any", Below(self.kinds), Emit(ANY))))

    def view(self, honest: int) -> PrivacyLoss:
        dummies = laws.poisson(self.mean * honest / self.crowd.honest)
        distance = tables.distance(tables.poisson_cells(float(self._dummies)))
        return TotalVariationSlack(two_cells(Pair.shifted(dummies)), honest * distance, "exact")

    def point(self, tally: Tally) -> Floats:
        return tally.totals - tally.reports * self.mean / self.crowd.honest

    def noise(self, truth: int, reports: int) -> Noise:
        expected = self.mean * reports / self.crowd.honest
        return Noise.of(laws.poisson(expected), centre=expected)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(self.mean * reports / self.crowd.honest)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        dummies = laws.poisson(self.mean * int(held.sum()) / self.crowd.honest).sample(coins, runs * held.size)
        return held + dummies.reshape(runs, held.size)

    @property
    def messages_per_person(self) -> float:
        return 1.0 + float(self._dummies)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), mean=0.7)
