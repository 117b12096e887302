"""The values of a distribution: numbers, moments or durations, each on a line of doubles."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

import numpy as np

from headcount.common.plurals import counted
from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.reading import SPACE, Array, Read, numbers
from headcount.questions.times import DAY, MINUTE, SECOND, clock, duration, durations, iso, moment, moments

UNITS = (DAY, MINUTE, SECOND)
LONG = 1e15  # from which on numbers are written with a power of ten
LAST = 253_402_300_799_999_999  # microseconds, from 1970 to the end of the year 9999
EXAMPLES = {"numbers": (0, 120), "moments": ("2026-01-01", "2026-12-31"), "durations": ("0:00", "2:00:00")}


class Scale(ABC):
    """How people and questions write a value, and its place on the line."""

    called: ClassVar[str]
    numeric: ClassVar[bool] = False  # whether values are written as numbers
    whole: ClassVar[bool] = False  # whether nothing lies between a number and the next one
    also: ClassVar[str] = ""  # what else than a number of bins may be said

    @abstractmethod
    def read(self, column: Array, dates: str | None) -> Read:
        """The places of a column's entries."""

    @abstractmethod
    def place(self, value: object) -> float | None:
        """The place of a value that somebody names; None where it is none."""

    @abstractmethod
    def at(self, place: float) -> Any:
        """The value at a place, as Python has it."""

    def within(self, low: float, high: float, part: float) -> Any:
        """The value a part of the way through an interval."""
        return self.at(low + part * (high - low))

    def spanned(self, low: float, high: float) -> tuple[Any, Any]:
        """The least and the largest value of adjacent intervals, from first edge to last."""
        return self.at(low), self.at(high)

    @abstractmethod
    def text(self, place: float, step: float) -> str:
        """The value at a place, as precisely as places that are a step apart need."""

    def marked(self, place: float, step: float) -> str:
        """The same for people to read: numbers with thousands apart."""
        return self.text(place, step)

    def texts(self, places: Sequence[float], step: float) -> list[str]:
        """The values at several places, which are a step apart at least."""
        return [self.text(place, step) for place in places]

    def shown(self, value: Any, ends: Sequence[Any]) -> tuple[str, str, str]:
        """A value and its interval, as precise as its ends are round, or as it is short."""
        places = [self.place(end) or 0.0 for end in ends]
        long = [unit for unit in UNITS if 10 * unit <= places[1] - places[0]]
        step = max([self.unit(places), *long])
        said = (self.text(step * math.floor(place / step), step) for place in (self.place(value) or 0.0, *places))
        return next(said), next(said), next(said)

    @staticmethod
    def unit(places: Iterable[float]) -> float:
        """The longest unit that all of them are multiples of, or else a second."""
        held = list(places)
        return next((unit for unit in UNITS if not any(place % unit for place in held)), SECOND)

    def long(self, width: float) -> str:
        """A distance, in words."""
        days, rest = divmod(round(width), DAY)
        return counted(days, "day") if days and not rest else clock(round(width / SECOND) * SECOND)

    def array(self, places: Floats) -> Any:
        """The values at these places."""
        return places

    @abstractmethod
    def canonical(self, value: object) -> Any:
        """A value that somebody names, as questions keep it and JSON writes it."""

    def ends(self, bounds: Sequence[Any]) -> tuple[float, float]:
        """The places where a line between these bounds begins and ends."""
        low, high = (self.place(bound) for bound in bounds)
        if low is None or high is None or not low < high or math.isinf(high - low):
            raise BadArgument("bounds", "is ({}, {})".format(*map(_shown, bounds)), self.works)
        return low, high

    def named(self, argument: str, value: object, ends: tuple[float, float], step: float) -> float:
        """The place of a value that an answer is asked about; refused outside of the ends."""
        works = f"use {self.one} from {self.text(ends[0], step)} to {self.text(ends[1], step)}"
        try:
            found = self.place(value)
        except BadArgument as refused:
            raise BadArgument(argument, refused.problem, works) from None
        if found is None or not ends[0] <= found <= ends[1]:
            raise BadArgument(argument, f"is {value!r}" if found is None else f"is {self.text(found, step)}", works)
        return found

    @property
    def works(self) -> Phrase:
        return Phrase(f"use {self.two}, the smaller first, for example {{bounds}}", bounds=EXAMPLES[self.called])

    @property
    @abstractmethod
    def one(self) -> str:
        """A value, in words."""

    @property
    @abstractmethod
    def two(self) -> str:
        """Two of them."""


