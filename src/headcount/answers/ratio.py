"""A ratio of two linear answers from one release, with its exact interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headcount.answers.intervals import digits
from headcount.answers.linear import ErrorLaw
from headcount.common.quantity import require_confidence
from headcount.common.root import crossing
from headcount.figures.picture import Picture
from headcount.figures.tabular import Tabular

CLOSE = 1e-3  # of a person


@dataclass(frozen=True, eq=False, repr=False)
class Rate(Tabular):
    """Which part of a number of people is in another: a number from 0 to 1, but for the noise.

    Parameters
    ----------
    of, among : float
        The two estimates, in people.
    law : callable
        For any rate r, the law of the error of the first less r times the second.
    promises : sequence of str
        The guarantee, as printed.

    Examples
    --------
    >>> frame = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
    >>> answer = hc.table(frame, columns={"sex": ["f", "m"], "vote": ["yes", "no"]}, epsilon=1, model="central")
    >>> low, high = answer.rate(of={"vote": "yes"}, by="sex")["f"].interval(0.999999)
    >>> low < 0.7 < high
    True
    """

    of: float
    among: float
    law: Callable[[float], ErrorLaw]
    promises: Sequence[str] = ()

    @property
    def value(self) -> float:
        """The ratio of the estimates, brought between 0 and 1; 0 where there seems to be nobody."""
        return min(max(self.of / self.among, 0.0), 1.0) if self.among > 0.0 else 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The rates that the answer does not contradict: those r for which the first number less r times the second is
        as near to 0 as its noise allows. The truth is among them as often as promised, however few people there are;
        where there are too few, all rates are.

        Parameters
        ----------
        confidence : float
            Chance that the interval covers the truth, above 0 and below 1.

        Returns
        -------
        tuple of float
            Its two ends, from 0 to 1.
        """
        require_confidence(confidence)
        tail = (1.0 - confidence) / 2.0

        def excess(rate: float) -> tuple[float, float]:
            """How far the rate is from being too small for the answer, and from being too large."""
            found, (low, high) = self.of - rate * self.among, self.law(rate).tails(tail)
            return high - found, found - low

        centre = self.value
        small, large = excess(centre)
        if small < 0.0 or large < 0.0:  # beyond all rates
            return (centre, 1.0) if centre > 0.5 else (0.0, centre)
        below = _reach(lambda step: excess(centre - step)[0], small, centre)
        return centre - below, centre + _reach(lambda step: excess(centre + step)[1], large, 1.0 - centre)

    def plot(self, ax: Any = None, *, title: str = "", theme: str = "light") -> Picture:
        """A dot and its interval.

        Parameters
        ----------
        ax : axes of matplotlib, optional
            Where to draw it; a figure of its own unless given.
        title : str
            What to write above it; its own words unless given.
        theme : str
            "light" or "dark".

        Returns
        -------
        Picture
        """
        from headcount.answers.pictures import linear

        return Picture.drawn(lambda target, theme: linear(self, target, theme, title), ax, theme)

    def records(self) -> list[dict[str, Any]]:
        """One row."""
        return [{"value": self.value, "interval95": list(self.interval())}]

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __str__(self) -> str:
        low, high = (100.0 * end for end in self.interval())
        places = digits(low, high)
        promises = f"   {', '.join(self.promises)}" if self.promises else ""
        return f"{100.0 * self.value:.{places}f}%  (95% interval {low:.{places}f}% to {high:.{places}f}%){promises}"

    __repr__ = __str__


def _reach(excess: Callable[[float], float], here: float, most: float) -> float:
    """How far one can go, and a little further, until there is no excess."""
    there = excess(most)
    return most if there >= 0.0 else crossing(excess, (0.0, here), (most, there), tight=CLOSE, close=1e-9)
