"""Probabilities that are drawn exactly.

A `Chance` is a float that is also a whole number of 2**-64: comparing one 64-bit word with its
threshold draws it without any rounding. Every double from 2**-11 upward qualifies already; smaller
ones are rounded, and the caller says in which direction privacy lies.
"""

from __future__ import annotations

import math
from typing import Final, Self

from headcount.errors import BadArgument

WORD: Final = 1 << 64


class Chance(float):
    """A probability that is a multiple of 2**-64 with at most 53 significant bits."""

    __slots__ = ()

    def __new__(cls, value: float) -> Self:
        self = super().__new__(cls, value)
        if not (0.0 <= self <= 1.0 and float.is_integer(self * WORD)):
            raise BadArgument("chance", f"is {value!r}, not a multiple of 2**-64 from 0 to 1", "use Chance.up")
        return self

    @classmethod
    def up(cls, value: float) -> Self:
        return cls(min(1.0, math.ceil(value * WORD) / WORD))

    @classmethod
    def down(cls, value: float) -> Self:
        return cls(max(0.0, math.floor(value * WORD) / WORD))

    @property
    def threshold(self) -> int:
        """The number of the 2**64 words that say yes."""
        return int(self * WORD)

    def __repr__(self) -> str:
        return f"Chance({float(self)!r})"
