"""Amounts: a number within bounds, on a grid of equal steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.questions.domains.domain import Domain, Merge, Shape, SqlDialect, Steps
from headcount.questions.domains.missing import rule
from headcount.questions.reading import AS_NUMBERS, EXACT, Array
from headcount.questions.reading import numbers as numerals

BETWEEN_STEPS = 1e-6  # tolerance of values beside a step
REAL_STEPS = 1 << 40  # the grid of real numbers: finer than any crowd's error, coarse enough for exact products
LONGEST = 1 << 20  # whole numbers that have a step each


@dataclass(frozen=True)
class Levels(Domain):
    """The range from `low` to `high` in `count` equal steps: a code is the steps above `low`.

    Real numbers have 2**40 steps and are rounded to the nearest one; with fewer, numbers must lie
    on a step. Numbers outside the bounds are refused, or with `clip` brought to the nearer bound.
    Where the steps reach beyond what people may hold, `within` says what that is. The bounds are
    declared, never read from the data.
    """

    bounds: tuple[float, float]
    count: int = REAL_STEPS
    clip: bool = False
    within: tuple[float, float] | None = None
    merge: Merge = Merge.ADD
    missing: float | str | None = None
    shape = Shape.AMOUNT
    reads_numbers = True

    def __post_init__(self) -> None:
        low, high = bounded(self.bounds)
        object.__setattr__(self, "bounds", (low, high))
        if self.within is not None:
            object.__setattr__(self, "within", tuple(float(end) for end in self.within))
        if not low <= self.limits[0] < self.limits[1] <= high:
            raise BadArgument("within", f"is {self.within!r}", f"use a part of ({low:g}, {high:g})")
        within_bounds(self.missing, self.limits, clip=self.clip)
        if not 1 <= self.count <= REAL_STEPS or self.count != int(self.count):
            raise BadArgument("steps", f"is {self.count!r}", "use a whole number from 1 to 2**40")
        if self.stepped and max(-low, high) >= EXACT:
            works = Phrase("use bounds within 2**53, or real numbers: {whole}", whole=False)
            raise BadArgument("bounds", "has whole numbers that doubles cannot tell apart", works)

    @classmethod
    def whole(cls, bounds: Any) -> int:
        """The steps of whole numbers: one for each, unless the range is too long for that."""
        low, high = bounded(bounds)
        return int(high - low) if low.is_integer() and high.is_integer() and high - low <= LONGEST else REAL_STEPS

    def from_zero(self) -> Levels:
        """The same on a grid with zero: its bounds begin or end there, or lie symmetrically."""
        low, high = self.bounds
        most = max(-low, high)
        bounds = (0.0, high) if low >= 0.0 else (low, 0.0) if high <= 0.0 else (-most, most)
        wider = (bounds[1] - bounds[0]) / (high - low)
        exact = self.stepped and (self.count * wider).is_integer()
        within = None if bounds == self.limits else self.limits
        return replace(self, bounds=bounds, count=int(self.count * wider) if exact else REAL_STEPS, within=within)

    @property
    def limits(self) -> tuple[float, float]:
        """The range of what a person may hold."""
        return self.bounds if self.within is None else self.within

    @property
    def stepped(self) -> bool:
        """Whether people hold nothing between the steps."""
        return self.count < REAL_STEPS

    @property
    def width(self) -> float:
        return self.bounds[1] - self.bounds[0]

    @property
    def size(self) -> int:
        return self.count + 1

    def numbers(self, column: Array) -> npt.NDArray[np.float64]:
        read = numerals(column).filled(self.missing)
        return read.require("data must be numbers for a sum or a mean", AS_NUMBERS, counts_as="a number").values

    @property
    def rules(self) -> list[str]:
        return rule(self.missing)

    def codes(self, column: Array) -> npt.NDArray[np.int64]:
        (low, high), held = self.limits, self.numbers(column)
        if self.clip:
            held = np.clip(held, low, high)
        elif not (low <= held.min(initial=low) and held.max(initial=high) <= high):
            works = Phrase("widen them, or use {clip}", clip=True)
            raise BadData(f"data has values outside the bounds, {low:.15g} to {high:.15g}", works)
        steps = (held - self.bounds[0]) * (self.count / self.width)
        nearest = np.rint(steps)
        if self.stepped and np.abs(steps - nearest).max(initial=0.0) > BETWEEN_STEPS:
            works = Phrase("use {whole} for real ones", whole=False)
            raise BadData("data has values between the steps, as between whole numbers", works)
        return np.asarray(nearest, dtype=np.int64)

    def steps(self, number: str, dialect: SqlDialect, *, integer: bool = False) -> Steps:
        """The codes in SQL, equal to those of `codes` for every number."""
        (low, high), origin = self.limits, self.bounds[0]
        given = {"low": low, "high": high, "steps": self.count / self.width}
        least, most, scale = (dialect.parameter(name) for name in given)
        if integer and self.count == self.width and not self.clip:
            limits = {"low": int(low), "high": int(high)}
            return Steps(number, f"{number} BETWEEN {least} AND {most}", limits, int(origin))
        held, fits = number, f"{number} IS NOT NULL AND NOT isnan({number})"
        if self.clip:
            held = f"least(greatest({number}, {least}), {most})"
        else:
            fits = f"{number} BETWEEN {least} AND {most} AND {fits}"
        steps = f"{held} * {scale}"
        if origin:
            given["origin"] = origin
            steps = f"({held} - {dialect.parameter('origin')}) * {scale}"
        if self.stepped:
            fits += f" AND abs({steps} - {dialect.nearest(steps)}) <= {BETWEEN_STEPS}"
        return Steps(dialect.nearest(steps), fits, given)

    grouped = True

    def label(self, code: int) -> float:
        return self.bounds[0] + self.width * code / self.count

    @property
    def described(self) -> str:
        clipped = "; values outside are brought to the nearer bound" if self.clip else ""
        return f"One number for each person, from {self.bounds[0]:.15g} to {self.bounds[1]:.15g}{clipped}."

    @property
    def accepted(self) -> str:
        whole = "whole number" if self.stepped and self.width == self.count else "number"
        return f"a {whole}" + ("" if self.clip else f" from {self.bounds[0]:g} to {self.bounds[1]:g}")

    def to_json(self) -> dict[str, Any]:
        within = {} if self.within is None else {"within": list(self.within)}
        missing = {} if self.missing is None else {"missing": self.missing}
        return {"bounds": list(self.bounds), "steps": self.count, "clip": self.clip, **within, **missing}


def within_bounds(missing: float | str | None, bounds: tuple[float, float], *, clip: bool) -> None:
    """Refuses a number for a missing value that nobody could hold."""
    if isinstance(missing, int | float) and not (clip or bounds[0] <= missing <= bounds[1]):
        raise BadArgument("missing", f"is {missing:g}, outside the bounds", "use a number within them")


def bounded(bounds: Any) -> tuple[float, float]:
    """Two finite numbers, the smaller first."""
    works = Phrase("use two numbers, the smaller first, for example {bounds}", bounds=(0, 120))
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise BadArgument("bounds", f"is {bounds!r}", works)
    low, high = (quantity("bounds", bound, works) for bound in bounds)
    if not low < high or math.isinf(high - low):
        raise BadArgument("bounds", f"is ({low:g}, {high:g})", works)
    return low, high
