"""The largest cells of an answer, and which categories are surely, or may be, among the largest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.answers.cell import Cell, rows_sheet
from headcount.answers.labels import called, plain
from headcount.common.quantity import quantity
from headcount.errors import BadArgument
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.programme.law import Floats

if TYPE_CHECKING:
    from headcount.answers.estimate import Estimate

CONFIDENCE = 0.95
SHOWN = 5  # names on a line
NAMED = 30  # that may be among the largest


@dataclass(frozen=True, eq=False, repr=False)
class Top(Tabular, Pictured):
    """The `k` largest cells of an answer, the largest first.

    With 95% confidence all that it says of ranks is true at once: every category in `surely` is
    among the `k` that people hold most, and every one of these is in `maybe`, or, with `hidden`, is
    one that was not shown because nobody listed it.

    Parameters
    ----------
    k : int
        How many.
    cells : list of Cell
        Those with the largest answers; fewer, where fewer were shown.
    surely, maybe : list
        Categories that are among the `k` largest whatever the noise may have been, and those that
        may be.
    hidden : bool
        Whether a category that was not shown may be among them.
    answer : Estimate
        What they are the largest cells of.

    Examples
    --------
    >>> answer = hc.histogram(["a"] * 600 + ["b"] * 400 + ["c"] * 396, categories=["a", "b", "c"], epsilon=1)
    >>> top = answer.top(2)
    >>> top.surely, sorted(top.maybe)
    (['a'], ['a', 'b', 'c'])
    """

    k: int
    cells: list[Cell]
    surely: list[Any]
    maybe: list[Any]
    hidden: bool
    answer: Estimate

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def statement(self) -> str:
        """What is true of ranks, in a sentence."""
        named = ", ".join(map(called, self.surely))
        surely = (
            f"surely among the {self.k:,} largest: {named}" if named else f"none is surely among the {self.k:,} largest"
        )
        sure = set(map(called, self.surely))
        others = [name for name in map(called, self.maybe) if name not in sure]
        left = f" and {len(others) - NAMED:,} more" if len(others) > NAMED else ""
        more = f"; may be: {', '.join(others[:NAMED])}{left}" if others else ""
        hidden = ", or one that is not shown" if self.hidden else ""
        return f"{surely}{more}{hidden} (95% confidence for all of it)"

    def rows(self) -> list[tuple[str, str, str]]:
        """Category, value and interval of each cell, as text."""
        return self.answer.rows_of(self.cells)

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.answers.pictures import draw

        beneath = f"The {len(self):,} largest; {len(self.surely):,} of them surely are, with 95% confidence"
        return draw(self.answer, target, theme, title, self.cells, beneath)

    def records(self) -> list[dict[str, Any]]:
        """A row for each cell, and whether it is surely among the largest."""
        return [
            {"category": plain(cell.category), "value": cell.value, "interval95": list(cell.interval95), "surely": sure}
            for cell, sure in ((cell, cell.category in self.surely) for cell in self.cells)
        ]

    def _repr_html_(self) -> str:
        words = filter(None, [self.statement, self.answer.note, self.answer.told, *self.answer.promises()])
        return f"<div>{rows_sheet(self.rows()).html()}<small>{escape(', '.join(words))}</small></div>"

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
        lines = [f"{name:<{widths[0]}}  {value:>{widths[1]}}  (95% interval {span})" for name, value, span in rows]
        below = filter(None, [self.statement, self.answer.note, self.answer.told])
        return "\n".join([*lines, *below, ", ".join(self.answer.promises())])

    def __repr__(self) -> str:
        named = ", ".join(called(cell.category) for cell in self.cells[:SHOWN])
        return f"Top {self.k:,}: {named}{', …' if len(self.cells) > SHOWN else ''}; {len(self.surely):,} of them surely"

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, beside the cells in that of the answer."""
        said = {"k": self.k, "surely": _plain(self.surely), "maybe": _plain(self.maybe), "hidden": self.hidden}
        return {**self.answer.to_json(), "cells": [cell.to_json() for cell in self.cells], "top": said}


def ranked(answer: Estimate, k: int) -> Top:
    works = "use a whole number from 1 on"
    number = quantity("top", k, works)
    if number != int(number) or number < 1:
        raise BadArgument("top", f"is {number:g}", works)
    shown = answer.cells
    ends = answer.intervals(CONFIDENCE, simultaneous=True)[: len(shown)]
    most = _hidden(answer)
    surely, maybe = ranks(ends, int(number), most)
    labels = [cell.category for cell in shown]
    order = [cell for cell in answer.sorted() if not np.isnan(cell.value)]
    place = {id(cell.category): at for at, cell in enumerate(order)}
    by_size = sorted(range(len(labels)), key=lambda at: place.get(id(labels[at]), len(labels)))
    hidden = most is not None and int((ends[:, 0] > most).sum()) < number
    return Top(
        int(number),
        order[: int(number)],
        [labels[at] for at in by_size if surely[at]],
        [labels[at] for at in by_size if maybe[at]],
        hidden,
        answer,
    )


def ranks(ends: Floats, k: int, hidden: float | None) -> tuple[Any, Any]:
    """Which are surely among the k largest, and which may be, if all truths lie within these ends.

    A category that fewer than k others can reach is surely among them; one that k others surely
    exceed is not. Any number of categories that nobody listed may reach `hidden`.
    """
    low, high = np.sort(ends[:, 0]), np.sort(ends[:, 1])
    above = low.size - np.searchsorted(low, ends[:, 1], side="right")  # others that are surely larger
    reach = high.size - np.searchsorted(high, ends[:, 0], side="left") - 1  # others that may be as large, not itself
    surely = reach < k
    if hidden is not None:
        surely &= ends[:, 0] > hidden
    return surely, above < k


def _hidden(answer: Estimate) -> float | None:
    """The most that somebody may hold together who is not shown; None where all categories are."""
    if answer.tally.keys is None:
        return None
    if answer.protocol.task.paired:
        return math.inf  # of a group that is not shown nothing is known
    nothing = answer.tally.with_totals(np.zeros(1, dtype=np.int64)).without_keys()
    return float(answer.protocol.intervals(nothing, answer.each_at(CONFIDENCE))[0, 1]) * answer.scale


def _plain(labels: list[Any]) -> list[Any]:
    return [list(label) if isinstance(label, tuple) else label for label in labels]
