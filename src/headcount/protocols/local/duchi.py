r"""Duchi, Jordan and Wainwright's mean [DJW18]: one bit each, likelier on the more is held.

Randomiser: round $x \in [0,1]$ to a bit that is on with chance $x$; send it with chance `keep`,
            otherwise the opposite.
Analyser:   with $f = 1 - \mathrm{keep}$ and $m$ ones from $n$ people, $\hat s = (m - nf)/(1-2f)$.
View:       each single bit; $\epsilon = \ln(\mathrm{keep}/f)$, even if all others collude.
Error:      unbiased; someone who holds $x$ adds $w(1-w)/(1-2f)^2$ to the variance,
            $w = f + (1-2f)x$: at most $1/4(1-2f)^2$, for $x = 1/2$.

[DJW18] Duchi, Jordan and Wainwright, Minimax Optimal Procedures for Locally Private Estimation,
JASA 2018.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, PrivacyLoss
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme import Brick, Chance, Emit, Field, Maybe
from headcount.programme.law import Floats
from headcount.protocols.base import Knob, Settings, truthful
from headcount.protocols.shared.scored_reports import ScoredReports
from headcount.protocols.shared.stochastic_rounding import levelled
from headcount.questions import Mean, Sum


@dataclass(frozen=True, kw_only=True)
class Duchi(ScoredReports):
    """One bit each for a sum or a mean: best where little may be told."""

    name: ClassVar[str] = "duchi"
    knob: ClassVar[Knob] = Knob.by_epsilon("keep", truthful)
    reference: ClassVar[str] = "Duchi, Jordan and Wainwright 2018, arXiv:1604.02390"

    keep: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_chance("keep", 0.5, 1.0, Chance.down)

    @property
    def grid(self) -> int:
        return 1

    @property
    def kinds(self) -> int:
        return 2

    def report(self, value: Field) -> Brick:
        flip = Chance(1.0 - self.keep)
        return levelled(value, self.task, 1, lambda bit: Maybe(flip, Emit(1 - bit), Emit(bit)))

    def chances(self, level: int) -> Floats:
        return np.array([1.0 - self.keep, self.keep] if level else [self.keep, 1.0 - self.keep])

    def shuffled_loss(self, honest: int) -> PrivacyLoss:
        """Exact: the worst among the others hold an end of the range."""
        return ShuffledBits(Chance(1.0 - self.keep), honest - 1)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((-1, 1), steps=3), crowd=Crowd(4), keep=0.75)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Mean((0, 1), steps=2), crowd=Crowd(3), keep=0.625)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"keep": truthful(budget.epsilon)}
