"""One margin of a table: how many people are in each cell of a few of its columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.answers.cell import Cell
from headcount.answers.intervals import digits
from headcount.common.quantity import require_confidence
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.programme.law import Floats
from headcount.questions.domains.domain import Label
from headcount.questions.strategies.margins import Axes

if TYPE_CHECKING:
    from headcount.answers.table import TableEstimate

SHOWN_ROWS, SHOWN_COLUMNS = 20, 12  # that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Margin(Tabular, Pictured):
    """How many people are in each cell of a few columns.

    `margin["f", "yes"]` is a cell with its 95% interval; `values` has an axis for each column.

    Parameters
    ----------
    of : TableEstimate
        The answer that it comes from.
    axes : tuple of int
        Its columns, in order.

    Examples
    --------
    >>> frame = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
    >>> answer = hc.table(frame, columns={"sex": ["f", "m"], "vote": ["yes", "no"]}, epsilon=1, model="central")
    >>> answer["vote", "sex"].values.shape
    (2, 2)
    """

    of: TableEstimate
    axes: Axes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.of.names[axis] for axis in self.axes)

    @property
    def labels(self) -> list[list[Label]]:
        """The labels of each column."""
        return [self.of._question.labels_of(axis) for axis in self.axes]

    @property
    def _sorted(self) -> Axes:
        return tuple(sorted(self.axes))

    def _ordered(self, cells: Floats) -> Floats:
        """From the table's order of columns to that of this margin, other axes behind."""
        strategy = self.of._question.strategy
        shape = strategy.shape_of(self._sorted)
        shaped = cells.reshape(*shape, *cells.shape[1:])
        places = [self._sorted.index(axis) for axis in self.axes]
        return np.transpose(shaped, [*places, *range(len(places), shaped.ndim)])

    @cached_property
    def values(self) -> Floats:
        """The estimates, an axis for each column."""
        start = self.of._question.strategy.starts[self._sorted]
        cells = math.prod(map(len, self.labels))
        return self._ordered(self.of.people[start : start + cells])

    def intervals(self, confidence: float = 0.95, *, simultaneous: bool = False) -> Floats:
        """Confidence intervals, an axis for each column and a last one of [low, high].

        Parameters
        ----------
        confidence : float
            Chance that an interval covers the truth, above 0 and below 1.
        simultaneous : bool
            Whether all cells of this margin are to be covered at once.

        Returns
        -------
        ndarray
        """
        require_confidence(confidence)
        each = 1.0 - (1.0 - confidence) / self.values.size if simultaneous else confidence
        return self._ordered(self.of._bounded(self.of.ends(self._sorted, each)))

    @property
    def std_error(self) -> float:
        """The standard error of each cell."""
        return self.of.law_of_margin(self._sorted).std_error

    def __getitem__(self, labels: Any) -> Cell:
        named = labels if isinstance(labels, tuple) else (labels,)
        if len(named) != len(self.axes) or any(
            label not in known for label, known in zip(named, self.labels, strict=True)
        ):
            raise KeyError(labels)
        place = tuple(known.index(label) for label, known in zip(named, self.labels, strict=True))
        low, high = self.intervals()[place].tolist()
        return Cell(", ".join(map(str, named)), float(self.values[place]), (low, high))

    def _cells(self) -> Iterator[tuple[tuple[Label, ...], float, list[float]]]:
        spans = self.intervals()
        for place in np.ndindex(*self.values.shape):
            named = tuple(known[at] for known, at in zip(self.labels, place, strict=True))
            yield named, float(self.values[place]), spans[place].tolist()

    def rows(self) -> list[tuple[tuple[Label, ...], str, str]]:
        """The labels of each cell, its value and its interval, as text."""
        places = self._places
        return [
            (named, f"{value:,.{places}f}", f"{low:,.{places}f} to {high:,.{places}f}")
            for named, value, (low, high) in self._cells()
        ]

    @property
    def _places(self) -> int:
        low, high = self.of.law_of_margin(self._sorted).tails(0.025)
        return digits(low, high) if high > low else 0

    def records(self) -> list[dict[str, Any]]:
        """A row for each cell, as that of the table."""
        nothing = dict.fromkeys(self.of.names)
        return [
            {**nothing, **dict(zip(self.names, named, strict=True)), "people": value, "interval95": span}
            for named, value, span in self._cells()
        ]

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.answers.pictures import margin

        return margin(self, target, theme, title)

    def to_json(self) -> list[dict[str, Any]]:
        """A row for each cell: the labels by column, empty where it is summed over."""
        nothing = dict.fromkeys(self.of.names)
        return [
            {"category": nothing | dict(zip(self.names, named, strict=True)), "value": value, "interval95": span}
            for named, value, span in self._cells()
        ]

    @property
    def fits(self) -> bool:
        """Whether it is small enough to be printed."""
        return self.values.ndim <= 2 and len(self.labels[0]) <= SHOWN_ROWS and len(self.labels[-1]) <= SHOWN_COLUMNS

    def table(self) -> TextTable:
        """A row for each label of the first column, a column for each of the second; or a list."""
        places = self._places
        low, high = self.of.law_of_margin(self._sorted).tails(0.025)
        title = f"{' by '.join(self.names)}, each ± {max(-low, high):,.{places}f} (95%)"
        if self.values.ndim == 2:
            headings = (self.names[0], *map(str, self.labels[1]))
            cells = zip(self.labels[0], self.values.tolist(), strict=True)
            rows = tuple((str(label), *(f"{value:,.{places}f}" for value in row)) for label, row in cells)
            return TextTable(headings, rows, frozenset(range(1, len(headings))), title)
        cells_ = tuple((*map(str, named), value) for named, value, _ in self.rows())
        return TextTable((*self.names, "people"), cells_, frozenset({len(self.names)}), title)

    def __str__(self) -> str:
        return self.table().text()

    def __repr__(self) -> str:
        return f"Margin: {' by '.join(self.names)}, {self.values.size:,} cells"

    def _repr_html_(self) -> str:
        return self.table().html()
