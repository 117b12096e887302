"""Central protocols: an exact total, and the analyser's discrete Laplace noise.

A value is handed over in the task's own steps, so that any database can add them up. The total, an
integer of any size, is brought to the grid of the noise and rounded there once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from headcount.errors import BadArgument
from headcount.privacy import Budget, Crowd, GroupPrivacy, Model, Neighbours, PrivacyLoss, laws
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift, RepeatedResponse
from headcount.privacy.rounded_once import RoundThenNoise
from headcount.privacy.two_sided_noise import AddDiscreteLaplace, AddTwoSidedNoise
from headcount.programme import Batch, Brick, Coins, Emit, Field, Release, Tally
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.programme.tally import exactly_summed
from headcount.protocols.base import Knob, Protocol, Settings
from headcount.protocols.shared.cells import one_of_each, touched
from headcount.protocols.shared.stochastic_rounding import halfway, rounded_laplace, size_of_rounded, steps_of

FINEST = 1e7  # levels to a scale: beyond, rounding the masses to 2**-64 would be felt


@dataclass(frozen=True, kw_only=True)
class NoisyTotal(Protocol):
    """Noise of this `scale`, in people, on a grid with this number of `levels` to a person."""

    model: ClassVar[Model] = Model.CENTRAL
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    knob: ClassVar[Knob] = Knob.logarithmic(
        "scale", 0.01, 1e7, lambda budget, given: given["crowd"].each * touched(given["task"]) / budget.epsilon
    )
    pure: ClassVar[bool] = True
    independent: ClassVar[bool] = True

    scale: float

    def __post_init__(self) -> None:
        self.require_within("scale", 0.01, 1e7)
        super().__post_init__()
        if self.scale * self.grid > FINEST:
            works = f"use a scale of at most {FINEST / self.grid:g}, or fewer levels"
            raise BadArgument("scale", f"is {self.scale:g}, too large for {self.grid:,} levels", works)
        if not self._zero.is_integer() or int(self._zero) * self.grid % self.steps:
            raise BadArgument("bounds", "do not have 0 on their grid", "use bounds that begin or end at 0, or (-b, b)")

    @property
    def grid(self) -> int:
        """How many levels there are from one person to the next."""
        return 1

    @property
    def steps(self) -> int:
        """How many of the task's own steps there are from one person to the next."""
        return steps_of(self.task)

    @property
    def _zero(self) -> float:
        """The step of a value of zero, from which a person counts if they may be missing."""
        if self.neighbours is Neighbours.REPLACE:
            return 0.0
        return -self.task.low / self.task.width * self.steps

    @property
    def rate(self) -> Fraction:
        """The masses fall by exp(-rate) from one level to the next."""
        return 1 / (Fraction(self.scale) * self.grid)

    def report(self, value: Field) -> Brick:
        zero = int(self._zero)
        return Emit(value - zero if zero else value) if self.summed else one_of_each(self.task, value)

    @property
    def kinds(self) -> int:
        return self.task.values if self.summed else self.task.cells

    @property
    def message(self) -> np.dtype[Any]:
        return np.dtype([("steps", np.int64)]) if self.summed else super().message

    @property
    def summed(self) -> bool:
        return self.task.cells == 1

    def tally(self, batch: Batch) -> Tally:
        if self.summed:
            return Tally(batch.reports, exactly_summed(batch.messages["steps"]))
        return super().tally(batch)

    @property
    def release_noise(self) -> AddTwoSidedNoise:
        """The release step that adds noise to a total, in levels."""
        return AddDiscreteLaplace(self.rate)

    @property
    def added(self) -> Law:
        """The law of this noise."""
        return laws.discrete_laplace(float(self.rate))

    def released(self) -> Release:
        noise = self.release_noise
        return noise if self.steps == self.grid else RoundThenNoise(self.steps, self.grid, noise)

    def view(self, honest: int) -> PrivacyLoss:
        return self.group(honest, 1)

    def group(self, honest: int, reports: int) -> PrivacyLoss:
        """The loss of one shifted total; of cells, of one in each family, or two under replacement.

        A report moves a total by all levels, whichever way it is rounded.

        A total that needs no rounding shows that this is exact. Several reports are the worst where
        all of them are in the same total: to move several totals by less each shows less (see
        `privacy.discrete_laplace`).
        """
        if not self.summed and (self.neighbours is Neighbours.REPLACE or touched(self.task) > 1):
            moved = touched(self.task) * (2 if self.neighbours is Neighbours.REPLACE else 1)
            return GroupPrivacy.of(RepeatedResponse(self.rate, moved), reports)
        furthest = max(int(self._zero), self.steps - int(self._zero))
        totals = 1 if self.summed else min(reports, self.task.cells)
        return DiscreteLaplaceShift(self.rate, reports * furthest * self.grid // self.steps, totals)

    def point(self, tally: Tally) -> Floats:
        return tally.totals / self.grid

    @property
    def hardest_value(self) -> int:
        """A value for which the total of such a crowd is about half-way between two levels."""
        return halfway(self.task, self.grid * self.crowd.size)

    def noise(self, truth: int, reports: int) -> Noise:
        """The error of one total half-way between two levels, whatever the number of reports."""
        return rounded_laplace(self.task, self.grid, float(self.rate), people=1)

    def size_of_error(self, truth: int, reports: int) -> float:
        variance = 0.5 / math.sinh(float(self.rate) / 2.0) ** 2  # 2a/(1-a)^2 with a = e^-rate
        return size_of_rounded(self.task, self.grid, variance, people=1)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        steps = held * (np.arange(held.size) - int(self._zero))
        totals = exactly_summed(steps) if self.summed else self.task.strategy.counts(held)
        many, release = np.tile(totals, (runs, 1)), self.released()
        levels = release.rounded(many.ravel(), coins) if isinstance(release, RoundThenNoise) else many
        noise = self.added.sample(coins, many.size)
        return np.asarray(levels, dtype=np.int64).reshape(many.shape) + noise.reshape(many.shape)

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), scale=0.5)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"scale": 1.0 / budget.epsilon}
