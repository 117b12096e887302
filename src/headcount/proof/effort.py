"""How much work a certificate is worth: whoever wrote it chose the numbers, and they may be enormous.

Everything that takes time in proportion to a number in the certificate pays for it first, so that a proof ends after
about as much work on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST = 8_000_000  # units, each a few operations on balls or fractions

_left: ContextVar[int | None] = ContextVar("left", default=None)


class TooLarge(ArithmeticError):
    """More than this way of looking at a certificate can go through."""


def spend(units: int) -> None:
    left = _left.get()
    if left is None:
        return
    if units > left:
        raise TooLarge("there is too much to go through one by one")
    _left.set(left - units)


@contextmanager
def limited(most: int | None = None) -> Iterator[None]:
    """Within this, and only there, work is limited: for one certificate, or a part of it that may take longer."""
    before = _left.set(MOST if most is None else most)
    try:
        yield
    finally:
        _left.reset(before)
