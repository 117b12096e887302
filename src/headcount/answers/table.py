"""The answer about a table: every margin, sums of cells and rates, all from one release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from headcount.answers.error_law import ErrorLaw
from headcount.answers.estimate import Estimate
from headcount.answers.linear import Linear, cell_errors
from headcount.answers.margin import Margin
from headcount.answers.rate import Rate
from headcount.common.plurals import counted
from headcount.errors import BadArgument, Unsupported
from headcount.figures.text_table import TextTable
from headcount.programme.law import Floats
from headcount.questions.strategies.margins import Axes, Margins
from headcount.questions.table import Table

if TYPE_CHECKING:
    from headcount.protocols.base.protocol import Protocol

SHOWN_MARGINS = 3  # that are printed


@lru_cache(maxsize=1 << 10)
def margin_law(protocol: Protocol, reports: int, margin: Axes) -> ErrorLaw:
    """The law of the error of any cell of a margin."""
    strategy = cast(Margins, protocol.strategy)
    return cell_errors(protocol, reports).combined(strategy.terms(strategy.cell(margin)))


@dataclass(frozen=True, eq=False, repr=False)
class TableEstimate(Estimate):
    """The answer to `hc.Table`: the people in each cell of every margin, and in any sum of cells.

    All of it comes from one release: margins agree with each other and with the number of people,
    and nothing more is spent by asking further. `answer["sex", "age"]` is a margin.

    Parameters
    ----------
    protocol, tally, people, budget, secret, within, simulated, habit, rules, most, before
        As for `Estimate`; `people` are those of the cells of all margins, one after the other.

    Examples
    --------
    >>> frame = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
    >>> answer = hc.table(frame, columns={"sex": ["f", "m"], "vote": ["yes", "no"]}, epsilon=1, model="central")
    >>> 650 < answer["vote"]["yes"].value < 750
    True
    """

    @property
    def _question(self) -> Table:
        return cast(Table, self.protocol.task)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._question.names

    @property
    def margins(self) -> list[Margin]:
        """All that were told, the smallest first."""
        return [Margin(self, axes) for axes in self._question.strategy.margins]

    def margin(self, *columns: str) -> Margin:
        """The table of some of the columns, in this order.

        Parameters
        ----------
        columns : str
            Their names.

        Returns
        -------
        Margin

        Raises
        ------
        errors.BadArgument
            If they were not asked for together.
        """
        return Margin(self, self._axes("columns", columns))

    def __getitem__(self, columns: Any) -> Any:
        """A margin, by the names of its columns."""
        return self.margin(*(columns if isinstance(columns, tuple) else (columns,)))

    def _axes(self, argument: str, columns: tuple[str, ...]) -> Axes:
        unknown = [name for name in columns if name not in self.names]
        if unknown or not columns or len(set(columns)) < len(columns):
            problem = f"has {unknown[0]!r}, which is none" if unknown else "is not a choice of different ones"
            raise BadArgument(argument, problem, f"use some of {', '.join(self.names)}")
        axes = tuple(map(self.names.index, columns))
        if tuple(sorted(axes)) not in self._question.strategy.starts:
            together = " and ".join(columns)
            raise BadArgument(argument, f"were not asked for together: {together}", f"ask with margins={len(columns)}")
        return axes

    def sum(self, **conditions: Any) -> Linear:
        """How many people fulfil some conditions, one for each of a few columns.

        Parameters
        ----------
        conditions
            For a column a label, a list of labels, or of bins the pair (low, high): from one number
            on and below the other. Within a bin it is interpolated, with an interval that covers
            both sides.

        Returns
        -------
        Linear

        Raises
        ------
        errors.BadArgument
            If a column has no such label, or the columns were not asked for together.

        Examples
        --------
        >>> frame = {"sex": ["f", "m"] * 500, "age": [20] * 700 + [70] * 300}
        >>> columns = {"sex": ["f", "m"], "age": {"bins": [0, 18, 65, 120]}}
        >>> answer = hc.table(frame, columns=columns, epsilon=1, model="central")
        >>> 330 < answer.sum(sex="f", age=(18, 65)).value < 370
        True
        """
        return self._sum(conditions)

    def _sum(self, conditions: Mapping[str, Any]) -> Linear:
        exact, inner, outer = self._weights(conditions)
        value = float(self._bounded(self.measured @ exact))
        least, most = ((float(self.measured @ each), self._law_of(each)) for each in (inner, outer))
        possible = self._bounded(np.array([-math.inf, math.inf])).tolist()
        return Linear(value, least, most, self.promises(), possible=(possible[0], possible[1]))

    def _weights(self, conditions: Mapping[str, Any], among: tuple[str, ...] = ()) -> tuple[Floats, Floats, Floats]:
        """Weights of the cells for the people who fulfil the conditions: as they are; without bins
        that count in part; with all of those bins."""
        columns = tuple(name for name in self.names if name in conditions or name in among)
        if not set(conditions) <= set(self.names):
            unknown = next(name for name in conditions if name not in self.names)
            raise BadArgument(unknown, "is no column of the table", f"use some of {', '.join(self.names)}")
        margin = self._axes("columns", columns) if columns else self._question.strategy.margins[0]
        shares = [self._shares(axis, conditions) for axis in margin]
        found = []
        for rounded in (np.asarray, np.floor, np.ceil):
            weights = np.zeros(self._question.strategy.parts)
            cells = np.ones(1)
            for share in shares:
                cells = np.multiply.outer(cells, rounded(np.round(share, 12)))
            start = self._question.strategy.starts[margin]
            weights[start : start + self._question.strategy.cells_of(margin)] = cells.ravel()
            found.append(weights)
        return found[0], found[1], found[2]

    def _shares(self, axis: int, conditions: Mapping[str, Any]) -> Floats:
        name, domain = self.names[axis], self._question.domains[axis]
        if name not in conditions:
            return np.ones(domain.size)
        try:
            shares: Floats = domain.shares(conditions[name])
        except KeyError as missing:
            works = f"use one of {', '.join(map(str, self._question.labels_of(axis)[:20]))}"
            raise BadArgument(name, f"has no {missing.args[0]!r}", works) from None
        except BadArgument as refused:
            raise BadArgument(name, refused.problem, refused.remedy) from None
        return shares

    def rate(self, *, of: Mapping[str, Any], by: str | None = None) -> Any:
        """Which part of the people fulfils some conditions, of everybody or in each group.

        Parameters
        ----------
        of : mapping
            Columns and conditions, as for `sum`.
        by : str, optional
            The column of groups.

        Returns
        -------
        Rate or dict
            A rate with its interval; with `by` one for each group.

        Raises
        ------
        errors.BadArgument
            If the columns were not asked for together, or a condition is within a bin.

        Examples
        --------
        >>> frame = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
        >>> answer = hc.table(frame, columns={"sex": ["f", "m"], "vote": ["yes", "no"]}, epsilon=1, model="central")
        >>> 0.6 < answer.rate(of={"vote": "yes"}, by="sex")["m"].value < 0.8
        True
        """
        if by is None:
            return self._rate(of, {})
        if by in of:
            raise BadArgument("by", f"is {by!r}, which is also a condition", "use another column")
        if by not in self.names:
            raise BadArgument(
                "by", f"is {by!r}, which is no column of the table", f"use one of {', '.join(self.names)}"
            )
        groups = self._question.labels_of(self.names.index(by))
        return {group: self._rate(of, {by: group}) for group in groups}

    def _rate(self, of: Mapping[str, Any], among: Mapping[str, Any]) -> Rate:
        part, inner, outer = self._weights({**of, **among})
        whole = self._weights(among, tuple(of))[0]
        if not np.array_equal(inner, outer):
            raise BadArgument("of", "has a number within a bin", "use edges of bins")

        def law(rate: float) -> ErrorLaw:
            return self._law_of(part - rate * whole)

        return Rate(float(self.measured @ part), float(self.measured @ whole), law, self.promises())

    def people_intervals(self, confidence: float) -> Floats:
        spans = [self.ends(margin, confidence) for margin in self._question.strategy.margins]
        return self._bounded(np.concatenate(spans))

    def law_of_margin(self, margin: Axes) -> ErrorLaw:
        """The law of the error of a cell of a margin: the same for all, or that of the largest."""
        law, strategy = margin_law(self.protocol, self.tally.reports, margin), self._question.strategy
        if self._own_variances is None:
            return law
        weights, start = np.zeros(strategy.parts), strategy.starts[margin]
        weights[start + int(self.measured[start : start + strategy.cells_of(margin)].argmax())] = 1.0
        return law.widened(self._own_in(weights))

    def ends(self, margin: Axes, confidence: float) -> Floats:
        """A row [low, high] for each cell of a margin, in people."""
        low, high = self.law_of_margin(margin).tails((1.0 - confidence) / 2.0)
        start = self._question.strategy.starts[margin]
        cells = self.measured[start : start + self._question.strategy.cells_of(margin)]
        return np.stack([cells - high, cells - low], axis=1)

    @property
    def _laws(self) -> list[ErrorLaw | None]:
        if self.within:
            return [None] * self.people.size
        laws = (self.law_of_margin(margin) for margin in self._question.strategy.margins)
        return [
            law
            for margin, law in zip(self._question.strategy.margins, laws, strict=True)
            for _ in range(self._question.strategy.cells_of(margin))
        ]

    def each_at(self, confidence: float) -> float:
        return 1.0 - (1.0 - confidence) / self.people.size

    @property
    def std_error(self) -> float:
        """The standard error of a cell of one of the largest margins."""
        return self.law_of_margin(self._question.strategy.margins[-1]).std_error

    @property
    def simultaneous95(self) -> None:
        """None: `intervals(simultaneous=True)` covers all margins at once."""
        return None

    def consistent(self) -> Estimate:
        """Refused: margins agree with each other already.

        Raises
        ------
        errors.Unsupported
            Always.
        """
        raise Unsupported("margins agree with each other and with the number of people as they are", "use them")

    def records(self) -> list[dict[str, Any]]:
        """A row for each cell of every margin: the columns of the table, empty where it is summed
        over, then `people` and the interval."""
        return [row for margin in self.margins for row in margin.records()]

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.answers.pictures import margin

        return margin(self._largest[0], target, theme, title)

    def rows(self, most: int | None = None) -> list[tuple[str, str, str]]:
        """Each cell of the first margins, its value and interval, as text."""
        found = [
            (", ".join(map(str, cell)), value, span) for margin in self.margins for cell, value, span in margin.rows()
        ]
        return found[:most]

    @property
    def sheets(self) -> list[TextTable]:
        """The largest margins, of which the first few are shown."""
        return [margin.table() for margin in self._largest if margin.fits][:SHOWN_MARGINS]

    @property
    def _largest(self) -> list[Margin]:
        return [Margin(self, axes) for axes in self._question.strategy.asked]

    @property
    def _of_all(self) -> str:
        """Which margins are not shown, and that intervals are approximate."""
        left = len(self._largest) - len(self.sheets)
        more = f"and {counted(left, 'more margin')}, not shown here" if left else ""
        return "; ".join(filter(None, (more, self.nearly)))

    def _lines(self) -> list[str]:
        return "\n\n".join(sheet.text() for sheet in self.sheets).splitlines()

    def __repr__(self) -> str:
        return f"TableEstimate: {' by '.join(self.names)}, {', '.join(self.promises())}"

    def _answer(self) -> dict[str, Any]:
        return {
            "columns": list(self.names),
            "cells": [cell for margin in self.margins for cell in margin.to_json()],
            "other": None,
        }
