r"""Generalised randomised response [KOV16]: the truth with some chance, else another category.

Randomiser: send the category with chance `keep`, otherwise one of the other $d-1$, evenly.
Analyser:   $\hat c_j = (m_j - no)/(\mathrm{keep}-o)$ with $m_j$ reports of a category,
            $o = (1-\mathrm{keep})/(d-1)$.
View:       each single report; $\epsilon = \ln(\mathrm{keep}/o)$, even if all others collude.
Error:      unbiased,
            $\mathrm{Var}\,\hat c = [c\,\mathrm{keep}(1-\mathrm{keep}) +
            (n-c)\,o(1-o)]/(\mathrm{keep}-o)^2$.

[KOV16] Kairouz, Oh and Viswanath, Extremal Mechanisms for Local Differential Privacy, JMLR 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Below, Brick, Chance, Emit, Field, Let, Maybe
from headcount.protocols.base import Knob, Settings, truthful
from headcount.protocols.shared.frequency_oracle import FrequencyOracle
from headcount.questions import Histogram

STEP = Field.named("step")


@dataclass(frozen=True, kw_only=True)
class GeneralisedResponse(FrequencyOracle):
    """One category each, private on its own: best for few categories."""

    name: ClassVar[str] = "generalised-response"
    model: ClassVar[Model] = Model.LOCAL
    knob: ClassVar[Knob] = Knob.above("keep", lambda given: 1.0 / given["task"].values)
    pure: ClassVar[bool] = True
    reference: ClassVar[str] = "Kairouz, Oh and Viswanath 2016, arXiv:1407.1338"

    keep: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_chance("keep", 1.0 / self.kinds, 1.0, Chance.down)

    @property
    def supports_own(self) -> float:
        return self.keep

    @property
    def supports_other(self) -> float:
        return (1.0 - self.keep) / (self.kinds - 1)

    @property
    def message_laws(self) -> MessageLaws:
        return self.supporting(1.0 / self.kinds, 0.0, 0.0)

    def report(self, value: Field) -> Brick:
        other = Let("step", Below(self.kinds - 1), Emit((value + 1 + STEP) % self.kinds))
        return Maybe(Chance(self.keep), Emit(value), other)

    def view(self, honest: int) -> PrivacyLoss:
        """The two categories in question, and all others, which tell nothing."""
        own, other = self.supports_own, self.supports_other
        rest = (self.kinds - 2) * other
        return Pair(np.array([own, other, rest]), np.array([other, own, rest]))

    @property
    def local_epsilon(self) -> float | None:
        return math.log(self.supports_own / self.supports_other) if self.keep < 1.0 else None

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), keep=0.625)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """The chance for two categories; more of them keep less."""
        return {"keep": truthful(budget.epsilon)}
