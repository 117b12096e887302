r"""Sampled and padded histogram [MSE25]: the shuffler samples messages, adds under one a category.

Randomiser: send your category; no noise.
Shuffler:   keeps each message with chance $\beta = 1 - e^{-\epsilon_1}$, $\epsilon_1$ the `inner` epsilon, and adds
            $Z_j$ messages to each category, $P[Z_j \ge k] = q^k$ with $q = \beta/(e^{\epsilon_1} -
            1 + \beta)$.
Analyser:   $\hat c_j = (m_j - E[Z] + Y_j)/\beta$ with $Y_j$ two-sided geometric noise of `analyser_scale`, its own.
View:       one more message multiplies the chance of every $m_j$ by $e^{\epsilon_1}$, but of 0 by $e^{-\epsilon_1}$:
            pure from $2\epsilon_1$ on if replaced, for every crowd.
Error:      unbiased, $\mathrm{Var}\,\hat c_j = (\mathrm{Var} Z + \mathrm{Var} Y)/\beta^2 + c_j(1-\beta)/\beta$: for
            very many categories, nearly all of them empty.

Each message has a coin of its own: a sample of fixed size would not be private.

[MSE25] Murakami, Sei and Eriguchi, Augmented Shuffle Protocols for Accurate and Robust Frequency
Estimation under Differential Privacy, S&P 2025.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.privacy import Budget, Crowd, Neighbours, Pair, PrivacyLoss, laws
from headcount.privacy.exact_tables import exp_below
from headcount.privacy.padded import SampledTotals
from headcount.programme import Chance, Coins, Release, Tally
from headcount.programme.chance import WORD
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.programme.release import SampleAndPad
from headcount.protocols.base import Knob, Shape
from headcount.protocols.shared.padded import RARELY, PaddedByShuffler
from headcount.questions import Histogram
from headcount.questions.question import Question

FINE = 1 << 50  # chances are multiples of 2**-50


@dataclass(frozen=True, kw_only=True)
class SampledPaddedHistogram(PaddedByShuffler):
    """Pure privacy with one message each and hardly a dummy, for very many categories."""

    name: ClassVar[str] = "sampled-padded-histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    knob: ClassVar[Knob] = Knob(
        "inner", lambda u, _: math.exp(-u), -3.0, 12.0, lambda budget, _: -math.log(budget.epsilon / 2.0)
    )
    pure: ClassVar[bool] = True
    steady: ClassVar[bool] = False
    reference: ClassVar[str] = "Murakami, Sei and Eriguchi 2025, arXiv:2504.07362"

    inner: float

    def __post_init__(self) -> None:
        self.require_within("inner", 1e-6, 30.0)
        super().__post_init__()

    @classmethod
    def choices(
        cls, task: Question, crowd: Crowd, budget: Budget, analyser: bool = True
    ) -> Iterable[Mapping[str, Any]]:
        """The analyser's noise, unless switched off, hides a kept message as well as dummies do."""
        yield {"analyser_scale": cls.fair_scale(task, crowd, budget) if analyser else 0.0}

    @cached_property
    def _chances(self) -> tuple[Chance, Chance]:
        """The chance of being kept, rounded down, of a dummy, up: ratios keep within e**inner."""
        growth = exp_below(Fraction(self.inner))
        keep = Fraction(math.floor((1 - 1 / growth) * FINE), FINE)
        more = Fraction(math.ceil(keep / (growth - 1 + keep) * FINE), FINE)
        return Chance(float(keep)), Chance(float(more))

    def released(self) -> Release:
        return SampleAndPad(*self._chances)

    def kept(self, reports: int, coins: Coins) -> npt.NDArray[np.bool_]:
        return coins.bernoulli(self._chances[0], reports)

    def padded_by(self, reports: int) -> tuple[int, int]:
        low, high = (laws.binomial(reports, self._chances[0]) + self._all_added).within(RARELY / 2)
        return low - reports, high - reports

    def view(self, honest: int) -> PrivacyLoss:
        keep, more = (Fraction(chance.threshold, WORD) for chance in self._chances)
        nobody_elsewhere = self.moved == self.kinds  # then others are in the two totals, and hide a person more
        return SampledTotals(keep, more, self.moved, "bound" if nobody_elsewhere else "exact")

    @property
    def _one_more(self) -> Pair:
        alone = self.added + self._own
        return Pair.of(alone, laws.binomial(1, self._chances[0]) + alone)

    @cached_property
    def added(self) -> Law:
        return laws.negative_binomial(1.0, self._chances[1])

    def point(self, tally: Tally) -> Floats:
        return (tally.totals - self.added.mean) / self._chances[0]

    def noise(self, truth: int, reports: int) -> Noise:
        seen = laws.binomial(truth, self._chances[0]) + self.added + self._own
        centre = truth * float(self._chances[0]) + self.added.mean
        return Noise.of(seen, centre=centre, scale=1.0 / self._chances[0])

    def size_of_error(self, truth: int, reports: int) -> float:
        keep = float(self._chances[0])
        return math.sqrt((self.added.variance + self._own.variance) / keep**2 + truth * (1.0 - keep) / keep)

    def extremes(self, reports: int) -> tuple[int, ...]:
        return (reports,)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        kept = np.stack([laws.binomial(n, self._chances[0]).sample(coins, runs) for n in held.tolist()], axis=1)
        noise = self.added.sample(coins, kept.size) + self._own.sample(coins, kept.size)
        return np.asarray(kept + noise.reshape(kept.shape))

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), inner=0.5)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(2), crowd=Crowd(3), inner=0.5, neighbours=Neighbours.ADD_REMOVE)
        yield cls(task=Histogram(2), crowd=Crowd(2), inner=0.5, analyser_scale=0.4)
