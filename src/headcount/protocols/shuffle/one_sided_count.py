r"""One-sided randomised response [W65, BBGN19]: a zero tells little, and few messages hide a one.

Randomiser: with chance `keep` send the value, but in its place a one with chance $\lambda/n$;
            otherwise send a zero. A zero is sent as a one with chance $a = \mathrm{keep}\lambda/n$.
Analyser:   with $m$ ones from $n$ people, $\hat c = (m - na)/(\mathrm{keep}-a)$.
View:       $m = \mathrm{Bin}(k, \mathrm{keep}) + \mathrm{Bin}(n-k, a)$, whatever the number $k$ of ones among the
            others, by the blanket of messages that may be anybody's.
Error:      unbiased,
            $\mathrm{Var}\,\hat c = [c\,\mathrm{keep}(1-\mathrm{keep}) +
            (n-c)\,a(1-a)]/(\mathrm{keep}-a)^2$.

$n$ stands for the honest people of the plan. With $\mathrm{keep} \le 1 - e^{-\epsilon}$ a zero
alone costs no more than $\epsilon$ and needs no others to hide it: only the tail of the ones does,
and $\lambda$ falls to an eighth. Symmetric flips are better from some forty ones on.

[W65] Warner, Randomized Response, J. Amer. Statist. Assoc. 1965.
[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.common.short_decimals import shortened
from headcount.privacy import Budget, Crowd, Model, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Brick, Chance, Emit, Field, Maybe
from headcount.protocols.base import Choices, Knob, likely_variance
from headcount.protocols.shared.flipped_bit import OneBit
from headcount.questions import Question


@dataclass(frozen=True, kw_only=True)
class OneSidedCount(OneBit):
    """One bit each, for counts of almost nobody: ones are often dropped and zeros rarely raised."""

    name: ClassVar[str] = "one-sided-count"
    model: ClassVar[Model] = Model.SHUFFLE
    knob: ClassVar[Knob] = Knob.logistic(
        "lam", lambda budget, given: likely_variance(budget) / (5.0 * given["crowd"].honest), most=None
    )
    reference: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2019, arXiv:1903.02837"

    lam: float
    keep: float

    def __post_init__(self) -> None:
        self.require_within("lam", 0.0, self.crowd.honest * (1 - 1e-9))
        self.as_chance("keep", 0.0, 1.0, Chance.down)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        return ({"keep": shortened(-math.expm1(-budget.epsilon), 1.0, 0.0)},)  # never above

    @property
    def raised(self) -> Chance:
        """The chance that a message that is kept is a one whatever is held."""
        return Chance.up(self.lam / self.crowd.honest)

    @property
    def supports_own(self) -> float:
        return self.keep

    @property
    def supports_other(self) -> float:
        return self.keep * self.raised

    def report(self, value: Field) -> Brick:
        return Maybe(Chance(self.keep), Maybe(self.raised, Emit(1), Emit(value)), Emit(0))

    def view(self, honest: int) -> PrivacyLoss:
        return self.shuffled_loss(honest)

    @property
    def message_laws(self) -> MessageLaws:
        own, other = self.supports_own, self.supports_other
        return MessageLaws.of(np.array([[1.0 - other, other], [1.0 - own, own]]))

    @property
    def local_epsilon(self) -> float | None:
        own, other = self.supports_own, self.supports_other
        return None if own == 1.0 else math.log(max(own / other, (1.0 - other) / (1.0 - own)))

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), lam=1.5, keep=0.625)
