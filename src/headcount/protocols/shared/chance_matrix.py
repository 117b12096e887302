"""A matrix of exact chances, a row per value and a column per message: as text and fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from headcount.errors import BadArgument

Rows = tuple[tuple[Fraction, ...], ...]
MOST = 64  # values, and messages
FINEST = 1 << 56  # the largest common denominator, so that a word draws a cell
CLOSE = Fraction(1, 10**9)  # that far from 1 the sum of a row of floats may be
SHAPE = f"give 2 to {MOST} rows of as many chances each, 1 to {MOST}"


def matrix_text(matrix: Any) -> str:
    """The matrix as an equivalent text: fractions with spaces between, rows with semicolons."""
    return "; ".join(" ".join(map(str, row)) for row in matrix_rows(matrix))


def matrix_rows(matrix: Any) -> Rows:
    """The rows of a matrix, given as rows of chances or as text.

    Entries without a common denominator up to `FINEST` are rounded up to multiples of 1/FINEST, and
    the row's largest entry gives what they take; so it does where a row of floats does not quite
    add up to 1.
    """
    if isinstance(matrix, str):
        return _read(matrix)
    given = getattr(matrix, "matrix", matrix)  # of a `Randomiser`
    try:
        return _exact(tuple(tuple(map(_chance, row)) for row in given))
    except TypeError:
        raise BadArgument("matrix", "is not a table", SHAPE) from None


@lru_cache(maxsize=256)
def _read(text: str) -> Rows:
    return _exact(tuple(tuple(map(_chance, row.split())) for row in text.split(";")))


def identity(values: int) -> str:
    """The matrix of those who say what they hold."""
    return matrix_text([[int(value == message) for message in range(values)] for value in range(values)])


def common_denominator(rows: Rows) -> int:
    """The least common denominator of all entries."""
    return math.lcm(*{entry.denominator for row in rows for entry in row})


def _exact(rows: Rows) -> Rows:
    if not 2 <= len(rows) <= MOST or len({len(row) for row in rows}) != 1 or not 1 <= len(rows[0]) <= MOST:
        raise BadArgument("matrix", "is not a table", SHAPE)
    for number, row in enumerate(rows):
        if not -CLOSE <= sum(row, Fraction(-1)) <= CLOSE:
            works = "write them as fractions such as '1/3', or as decimals that add up to 1"
            raise BadArgument("matrix", f"has a row, number {number}, whose chances do not add up to 1", works)
    rows = tuple(map(_adding_up, rows))
    return rows if common_denominator(rows) <= FINEST else tuple(map(_rounded, rows))


def _adding_up(row: Iterable[Fraction]) -> tuple[Fraction, ...]:
    """The row with its largest entry such that the sum is 1."""
    entries = [*row]
    largest = max(range(len(entries)), key=entries.__getitem__)
    entries[largest] += 1 - sum(entries)
    return tuple(entries)


def _rounded(row: Iterable[Fraction]) -> tuple[Fraction, ...]:
    return _adding_up(Fraction(math.ceil(entry * FINEST), FINEST) for entry in row)


def _chance(entry: Any) -> Fraction:
    try:
        number = entry if isinstance(entry, Fraction | int | str) else repr(float(entry))
        chance = Fraction(number)
    except (TypeError, ValueError, ZeroDivisionError):
        raise BadArgument("matrix", "has an entry that is no number", "use chances such as 0.25 or '1/3'") from None
    if not 0 <= chance <= 1:
        raise BadArgument("matrix", "has an entry that is no chance", "use numbers from 0 to 1")
    return chance
