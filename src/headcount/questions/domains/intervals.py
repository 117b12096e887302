"""One of several equal intervals between bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.domains.bins import Bins, between, is_pair
from headcount.questions.domains.categories import Listed, positive
from headcount.questions.domains.domain import Codes
from headcount.questions.domains.levels import bounded, within_bounds
from headcount.questions.domains.missing import AMOUNTS, Kind
from headcount.questions.reading import AS_NUMBERS, Array, numbers


@dataclass(frozen=True)
class Intervals(Listed):
    """Intervals include their lower edge, the last one also its upper. With `clip`, what lies outside is in the first
    or the last of them, and refused otherwise. The bounds are declared, never read from the data."""

    bounds: tuple[float, float]
    count: int
    clip: bool = False
    missing: float | str | None = None  # type: ignore[assignment]
    other: ClassVar[bool] = False  # type: ignore[misc]
    outside: ClassVar[str] = "outside the bounds"
    reads_numbers = True
    takes: ClassVar[Kind] = AMOUNTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", bounded(self.bounds))
        if isinstance(self.count, bool) or not isinstance(self.count, int | np.integer):
            raise BadArgument("bins", f"is {self.count!r}", "use a whole number of them, for example 1024")
        object.__setattr__(self, "count", positive("bins", int(self.count)))
        if np.any(np.diff(self.edges) <= 0.0):
            raise BadArgument("bins", f"is {self.count:,}, too many for doubles to tell apart", "use fewer")
        within_bounds(self.missing, self.bounds, clip=self.clip)

    @cached_property
    def edges(self) -> Floats:
        low, high = self.bounds
        edges = low + (high - low) * np.arange(self.count + 1) / self.count
        edges[-1] = high
        return edges

    @property
    def size(self) -> int:
        return self.count

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return Bins(tuple(self.edges.tolist())).labels

    def codes(self, column: Array) -> Codes:
        if not column.size:
            return np.zeros(0, dtype=self.narrow)
        read = numbers(column).filled(self.missing)
        held, (low, high) = read.require("data must be numbers for a distribution", AS_NUMBERS).values, self.bounds
        if self.clip:
            held = np.clip(held, low, high)
        elif not (low <= held.min() and held.max() <= high):
            works = Phrase("widen them, or use {clip}", clip=True)
            raise BadData(f"data has values outside the bounds, {low:.15g} to {high:.15g}", works)
        codes = np.searchsorted(self.edges, held, side="right") - 1
        return np.minimum(codes, self.count - 1).astype(self.narrow, copy=False)

    def shares(self, told: Any) -> Floats:
        return between(self.edges, told, self.size) if is_pair(told) else super().shares(told)

    @property
    def grouped(self) -> bool:
        return False

    def label(self, code: int) -> float:
        return float(self.edges[code])

    @property
    def described(self) -> str:
        clipped = "; values outside are brought to the nearer bound" if self.clip else ""
        ends = f"from {self.bounds[0]:.15g} to {self.bounds[1]:.15g}"
        return f"One number for each person, {ends}, in {self.count:,} equal bins{clipped}."

    @property
    def accepted(self) -> str:
        return "a number" + ("" if self.clip else f" from {self.bounds[0]:g} to {self.bounds[1]:g}")

    def to_json(self) -> dict[str, Any]:
        missing = {} if self.missing is None else {"missing": self.missing}
        return {"bounds": list(self.bounds), "bins": self.count, "clip": self.clip, **missing}
