r"""Optimised unary encoding [WBLJ17]: the own bit is a fair coin, the others are rarely on.

Randomiser: the own bit is on with chance $p$ (`keep`, one half), each other bit with chance $f$
            (`flip`).
Analyser:   with $m_j$ rows whose bit $j$ is on, $\hat c_j = (m_j - nf)/(p-f)$.
View:       each single row, of which two bits differ; $e^\epsilon = p(1-f)/((1-p)f)$, even if all others
            collude.
Error:      unbiased, $\mathrm{Var}\,\hat c = [c\,p(1-p) + (n-c)f(1-f)]/(p-f)^2$, independently for
            each category.

[WBLJ17] Wang, Blocki, Li and Jha, Locally Differentially Private Protocols for Frequency
Estimation, USENIX Sec. 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.privacy import Budget, Crowd
from headcount.programme import Chance
from headcount.protocols.base import Knob, Settings
from headcount.protocols.shared.unary_encoding import UnaryEncoding
from headcount.questions import Histogram


@dataclass(frozen=True, kw_only=True)
class OptimisedUnary(UnaryEncoding):
    """A row of bits each: accurate for many categories, at a bit for each of them."""

    name: ClassVar[str] = "optimised-unary"
    knob: ClassVar[Knob] = Knob.by_epsilon("flip", lambda epsilon: 1.0 / (1.0 + math.exp(epsilon)), low=-3.7)
    reference: ClassVar[str] = "Wang, Blocki, Li and Jha 2017, arXiv:1705.04421"

    flip: float
    keep: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_chance("keep", 0.0, 1.0, Chance.down)
        self.as_chance("flip", 0.0, self.keep, Chance.up)
        if self.flip >= self.keep:
            raise BadArgument("flip", f"is {self.flip:g}", Phrase("use a number below {keep}", keep=float(self.keep)))

    @property
    def own(self) -> Chance:
        return Chance(self.keep)

    @property
    def other(self) -> Chance:
        return Chance(self.flip)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), flip=0.25)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"flip": 1.0 / (1.0 + math.exp(budget.epsilon))}
