r"""The piecewise mechanism [WXYZ19], on a grid: a number from a window or from outside of it.

Randomiser: with $W$ the `window` and $L$ the `levels`, round the value to a level $l \in 0..L$
            without bias; send any number of $l..l+W-1$ with chance $p$ (`keep`), otherwise any
            other number below $W+L$.
Analyser:   with $g = p - (1-p)W/L$, a number's mean is $c + gl$, $c$ constant;
            $\hat s = (\sum y - nc)/(gL)$.
View:       each single number; $e^\epsilon = pL/((1-p)W)$, even if all others collude.
Error:      unbiased; the variance is largest at either end of the range. On $[-1,1]$ with
            $s = e^{\epsilon/2}$ and $W = L/s$, a fine grid has $x^2/(s-1) + (s+3)/(3(s-1)^2)$.

[WXYZ19] Wang et al., Collecting and Analyzing Multidimensional Data with Local Differential
Privacy, ICDE 2019.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Budget, Crowd
from headcount.programme import Brick, Chance, Field
from headcount.programme.law import Floats
from headcount.protocols.base import Choices, Knob
from headcount.protocols.shared.scored_reports import ScoredReports
from headcount.protocols.shared.sliding_window import MOST, fine_window, sent, window_chances
from headcount.protocols.shared.stochastic_rounding import levelled
from headcount.questions import Mean, Question, Sum


@dataclass(frozen=True, kw_only=True)
class Piecewise(ScoredReports):
    """A number each for a sum or a mean: best where more may be told."""

    name: ClassVar[str] = "piecewise"
    knob: ClassVar[Knob] = Knob.above("keep", lambda given: given["window"] / (given["window"] + given["levels"]))
    reference: ClassVar[str] = "Wang et al. 2019, arXiv:1907.00782"

    keep: float
    window: int
    levels: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole("levels", 1, MOST)
        self.whole("window", 1, MOST)
        self.as_chance("keep", self.window / self.kinds, 1.0, Chance.down)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        return (fine_window(task, budget.epsilon),)

    @property
    def grid(self) -> int:
        return self.levels

    @property
    def kinds(self) -> int:
        return self.window + self.levels

    def report(self, value: Field) -> Brick:
        keep = Chance(self.keep)
        return levelled(value, self.task, self.levels, lambda level: sent(level, keep, self.window, self.levels))

    def chances(self, level: int) -> Floats:
        return window_chances(level, self.keep, self.window, self.levels)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((-1, 1), steps=3), crowd=Crowd(3), keep=0.75, window=1, levels=2)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Mean((0, 2), steps=2), crowd=Crowd(3), keep=0.75, window=3, levels=2)
