"""What calibration turns, and where it begins to look."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headcount.common.short_decimals import room_around, settled, shortened
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd


@dataclass(frozen=True)
class Knob:
    """The parameter that calibration turns: `along(u, crowd)` gets more private as u grows from `low` to `high`."""

    name: str
    along: Callable[[float, Crowd], float]
    low: float
    high: float
    start: Callable[[Budget, Mapping[str, Any]], float]  # where to look first, given the crowd and other parameters
    floor: Callable[[Mapping[str, Any]], float] = lambda _: 0.0  # the chance at which nothing is told any more

    def at(self, u: float, given: Mapping[str, Any]) -> float:
        """The parameter's setting, a short decimal or a whole number, that is at least as private as u says."""
        setting = self._exactly(u, given)
        return setting if isinstance(setting, int) else shortened(setting, *self._ends(given))

    def looser(self, setting: float, given: Mapping[str, Any]) -> float:
        """A setting that calibration would have preferred, had it met the budget: the next one, or one beyond it."""
        accurate, private = self._ends(given)
        room = 1 if isinstance(setting, int) else 2.0 * room_around(setting, accurate, private)
        return setting - room if private > accurate else setting + room

    def _ends(self, given: Mapping[str, Any]) -> tuple[float, float]:
        """The most accurate setting and the most private one."""
        return self._exactly(self.low, given), self._exactly(self.high, given)

    def _exactly(self, u: float, given: Mapping[str, Any]) -> float:
        """With a floor from the other parameters, `along` is the part of the way from there to one."""
        floor, setting = self.floor(given), self.along(u, given["crowd"])
        if isinstance(setting, int):
            return setting
        return settled(floor + (1.0 - floor) * setting if floor else setting)


def likely_variance(budget: Budget) -> float:
    """About the noise variance that hides one person in a count; a first guess, never a claim."""
    log = math.log(1.0 / max(budget.delta, 1e-18))
    return 1.5 * log / budget.epsilon**2 + log
