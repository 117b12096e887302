r"""Subset selection [YB18, WHWX16]: a set of categories, with the own one more often than not.

Randomiser: a set of $w$ categories (`size`) that holds the own one with chance $p$ (`keep`), the
            others evenly.
Analyser:   with $m_j$ sets that hold $j$ and $o = (w-p)/(d-1)$, $\hat c_j = (m_j - no)/(p-o)$.
View:       each single set, which holds both of two categories, one or neither;
            $e^\epsilon = p(d-w)/((1-p)w)$.
Error:      unbiased, $\mathrm{Var}\,\hat c = [c\,p(1-p) + (n-c)\,o(1-o)]/(p-o)^2$.

[WHWX16] Wang et al., Mutual Information Optimally Local Private Discrete Distribution Estimation,
2016.
[YB18] Ye and Barg, Optimal Schemes for Discrete Distribution Estimation under Locally Differential
Privacy, 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Brick, Chance, Field, Subset
from headcount.protocols.base import Choices, Knob
from headcount.protocols.shared.bit_rows import BitRows
from headcount.protocols.shared.frequency_oracle import FrequencyOracle
from headcount.questions import Histogram, Question

WHOLE = 1e-6  # a number of bits that is above a whole one by less, is that


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(BitRows, FrequencyOracle):
    """A set of categories each: the most accurate of the local oracles, and the most to draw."""

    name: ClassVar[str] = "subset-selection"
    model: ClassVar[Model] = Model.LOCAL
    knob: ClassVar[Knob] = Knob.above("keep", lambda given: given["size"] / given["task"].values)
    pure: ClassVar[bool] = True
    reference: ClassVar[str] = "Ye and Barg 2018, arXiv:1702.00610"

    keep: float
    size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole("size", 1, self.task.values - 1)
        self.as_chance("keep", self.size / self.task.values, 1.0, Chance.down)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        return ({"size": max(1, round(task.values / (math.exp(min(budget.epsilon, 40.0)) + 1.0)))},)

    @property
    def supports_own(self) -> float:
        return self.keep

    @property
    def supports_other(self) -> float:
        return (self.size - self.keep) / (self.task.values - 1)

    @property
    def message_laws(self) -> MessageLaws:
        d, w = self.task.values, self.size
        once, again, further = w / d, (w - 1) / (d - 1), max(0.0, (w - 2) / max(d - 2, 1))
        return self.supporting(once, once * again, once * again * further)

    def report(self, value: Field) -> Brick:
        return Subset(self.task.values, self.size, value, Chance(self.keep))

    @property
    def heaviest(self) -> int:
        return self.size

    @property
    def kinds(self) -> int:
        return math.comb(self.task.values, self.size)

    def genuine(self, messages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        whole: npt.NDArray[np.bool_] = np.bitwise_count(messages["row"]).sum(axis=1) == self.size
        return super().genuine(messages) & whole

    @property
    def bits_per_person(self) -> float:
        """The binary logarithm of the number of sets; by gamma functions if there are many."""
        parts = (self.task.values, self.size, self.task.values - self.size)
        if parts[0] <= 1 << 12:
            return super().bits_per_person
        all_of_them, chosen, left = (math.lgamma(many + 1.0) for many in parts)
        return float(math.ceil((all_of_them - chosen - left) / math.log(2.0) - WHOLE))

    def view(self, honest: int) -> PrivacyLoss:
        """The sets that hold only the one, only the other, and all that tell nothing."""
        others = self.task.values - 1
        own = self.keep * (others - self.size + 1) / others
        other = (1.0 - self.keep) * self.size / others
        rest = 1.0 - own - other
        return Pair(np.array([own, other, rest]), np.array([other, own, rest]))

    @property
    def local_epsilon(self) -> float | None:
        size, others = self.size, self.task.values - self.size
        return math.log(self.keep * others / ((1.0 - self.keep) * size)) if self.keep < 1.0 else None

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(4), crowd=Crowd(3), keep=0.75, size=2)
