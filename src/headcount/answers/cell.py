"""One category's part of an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headcount.answers.arithmetic import Arithmetic
from headcount.answers.two_runs import Operand
from headcount.errors import Unsupported
from headcount.figures.text_table import TextTable

if TYPE_CHECKING:
    from headcount.answers.estimate import Estimate


SHOWN_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Cell(Arithmetic):
    """One category's part of a histogram. Differences or ratios of one answer's cells are free."""

    category: Any  # a label; of several columns of groups one of each
    value: float
    interval95: tuple[float, float]
    simultaneous95: tuple[float, float] | None = None  # with which all of them are covered at once
    people: float | None = None  # about how many there are in the group, of a rate, a mean or a sum
    of: Estimate | None = field(default=None, repr=False, compare=False)  # the answer that it is a cell of

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval of this cell.

        Parameters
        ----------
        confidence : float
            Chance that the interval covers the truth, above 0 and below 1.

        Returns
        -------
        tuple of float
            Its two ends.

        Raises
        ------
        errors.Unsupported
            At another confidence than 0.95, if it is a total of cells.
        """
        return self.interval95 if confidence == SHOWN_CONFIDENCE else self._operand.parts[0].interval(confidence)

    @property
    def _operand(self) -> Operand:
        if self.of is None:
            raise Unsupported(
                "this cell is a total, whose law is not kept", "use .interval95, or the cells of the answer"
            )
        return self.of.operand_of(self.category)

    def _is(self, other: Arithmetic) -> bool:
        return isinstance(other, Cell) and self.of is other.of and self.category == other.category

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
