r"""Basic RAPPOR [EPK14]: a one-hot row of bits, each flipped with the same chance.

Randomiser: the own bit is on, the others are off; each bit is sent as it is with chance `keep`,
            otherwise flipped.
Analyser:   with $f = 1-\mathrm{keep}$ and $m_j$ rows whose bit $j$ is on,
            $\hat c_j = (m_j - nf)/(1-2f)$.
View:       each single row, of which two bits differ; $\epsilon = 2\ln(\mathrm{keep}/f)$, even if
            all others collude.
Error:      unbiased, $\mathrm{Var}\,\hat c = nf(1-f)/(1-2f)^2$, whatever the data, independently
            for each category.

This is the one-time form without a Bloom filter; asked again, people would have to repeat the same
row.

[EPK14] Erlingsson, Pihur and Korolova, RAPPOR, CCS 2014.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd
from headcount.programme import Chance
from headcount.protocols.base import Knob, Settings, truthful
from headcount.protocols.shared.unary_encoding import UnaryEncoding
from headcount.questions import Histogram


@dataclass(frozen=True, kw_only=True)
class BasicRappor(UnaryEncoding):
    """A row of flipped bits each: simple, and the error is the same for every category."""

    name: ClassVar[str] = "basic-rappor"
    knob: ClassVar[Knob] = Knob.by_epsilon("keep", truthful, parts=2)
    reference: ClassVar[str] = "Erlingsson, Pihur and Korolova 2014, arXiv:1407.6981"

    keep: float
    flip: float | None = None  # what keep leaves; may be given, as other codes have both

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_chance("keep", 0.5, 1.0, Chance.down)
        if self.flip is not None and not math.isclose(self.flip, 1.0 - self.keep, abs_tol=1e-9):
            works = f"leave it out: it is 1 - keep, {1.0 - self.keep:g}"
            raise BadArgument("flip", f"is {self.flip!r}", works)
        object.__setattr__(self, "flip", Chance(1.0 - self.keep))

    @property
    def own(self) -> Chance:
        return Chance(self.keep)

    @property
    def other(self) -> Chance:
        return Chance(1.0 - self.keep)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), keep=0.75)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"keep": truthful(budget.epsilon / 2.0)}
