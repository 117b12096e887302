"""Equal intervals between bounds, of numbers, moments or durations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.domains.categories import Listed, positive
from headcount.questions.domains.domain import Codes, SqlDialect, Steps
from headcount.questions.domains.levels import within_bounds
from headcount.questions.domains.missing import AMOUNTS, WITHOUT_NUMBER, Kind
from headcount.questions.reading import AS_NUMBERS, Array
from headcount.questions.scales import MOMENTS, NUMBERS, Scale, scale_of
from headcount.questions.times import DAY, LENGTHS, written

AT_AN_EDGE = 1e-9  # of an interval
COARSE = 64  # of the distance of neighbouring doubles
MOST_DAYS = 1 << 14  # that have an interval each unless told


@dataclass(frozen=True)
class Intervals(Listed):
    """Intervals include their lower edge, the last one also its upper.

    With `clip`, what lies outside is in the first or the last of them, and refused otherwise. The
    bounds are declared, never read from the data: two numbers, two moments or two durations, which
    says what people hold. A day that is the upper bound is within it.
    """

    bounds: tuple[Any, Any]
    count: int
    clip: bool = False
    missing: float | str | None = None
    dates: str | None = None  # how text writes moments, where that is not ISO 8601
    other = False
    outside = "outside the bounds"

    def __post_init__(self) -> None:
        scale = scale_of(self.bounds)
        object.__setattr__(self, "bounds", tuple(scale.canonical(bound) for bound in self.bounds))
        if isinstance(self.count, bool) or not isinstance(self.count, int | np.integer):
            raise BadArgument("bins", f"is {self.count!r}", f"use a whole number of them, for example 1024{scale.also}")
        object.__setattr__(self, "count", positive("bins", int(self.count)))
        _edges(self.ends, self.count)  # which refuses to make what doubles cannot tell apart
        if self.dates is not None:
            if scale is not MOMENTS:
                works = Phrase("leave it out, or give days as {bounds}", bounds=("2026-01-01", "2026-12-31"))
                raise BadArgument("dates", "is for days and moments", works)
            written(self.dates)
        if self.missing is not None and not isinstance(self.missing, str):
            if scale is not NUMBERS:
                raise BadArgument("missing", "is a number, and people hold none", "leave it out, or use 'drop'")
            within_bounds(self.missing, self.ends, clip=self.clip)

    @classmethod
    def of(
        cls, bounds: Any, bins: int | str | None, usual: int = 0, *, clip: bool = False, dates: str | None = None
    ) -> Intervals:
        """From how many there are, or how long each is: "day" or "week", "hour", "minute" or
        "second", of which the last one is whole. Unless told, days between days have an interval
        each, and all else the `usual` number."""
        scale = scale_of(bounds)
        low, high = scale.ends(tuple(scale.canonical(bound) for bound in bounds))
        if bins is None:
            by_day = scale is MOMENTS and not (low % DAY or high % DAY)
            bins = "day" if by_day and high - low <= MOST_DAYS * DAY else usual
        if not isinstance(bins, str):
            return cls(tuple(bounds), bins, clip, dates=dates)
        if bins not in LENGTHS or scale is NUMBERS:
            raise BadArgument("bins", f"is {bins!r}", f"use a whole number of them, for example 1024{scale.also}")
        count = math.ceil((high - low) / LENGTHS[bins])
        last = scale.at(low + count * LENGTHS[bins])
        return cls((bounds[0], last if count * LENGTHS[bins] > high - low else bounds[1]), count, clip, dates=dates)

    @cached_property
    def scale(self) -> Scale:
        """On which the values lie."""
        return scale_of(self.bounds)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The places of the first and the last edge."""
        return self.scale.ends(self.bounds)

    @property
    def step(self) -> float:
        """How long an interval is."""
        return (self.ends[1] - self.ends[0]) / self.count

    @cached_property
    def edges(self) -> Floats:
        """Their places."""
        return _edges(self.ends, self.count)

    @property
    def size(self) -> int:
        return self.count

    @property
    def reads_numbers(self) -> bool:
        return self.scale.numeric

    @property
    def takes(self) -> Kind:
        return AMOUNTS if self.scale.numeric else WITHOUT_NUMBER

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The intervals, with as few digits as tell their edges apart."""
        names = self.scale.texts(self.edges.tolist(), self.step)
        *others, last = (f"[{low}, {high})" for low, high in pairwise(names))
        return *others, f"{last[:-1]}]" if self.scale is NUMBERS else last

    def codes(self, column: Array) -> Codes:
        held, (low, high) = self.read(column), self.ends
        if not held.size:
            return np.zeros(0, dtype=self.narrow)
        if self.clip:
            held = np.clip(held, low, high)
        elif not (low <= held.min() and held.max() <= high):
            works = Phrase("widen them, or use {clip}", clip=True)
            raise BadData("data has values outside the bounds, {} to {}".format(*self._said), works)
        codes = np.searchsorted(self.edges, held, side="right") - 1
        return np.minimum(codes, self.count - 1).astype(self.narrow, copy=False)

    def read(self, column: Array) -> Array:
        """The places of a column's entries."""
        read = self.scale.read(column, self.dates).filled(self.missing)
        problem, counts_as = (
            f"data must be {self.scale.called} for a distribution",
            "a number" if self.scale.numeric else "",
        )
        return read.require(problem, self._remedy, counts_as=counts_as).values

    @property
    def middles(self) -> tuple[Floats, float]:
        """The places of the intervals' middles, and how far a value lies from them at most."""
        return (self.edges[:-1] + self.edges[1:]) / 2.0, self.step / 2.0

    @property
    def _remedy(self) -> str | Phrase:
        if self.scale.numeric:
            return AS_NUMBERS
        if self.scale is not MOMENTS or self.dates is not None:
            return ""
        return Phrase("write days as in 2026-11-16, or say how they are written, as in {dates}", dates="%d.%m.%Y")

    def place(self, argument: str, value: Any) -> float:
        """How many intervals lie before a value asked about: a whole number at an edge."""
        found = self.scale.named(argument, value, self.ends, self.step)
        place = float(np.interp(found, self.edges, np.arange(self.edges.size)))
        nearest = round(place)
        return float(nearest) if abs(place - nearest) <= AT_AN_EDGE * max(1.0, nearest) else place

    def shares(self, told: Any) -> Floats:
        """Of a pair of values, the intervals from first to below second; one between in part."""
        if not self._is_pair(told):
            return super().shares(told)
        first, last = (self.place("bounds", end) for end in told)
        at = np.arange(self.count)
        inside: Floats = np.clip(np.minimum(at + 1, last) - np.maximum(at, first), 0.0, 1.0)
        return inside

    def _is_pair(self, told: Any) -> bool:
        """Whether it is two values, rather than labels."""
        if not isinstance(told, tuple | list) or len(told) != 2:
            return False
        return not any(isinstance(end, str) and (self.scale.numeric or end in self.labels) for end in told)

    @property
    def line(self) -> str:
        """A database counts where rounding is far below an interval."""
        wide = self.step > COARSE * np.spacing(max(map(abs, self.ends)))
        return self.scale.called if wide and self.scale in (NUMBERS, MOMENTS) and self.dates is None else ""

    def counted(self, value: str, dialect: SqlDialect) -> Steps:
        """The interval a quarter of one below, or the next, whose edge is the double in `edges`."""
        (low, high), count = self.ends, self.count
        given = {"low": low, "high": high, "width": high - low, "scale": count / (high - low), "count": float(count)}
        least, most, width, scale, many = (dialect.parameter(name) for name in given)
        held = f"least(greatest({value}, {least}), {most})" if self.clip else value
        fits = f"{value} IS NOT NULL" if self.clip else f"{value} >= {least} AND {value} <= {most}"
        near = f"least(greatest(floor(({held} - {least}) * {scale} - 0.25), 0), {many})"
        above = f"CAST({held} >= {least} + {width} * ({near} + 1) / {many} AS INTEGER)"
        return Steps(f"least({near} + {above}, {many} - 1)", fits, given)

    def near(self, value: str, dialect: SqlDialect) -> Steps | None:
        if self.scale is not NUMBERS:
            return None
        given = {"low": self.ends[0], "high": self.ends[1], "width": self.ends[1] - self.ends[0], "count": self.count}
        low, high, width, count = (dialect.parameter(name) for name in given)
        held = f"least(greatest({value}, {low}), {high})" if self.clip else value
        return Steps(f"floor(({held} - {low}) * {count} / {width})", "", {**given, "count": float(self.count)})

    @property
    def grouped(self) -> bool:
        return False

    def label(self, code: int) -> Any:
        place = float(self.edges[code])
        return place if self.scale is NUMBERS else self.scale.canonical(self.scale.at(math.ceil(place)))

    @property
    def _said(self) -> tuple[str, str]:
        """The bounds, in words."""
        low, high = self.bounds
        return (f"{low:.15g}", f"{high:.15g}") if self.scale.numeric else (low, high)

    @property
    def described(self) -> str:
        ends = "from {} to {}".format(*self._said)
        return f"{self.scale.one.capitalize()} for each person, {ends}, in {self.count:,} equal bins{self._clipped}."

    @property
    def about(self) -> str:
        return "of values clipped to [{}, {}]".format(*self._said) if self.clip else ""

    @property
    def _clipped(self) -> str:
        return "; values outside are brought to the nearer bound" if self.clip else ""

    @property
    def accepted(self) -> str:
        return self.scale.one + ("" if self.clip else " from {} to {}".format(*self._said))

    @property
    def rules(self) -> list[str]:
        return [*([f"dates are written as {self.dates}, or as 2026-11-16"] if self.dates else []), *super().rules]

    def to_json(self) -> dict[str, Any]:
        missing = {} if self.missing is None else {"missing": self.missing}
        dates = {} if self.dates is None else {"dates": self.dates}
        return {"bounds": list(self.bounds), "bins": self.count, "clip": self.clip, **missing, **dates}


@lru_cache(maxsize=16)
def _edges(bounds: tuple[float, float], count: int) -> Floats:
    """The edges of equal intervals between bounds."""
    low, high = bounds
    edges = low + (high - low) * np.arange(count + 1) / count
    edges[-1] = high
    edges.flags.writeable = False
    if np.any(np.diff(edges) <= 0.0):
        raise BadArgument("bins", f"is {count:,}, too many for doubles to tell apart", "use fewer")
    return edges
