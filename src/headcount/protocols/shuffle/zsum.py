r"""Zsum [BC20]: send a one if you hold one, and nearly always a dummy one as well.

Randomiser: send $x$ ones, and one more except with chance $\gamma$.
Analyser:   with $m$ ones received from $n$ people, $\hat c = m - n(1-\gamma)$; `thresholded` makes
            it 0 unless $m > n$.
View:       $m = \sum x + n - \mathrm{Bin}(n, \gamma)$, so neighbours differ by a shift of one.
Error:      unbiased, $\mathrm{Var}\,\hat c = n\gamma(1-\gamma)$, whatever the data; thresholded,
            small counts read 0.

[BC20] Balcer and Cheu, Separating Local and Shuffled Differential Privacy via Histograms, ITC 2020,
section 3.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss, laws
from headcount.programme import NOTHING, All, Brick, Chance, Coins, Copies, Emit, Field, Maybe, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Knob, Protocol, Reach, Settings, likely_variance

ONE = Emit(0)


@dataclass(frozen=True, kw_only=True)
class Zsum(Protocol):
    """Count by sending ones, with dummy ones for cover."""

    name: ClassVar[str] = "zsum"
    model: ClassVar[Model] = Model.SHUFFLE
    knob: ClassVar[Knob] = Knob.logarithmic(
        "gamma", 1e-12, 0.5, lambda budget, given: likely_variance(budget) / given["crowd"].honest
    )
    reference: ClassVar[str] = "Balcer and Cheu 2020, arXiv:1911.06879"

    gamma: float
    thresholded: bool = False

    def __post_init__(self) -> None:
        self.as_chance("gamma", 0.0, 0.5, Chance.up)
        object.__setattr__(self, "thresholded", bool(self.thresholded))
        super().__post_init__()

    def report(self, value: Field) -> Brick:
        return All(Copies(value, ONE), Maybe(Chance(self.gamma), NOTHING, ONE))

    def view(self, honest: int) -> PrivacyLoss:
        return Pair.shifted(laws.binomial(honest, self.gamma))

    def point(self, tally: Tally) -> Floats:
        people = (tally.totals - tally.reports) + tally.reports * self.gamma
        return np.where(tally.totals > tally.reports, people, 0.0) if self.thresholded else people

    def reach(self, messages: int = 1) -> Reach:
        """A suppressed small count passes the threshold with one more message than reports."""
        one = super().reach(messages) if not self.thresholded else replace(self, thresholded=False).reach(messages)
        hidden = self.crowd.size * float(self.gamma) if self.thresholded else 0.0
        return replace(one, lifted=one.up + hidden) if hidden else one

    def noise(self, truth: int, reports: int) -> Noise:
        missing = laws.binomial(reports, self.gamma)
        error = reports * float(self.gamma) - missing.values.astype(np.float64)
        if self.thresholded:
            error = np.where(missing.values < truth, error, -float(truth))
        return Noise(error, missing.masses, missing.dropped)

    def size_of_error(self, truth: int, reports: int) -> float:
        if self.thresholded:
            return super().size_of_error(truth, reports)
        return math.sqrt(reports * self.gamma * (1.0 - self.gamma))

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return not self.thresholded

    def intervals(self, tally: Tally, confidence: float) -> Floats:
        """A suppressed count may be any that is suppressed often enough, at half of the tail."""
        if not self.thresholded:
            return super().intervals(tally, confidence)
        tail = (1.0 - confidence) / 2.0
        if tally.totals[0] > tally.reports:
            return replace(self, thresholded=False).intervals(tally, 1.0 - tail)
        missing = laws.binomial(tally.reports, self.gamma)
        at_least = np.cumsum(missing.masses[::-1])[::-1]
        return np.array([[0.0, float(missing.values[at_least > tail][-1])]])

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        reports = int(held.sum())
        messages = (-laws.binomial(reports, self.gamma)).shifted(int(held[1]) + reports)
        return messages.sample(coins, runs)[:, None]

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), gamma=0.4)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"gamma": 50.0 * math.log(2.0 / budget.delta) / (budget.epsilon**2 * crowd.honest)}
