r"""Negative binomial dummies [GKMP20]: Poisson's kin with a heavier right tail.

Randomiser: send $x$ ones and $\mathrm{NB}(r/n, p)$ more; $r$ is the `shape` of the $n$ honest
            people, $p$ the `decay`.
Analyser:   with $m$ ones received, $\hat c = m - rp/(1-p)$ (in proportion when more people report).
View:       $m = \sum x + \mathrm{NB}(r, p)$, so neighbours differ by a shift of one.
Error:      unbiased, $\mathrm{Var}\,\hat c = rp/(1-p)^2$, whatever the data.

$p$ is the chance of going on, as in the paper: $P[k] = \binom{k+r-1}{k}(1-p)^r p^k$.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020
(corrected version).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from headcount.privacy import Budget, Crowd, laws
from headcount.privacy import exact_tables as tables
from headcount.programme import Table
from headcount.programme.law import Law
from headcount.protocols.base import Choices, Knob, Settings
from headcount.protocols.shared.dummy_messages import DummyMessages
from headcount.questions import Question

POISSON = 1e-6  # a decay so small that the dummies are as good as Poisson ones


@dataclass(frozen=True, kw_only=True)
class NegativeBinomialCount(DummyMessages):
    """Count with negative binomial dummies."""

    name: ClassVar[str] = "negative-binomial-count"
    knob: ClassVar[Knob] = Knob.logarithmic(
        "shape", 1e-3, 1e9, lambda budget, _: 1.0 + 2.0 * math.log(1.0 / budget.delta)
    )
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi and Pagh 2020, arXiv:2106.04247"

    shape: float
    decay: float

    def __post_init__(self) -> None:
        self.require_within("shape", 0.0, 1e9)
        self.require_within("decay", 0.0, 1.0 - 1e-9)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        r"""With $p = e^{-\epsilon}$ the right tail costs nothing; smaller is near Poisson."""
        return ({"decay": max(math.exp(-budget.epsilon), POISSON)},)

    @property
    def expected(self) -> float:
        return self.shape * self.decay / (1.0 - self.decay) / self.crowd.honest

    def dummies(self, people: int) -> Law:
        return laws.negative_binomial(self.shape * people / self.crowd.honest, self.decay)

    def share(self) -> Table:
        return tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, Fraction(self.decay))

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self.expected / (1.0 - self.decay))

    @property
    def distance(self) -> float:
        return tables.distance(tables.negative_binomial_cells(self.shape / self.crowd.honest, self.decay))

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), shape=2.0, decay=0.25)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"shape": 3.0 * (1.0 + math.log(1.0 / budget.delta)), "decay": math.exp(-0.2 * budget.epsilon)}
