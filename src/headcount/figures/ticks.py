"""Round places along a line of numbers, moments or durations, and what is written at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from headcount.questions.times import DAY, HOUR, MINUTE, SECOND, clock

MOST = 8  # ticks
ROUND = (1, 2, 2.5, 5, 10)
STRETCHES = [
    *(each * SECOND for each in (1, 2, 5, 10, 15, 30)),
    *(each * MINUTE for each in (1, 2, 5, 10, 15, 30)),
    *(each * HOUR for each in (1, 2, 3, 6, 12)),
    *(each * DAY for each in (1, 2, 7, 14)),
]
MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1_200)
EPOCH = datetime(1970, 1, 1)
Ticks = list[tuple[float, str]]


def of_numbers(low: float, high: float) -> Ticks:
    step = _rounded((high - low) / MOST)
    digits = next(places for places in range(20) if abs(step * 10**places - round(step * 10**places)) < 1e-6)
    return [(place, f"{place + 0.0:,.{digits}f}".replace("-", "−")) for place in _multiples(step, low, high)]


def of_durations(low: float, high: float) -> Ticks:
    step = next((each for each in STRETCHES if (high - low) / each <= MOST), DAY * _rounded((high - low) / DAY / MOST))
    named = _in_days if step >= DAY else clock
    return [(place, named(round(place))) for place in _multiples(step, low, high)]


def of_moments(low: float, high: float) -> Ticks:
    """Years, months, days or parts of a day."""
    span = high - low
    if span / MOST <= STRETCHES[-1]:
        step = next(each for each in STRETCHES if span / each <= MOST)
        return [(place, _at(place).strftime(_form(step))) for place in _multiples(step, low, high)]
    months = next((each for each in MONTHS if span / (each * 30.44 * DAY) <= MOST), MONTHS[-1])
    form = "%Y" if months % 12 == 0 else "%Y-%m"
    return [(place, _at(place).strftime(form)) for place in _firsts(months, low, high)]


OF: dict[str, Callable[[float, float], Ticks]] = {
    "numbers": of_numbers,
    "moments": of_moments,
    "durations": of_durations,
}


def spread_out(edges: Sequence[float], most: int) -> list[int]:
    """The edges to label, at most this many: every second, fifth, tenth and so on, and the last."""
    every = int(max(1, math.ceil(_rounded((len(edges) - 1) / most))))
    return [*range(0, len(edges) - 1, every), len(edges) - 1]


def _rounded(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(each * power for each in ROUND if each * power >= step * (1.0 - 1e-9))


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [step * each for each in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _firsts(months: int, low: float, high: float) -> Iterator[float]:
    """The first days of every few months."""
    start = _at(low)
    whole = -(-(start.year * 12 + start.month - 1) // months) * months
    while whole < 120_000:
        place = (datetime(whole // 12, whole % 12 + 1, 1) - EPOCH) / timedelta(microseconds=1)
        if place > high:
            return
        if place >= low:
            yield place
        whole += months


def _at(place: float) -> datetime:
    return EPOCH + timedelta(microseconds=round(place))


def _form(step: float) -> str:
    return "%Y-%m-%d" if step >= DAY else "%d %H:%M" if step >= MINUTE else "%H:%M:%S"


def _in_days(microseconds: int) -> str:
    return f"{microseconds // DAY:,} days"
