"""The budget of a ledger in exact rationals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from headcount.privacy.budget import Budget, Neighbours


def up(number: Fraction | float) -> float:
    """The smallest float not below the number."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def down(number: Fraction | float) -> float:
    """The largest float not above the number."""
    return -up(-number)


def rounded_down(number: Fraction | float) -> float:
    """Two digits, rounded down."""
    if number <= 0:
        return 0.0
    power = math.floor(math.log10(number)) - 1
    digits = math.floor(Fraction(number) / Fraction(10) ** power)
    return float(f"{digits}e{power}")


@dataclass(frozen=True)
class Allowance:
    """A budget in exact rationals; give a Fraction where no float is exact, as Fraction(1, 3)."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours

    @classmethod
    def of(cls, epsilon: Any, delta: Any, neighbours: str) -> Allowance:
        relation = Neighbours(neighbours)
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
