"""What may be spent: epsilon, delta, and between which neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from headcount.core.errors import BadArgument, OverBudget
from headcount.core.loss import PrivacyLoss
from headcount.core.quantity import quantity


class Neighbours(StrEnum):
    """Which two crowds must look alike."""

    REPLACE = "replace"  # the same number of people, one of them holding something else
    ADD_REMOVE = "add-remove"  # one person more or less

    @property
    def words(self) -> str:
        return {"replace": "replace-one", "add-remove": "add-or-remove-one"}[self]

    @classmethod
    def parse(cls, text: str) -> Neighbours:
        try:
            return cls(str(text).replace("_", "-"))
        except ValueError:
            raise BadArgument("neighbours", f"is {text!r}", "use 'replace' or 'add-remove'") from None


SMALLEST_EPSILON = 1e-3  # below, the noise is wider than any crowd here
SMALLEST_DELTA = 1e-18  # below, doubles cannot vouch for it


@dataclass(frozen=True)
class Budget:
    """(epsilon, delta) under a neighbouring relation."""

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        works = {
            "epsilon": f"use a number from {SMALLEST_EPSILON:g} to 50, for example 1",
            "delta": f"use 0, or a number from {SMALLEST_DELTA:g} to below 1, for example 1e-6",
        }
        for name in works:
            object.__setattr__(self, name, quantity(name, getattr(self, name), works[name]))
        if not SMALLEST_EPSILON <= self.epsilon <= 50:
            raise BadArgument("epsilon", f"is {self.epsilon:g}", works["epsilon"])
        if not (self.delta == 0 or SMALLEST_DELTA <= self.delta < 1):
            raise BadArgument("delta", f"is {self.delta:g}", works["delta"])
        object.__setattr__(self, "neighbours", Neighbours.parse(self.neighbours))

    def require_hidden(self, rows: int) -> None:
        """Refuses several rows of a person where it is told how many there are: by that, a person's number shows."""
        if rows > 1 and self.neighbours is Neighbours.REPLACE:
            raise BadArgument(
                "max_contributions", f"is {rows}, and the number of all rows would tell how many a person has",
                "use 1, or neighbours='add-remove' and model='central'",
            )  # fmt: skip

    def require(self, loss: PrivacyLoss) -> None:
        """Raises unless the loss fits; there is no boolean to overlook."""
        delta = loss.delta(self.epsilon)
        if delta > self.delta:
            raise OverBudget(
                f"delta at epsilon={self.epsilon:g} is {delta:.3g}, over the budget's {self.delta:g}; "
                "use more noise, more people or a larger budget"
            )

    def to_json(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "delta": self.delta, "neighbours": str(self.neighbours)}

    def __str__(self) -> str:
        return f"(ε={self.epsilon:g}, δ={self.delta:g})"
