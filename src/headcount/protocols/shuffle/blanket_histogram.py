r"""Privacy blanket histogram [BBGN19]: a few uniform answers are a blanket for the others.

Randomiser: with chance `lie` send one of the $d$ categories, drawn evenly, otherwise your own. One
            message.
Analyser:   with $m_j$ messages of a category,
            $\hat c_j = (m_j - n\,\mathrm{lie}/d)/(1-\mathrm{lie})$.
View:       the counts of all categories; bounded by showing who of the others tells the truth
            (Lemma 5.3 of the paper).
Error:      unbiased; $m_j$ is
            $\mathrm{Bin}(c, 1-\mathrm{lie}+\mathrm{lie}/d) + \mathrm{Bin}(n-c, \mathrm{lie}/d)$.

[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Budget, Crowd, Model, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme import Below, Brick, Chance, Emit, Field, Let, Maybe
from headcount.protocols.base import Knob, Settings, likely_variance
from headcount.protocols.shared.frequency_oracle import FrequencyOracle
from headcount.questions import Histogram

ANY = Field.named("any")


@dataclass(frozen=True, kw_only=True)
class BlanketHistogram(FrequencyOracle):
    """One message each: shuffled randomised response over all categories."""

    name: ClassVar[str] = "blanket-histogram"
    model: ClassVar[Model] = Model.SHUFFLE
    knob: ClassVar[Knob] = Knob.logistic(
        "lie", lambda budget, given: 1.3 * likely_variance(budget) * given["task"].values / given["crowd"].honest
    )
    reference: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2019, arXiv:1903.02837"

    lie: float

    def __post_init__(self) -> None:
        self.as_chance("lie", 0.0, 1.0 - 1e-9, Chance.up)
        super().__post_init__()

    @property
    def supports_own(self) -> float:
        return 1.0 - self.lie + self.supports_other

    @property
    def supports_other(self) -> float:
        return self.lie / self.kinds

    @property
    def message_laws(self) -> MessageLaws:
        return self.supporting(1.0 / self.kinds, 0.0, 0.0)

    def report(self, value: Field) -> Brick:
        return Maybe(Chance(self.lie), Let("any", Below(self.kinds), Emit(ANY)), Emit(value))

    def view(self, honest: int) -> PrivacyLoss:
        if self.kinds == 2:
            return ShuffledBits(Chance.down(self.lie / 2.0), honest - 1)
        return self.shuffled_loss(honest)

    @property
    def local_epsilon(self) -> float | None:
        return math.log1p(self.kinds * (1.0 - self.lie) / self.lie)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(4), lie=0.5)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Theorem 3.1, for two categories; in proportion for more."""
        log = math.log(2.0 / budget.delta)
        return {"lie": 2.0 * max(14.0 * log / budget.epsilon**2, 27.0 / budget.epsilon) / (crowd.honest - 1)}
