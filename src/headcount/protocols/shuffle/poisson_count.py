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
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Budget, Crowd
from headcount.protocols.base import Knob, Settings, likely_variance
from headcount.protocols.shared.dummy_messages import PoissonDummies


@dataclass(frozen=True, kw_only=True)
class PoissonCount(PoissonDummies):
    """Count with Poisson dummies."""

    name: ClassVar[str] = "poisson-count"
    knob: ClassVar[Knob] = Knob.logarithmic("mean", 1e-3, 1e12, lambda budget, _: likely_variance(budget))

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), mean=3.0)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        gap = -math.expm1(-budget.epsilon)
        return {"mean": 16.0 * math.log(10.0 / budget.delta) / gap**2 + 2.0 / gap}
