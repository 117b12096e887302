"""What is asked of the crowd."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.core.errors import BadArgument, BadData
from headcount.core.law import Floats
from headcount.core.quantity import quantity
from headcount.core.reading import EXACT, Array, Read, numbers, truths

COUNTS = frozenset({"count", "fraction"})
SUMS = frozenset({"sum", "mean"})
HISTOGRAMS = frozenset({"histogram"})

MISSING = "data has missing values; drop them, or fill them in, first"
BETWEEN_STEPS = 1e-6  # how far beside a step a value may lie and still be meant for it
REAL_STEPS = 1 << 40  # the grid of real numbers: finer than any crowd's error, coarse enough for exact products


class Task(ABC):
    """A question about the crowd. What a person holds is an integer below `values`.

    Protocols answer in people, a number for each of the `cells`: a person counts 0, 1 or (a sum) something between. In
    the task's own unit that is `low` for everybody and `width` for every whole person.
    """

    name: ClassVar[str]

    @property
    def per_person(self) -> bool:
        """Whether the answer is divided by the number of people."""
        return False

    @property
    def low(self) -> float:
        return 0.0

    @property
    def width(self) -> float:
        return 1.0

    def unit(self, reports: int) -> float:
        """What one whole person is in the task's own unit."""
        return self.width / (max(1, reports) if self.per_person else 1)

    @property
    @abstractmethod
    def values(self) -> int: ...

    @property
    def cells(self) -> int:
        return 1

    @abstractmethod
    def encoded(self, data: Array) -> Array:
        """The data as integers below `values`; refused, without quoting any, where they are something else."""

    @abstractmethod
    def truth(self, values: Array) -> Floats:
        """The true answer in people, for simulation and tests."""

    @property
    def clipped_to(self) -> tuple[float, float] | None:
        """The range that values outside of it are brought into; None if there is none."""
        return None

    @property
    def about(self) -> str:
        """Of which values the answer tells, where these are not the data themselves."""
        return of_clipped(self.clipped_to)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name}

    def _column(self, data: Array) -> Array:
        if data.ndim != 1:
            raise BadData(f"data must be one value per person, not {data.ndim}-dimensional; try one column of it")
        return data

    @staticmethod
    def _whole(read: Read) -> Read:
        """Refuses missing values."""
        if read.missing.any():
            raise BadData(MISSING)
        return read


def of_clipped(bounds: Sequence[float] | None) -> str:
    """The words for values that were clipped to these bounds, if they were."""
    return "" if bounds is None else f"of values clipped to [{bounds[0]:.15g}, {bounds[1]:.15g}]"


@dataclass(frozen=True)
class Count(Task):
    """How many people hold a one?"""

    name: ClassVar[str] = "count"

    @property
    def values(self) -> int:
        return 2

    def encoded(self, data: Array) -> npt.NDArray[np.uint8]:
        read = self._whole(truths(self._column(data)))
        if read.strange.any():
            raise BadData("data has values other than 0 and 1, true and false; use where= to say which counts as 1")
        return read.values

    def truth(self, values: Array) -> Floats:
        return np.array([float(np.count_nonzero(values))])


@dataclass(frozen=True)
class Fraction(Count):
    """Which fraction of the people hold a one?"""

    name: ClassVar[str] = "fraction"

    @property
    def per_person(self) -> bool:
        return True


