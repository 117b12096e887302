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
        if every in LENGTHS:
            return cls(tuple(iso(begin + at * LENGTHS[every]) for at in range(int(many) + 1)), other=True)
        if every not in MONTHS:
            raise BadArgument("every", f"is {every!r}", f"use one of {', '.join(EVERY)}")
        return cls(tuple(_months_on(begin, at * MONTHS[every]) for at in range(int(many) + 1)), other=True)

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


def _months_on(begin: int, months: int) -> str:
    """The same moment of the day, this many months later."""
    at = datetime.fromtimestamp(begin // 1_000_000, UTC)
    if at.day != 1 or begin % (24 * HOUR):
        raise BadArgument("first", f"is {iso(begin)}", "months begin with their first day: use one as 2026-01-01")
    whole = at.year * 12 + at.month - 1 + months
    return date(whole // 12, whole % 12 + 1, 1).isoformat()
