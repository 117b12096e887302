"""The meaning and the form of moments and durations: in microseconds, moments since 1970 in UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.reading import SPACE, Array, Read, each_of

SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
LENGTHS = {"second": SECOND, "minute": MINUTE, "hour": HOUR, "day": DAY, "week": 7 * DAY}
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
DIRECTIVES = {"Y": "[0-9]{4}", **dict.fromkeys("mdHMS", "[0-9]{1,2}")}  # of dates in a form of their own
_FIRST = {"m": "1", "d": "1", "H": "0", "M": "0", "S": "0"}
_DATES = Phrase("use %Y, %m and %d, perhaps %H, %M and %S, each once: for example {dates}", dates="%d.%m.%Y")
_EPOCH = datetime(1970, 1, 1)
_CLOCK = re.compile(
    r"([+-]?)(?:([0-9]{1,6}) days?,? )?([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?"
    r"|([+-]?[0-9]{1,6}) days?"
)
LONGEST = 1_000_000  # days


def moment(value: object) -> int | None:
    """Microseconds since 1970 in UTC, for a day those of its midnight; text is in ISO 8601."""
    if isinstance(value, str):
        found = _MOMENT.fullmatch(value.strip(SPACE))
        return _since(*found.groups()) if found else None
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else int(value.astype("M8[us]").astype(np.int64))
    if isinstance(value, datetime):
        shift = value.utcoffset() or timedelta()  # not taken to UTC itself, where it may have no year
        return _microseconds(value) - shift // timedelta(microseconds=1)
    return _microseconds(datetime(value.year, value.month, value.day)) if isinstance(value, date) else None


def written(form: str) -> re.Pattern[str]:
    """What days and moments in this form look like: text as in strptime, such as %d.%m.%Y."""
    parts, named = re.split(r"%(.)", form), list[str]()
    for place, part in enumerate(parts):
        if place % 2 == 0:
            parts[place] = re.escape(part)
        elif part not in DIRECTIVES or part in named:
            raise BadArgument("dates", f"is {form!r}", _DATES)
        else:
            named.append(part)
            parts[place] = f"(?P<{part}>{DIRECTIVES[part]})"
    if "Y" not in named or ("d" in named and "m" not in named):
        raise BadArgument("dates", f"is {form!r}", _DATES)
    return re.compile("".join(parts))


def moment_written(value: object, form: re.Pattern[str]) -> int | None:
    """The same where text is in a form of its own, and by ISO 8601 where it is not in that form;
    hours and minutes that it does not tell are 0."""
    found = form.fullmatch(value.strip(SPACE)) if isinstance(value, str) else None
    if found is None:
        return moment(value)
    told = {**_FIRST, **found.groupdict()}
    return _since(*(told[part] for part in "YmdHMS"), None, None)


def _since(*told: str | None) -> int | None:
    year, month, day, hour, minute, second = (int(part or 0) for part in told[:6])
    try:
        found = _microseconds(datetime(year, month, day, hour, minute, second))
        zone = told[7]
        if zone is None or zone == "Z":
            shift = timedelta()
        else:
            shift = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            timezone(shift)
            shift = -shift if zone[0] == "-" else shift
    except ValueError:  # no such day, time or zone
        return None
    return found + int((told[6] or "").ljust(6, "0")[:6]) - _microseconds(_EPOCH + shift)


def tells_zone(value: object) -> bool:
    """Whether a moment says where it is that time."""
    if isinstance(value, str):
        found = _MOMENT.fullmatch(value.strip(SPACE))
        return bool(found and found[8])
    return isinstance(value, datetime) and value.utcoffset() is not None


def _microseconds(value: datetime) -> int:
    return (value.replace(tzinfo=None, fold=0) - _EPOCH) // timedelta(microseconds=1)


def moments(data: Array, dates: str | None = None) -> Read:
    """Moments, as microseconds since 1970; of text by ISO 8601, or written as `dates` says."""
    if data.dtype.kind == "M":
        held = np.ma.getdata(data)
        missing = np.isnat(held) | np.ma.getmaskarray(data)
        years = held.astype("M8[Y]").astype(np.int64) + 1970  # in a coarser unit nothing overflows
        strange = ~missing & ~((years >= 1) & (years <= 9999))
        known = np.where(missing | strange, np.zeros(1, dtype=held.dtype), held)
        return Read(known.astype("M8[us]").astype(np.int64), strange, missing)
    if dates is None:
        return each_of(data, moment, np.int64)
    form = written(dates)
    return each_of(data, lambda value: moment_written(value, form), np.int64)


def iso(microseconds: int) -> str:
    """A day, or a moment of it."""
    found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    midnight = not (found.hour or found.minute or found.second or found.microsecond)
    return found.date().isoformat() if midnight else found.replace(tzinfo=None).isoformat()


def duration(value: object) -> int | None:
    """Its microseconds; text is hours, minutes and seconds: 1:30, 0:01:30.5, 2 days 1:30:00."""
    if isinstance(value, str):
        found = _CLOCK.fullmatch(value.strip(SPACE))
        return None if found is None else _long(*found.groups())
    if isinstance(value, np.timedelta64):
        read = durations(np.array([value]))
        return None if read.strange[0] or read.missing[0] else int(read.values[0])
    return value // timedelta(microseconds=1) if isinstance(value, timedelta) else None


def _long(*told: str | None) -> int:
    sign, days, hours, minutes, seconds, parts, alone = told
    if alone is not None:
        return int(alone) * DAY
    whole = int(days or 0) * DAY + int(hours or 0) * HOUR + int(minutes or 0) * MINUTE + int(seconds or 0) * SECOND
    return (-1 if sign == "-" else 1) * (whole + int((parts or "").ljust(6, "0")[:6]))


def durations(data: Array) -> Read:
    """Durations, as microseconds."""
    if data.dtype.kind != "m":
        return each_of(data, duration, np.int64)
    held = np.ma.getdata(data)
    missing = np.isnat(held) | np.ma.getmaskarray(data)
    if np.datetime_data(held.dtype)[0] in ("Y", "M", "generic"):  # which are no fixed time
        return Read(np.zeros(held.size, dtype=np.int64), ~missing, missing)
    strange = ~missing & (np.abs(held.astype("m8[D]").astype(np.int64)) >= LONGEST)
    known = np.where(missing | strange, np.zeros(1, dtype=held.dtype), held)
    return Read(known.astype("m8[us]").astype(np.int64), strange, missing)


def clock(microseconds: int) -> str:
    """A duration in hours, minutes and seconds, with the digits that it needs."""
    seconds, parts = divmod(abs(microseconds), SECOND)
    digits = f".{parts:06}".rstrip("0") if parts else ""
    sign = "-" if microseconds < 0 else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{digits}"