@dataclass(frozen=True)
class Sum(Task):
    """How much do people hold together? Every value lies within `bounds`, which are never read from the data.

    The range is divided into `steps`: whole numbers between whole bounds have a step each, reals 2**40 of them. With
    `clip`, values outside the bounds are brought to the nearer one; otherwise they are refused. Where the steps reach
    beyond what people hold, `within` says what that is.
    """

    bounds: tuple[float, float]
    steps: int = REAL_STEPS
    clip: bool = False
    within: tuple[float, float] | None = None
    name: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        works = "use (low, high) with low < high, for example bounds=(0, 120)"
        if not isinstance(self.bounds, Sequence) or isinstance(self.bounds, str) or len(self.bounds) != 2:
            raise BadArgument("bounds", f"is {self.bounds!r}", works)
        low, high = (quantity("bounds", bound, works) for bound in self.bounds)
        if not low < high or math.isinf(high - low):
            raise BadArgument("bounds", f"is ({low:g}, {high:g})", works)
        object.__setattr__(self, "bounds", (low, high))
        if self.within is not None:
            object.__setattr__(self, "within", tuple(float(end) for end in self.within))
        if not low <= self.limits[0] < self.limits[1] <= high:
            raise BadArgument("within", f"is {self.within!r}", f"use a part of ({low:g}, {high:g})")
        if not 1 <= self.steps <= REAL_STEPS or self.steps != int(self.steps):
            raise BadArgument("steps", f"is {self.steps!r}", "use a whole number from 1 to 2**40")
        if self.stepped and max(-low, high) >= EXACT:
            works = "use bounds within 2**53, or real numbers: whole=False"
            raise BadArgument("bounds", "has whole numbers that doubles cannot tell apart", works)

    @classmethod
    def whole(cls, bounds: tuple[float, float], *, clip: bool = False) -> Self:
        """Of whole numbers: a step for each, unless the range is too long for that."""
        checked = cls(bounds, clip=clip)
        low, high = checked.bounds
        exact = low.is_integer() and high.is_integer() and high - low <= 1 << 20
        return cls(bounds, int(high - low), clip) if exact else checked

    def from_zero(self) -> Self:
        """The same on a grid that has zero on it: its bounds begin or end there, or lie as far below as above."""
        low, high = self.bounds
        most = max(-low, high)
        bounds = (0.0, high) if low >= 0.0 else (low, 0.0) if high <= 0.0 else (-most, most)
        wider = (bounds[1] - bounds[0]) / (high - low)
        exact = self.steps < REAL_STEPS and (self.steps * wider).is_integer()
        steps = int(self.steps * wider) if exact else REAL_STEPS
        return replace(self, bounds=bounds, steps=steps, within=None if bounds == self.limits else self.limits)

    @property
    def limits(self) -> tuple[float, float]:
        """Between these lies what a person may hold."""
        return self.bounds if self.within is None else self.within

    @property
    def clipped_to(self) -> tuple[float, float] | None:
        return self.limits if self.clip else None

    @property
    def stepped(self) -> bool:
        """Whether people hold nothing between the steps."""
        return self.steps < REAL_STEPS

    @property
    def low(self) -> float:
        return self.bounds[0]

    @property
    def width(self) -> float:
        return self.bounds[1] - self.bounds[0]

    @property
    def values(self) -> int:
        return self.steps + 1

    def held(self, data: Array) -> Floats:
        """What people hold, as doubles; not yet compared with the bounds."""
        read = self._whole(numbers(self._column(data)))
        if read.strange.any():
            raise BadData(f"data must be numbers for a {self.name}")
        return read.values

    def encoded(self, data: Array) -> npt.NDArray[np.int64]:
        (low, high), held = self.limits, self.held(data)
        if self.clip:
            held = np.clip(held, low, high)
        elif not (low <= held.min(initial=low) and held.max(initial=high) <= high):
            raise BadData(f"data has values outside bounds=({low:g}, {high:g}); widen them, or use clip=True")
        steps = (held - self.low) * (self.steps / self.width)
        nearest = np.rint(steps)
        if self.stepped and np.abs(steps - nearest).max(initial=0.0) > BETWEEN_STEPS:
            raise BadData("data has values between the steps, as between whole numbers; use whole=False for real ones")
        return np.asarray(nearest, dtype=np.int64)

    def truth(self, values: Array) -> Floats:
        return np.array([float(values.sum(dtype=np.float64)) / self.steps])

    def to_json(self) -> dict[str, Any]:
        within = {} if self.within is None else {"within": list(self.within)}
        return {"name": self.name, "bounds": list(self.bounds), "steps": self.steps, "clip": self.clip, **within}


@dataclass(frozen=True)
class Mean(Sum):
    """How much do people hold on average?"""

    name: ClassVar[str] = "mean"

    @property
    def per_person(self) -> bool:
        return True
