r"""Poisson dummies [GKMP20]: everybody sends their one and a Poisson number of dummy ones.

Randomiser: send $x$ ones and $\mathrm{Poi}(\lambda/n)$ more, $\lambda$ the `mean` that the $n$
            honest bring together.
Analyser:   with $m$ ones received, $\hat c = m - \lambda$ (in proportion when more people report).
View:       $m = \sum x + \mathrm{Poi}(\lambda)$, so neighbours differ by a shift of one.
Error:      unbiased, $\mathrm{Var}\,\hat c = \lambda$, whatever the data.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from headcount.privacy import Budget, Crowd, laws
from headcount.privacy import exact_tables as tables
from headcount.programme import Table
from headcount.programme.law import Law
from headcount.protocols.base import Knob, likely_variance
from headcount.protocols.shared.dummy_messages import DummyMessages


@dataclass(frozen=True, kw_only=True)
class PoissonCount(DummyMessages):
    """Count with Poisson dummies."""

    name: ClassVar[str] = "poisson-count"
    knob: ClassVar[Knob] = Knob.logarithmic("mean", 1e-3, 1e12, lambda budget, _: likely_variance(budget))
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi and Pagh 2020, arXiv:2106.04247"

    mean: float

    def __post_init__(self) -> None:
        self.bounded("mean", 0.0, 1e12)
        super().__post_init__()

    @property
    def expected(self) -> float:
        return self.mean / self.crowd.honest

    def dummies(self, people: int) -> Law:
        return laws.poisson(self.mean * people / self.crowd.honest)

    def share(self) -> Table:
        return tables.poisson(Fraction(self.mean) / self.crowd.honest)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self.expected)

    @property
    def distance(self) -> float:
        return tables.distance(tables.poisson_cells(self.expected))

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), mean=3.0)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        gap = -math.expm1(-budget.epsilon)
        return {"mean": 16.0 * math.log(10.0 / budget.delta) / gap**2 + 2.0 / gap}
