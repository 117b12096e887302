r"""The hybrid mechanism [WXYZ19]: the piecewise mechanism with some chance, else Duchi's.

Randomiser: with chance `alpha`, a number as in the piecewise mechanism with this `window` and these
            `levels`, otherwise the level rounded to a bit, flipped or not. In both, what is
            likelier is so by the same `odds`.
Analyser:   a number $y < M$ scores $2y - M + 1$, a bit minus or plus the `weight`; the sum of
            scores $S$ has a mean of $c$ for each person and $G$ more for each whole one held,
            $\hat s = (S - nc)/G$.
View:       each single message, of one kind or the other whatever is held; $\epsilon$ is the
            logarithm of the odds.
Error:      unbiased. For $\epsilon > 0.61$, $\alpha = 1 - e^{-\epsilon/2}$ and weights that give
            both kinds the same mean, the variance hardly depends on the data: on $[-1,1]$ and a
            fine grid, with $s = e^{\epsilon/2}$, $(s+3)/(3s(s-1)) + (s^2+1)^2/(s(s^2-1)^2)$. Below
            0.61 only bits are sent.

[WXYZ19] Wang et al., Collecting and Analyzing Multidimensional Data with Local Differential
Privacy, ICDE 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd
from headcount.programme import Brick, Chance, Emit, Field, Let, Maybe, Rounded
from headcount.programme.law import Floats, Ints
from headcount.protocols.base import Choices, Knob
from headcount.protocols.shared.scored_reports import ScoredReports
from headcount.protocols.shared.sliding_window import MOST, fine_window, sent, window_chances
from headcount.protocols.shared.stochastic_rounding import levelled
from headcount.questions import Mean, Question, Sum

ONLY_BITS = 0.6094  # up to this epsilon
BIT = Field.named("bit")


@dataclass(frozen=True, kw_only=True)
class Hybrid(ScoredReports):
    """A number or a bit each for a sum or a mean: the most accurate local one for most data."""

    name: ClassVar[str] = "hybrid"
    knob: ClassVar[Knob] = Knob.by_epsilon("odds", math.exp)
    reference: ClassVar[str] = "Wang et al. 2019, arXiv:1907.00782"

    odds: float
    alpha: float
    window: int
    levels: int
    weight: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole("levels", 1, MOST)
        self.whole("window", 1, MOST)
        self.whole("weight", 1, 4 * MOST)
        self.require_within("odds", 1.0, math.inf)
        self.as_chance("alpha", -math.ulp(0.0), 1.0, Chance.down)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """The weight that a bit needs to gain as much as a number, at these odds."""
        grid, odds = fine_window(task, budget.epsilon), math.exp(min(budget.epsilon, 40.0))
        alpha = -math.expm1(-budget.epsilon / 2.0) if budget.epsilon > ONLY_BITS else 0.0
        keep = odds * grid["window"] / (odds * grid["window"] + grid["levels"])
        gain = keep * grid["levels"] - (1.0 - keep) * grid["window"]
        return ({**grid, "alpha": alpha, "weight": max(1, round(gain * (odds + 1.0) / (odds - 1.0)))},)

    @property
    def grid(self) -> int:
        return self.levels

    @property
    def numbers(self) -> int:
        return self.window + self.levels

    @property
    def kinds(self) -> int:
        return self.numbers + 2

    @cached_property
    def scores(self) -> Ints:
        bits = np.array([-self.weight, self.weight])
        return np.concatenate([2 * np.arange(self.numbers) - self.numbers + 1, bits])

    @property
    def keep(self) -> Chance:
        """The chance of a number from within the window."""
        return Chance.down(1.0 / (1.0 + self.levels / (self.odds * self.window)))

    @property
    def right(self) -> Chance:
        """The chance of a bit that is not flipped."""
        return Chance.down(1.0 / (1.0 + 1.0 / self.odds))

    def report(self, value: Field) -> Brick:
        return levelled(value, self.task, self.levels, self._told)

    def _told(self, level: Field) -> Brick:
        flipped = Maybe(self.right, Emit(BIT + self.numbers), Emit(self.numbers + 1 - BIT))
        bit = Let("bit", Rounded(level, self.levels, 1), flipped)
        return Maybe(Chance(self.alpha), sent(level, self.keep, self.window, self.levels), bit)

    def chances(self, level: int) -> Floats:
        rise, high = level / self.levels, self.right
        on = rise * high + (1.0 - rise) * (1.0 - high)
        numbers = window_chances(level, self.keep, self.window, self.levels)
        return np.concatenate([self.alpha * numbers, (1.0 - self.alpha) * np.array([1.0 - on, on])])

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((-1, 1), steps=4), crowd=Crowd(3), odds=3.0, alpha=0.5, window=1, levels=2, weight=3)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Mean((0, 2), steps=2), crowd=Crowd(3), odds=2.0, alpha=0.25, window=2, levels=2, weight=2)
