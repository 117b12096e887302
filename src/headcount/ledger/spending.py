"""What several questions come to. Rationals are added and compared exactly; floats are rationals already."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from headcount.core.budget import Budget, Neighbours
from headcount.core.loss import PrivacyLoss
from headcount.privacy.compose import compose

Epsilon: TypeAlias = Fraction | float  # a float only where it is infinite


def exactly(number: float) -> Epsilon:
    return Fraction(number) if math.isfinite(number) else math.inf


def up(number: Epsilon) -> float:
    """The smallest float that is not below."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def down(number: Epsilon) -> float:
    """The largest float that is not above."""
    return -up(-number)


@dataclass(frozen=True)
class Allowance:
    """A budget to the last digit. A fraction may be given where no float is meant, as in Fraction(1, 3)."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours

    @classmethod
    def of(cls, epsilon: Any, delta: Any, neighbours: str) -> Allowance:
        relation = Neighbours.parse(neighbours)
        rounded = [float(part) if isinstance(part, Fraction) else part for part in (epsilon, delta)]
        budget = Budget(rounded[0], rounded[1], relation)  # refuses what is out of range
        return cls(
            epsilon if isinstance(epsilon, Fraction) else Fraction(budget.epsilon),
            delta if isinstance(delta, Fraction) else Fraction(budget.delta),
            relation,
        )

    @property
    def budget(self) -> Budget:
        """The same in floats, for people to read."""
        return Budget(float(self.epsilon), float(self.delta), self.neighbours)


@dataclass(frozen=True, eq=False)
class Spending:
    """The losses so far, at the delta that is allowed for all of them together."""

    delta: float
    losses: tuple[PrivacyLoss, ...] = ()
    pure: Epsilon = Fraction(0)  # the sum of their epsilons at delta 0; no charge is too small for it

    def and_also(self, loss: PrivacyLoss, asked: float | None = None) -> Spending:
        """With one loss more. The epsilon that was asked for counts, where it suffices, before the one searched for."""
        return Spending(self.delta, (*self.losses, loss), self.pure + _pure(loss, asked))

    @cached_property
    def total(self) -> Epsilon:
        """The sum of the pure epsilons, or the epsilon of the composition where that is less."""
        if not self.delta or not self.losses:
            return self.pure
        return min(self.pure, exactly(compose(self.losses).epsilon(self.delta)))


@lru_cache(maxsize=1024)
def _pure(loss: PrivacyLoss, asked: float | None) -> Epsilon:
    least = exactly(loss.epsilon(0.0))
    return min(least, Fraction(asked)) if asked is not None and loss.delta(asked) <= 0.0 else least
