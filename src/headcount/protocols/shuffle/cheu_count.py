r"""Shuffled randomised response [CSUZZ19]: a few people answer with a coin.

Randomiser: with chance $\lambda/n$ send a coin instead of the value: a bit is flipped with chance
            $f = \lambda/2n$.
Analyser:   with $m$ ones from $n$ people, $\hat c = (m - nf)/(1-2f)$.
View:       $m = \mathrm{Bin}(k, 1-f) + \mathrm{Bin}(n-k, f)$, at the worst number $k$ of ones among
            the others.
Error:      unbiased, $\mathrm{Var}\,\hat c = nf(1-f)/(1-2f)^2$, whatever the data.

$n$ stands for the honest people of the plan.

[CSUZZ19] Cheu, Smith, Ullman, Zeber and Zhilyaev, Distributed Differential Privacy via Shuffling,
EUROCRYPT 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Budget, Crowd, Model, PrivacyLoss
from headcount.programme import Chance
from headcount.protocols.base import Knob, Settings, likely_variance
from headcount.protocols.shared.flipped_bit import FlippedBit


@dataclass(frozen=True, kw_only=True)
class CheuCount(FlippedBit):
    """One bit each; `lam` of the honest people, on average, answer with a coin."""

    name: ClassVar[str] = "cheu-count"
    model: ClassVar[Model] = Model.SHUFFLE
    knob: ClassVar[Knob] = Knob.logistic(
        "lam", lambda budget, given: 2.0 * likely_variance(budget) / given["crowd"].honest, most=None
    )
    reference: ClassVar[str] = "Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, arXiv:1808.01394"

    lam: float

    def __post_init__(self) -> None:
        self.require_within("lam", 0.0, self.crowd.honest * (1 - 1e-9))
        super().__post_init__()

    @property
    def flip(self) -> Chance:
        return Chance.up(self.lam / (2.0 * self.crowd.honest))

    def view(self, honest: int) -> PrivacyLoss:
        return self.shuffled_loss(honest)

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), lam=3.0)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        n, log = crowd.honest, math.log(4.0 / budget.delta)
        if budget.epsilon >= math.sqrt(192.0 * log / n):
            return {"lam": 64.0 * log / budget.epsilon**2}
        return {"lam": n - budget.epsilon * n**1.5 / math.sqrt(432.0 * log)}