class Numbers(Scale):
    called, numeric = "numbers", True
    one, two = "a number", "two numbers"

    def read(self, column: Array, dates: str | None) -> Read:
        return numbers(column)

    def place(self, value: object) -> float | None:
        return quantity("value", value, self.works)

    def at(self, place: float) -> float:
        return place

    def text(self, place: float, step: float) -> str:
        return f"{place:.0f}" if float(place).is_integer() and abs(place) < LONG else f"{place:g}"

    def marked(self, place: float, step: float) -> str:
        places = max(0, 1 - math.floor(math.log10(step))) if place % 1 or step % 1 else 0
        return f"{place:,.{min(places, 9)}f}"

    def texts(self, places: Sequence[float], step: float) -> list[str]:
        """With as few digits as tell them apart."""
        found = super().texts(places, step)
        return found if len(set(found)) == len(found) else [repr(place) for place in places]

    def long(self, width: float) -> str:
        return f"{width:,.{max(0, 3 - math.floor(math.log10(width)))}f}" if 1.0 <= width < LONG else f"{width:.4g}"

    def canonical(self, value: object) -> float:
        return quantity("bounds", value, self.works)


class Integers(Numbers):
    """A whole number that is the upper bound is within it."""

    whole = True
    one, two = "a whole number", "two whole numbers"

    def place(self, value: object) -> float | None:
        found = super().place(value)
        return found if found is not None and found.is_integer() else None

    def within(self, low: float, high: float, part: float) -> int:
        return round(low)

    def spanned(self, low: float, high: float) -> tuple[int, int]:
        return round(low), round(high) - 1

    def text(self, place: float, step: float) -> str:
        return f"{place:.0f}"

    def canonical(self, value: object) -> int:
        found = self.place(value)
        if found is None:
            raise BadArgument("bounds", f"has {value!r}, which is not whole", self.works)
        return int(found)

    def ends(self, bounds: Sequence[Any]) -> tuple[float, float]:
        low, high = super().ends(bounds)
        return low, high + 1.0


class Moments(Scale):
    """In microseconds since 1970, in UTC. A day that is the upper bound is within it."""

    called = "moments"
    also = ", or day, week, hour, minute or second"
    one, two = "a day or a moment", "two days or moments"

    def read(self, column: Array, dates: str | None) -> Read:
        return moments(column, dates)

    def place(self, value: object) -> float | None:
        found = moment(value)
        return None if found is None else float(found)

    def array(self, places: Floats) -> Any:
        return np.rint(places).astype(np.int64).astype("M8[us]")

    def at(self, place: float) -> datetime:
        return datetime(1970, 1, 1) + timedelta(microseconds=round(place))

    def text(self, place: float, step: float) -> str:
        at = self.at(math.floor(place + 0.5))
        if step >= DAY and not step % DAY:
            return at.date().isoformat()
        return at.isoformat(sep=" ", timespec="minutes" if step >= MINUTE else "seconds")

    def canonical(self, value: object) -> str:
        found = moment(value)
        if found is None:
            raise BadArgument("bounds", f"is {value!r}, which is no day", self.works)
        return iso(found) if _is_day(value) else self.at(found).isoformat()

    def ends(self, bounds: Sequence[Any]) -> tuple[float, float]:
        low, high = (self.canonical(bound) for bound in bounds)
        return super().ends((low, _after(high) if low <= high and _is_day(high) else high))


class Durations(Scale):
    """In microseconds."""

    called = "durations"
    also = ", or day, week, hour, minute or second"
    one, two = "a duration", "two durations"

    def read(self, column: Array, dates: str | None) -> Read:
        return durations(column)

    def place(self, value: object) -> float | None:
        found = duration(value)
        return None if found is None else float(found)

    def array(self, places: Floats) -> Any:
        return np.rint(places).astype(np.int64).astype("m8[us]")

    def at(self, place: float) -> timedelta:
        return timedelta(microseconds=round(place))

    def text(self, place: float, step: float) -> str:
        return clock(round(place / SECOND) * SECOND if step >= SECOND else round(place))

    def canonical(self, value: object) -> str:
        found = duration(value)
        if found is None:
            raise BadArgument("bounds", f"is {value!r}, which is no duration", self.works)
        return clock(found)


NUMBERS, WHOLE_NUMBERS, MOMENTS, DURATIONS = Numbers(), Integers(), Moments(), Durations()


def scale_of(bounds: Any) -> Scale:
    """Which of them two bounds are written on."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise BadArgument("bounds", f"is {bounds!r}", NUMBERS.works)
    if all(isinstance(bound, date) or moment(bound) is not None for bound in bounds):
        return MOMENTS
    return DURATIONS if all(duration(bound) is not None for bound in bounds) else NUMBERS


def _is_day(value: object) -> bool:
    """Whether it is a whole day, and not a moment of it."""
    if isinstance(value, np.datetime64):
        return np.datetime_data(value.dtype)[0] in "YMWD"
    said = isinstance(value, str) and len(value.strip(SPACE)) == len("2026-12-31")
    return said or (isinstance(value, date) and not isinstance(value, datetime))


def _after(day: str) -> str:
    """The day after, but of the last one that there is."""
    return iso(min((moment(day) or 0) + DAY, LAST))


def _shown(bound: object) -> str:
    return f"{bound:g}" if isinstance(bound, float) else repr(bound)
