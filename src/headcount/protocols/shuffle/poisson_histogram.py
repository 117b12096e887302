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

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Crowd, Pair, PrivacyLoss, TotalVariationSlack, many_cells
from headcount.programme import All, Below, Brick, Coins, Copies, Emit, Field, Let
from headcount.programme.law import Ints
from headcount.protocols.base import Knob, Shape, likely_variance
from headcount.protocols.shared.cells import one_of_each, touched
from headcount.protocols.shared.dummy_messages import PoissonDummies
from headcount.questions import Distribution, Histogram, Table

ANY = Field.named("any")


@dataclass(frozen=True, kw_only=True)
class PoissonHistogram(PoissonDummies):
    """Count each category with Poisson dummies, drawn in time proportional to the messages."""

    name: ClassVar[str] = "poisson-histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.K_OF})
    independent: ClassVar[bool] = True
    knob: ClassVar[Knob] = Knob.logarithmic(
        "mean", 1e-3, 1e12, lambda budget, given: 1.3 * likely_variance(budget) * touched(given["task"])
    )

    @property
    def kinds(self) -> int:
        return self.task.cells

    def report(self, value: Field) -> Brick:
        own = one_of_each(self.task, value)
        return All(own, Copies(self.share(), Let("any", Below(self.kinds), Emit(ANY))))

    def view(self, honest: int) -> PrivacyLoss:
        ideal = many_cells.one_of_each(Pair.shifted(self.dummies(honest)), touched(self.task))
        return TotalVariationSlack(ideal, honest * self.distance, ideal.kind)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        dummies = self.dummies(int(held.sum())).sample(coins, runs * self.kinds)
        return self.task.strategy.counts(held) + dummies.reshape(runs, self.kinds)

    @property
    def messages_per_person(self) -> float:
        return touched(self.task) + float(self.sent)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), mean=0.7)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Distribution((0.0, 2.0), 2, radices=(2, 1)), crowd=Crowd(2), mean=0.1)
        yield cls(task=Table({"a": 2, "b": 2}, margins=1, measured=["a", "b"]), crowd=Crowd(2), mean=0.1)
