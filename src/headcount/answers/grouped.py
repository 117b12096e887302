"""Answers that are made of two cells in every group: rates, means and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from headcount.answers.cell import Cell
from headcount.answers.error_law import ErrorLaw
from headcount.answers.estimate import Estimate
from headcount.answers.intervals import digits
from headcount.answers.linear import cell_errors, shown_errors
from headcount.answers.shares import share_intervals, share_widths, sum_law
from headcount.errors import BadArgument, Unsupported
from headcount.programme.law import Floats, Ints, Noise
from headcount.questions.domains.domain import Label, Shape
from headcount.questions.grouped import Paired

EVERYBODY = "(all)"
SMALL = "too few people to tell"
HIDDEN = 0.1  # of the chance that an interval misses, what is left for pairs of which a cell is not shown
FEW_ONES, FEW_OTHERS = "too few of them to be shown", "too few others to be shown"  # of a group that nobody listed


@dataclass(frozen=True, eq=False, repr=False)
class GroupedEstimate(Estimate):
    """A rate, mean or sum in every group, from one release: `fraction`, `mean`, `sum` with `by`.

    Rates and means lie within the range of what a person may hold. In a group with so few people
    that noise hides how many there are, nothing can be told: its value is not a number, and its
    interval is the whole range.

    Parameters
    ----------
    protocol, tally, people, budget, secret, within, simulated, habit, rules, most, before
        As for `Estimate`; `people` are those of the two cells of each group: the part that they
        lack of the largest amount, or who hold a zero, and the part that they hold, or who hold a
        one.

    Examples
    --------
    >>> rows = {"plan": ["free", "pro"] * 500, "churned": [1, 0, 0, 0] * 250}
    >>> import pandas as pd
    >>> answer = hc.fraction(pd.DataFrame(rows), column="churned", by="plan", categories=["free", "pro"], epsilon=1)
    >>> 0.4 < answer["free"].value < 0.6
    True
    """

    @property
    def _question(self) -> Paired:
        return cast(Paired, self.protocol.task)

    @cached_property
    def _places(self) -> dict[Any, list[int]]:
        """Where the two cells of each group are; -1 for one that is not shown."""
        task = self._question
        if self.tally.keys is not None:
            found: dict[Any, list[int]] = task.places([*map(str, self.tally.keys.tolist())])
            return found
        names = task.names if task.shape.several else [""]
        return {name: [2 * at, 2 * at + 1] for at, name in enumerate(names)}

    @cached_property
    def _pairs(self) -> Ints:
        return np.array([*self._places.values()], dtype=np.int64).reshape(-1, 2)

    @cached_property
    def _cells(self) -> Floats:
        """The people of the two cells of each group; none in one that is not shown."""
        return np.append(self.people, 0.0)[self._pairs]

    @property
    def categories(self) -> list[Label]:
        """The groups."""
        return [*self._places]

    @property
    def group_sizes(self) -> Floats:
        """About how many people there are in each group."""
        sizes: Floats = self._cells.sum(axis=1)
        return sizes

    @property
    def values(self) -> Floats:
        """The answer in each group; not a number where too few people are in it to tell."""
        found = self._answered(self._cells)
        return np.where(self.too_small, np.nan, found) if self._question.per_person else found

    def _answered(self, pairs: Floats) -> Floats:
        found: Floats = self._question.answers(pairs.ravel(), self.tally.reports)
        return found

    @cached_property
    def too_small(self) -> Any:
        """In which groups there are too few people for a rate or a mean."""
        low, high = self._question.ends
        ends = self.intervals()
        return ((ends[:, 0] <= low) & (ends[:, 1] >= high)) | (self._pairs < 0).any(axis=1)

    @property
    def _exact(self) -> bool:
        """Whether the errors are independent, and have one law whatever the data."""
        return self.protocol.independent and self.protocol.steady and self._question.shape is not Shape.KEY

    def _intervals(self, confidence: float) -> Floats:
        if self._exact:
            return self._intervals_of(self._cells, 1, confidence)
        errors, missed = shown_errors(self.protocol), 1.0 - confidence
        if errors is None or not self._question.per_person:
            return self._spans(1.0 - missed / 2.0)
        (low, high), both = self._question.ends, (self._pairs >= 0).all(axis=1)
        found = self._spans(1.0 - missed * HIDDEN / 2.0)
        widths = share_widths(errors, 1, 1.0 - missed * (1.0 - HIDDEN))
        found[both] = share_intervals(self._cells[both, 0], self._cells[both, 1], widths) * (high - low) + low
        return found

    def _spans(self, confidence: float) -> Floats:
        """The least and the largest answer of each pair of cells within their own intervals."""
        shown, hidden = self.people_intervals(confidence), self._hidden(confidence)
        return self._question.spans(
            lambda _: np.vstack([shown, hidden])[self._pairs].reshape(-1, 2),
            confidence,
            self.tally.reports,
            private=self.n is None,
        )

    def _hidden(self, confidence: float) -> Floats:
        """The interval of a cell that is not shown."""
        if self.tally.keys is None:
            return np.zeros((1, 2))
        nothing = replace(self.tally, totals=np.zeros(1, dtype=np.int64), keys=None)
        return self.protocol.intervals(nothing, confidence)

    def _intervals_of(self, pairs: Floats, times: int, confidence: float) -> Floats:
        """Intervals for sums over groups, `times` of them in each pair of cells."""
        low, high = self._question.ends
        if self._question.per_person:
            errors = cell_errors(self.protocol, self.tally.reports)
            widths = share_widths(errors, times, confidence, self._agreed)
            shares: Floats = share_intervals(pairs[:, 0], pairs[:, 1], widths)
            return shares * (high - low) + low
        tail = (1.0 - confidence) / 2.0
        below, above = self._sum_law(times).tails(tail)
        values = pairs @ np.array([low, high])
        return np.stack([values - above, values - below], axis=1)

    @property
    def _laws(self) -> Sequence[ErrorLaw | None]:
        """A rate and a mean have no law of their own: errors depend on the number of people."""
        alike = self._exact and not self._question.per_person
        return [self._sum_law(1) if alike else None] * self._answers

    def _sum_law(self, times: int) -> ErrorLaw:
        """The law of the error of a sum over `times` groups."""
        return sum_law(self.protocol, self.tally.reports, self._question.ends, times, self._agreed)

    @property
    def _agreed(self) -> int:
        """How many cells were made to add up to the number of people."""
        return self.people.size if self.within == "crowd" else 0

    def consistent(self) -> GroupedEstimate:
        """The same with cells adding up to the number of people, by even shares of the difference.

        Unlike counts, which are brought above zero too, this stays linear, so that intervals are as
        exact as before.

        Returns
        -------
        GroupedEstimate
        """
        if self.n is None or not self._exact or not self._question.shape.several:
            raise Unsupported("only groups that are listed, of people whose number is public, can be consistent")
        lacking = (self.n - float(self.people.sum())) / self.people.size
        return replace(self, within="crowd", people=self.people + lacking)

    def totals(self, *by: str) -> list[Cell]:
        """The same answer summed over all groups, or over those that agree in these columns.

        Parameters
        ----------
        *by : str
            Columns of groups that stay apart.

        Returns
        -------
        list of Cell
            With the interval of each, from the exact law of the sum of the errors.

        Raises
        ------
        errors.BadArgument
            If a name is no column of groups.
        errors.Unsupported
            If the errors depend on each other, or on the data.

        Examples
        --------
        >>> rows = {"plan": ["free", "pro"] * 500, "churned": [1, 0, 0, 0] * 250}
        >>> import pandas as pd
        >>> answer = hc.fraction(pd.DataFrame(rows), column="churned", by="plan", categories=["free", "pro"], epsilon=1)
        >>> 0.2 < answer.totals()[0].value < 0.3
        True
        """
        names = self._question.by
        for name in by:
            if name not in names:
                raise BadArgument("by", f"has no column {name!r}", f"use one of {', '.join(names)}")
        if not self._exact:
            raise Unsupported("totals need errors that are independent and the same whatever the data")
        kept = [names.index(name) for name in by]
        groups: dict[Any, list[int]] = {}
        for at, label in enumerate(self.categories):
            parts: Any = (label,) if len(names) == 1 else label
            key = tuple(parts[place] for place in kept)
            groups.setdefault(key[0] if len(key) == 1 else key or EVERYBODY, []).append(at)
        return [self._total(label, places) for label, places in groups.items()]

    def _total(self, label: Any, places: list[int]) -> Cell:
        pair = self._cells[places].sum(axis=0)[None]
        ((low, high),) = self._intervals_of(pair, len(places), 0.95).tolist()
        return Cell(label, float(self._answered(pair)[0]), (low, high), people=float(pair.sum()))

    @property
    def cells(self) -> list[Cell]:
        """The answer in each group with its 95% interval, about how many people there are, and the
        interval with which all groups are covered at once."""
        together = self.intervals(simultaneous=True).tolist()
        rows = zip(
            self.categories,
            self.values.tolist(),
            self.intervals().tolist(),
            together,
            self.group_sizes.tolist(),
            strict=True,
        )
        return [
            Cell(category, value, (low, high), (least, most), people, of=self)
            for category, value, (low, high), (least, most), people in rows
        ]

    @property
    def _answers(self) -> int:
        return len(self._places)

    @property
    def error(self) -> Noise:
        """The law of the error of one cell, in people."""
        return self.protocol.noise(self.tally.reports // 2, self.tally.reports)

    @property
    def std_error(self) -> float:
        """The root mean square error in the largest group; first-order for a rate or a mean."""
        low, high = self._question.ends
        if not self._question.per_person:
            return self.error.rmse * math.hypot(low, high)
        if not self._cells.size:
            return math.inf
        rest, ones = self._cells[int(np.argmax(self.group_sizes))]
        everybody: float = max(float(rest + ones), 1.0)
        share = min(max(float(ones) / everybody, 0.0), 1.0)
        return float(self.error.rmse * (high - low) * math.hypot(share, 1.0 - share) / everybody)

    @property
    def _of_all(self) -> str:
        """Which groups are shown, where nobody listed them."""
        return "groups that enough people share are shown, and all others are in (other)" if self.before else ""

    def shown(self, most: int | None = None) -> list[tuple[str, str, str]]:
        """Each value, or the first few, and the ends of its 95% interval, in meaningful digits."""
        rows = []
        parts = zip(self.values.tolist(), self.intervals().tolist(), self._pairs.tolist(), strict=True)
        for value, (low, high), (rest, ones) in [*parts][:most]:
            places = digits(low, high)
            unknown = FEW_ONES if ones < 0 else FEW_OTHERS if rest < 0 else SMALL
            rows.append(
                (unknown if math.isnan(value) else f"{value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}")
            )
        return rows
