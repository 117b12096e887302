"""Rounds of a series: hours, days, weeks, months, quarters or years, counted from a first day on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import ClassVar

import numpy as np

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, BadData
from headcount.questions.domains.domain import Codes
from headcount.questions.domains.periods import Periods
from headcount.questions.reading import Array
from headcount.questions.times import HOUR, MINUTE, iso, moment, moments

LENGTHS = {"hour": HOUR, "day": 24 * HOUR, "week": 168 * HOUR}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
EVERY = (*LENGTHS, *MONTHS)
MOST_ROUNDS = 10_000
TIMES = "use a column of dates or times, or of texts such as 2026-01-31"


@dataclass(frozen=True)
class Rounds(Periods):
    """Periods one after the other; what lies before the first or after the last has a code of its own."""

    by_minute: ClassVar[bool] = True  # all begin at a whole minute

    @classmethod
    def beginning(cls, first: str, every: str, number: int) -> Rounds:
        """Rounds of this length, of which the first begins at this moment."""
        works = f"use a whole number from 1 to {MOST_ROUNDS:,}"
        many = quantity("rounds", number, works)
        if many != int(many) or not 1 <= many <= MOST_ROUNDS:
            raise BadArgument("rounds", f"is {many:g}", works)
        begin = moment(first)
        if begin is None or begin % MINUTE:
            raise BadArgument("first", f"is {first!r}", "use a day as 2026-01-05, or a whole minute of it")
        if every not in EVERY:
            raise BadArgument("every", f"is {every!r}", f"use one of {', '.join(EVERY)}")
        if every in MONTHS and not iso(begin).endswith("-01"):
            works = "months, quarters and years begin with their first day, in UTC: use one as 2026-01-01"
            raise BadArgument("first", f"is {iso(begin)}", works)
        try:
            return cls(tuple(_later(begin, every, at) for at in range(int(many) + 1)), other=True)
        except (ValueError, OverflowError):  # of the calendar
            raise BadArgument("rounds", "end after the year 9999", "use fewer, or shorter ones") from None

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """When each round begins."""
        return self.starts[:-1]

    def codes(self, column: Array) -> Codes:
        read = moments(column)
        if (read.missing | read.strange).any():
            raise BadData("time has entries that are no times", TIMES)
        codes = np.searchsorted(np.array(self._moments), read.values, side="right") - 1
        return np.where((codes >= 0) & (codes < len(self.labels)), codes, len(self.labels))

    @property
    def rules(self) -> list[str]:
        return []


def _later(begin: int, every: str, rounds: int) -> str:
    """When a round begins, this many rounds later."""
    if every in LENGTHS:
        return iso(begin + rounds * LENGTHS[every])
    at = datetime.fromtimestamp(begin // 1_000_000, UTC)
    whole = at.year * 12 + at.month - 1 + rounds * MONTHS[every]
    return date(whole // 12, whole % 12 + 1, 1).isoformat()
