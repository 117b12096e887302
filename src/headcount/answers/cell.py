"""One category's part of an answer, and how categories are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headcount.figures.text_table import TextTable
from headcount.questions.domains.domain import Label


@dataclass(frozen=True)
class Cell:
    """One category's part of a histogram."""

    category: Any  # a label; of several columns of groups one of each
    value: float
    interval95: tuple[float, float]
    simultaneous95: tuple[float, float] | None = None  # with which all of them are covered at once
    people: float | None = None  # about how many there are in the group, of a rate, a mean or a sum

    def to_json(self) -> dict[str, Any]:
        """Its JSON form; a value that is not a number is null."""
        value = None if math.isnan(self.value) else self.value
        apart = {} if self.simultaneous95 is None else {"simultaneous95": list(self.simultaneous95)}
        people = {} if self.people is None else {"people": self.people}
        category = list(self.category) if isinstance(self.category, tuple) else self.category
        return {"category": category, "value": value, "interval95": list(self.interval95), **apart, **people}


def rows_sheet(rows: Sequence[tuple[str, str, str]]) -> TextTable:
    """Categories, their values and intervals, as a table."""
    return TextTable(("category", "value", "95% interval"), tuple(rows), frozenset({1, 2}))


def plain(category: Any) -> Label:
    """A category for a column of a table: of several columns of groups as text."""
    return called(category) if isinstance(category, tuple) else category


def called(category: Any) -> str:
    """A category as text; a group of several columns by what it is in each of them."""
    return ", ".join(map(str, category)) if isinstance(category, tuple) else str(category)
