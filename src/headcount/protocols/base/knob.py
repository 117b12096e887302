"""The parameter that calibration turns, and where its search begins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headcount.common.short_decimals import room_around, settled, shortened
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd

Settings = Mapping[str, Any]  # parameters by name
Choices = Iterable[Settings]
Start = Callable[[Budget, Settings], float]  # a first guess, given the crowd and other parameters


@dataclass(frozen=True)
class Knob:
    """The parameter that calibration turns: `along(u, crowd)` is more private as u grows."""

    name: str
    along: Callable[[float, Crowd], float]
    low: float
    high: float
    start: Start  # where to look first, as a u
    floor: Callable[[Settings], float] = lambda _: 0.0  # the chance at which nothing is told any more

    @classmethod
    def logarithmic(cls, name: str, low: float, high: float, start: Start, *, whole: bool = False) -> Knob:
        """A positive parameter, on a logarithmic scale from `low` to `high`."""
        along = (lambda u, _: math.ceil(math.exp(u))) if whole else (lambda u, _: math.exp(u))
        return cls(name, along, math.log(low), math.log(high), lambda budget, given: math.log(start(budget, given)))

    @classmethod
    def logistic(
        cls, name: str, start: Start, *, low: float = -28.0, high: float = 20.0, most: float | None = 1.0
    ) -> Knob:
        """A chance by its log-odds, times `most`, or times the honest people if that is None."""

        def along(u: float, crowd: Crowd) -> float:
            return (crowd.honest if most is None else most) / (1.0 + math.exp(-u))

        return cls(name, along, low, high, lambda budget, given: math.log(start(budget, given)))

    @classmethod
    def by_epsilon(
        cls, name: str, setting: Callable[[float], float], *, low: float = -4.0, high: float = 25.0, parts: int = 1
    ) -> Knob:
        """The `setting` at a local epsilon of e**-u for each of the `parts` of a report."""
        return cls(
            name, lambda u, _: setting(math.exp(-u)), low, high, lambda budget, _: -math.log(budget.epsilon / parts)
        )

    @classmethod
    def above(cls, name: str, floor: Callable[[Settings], float]) -> Knob:
        """A chance of the truth, from 1 down to the `floor` that guessing has."""

        def start(budget: Budget, given: Settings) -> float:
            return -math.log(floor(given) * math.expm1(budget.epsilon))

        return cls(name, lambda u, _: 1.0 / (1.0 + math.exp(u)), -50.0, 34.0, start, floor)

    @classmethod
    def whole(cls, name: str, low: float, high: float, start: Start) -> Knob:
        """A whole number that makes more noise as it grows."""
        return cls(name, lambda u, _: math.ceil(u), low, high, start)

    def at(self, u: float, given: Settings) -> float:
        """The setting, a short decimal or an integer, that is at least as private as u says."""
        setting = self._exactly(u, given)
        return setting if isinstance(setting, int) else shortened(setting, *self._ends(given))

    def looser(self, setting: float, given: Settings) -> float:
        """A setting that calibration would have preferred, had it met the budget."""
        accurate, private = self._ends(given)
        room = 1 if isinstance(setting, int) else 2.0 * room_around(setting, accurate, private)
        return setting - room if private > accurate else setting + room

    def _ends(self, given: Settings) -> tuple[float, float]:
        """The most accurate setting and the most private one."""
        return self._exactly(self.low, given), self._exactly(self.high, given)

    def _exactly(self, u: float, given: Settings) -> float:
        """The setting at u: with a floor, `along` is the part of the way from there to one."""
        floor, setting = self.floor(given), self.along(u, given["crowd"])
        if isinstance(setting, int):
            return setting
        return settled(floor + (1.0 - floor) * setting if floor else setting)


def truthful(epsilon: float) -> float:
    """The chance of the truth in a binary randomised response at this epsilon."""
    return 1.0 / (1.0 + math.exp(-epsilon))


def likely_variance(budget: Budget) -> float:
    """About the noise variance that hides one person in a count; a first guess, never a claim."""
    log = math.log(1.0 / max(budget.delta, 1e-18))
    return 1.5 * log / budget.epsilon**2 + log
