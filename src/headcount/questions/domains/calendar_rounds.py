"""Rounds of a series: hours, days, weeks, months, quarters or years, from a first day on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar
from zoneinfo import ZoneInfo

import numpy as np

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, BadData
from headcount.phrases import Phrase
from headcount.questions.domains.domain import Codes
from headcount.questions.domains.missing import DROP, rule
from headcount.questions.domains.periods import Periods
from headcount.questions.reading import Array
from headcount.questions.times import MINUTE, moment, moments, tells_zone

DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
EVERY = ("hour", *DAYS, *MONTHS)
MOST_ROUNDS = 10_000
TIMES = Phrase("say how text writes them, as in {dates}, and which text means nothing", dates="%d.%m.%Y")
DROPPED = Phrase("use {missing} to leave their rows out", missing=DROP)


@dataclass(frozen=True)
class Rounds(Periods):
    """Successive periods; anything before the first or after the last has a code of its own."""

    by_minute: ClassVar[bool] = True  # all begin at a whole minute
    timezone: str = "UTC"

    @classmethod
    def beginning(
        cls,
        first: str,
        every: str,
        number: int,
        timezone: str = "UTC",
        *,
        dates: str | None = None,
        missing: str | None = None,
    ) -> Rounds:
        """Rounds of this length, of which the first begins at this moment: days as they are in that
        time zone; and how times are read."""
        works = f"use a whole number from 1 to {MOST_ROUNDS:,}"
        many = quantity("rounds", number, works)
        if many != int(many) or not 1 <= many <= MOST_ROUNDS:
            raise BadArgument("rounds", f"is {many:g}", works)
        begin = moment(first)
        if begin is None or begin % MINUTE:
            raise BadArgument("first", f"is {first!r}", "use a day as 2026-01-05, or a whole minute of it")
        if every not in EVERY:
            raise BadArgument("every", f"is {every!r}", f"use one of {', '.join(EVERY)}")
        zone = _zone(timezone)
        at = _EPOCH + timedelta(microseconds=begin)
        at = at.astimezone(zone) if tells_zone(first) else at.replace(tzinfo=zone)
        if every in MONTHS and (at.day, at.hour, at.minute) != (1, 0, 0):
            works = f"months, quarters and years begin with their first day, in {timezone}: use one as 2026-01-01"
            raise BadArgument("first", f"is {at:%Y-%m-%d %H:%M}", works)
        try:
            starts = [_later(at, every, each).astimezone(UTC) for each in range(int(many) + 1)]
        except (ValueError, OverflowError):  # of the calendar
            raise BadArgument("rounds", "end after the year 9999", "use fewer, or shorter ones") from None
        if any(start.second for start in starts):  # as they did in some places before 1972
            works = "use UTC"
            raise BadArgument("timezone", "had minutes of its own in these years, which are not those of UTC", works)
        told = tuple(start.replace(tzinfo=None).isoformat() for start in starts)
        return cls(told, other=True, missing=missing, dates=dates, timezone=timezone)

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """When each round begins, where it is that time."""
        zone = _zone(self.timezone)
        local = (datetime.fromisoformat(start).replace(tzinfo=UTC).astimezone(zone) for start in self.starts[:-1])
        return tuple(each.date().isoformat() if not (each.hour or each.minute) else _said(each) for each in local)

    def codes(self, column: Array) -> Codes:
        read = moments(column, self.dates)
        if read.missing.any():
            raise BadData("data has missing times", DROPPED)
        if read.strange.any():
            raise BadData("data has entries that are no times", TIMES)
        last = len(self.starts) - 1
        codes = np.searchsorted(np.array(self._moments), read.values, side="right") - 1
        return np.where((codes >= 0) & (codes < last), codes, last)

    @property
    def rules(self) -> list[str]:
        written = [f"times are written as {self.dates}, or as 2026-11-16"] if self.dates else []
        return [*written, *rule(self.missing, of="time")]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (TypeError, ValueError, OSError, LookupError):  # no text, no name, no file, no zone
        works = "use a name of the IANA database, as Europe/Berlin or America/New_York"
        raise BadArgument("timezone", f"is {name!r}", works) from None


def _later(begin: datetime, every: str, rounds: int) -> datetime:
    """When a round begins, this many rounds later.

    Days have 23 to 25 hours where clocks are changed.
    """
    if every == "hour":
        return begin.astimezone(UTC) + timedelta(hours=rounds)
    if every in DAYS:
        return begin + timedelta(days=rounds * DAYS[every])
    whole = begin.year * 12 + begin.month - 1 + rounds * MONTHS[every]
    return begin.replace(year=whole // 12, month=whole % 12 + 1)


def _said(moment: datetime) -> str:
    """With its distance from UTC, where that may change: an hour may come twice."""
    return (moment.replace(tzinfo=None) if moment.tzname() == "UTC" else moment).isoformat()
