"""An answer: a number, how far off it may be, and what it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.core.budget import Budget, Neighbours
from headcount.core.errors import BadArgument
from headcount.core.law import Floats
from headcount.core.quantity import quantity
from headcount.core.tally import Tally

if TYPE_CHECKING:
    from headcount.core.protocol import Protocol


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Unbiased unless the protocol says otherwise, never clamped unless asked; the interval is exact."""

    protocol: Protocol
    tally: Tally
    value: float
    budget: Budget | None = None
    secret: bool = True
    per_person: bool = False  # as a fraction of the reports instead of a number of people
    clamp: bool = False  # brought into the range of possible answers; no longer unbiased

    @property
    def _scale(self) -> float:
        return 1.0 / self.tally.reports if self.per_person else 1.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        if not 0.0 < quantity("confidence", confidence, "use a number between 0 and 1") < 1.0:
            raise BadArgument("confidence", f"is {confidence:g}", "use a number between 0 and 1, for example 0.95")
        low, high = self.protocol.interval(self.tally, confidence)
        return self._within(low * self._scale), self._within(high * self._scale)

    def _within(self, value: float) -> float:
        if not self.clamp:
            return value + 0.0  # no negative zero
        most = math.inf if self.n is None else 1.0 if self.per_person else float(self.n)
        return min(max(value, 0.0), most)

    @property
    def std_error(self) -> float:
        guess = min(max(round(self.value / self._scale), 0), self.tally.reports)
        return self.protocol.noise(guess, self.tally.reports).std_error * self._scale

    @property
    def n(self) -> int | None:
        """How many people reported; None where that is itself private."""
        return None if self.protocol.neighbours is Neighbours.ADD_REMOVE else self.tally.reports

    @property
    def delta(self) -> float | None:
        return None if self.budget is None else self.protocol.loss.delta(self.budget.epsilon)

    def clamped(self) -> Estimate:
        """The same, brought into the range of possible answers; no longer unbiased."""
        bounded = replace(self, clamp=True)
        return replace(bounded, value=bounded._within(self.value))

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        number, left, right = self.shown()
        return f"{number}  (95% interval {left} to {right})   {', '.join(self.promises())}"

    __repr__ = __str__

    def shown(self) -> tuple[str, str, str]:
        """The answer and the ends of its 95% interval, with as many digits as mean something."""
        numbers = (self.value, *self.interval())
        whole = all(float(number).is_integer() for number in numbers)
        digits = 4 if self.per_person else 0 if whole else 1
        value, low, high = (f"{number:,.{digits}f}" for number in numbers)
        return value, low, high

    def promises(self) -> list[str]:
        words = [] if self.budget is None else [str(self.budget)]
        words += [self.protocol.neighbours.words, self.protocol.model, self.protocol.name]
        if self.n is not None:
            words.append(f"n={self.n:,}")
        words.append(self.protocol.loss.kind)
        return words if self.secret else [*words, "seeded: not private"]

    def _repr_html_(self) -> str:
        number, rest = str(self).split("   ")
        return f"<div><strong>{escape(number)}</strong><br><small>{escape(rest)}</small></div>"

    def to_json(self) -> dict[str, Any]:
        protocol, loss = self.protocol, self.protocol.loss
        epsilon = None if self.budget is None else self.budget.epsilon
        return {
            "task": "fraction" if self.per_person else protocol.task.name,
            "value": self.value,
            "interval95": list(self.interval()),
            "std_error": self.std_error,
            "protocol": protocol.name,
            "model": str(protocol.model),
            "parameters": protocol.to_json()["parameters"],
            "epsilon": epsilon,
            "delta": self.delta,
            "delta_slack": None if epsilon is None else loss.slack(epsilon),
            "neighbours": str(protocol.neighbours),
            "accounting": loss.kind,
            "n": self.n,
            "messages_per_person": protocol.messages_per_person,
            "local_epsilon": protocol.local_epsilon,
        }


@dataclass(frozen=True, eq=False)
class Simulation:
    """Estimates from repeated runs with seeded coins."""

    truth: int
    values: Floats
    seed: int

    @property
    def bias(self) -> float:
        return float(np.mean(self.values)) - self.truth

    @property
    def std(self) -> float:
        return float(np.std(self.values))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean((self.values - self.truth) ** 2)))

    def __repr__(self) -> str:
        return (
            f"{self.values.size:,} runs: bias {self.bias:+.3g}, standard deviation {self.std:.4g} "
            f"(seed {self.seed}: not private)"
        )
