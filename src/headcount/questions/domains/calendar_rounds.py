"""Rounds of a series: hours, days, weeks, months, quarters or years, counted from a first day on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import ClassVar

import numpy as np

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.questions.domains.domain import Codes
from headcount.questions.domains.missing import DROP, rule
from headcount.questions.domains.periods import Periods
from headcount.questions.reading import Array
from headcount.questions.times import HOUR, MINUTE, iso, moment, moments

LENGTHS = {"hour": HOUR, "day": 24 * HOUR, "week": 168 * HOUR}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
EVERY = (*LENGTHS, *MONTHS)
MOST_ROUNDS = 10_000
TIMES = Phrase("say how text writes them, as in {dates}, and which text means nothing", dates="%d.%m.%Y")
DROPPED = Phrase("use {missing} to leave their rows out", missing=DROP)


@dataclass(frozen=True)
class Rounds(Periods):
    """Periods one after the other; what lies before the first or after the last has a code of its own."""

    by_minute: ClassVar[bool] = True  # all begin at a whole minute

    @classmethod
    def beginning(
        cls, first: str, every: str, number: int, *, dates: str | None = None, missing: str | None = None
    ) -> Rounds:
        """Rounds of this length, of which the first begins at this moment; and how times are read."""
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
            starts = tuple(_later(begin, every, at) for at in range(int(many) + 1))
            return cls(starts, other=True, missing=missing, dates=dates)
        except (ValueError, OverflowError):  # of the calendar
            raise BadArgument("rounds", "end after the year 9999", "use fewer, or shorter ones") from None

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """When each round begins."""
        return self.starts[:-1]

    def codes(self, column: Array) -> Codes:
        read = moments(column, self.dates)
        if read.missing.any():
            raise BadData("data has missing times", DROPPED)
        if read.strange.any():
            raise BadData("data has entries that are no times", TIMES)
        codes = np.searchsorted(np.array(self._moments), read.values, side="right") - 1
        return np.where((codes >= 0) & (codes < len(self.labels)), codes, len(self.labels))

    @property
    def rules(self) -> list[str]:
        written = [f"times are written as {self.dates}, or as 2026-11-16"] if self.dates else []
        return [*written, *rule(self.missing, of="time")]


def _later(begin: int, every: str, rounds: int) -> str:
    """When a round begins, this many rounds later."""
    if every in LENGTHS:
        return iso(begin + rounds * LENGTHS[every])
    at = datetime.fromtimestamp(begin // 1_000_000, UTC)
    whole = at.year * 12 + at.month - 1 + rounds * MONTHS[every]
    return date(whole // 12, whole % 12 + 1, 1).isoformat()
