r"""Privacy blanket sum [BBGN19]: everybody sends a level, and a few people any level.

Randomiser: round the value to one of $k+1$ levels, $k$ the `levels`; with chance `lie` send any of
            them, drawn evenly.
Analyser:   with $y$ the levels received, $(\sum y/k - n\,\mathrm{lie}/2)/(1-\mathrm{lie})$.
View:       the counts of all levels; bounded by showing who of the others tells the truth (Lemma
            5.3 of the paper).
Error:      unbiased; a person at level $v$ with remainder $f$ adds
            $[(1-l)f(1-f) + l\,k(k+2)/12 + l(1-l)(v+f-k/2)^2]/k^2(1-l)^2$ to the variance, $l$ the
            lie.

[BBGN19] Balle, Bell, Gascon and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019,
section 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Batch, Below, Brick, Chance, Emit, Field, Let, Maybe, Tally
from headcount.programme.law import Floats, Law, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings, Shape, likely_variance
from headcount.protocols.base.predicted import FEW_VALUES
from headcount.protocols.shared.stochastic_rounding import levelled, steps_of
from headcount.questions import Question, Sum

ANY = Field.named("any")


@dataclass(frozen=True, kw_only=True)
class BlanketSum(Protocol):
    """One message each, with an error that grows with the sixth root of the crowd."""

    name: ClassVar[str] = "blanket-sum"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    knob: ClassVar[Knob] = Knob.logistic(
        "lie", lambda budget, given: 1.3 * likely_variance(budget) * (given["levels"] + 1) / given["crowd"].honest
    )
    reference: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2019, arXiv:1903.02837"

    lie: float
    levels: int

    def __post_init__(self) -> None:
        self.as_chance("lie", 0.0, 1.0 - 1e-9, Chance.up)
        self.whole("levels", 1, 1 << 20)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """About the cube root of people over liars: more levels round less and need more liars."""
        best = (1.5 * crowd.honest / (1.3 * likely_variance(budget))) ** (1.0 / 3.0)
        return ({"levels": levels} for levels in sorted({max(1, round(best * part)) for part in (0.7, 1.0, 1.3)}))

    @property
    def kinds(self) -> int:
        return self.levels + 1

    def report(self, value: Field) -> Brick:
        blanket = Let("any", Below(self.kinds), Emit(ANY))
        return levelled(value, self.task, self.levels, lambda level: Maybe(Chance(self.lie), blanket, Emit(level)))

    def tally(self, batch: Batch) -> Tally:
        return Tally(batch.reports, np.array([batch.messages["kind"].sum(dtype=np.int64)]))

    def view(self, honest: int) -> PrivacyLoss:
        return self.shuffled_loss(honest)

    @property
    def message_laws(self) -> MessageLaws:
        """Others may be at a level between the ends, if a value is."""
        told = MessageLaws.response(self.lie, self.kinds)
        return told if math.gcd(steps_of(self.task), self.levels) > 1 else replace(told, others=(0, 1))

    def point(self, tally: Tally) -> Floats:
        return (tally.totals / self.levels - tally.reports * self.lie / 2.0) / (1.0 - self.lie)

    @cached_property
    def hardest_value(self) -> int:
        """Few values are all tried; of many, those where the lowest level's variance peaks."""
        steps, lie = steps_of(self.task), self.lie
        part = min(max((1.0 - lie * self.levels) / (2.0 * (1.0 - lie)), 0.0), 1.0) * steps / self.levels
        near = range(steps + 1) if steps < FEW_VALUES else (math.floor(part), math.ceil(part))
        return max(near, key=self._variance)

    def _placed(self, value: int) -> tuple[int, float]:
        """The level below a value, and the remainder."""
        level, rest = divmod(value * self.levels, steps_of(self.task))
        return level, rest / steps_of(self.task)

    def _variance(self, value: int) -> float:
        """The variance that a person with this value adds to the estimate."""
        (level, part), lie, k = self._placed(value), self.lie, self.levels
        spread = part * (1.0 - part) + lie * (level + part - k / 2.0) ** 2 + lie * k * (k + 2) / (12.0 * (1.0 - lie))
        return spread / (1.0 - lie) / k**2

    def noise(self, truth: int, reports: int) -> Noise:
        level, part = self._placed(self.hardest_value)
        masses = np.full(self.kinds, self.lie / self.kinds)
        masses[level] += (1.0 - self.lie) * (1.0 - part)
        if part:
            masses[level + 1] += (1.0 - self.lie) * part
        person = Law(0, masses)
        law, block = person.coarse_power(reports)
        return Noise.of(law, centre=reports * person.mean / block, scale=block / (self.levels * (1.0 - self.lie)))

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self._variance(self.hardest_value))

    @property
    def local_epsilon(self) -> float | None:
        return math.log1p(self.kinds * (1.0 - self.lie) / self.lie)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((0, 1), steps=4), crowd=Crowd(3), lie=0.5, levels=2)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        log = math.log(2.0 / budget.delta)
        liars = crowd.honest * max(14.0 * log / budget.epsilon**2, 27.0 / budget.epsilon) / (crowd.honest - 1)
        levels = max(1, round((crowd.honest / liars) ** (1.0 / 3.0)))
        return {"lie": liars * (levels + 1) / crowd.honest, "levels": levels}
