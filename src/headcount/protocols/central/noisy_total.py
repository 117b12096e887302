"""What the central protocols share: values are added up exactly, and the analyser adds discrete Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from headcount.core.brick import Brick, Emit
from headcount.core.budget import Budget, Neighbours
from headcount.core.coins import Coins
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument
from headcount.core.field import Field
from headcount.core.histogram import Histogram
from headcount.core.knob import Knob
from headcount.core.law import Floats, Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.model import Model
from headcount.core.protocol import Protocol
from headcount.core.release import Release
from headcount.core.table import Ints
from headcount.core.tally import Batch, Tally
from headcount.privacy import laws
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift, TwoDiscreteLaplaceShifts
from headcount.privacy.tables import AddNoise
from headcount.protocols.levelled import MANY, halfway, levelled, rounded_laplace, size_of_rounded, steps_of

FINEST = 1e7  # steps to a scale: beyond, rounding the masses to 2**-64 would be felt


@dataclass(frozen=True, kw_only=True)
class NoisyTotal(Protocol):
    """Noise of this `scale`, in people, on a grid with so many levels from one person to the next."""

    model: ClassVar[Model] = Model.CENTRAL
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    knob: ClassVar[Knob] = Knob(
        "scale", lambda u, _: math.exp(u), math.log(0.01), math.log(1e7),
        lambda budget, _: -math.log(budget.epsilon),
    )  # fmt: skip
    pure: ClassVar[bool] = True

    scale: float

    def __post_init__(self) -> None:
        self.bounded("scale", 0.01, 1e7)
        super().__post_init__()
        if self.scale * self.grid > FINEST:
            works = f"use a scale of at most {FINEST / self.grid:g}, or fewer levels"
            raise BadArgument("scale", f"is {self.scale:g}, too large for {self.grid:,} levels", works)
        if self.neighbours is Neighbours.ADD_REMOVE and not self._zero.is_integer():
            raise BadArgument("bounds", "do not have 0 on their grid", "use bounds that begin or end at 0, or (-b, b)")

    @property
    def grid(self) -> int:
        """How many levels there are from one person to the next."""
        return 1

    @property
    def _zero(self) -> float:
        """The level of someone who holds nothing, which is where a person counts from if they may be missing."""
        if self.neighbours is Neighbours.REPLACE:
            return 0.0
        return -self.task.low / self.task.width * self.grid

    @property
    def rate(self) -> Fraction:
        """The masses fall by exp(-rate) from one step to the next."""
        return 1 / (Fraction(self.scale) * self.grid)

    def report(self, value: Field) -> Brick:
        if isinstance(self.task, Histogram):
            return Emit(value)
        zero = int(self._zero)
        return levelled(value, self.task, self.grid, lambda level: Emit(level - zero if zero else level))

    @property
    def kinds(self) -> int:
        return self.task.values if isinstance(self.task, Histogram) else self.grid + 1

    @property
    def message(self) -> np.dtype[Any]:
        return super().message if isinstance(self.task, Histogram) else np.dtype([("level", np.int64)])

    @property
    def summed(self) -> bool:
        return not isinstance(self.task, Histogram)

    def tally(self, batch: Batch) -> Tally:
        if self.summed:
            return Tally(batch.reports, np.array([batch.messages["level"].sum(dtype=np.int64)]))
        return super().tally(batch)

    def released(self) -> Release:
        return AddNoise(self.rate)

    def view(self, honest: int) -> PrivacyLoss:
        """A person moves one total by all levels; in a histogram, replaced, two of them."""
        if isinstance(self.task, Histogram) and self.neighbours is Neighbours.REPLACE:
            return TwoDiscreteLaplaceShifts(self.rate)
        return DiscreteLaplaceShift(self.rate, max(int(self._zero), self.grid - int(self._zero)))

    def point(self, tally: Tally) -> Floats:
        return tally.totals / self.grid

    @property
    def hardest_value(self) -> int:
        return halfway(self.task, self.grid)

    def noise(self, truth: int, reports: int) -> Noise:
        """Rounding included: of the reports, or of as many people as there could be where that is private."""
        people = MANY if self.neighbours is Neighbours.ADD_REMOVE else reports
        return rounded_laplace(self.task, self.grid, float(self.rate), people)

    def size_of_error(self, truth: int, reports: int) -> float:
        people = MANY if self.neighbours is Neighbours.ADD_REMOVE else reports
        variance = 0.5 / math.sinh(float(self.rate) / 2.0) ** 2  # 2a/(1-a)^2 with a = e^-rate
        return size_of_rounded(self.task, self.grid, variance, people)

    @property
    def independent(self) -> bool:
        return True

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        if self.grid % steps_of(self.task):
            return super().sample(held, coins, runs)
        level = np.arange(held.size) * (self.grid // steps_of(self.task)) - int(self._zero)
        totals = held * self.grid if isinstance(self.task, Histogram) else np.array([int(held @ level)])
        noise = laws.discrete_laplace(float(self.rate)).sample(coins, runs * totals.size)
        return totals + noise.reshape(runs, totals.size)

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), scale=0.5)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        return {"scale": 1.0 / budget.epsilon}
