"""Days, weeks, months, quarters or years, or other stretches of time between declared moments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.domains.bins import MOST_COMPARED, between_edges
from headcount.questions.domains.categories import MOST_CATEGORIES, Listed
from headcount.questions.domains.domain import Codes, SqlDialect, Steps
from headcount.questions.reading import Array
from headcount.questions.times import iso, moment, moments, written

PERIODS = ("day", "week", "month", "quarter", "year")
WORKS = Phrase("use days as in {bounds}", bounds=("2026-01-01", "2026-12-31"))


@dataclass(frozen=True)
class Periods(Listed):
    """A period begins at its own moment, in UTC, and ends before the next one's.

    They are declared, never read from the data.
    """

    starts: tuple[str, ...]  # of the periods, by ISO 8601, and the end of the last one
    period: str = ""  # which of `PERIODS`, where they are
    other: bool = False
    missing: str | None = None
    dates: str | None = None  # how text writes them, where that is not ISO 8601
    remedy: ClassVar[Phrase] = Phrase(
        "say how days are written, as in {dates}, or name more periods, or use {other} to count the rest apart",
        dates="%d.%m.%Y",
        other=True,
    )

    def __post_init__(self) -> None:
        if self.dates is not None:
            written(self.dates)
        found = [moment(start) for start in self.starts]
        increasing = None not in found and all(low < high for low, high in pairwise(found))  # type: ignore[operator]
        if len(found) < 2 or not increasing:
            works = Phrase("use at least two increasing days, for example {bins}", bins=["2026-01-01", "2026-07-01"])
            raise BadArgument("bins", "are not increasing", works)
        object.__setattr__(self, "starts", tuple(map(iso, self._moments)))
        self._require_other()

    @property
    def outside(self) -> str:
        form = f"written as {self.dates} or 2026-11-16" if self.dates else "as in 2026-11-16 or 2026-11-16 09:30"
        return f"that are no days {form}, or not from {self.starts[0]} to before {self.starts[-1]} (in UTC)"

    @classmethod
    def of(cls, bins: Any, bounds: Any = None, *, other: bool = False, dates: str | None = None) -> Periods:
        """From moments, or as the name of a period and the first and the last day: periods that
        begin before the first day or end after the last one are whole. The first day of a month,
        quarter or year may also be the end: with it the last one is over."""
        if not isinstance(bins, str):
            return cls(tuple(_text(each) for each in bins), other=other, dates=dates)
        if bins not in PERIODS:
            raise BadArgument("bins", f"is {bins!r}", f"use one of {', '.join(PERIODS)}, a number of bins, or edges")
        if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
            raise BadArgument("bounds", "is missing" if bounds is None else f"is {bounds!r}", WORKS)
        first, last = (_day(each) for each in bounds)
        if first > last:
            raise BadArgument("bounds", f"is {bounds!r}", WORKS)
        return cls(tuple(day.isoformat() for day in _starts(bins, first, last)), bins, other, dates=dates)

    @property
    def _moments(self) -> list[int]:
        return [found for start in self.starts if (found := moment(start)) is not None]

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """A period by its year and month, by its quarter, or by its first day."""
        if self.period:
            return tuple(_called(self.period, date.fromisoformat(start[:10])) for start in self.starts[:-1])
        return tuple(f"[{low}, {high})" for low, high in pairwise(self.starts))

    @property
    def size(self) -> int:
        return len(self.starts) - 1 + self.apart + self.other

    def codes(self, column: Array) -> Codes:
        if not column.size:
            return np.zeros(0, dtype=self.narrow)
        read, edges = moments(column, self.dates), np.array(self._moments)
        codes = np.searchsorted(edges, read.values, side="right") - 1
        return self.placed(codes, read, (codes >= 0) & (codes < edges.size - 1))

    @property
    def line(self) -> str:
        return "moments" if len(self.starts) <= MOST_COMPARED and self.dates is None else ""

    def counted(self, value: str, dialect: SqlDialect) -> Steps:
        return between_edges(self._moments, value, dialect, closed=False)

    @property
    def grouped(self) -> bool:
        return False

    def label(self, code: int) -> Any:
        if self.apart and code == len(self.starts) - 1:
            return None
        return self.starts[min(code, len(self.starts) - 1)]

    @property
    def described(self) -> str:
        return self._described(f"{self.period}s" if self.period else "periods")

    @property
    def accepted(self) -> str:
        return f"a day from {self.starts[0]} to before {self.starts[-1]}, as in {self.starts[0]}"

    @property
    def rules(self) -> list[str]:
        weeks = ["weeks begin on Monday"] if self.period == "week" else []
        whole = f"{self.period}s are whole, from {self.starts[0]} to before {self.starts[-1]}"
        return [
            *weeks,
            *([whole] if self.period not in ("", "day") else []),
            *([f"dates are written as {self.dates}, or as 2026-11-16"] if self.dates else []),
            *super().rules,
        ]

    def to_json(self) -> dict[str, Any]:
        dates = {} if self.dates is None else {"dates": self.dates}
        return {"starts": list(self.starts), "period": self.period, **dates, **self._placing()}


def are_days(edges: Any) -> bool:
    """Whether the edges are days or moments."""
    listed = isinstance(edges, Iterable) and not isinstance(edges, str)
    return listed and any(moment(edge) is not None for edge in edges)


def _text(given: Any) -> str:
    found = moment(given)
    if found is None:
        works = Phrase("use days by ISO 8601, for example {bins}", bins=["2026-01-01", "2026-07-01"])
        raise BadArgument("bins", "has something else than days and moments among them", works)
    return iso(found)


def _day(given: Any) -> date:
    found = moment(given)
    if found is None:
        raise BadArgument("bounds", f"is {given!r}, which is no day", WORKS)
    return (datetime(1970, 1, 1) + timedelta(microseconds=found)).date()


def _starts(period: str, first: date, last: date) -> Iterator[date]:
    """Where such periods begin, from the first day's to the one after the last day's."""
    step, at = {"month": 1, "quarter": 3, "year": 12}.get(period), first
    if step is None:
        at = first - timedelta(days=first.weekday() if period == "week" else 0)
    else:
        at = date(first.year, (first.month - 1) // step * step + 1, 1)
    for _ in range(MOST_CATEGORIES):
        yield at
        if at > last or (at == last > first and step is not None):
            return
        if step is None:
            at += timedelta(days=7 if period == "week" else 1)
        else:
            months = at.year * 12 + at.month - 1 + step
            at = date(months // 12, months % 12 + 1, 1)


def _called(period: str, start: date) -> str:
    if period == "month":
        return f"{start:%Y-%m}"
    if period == "quarter":
        return f"{start.year:04}-Q{(start.month + 2) // 3}"
    return f"{start.year:04}" if period == "year" else start.isoformat()
