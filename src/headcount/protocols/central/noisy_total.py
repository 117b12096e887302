"""What the central protocols share: everybody's value is summed, and the analyser adds discrete Laplace noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from headcount.core.brick import Brick, Copies, Emit, Field
from headcount.core.budget import Budget, Neighbours
from headcount.core.coins import Coins
from headcount.core.crowd import Crowd
from headcount.core.law import Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.protocol import Knob, Model, Protocol
from headcount.core.release import Release
from headcount.core.table import Ints
from headcount.core.tally import Tally
from headcount.privacy import laws
from headcount.privacy.pair import DiscreteLaplaceShift
from headcount.privacy.tables import AddNoise


@dataclass(frozen=True, kw_only=True)
class NoisyTotal(Protocol):
    """Noise of this `scale`, in steps of 1/units. A person moves the total by one under either relation."""

    model: ClassVar[Model] = Model.CENTRAL
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    knob: ClassVar[Knob] = Knob(
        "scale", lambda u, _: math.exp(u), math.log(0.01), math.log(1e7),
        lambda budget, _: -math.log(budget.epsilon),
    )  # fmt: skip
    pure: ClassVar[bool] = True
    units: ClassVar[int]

    scale: float

    def __post_init__(self) -> None:
        self.bounded("scale", 0.01, 1e7)
        super().__post_init__()

    @property
    def rate(self) -> Fraction:
        """The masses fall by exp(-rate) from one step to the next."""
        return 1 / (Fraction(self.scale) * self.units)

    def report(self, value: Field) -> Brick:
        return Copies(value, Emit(0))

    def released(self) -> Release:
        return AddNoise(self.rate, self.units)

    def view(self, honest: int) -> PrivacyLoss:
        return DiscreteLaplaceShift(self.rate, self.units)

    def point(self, tally: Tally) -> float:
        return int(tally.totals[0]) / self.units

    def noise(self, truth: int, reports: int) -> Noise:
        return Noise.of(laws.discrete_laplace(float(self.rate)), centre=0.0, scale=1.0 / self.units)

    def sample(self, truth: int, reports: int, coins: Coins, runs: int) -> Ints:
        noise = laws.discrete_laplace(float(self.rate)).sample(coins, runs)
        return (truth * self.units + noise)[:, None]

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), scale=0.5)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        return {"scale": 1.0 / budget.epsilon}
