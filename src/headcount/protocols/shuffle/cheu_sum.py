r"""Cheu's sum [CSUZZ19]: the value in unary, each of its bits through randomised response.

Randomiser: round the value to one of $r$ `levels`; send that many ones and the rest of $r$ zeros,
            each bit replaced by a fair coin with chance $\lambda/n$.
Analyser:   with $m$ ones received and $f = \lambda/2n$, $(m - nrf)/(r(1-2f))$.
View:       $m$, a sum of flipped bits; a person can change all $r$ of theirs, among others that are
            at their worst.
Error:      unbiased, variance $nf(1-f)/(r(1-2f)^2)$ and at most $n/4r^2$ of rounding.

[CSUZZ19] Cheu, Smith, Ullman, Zeber and Zhilyaev, Distributed Differential Privacy via Shuffling,
EUROCRYPT 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from headcount.privacy import Bounded, Budget, Crowd, Model, Pair, PrivacyLoss, laws
from headcount.privacy.shuffled_bits import ShuffledBits
from headcount.programme import All, Brick, Chance, Copies, Emit, Field, Maybe, Tally
from headcount.programme.law import Floats, Law, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings, Shape, likely_variance
from headcount.protocols.shared.stochastic_rounding import halfway, levelled, steps_of, worst_fraction
from headcount.questions import Question, Sum


@dataclass(frozen=True, kw_only=True)
class CheuSum(Protocol):
    """As many bits as levels, of which `lam` for every level are coins, on average."""

    name: ClassVar[str] = "cheu-sum"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    knob: ClassVar[Knob] = Knob.logistic(
        "lam", lambda budget, given: 2.0 * given["levels"] * likely_variance(budget) / given["crowd"].honest, most=None
    )
    reference: ClassVar[str] = "Cheu, Smith, Ullman, Zeber and Zhilyaev 2019, arXiv:1808.01394"

    lam: float
    levels: int

    def __post_init__(self) -> None:
        self.whole("levels", 1, 1 << 16)
        self.require_within("lam", 0.0, self.crowd.honest * (1 - 1e-9))
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """About the root of the crowd: flips cost the same until nearly all bits are coins.

        More levels than steps only make more messages.
        """
        noise = likely_variance(budget)
        most = max(1, math.floor(crowd.honest / (4.0 * noise)))
        most = min(most, steps_of(task))
        best = max(1, math.ceil(math.sqrt(crowd.honest / noise)))
        return ({"levels": levels} for levels in sorted({min(best, most), min(2 * best, most)}))

    @property
    def flip(self) -> Chance:
        return Chance.up(self.lam / (2.0 * self.crowd.honest))

    @property
    def kinds(self) -> int:
        return 2

    def report(self, value: Field) -> Brick:
        one, zero = Maybe(self.flip, Emit(0), Emit(1)), Maybe(self.flip, Emit(1), Emit(0))

        def send(level: Field) -> Brick:
            return All(Copies(level, one), Copies(self.levels - level, zero))

        return levelled(value, self.task, self.levels, send)

    def view(self, honest: int) -> PrivacyLoss:
        """The worst number of ones among the others.

        If each level is a step they can send every number; if not, the worst may be none of theirs,
        which matters unless all numbers are about as bad. None at all they can send.
        """
        worst = ShuffledBits(self.flip, (honest - 1) * self.levels, self.levels)
        whole = steps_of(self.task) % self.levels == 0
        if whole or worst.wide:
            return worst
        return Bounded(worst, partial(self._among_zeros, honest))

    def _among_zeros(self, honest: int) -> PrivacyLoss:
        others = laws.binomial((honest - 1) * self.levels, self.flip)
        own = laws.binomial(self.levels, self.flip)
        return Pair.of(others + own, others + (-own).shifted(self.levels))

    def point(self, tally: Tally) -> Floats:
        bits = tally.reports * self.levels
        return (tally.totals[1:] - bits * self.flip) / (self.levels * (1.0 - 2.0 * self.flip))

    @property
    def hardest_value(self) -> int:
        return halfway(self.task, self.levels, 0.5)

    def noise(self, truth: int, reports: int) -> Noise:
        """People between the two middle levels: flips have the same spread at any level."""
        part, low = worst_fraction(self.task, self.levels), (self.levels - 1) // 2
        person = self._ones(low).weighed(1.0 - part) | self._ones(low + 1).weighed(part)
        law, block = person.coarse_power(reports)
        scale = block / (self.levels * (1.0 - 2.0 * self.flip))
        return Noise.of(law, centre=reports * person.mean / block, scale=scale)

    def _ones(self, level: int) -> Law:
        """How many ones somebody at this level sends."""
        rest = self.levels - level
        return laws.binomial(rest, self.flip) + (-laws.binomial(level, self.flip)).shifted(level)

    def size_of_error(self, truth: int, reports: int) -> float:
        flip, part = float(self.flip), worst_fraction(self.task, self.levels)
        flips = flip * (1.0 - flip) / (self.levels * (1.0 - 2.0 * flip) ** 2)
        return math.sqrt(reports * (flips + part * (1.0 - part) / self.levels**2))

    @property
    def local_epsilon(self) -> float | None:
        return self.levels * math.log((1.0 - self.flip) / self.flip)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((0, 1), steps=4), crowd=Crowd(3), lam=0.75, levels=2)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Theorem 5.4 with the paper's levels; its condition fails below some 10^12 people."""
        levels = math.ceil(budget.epsilon * math.sqrt(crowd.honest))
        epsilon = budget.epsilon / math.sqrt(8.0 * levels * math.log(2.0 / budget.delta))
        return {"lam": 64.0 * math.log(8.0 * levels / budget.delta) / epsilon**2, "levels": levels}
