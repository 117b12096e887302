r"""Randomised response [W65]: tell the truth with a chance above one half, otherwise the opposite.

Randomiser: send $x$ with chance `keep`, otherwise $1-x$.
Analyser:   with $f = 1 - \mathrm{keep}$ and $m$ ones from $n$ people, $\hat c = (m - nf)/(1-2f)$.
View:       each single bit; $\epsilon = \ln(\mathrm{keep}/f)$, even if all others collude.
Error:      unbiased, $\mathrm{Var}\,\hat c = nf(1-f)/(1-2f)^2$, whatever the data.

[W65] Warner, Randomized Response, J. Amer. Statist. Assoc. 1965.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss
from headcount.programme import Chance
from headcount.protocols.base import Knob, Settings, truthful
from headcount.protocols.shared.flipped_bit import FlippedBit


@dataclass(frozen=True, kw_only=True)
class RandomisedResponse(FlippedBit):
    """One bit each, private on its own: nobody has to be trusted."""

    name: ClassVar[str] = "randomised-response"
    model: ClassVar[Model] = Model.LOCAL
    knob: ClassVar[Knob] = Knob.by_epsilon("keep", truthful)
    pure: ClassVar[bool] = True
    reference: ClassVar[str] = "Warner 1965"

    keep: float

    def __post_init__(self) -> None:
        self.as_chance("keep", 0.5, 1.0, Chance.down)
        super().__post_init__()

    @property
    def flip(self) -> Chance:
        return Chance(1.0 - self.keep)

    def view(self, honest: int) -> PrivacyLoss:
        return Pair(np.array([self.keep, self.flip]), np.array([self.flip, self.keep]))

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), keep=0.75)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"keep": truthful(budget.epsilon)}
