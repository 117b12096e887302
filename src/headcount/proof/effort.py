"""A meter for the work that a certificate asks for, whose author chose the numbers.

Everything that takes time or memory in proportion to a number in the certificate pays for it first,
in units of about a microsecond. A proof therefore ends after as much work on every machine, and
keeps less than some 70 bytes a unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

DEFAULT = 30_000_000


@dataclass
class Meter:
    """Units that may be spent, and those that were, or would have been."""

    allowed: int
    spent: int = 0


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


class TooLarge(ArithmeticError):
    """A certificate beyond what this method can go through, at any effort."""


class Exhausted(TooLarge):
    """A certificate that takes more than the allowed effort."""

    def __init__(self, meter: Meter) -> None:
        needed = f"{meter.spent:,}" if meter.spent < 10**15 else f"10^{len(str(meter.spent)) - 1}"
        super().__init__(f"effort={meter.allowed:,} does not suffice: this takes {needed} or more")


def spend(units: int) -> None:
    """Pays for work that is about to be done; free where nothing is limited."""
    meter = _meter.get()
    if meter is None:
        return
    meter.spent += units
    if meter.spent > meter.allowed:
        raise Exhausted(meter)


@contextmanager
def limited(effort: int) -> Iterator[Meter]:
    """Limits the work that is done within this context."""
    meter = Meter(effort)
    before = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(before)
