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

from headcount.privacy import Crowd, Model, Pair, PrivacyLoss, TotalVariationSlack, laws, many_cells
from headcount.privacy import exact_tables as tables
from headcount.programme import All, Below, Brick, Coins, Copies, Emit, Field, Let, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Knob, Protocol, Shape, likely_variance
from headcount.protocols.shared.cells import one_of_each, touched
from headcount.questions import Histogram

ANY = Field.named("any")


@dataclass(frozen=True, kw_only=True)
class PoissonHistogram(Protocol):
    """Count each category with Poisson dummies, drawn in time proportional to the messages."""

    name: ClassVar[str] = "poisson-histogram"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.K_OF})
    independent: ClassVar[bool] = True
    knob: ClassVar[Knob] = Knob.logarithmic(
        "mean", 1e-3, 1e12, lambda budget, given: 1.3 * likely_variance(budget) * touched(given["task"])
    )
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi and Pagh 2020, arXiv:2106.04247"

    mean: float

    def __post_init__(self) -> None:
        self.bounded("mean", 0.0, 1e12)
        super().__post_init__()

    @property
    def kinds(self) -> int:
        return self.task.cells

    @property
    def _dummies(self) -> Fraction:
        """How many one person sends on average, of all cells together."""
        return self.kinds * Fraction(self.mean) / self.crowd.honest

    def report(self, value: Field) -> Brick:
        own = one_of_each(self.task, value)
        return All(own, Copies(tables.poisson(self._dummies), Let("any", Below(self.kinds), Emit(ANY))))

    def view(self, honest: int) -> PrivacyLoss:
        dummies = laws.poisson(self.mean * honest / self.crowd.honest)
        distance = tables.distance(tables.poisson_cells(float(self._dummies)))
        ideal = many_cells.one_of_each(Pair.shifted(dummies), touched(self.task))
        return TotalVariationSlack(ideal, honest * distance, ideal.kind)

    def point(self, tally: Tally) -> Floats:
        return tally.totals - tally.reports * self.mean / self.crowd.honest

    def noise(self, truth: int, reports: int) -> Noise:
        expected = self.mean * reports / self.crowd.honest
        return Noise.of(laws.poisson(expected), centre=expected)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(self.mean * reports / self.crowd.honest)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        dummies = laws.poisson(self.mean * int(held.sum()) / self.crowd.honest).sample(coins, runs * self.kinds)
        return self.task.strategy.counts(held) + dummies.reshape(runs, self.kinds)

    @property
    def messages_per_person(self) -> float:
        return touched(self.task) + float(self._dummies)

    @property
    def provable(self) -> bool:  # type: ignore[override]
        """Losses on a grid are not added up in balls yet."""
        return touched(self.task) == 1

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), mean=0.7)
