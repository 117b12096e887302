"""One number and its interval: the base of sums of parts, rates, quantiles, differences, ratios."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headcount.common.quantity import require_confidence
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular


class Number(Tabular, Pictured):
    """A number with an interval. `float(number)` is its value."""

    promises: Sequence[str] = ()  # the guarantee, as printed

    if TYPE_CHECKING:

        @property
        def value(self) -> float: ...

    @abstractmethod
    def _ends(self, confidence: float) -> tuple[float, float]:
        """The two ends of its interval."""

    @abstractmethod
    def shown(self) -> tuple[str, str, str]:
        """The value and the ends of its 95% interval, as text."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval, from the exact law of the error.

        Parameters
        ----------
        confidence : float
            Chance that the interval covers the truth, above 0 and below 1.

        Returns
        -------
        tuple of float
            Its two ends.
        """
        require_confidence(confidence)
        return self._ends(confidence)

    @property
    def guarantee(self) -> str:
        """What was promised, as printed."""
        return ", ".join(self.promises)

    def records(self) -> list[dict[str, Any]]:
        """One row."""
        return [{"value": self.value, "interval95": list(self.interval())}]

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.answers.pictures import number

        return number(self, target, theme, title)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    @property
    def said(self) -> str:
        """The value and its interval, as text."""
        value, low, high = self.shown()
        return f"{value}  (95% interval {low} to {high})"

    def __str__(self) -> str:
        return f"{self.said}   {self.guarantee}".rstrip()

    __repr__ = __str__
