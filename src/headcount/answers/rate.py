"""A ratio of two linear answers from one release, with its exact interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headcount.answers.error_law import ErrorLaw
from headcount.answers.intervals import digits
from headcount.answers.number import Number
from headcount.common.root_finding import crossing

CLOSE = 1e-3  # of a person


@dataclass(frozen=True, eq=False, repr=False)
class Rate(Number):
    """Which part of a number of people is in another: a number from 0 to 1, but for the noise.

    Its interval has the rates that the answer does not contradict: those r for which the first
    number less r times the second is as near to 0 as its noise allows. The truth is among them as
    often as promised, however few people there are; where there are too few, all rates are.

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

    def _ends(self, confidence: float) -> tuple[float, float]:
        tail = (1.0 - confidence) / 2.0

        def excess(rate: float) -> tuple[float, float]:
            """How far the rate is from being too small for the answer, and from being too large."""
            found, (low, high) = self.of - rate * self.among, self.law(rate).tails(tail)
            return high - found, found - low

        centre = self.value
        small, large = excess(centre)
        if small < 0.0 or large < 0.0:  # beyond all rates
            if self.among <= 0.0:  # of hardly anybody: any rate may be that of nobody
                return 0.0, 1.0
            return (centre, 1.0) if centre > 0.5 else (0.0, centre)
        below = _reach(lambda step: excess(centre - step)[0], small, centre)
        return centre - below, centre + _reach(lambda step: excess(centre + step)[1], large, 1.0 - centre)

    def shown(self) -> tuple[str, str, str]:
        low, high = (100.0 * end for end in self.interval())
        places = digits(low, high)
        return f"{100.0 * self.value:.{places}f}%", f"{low:.{places}f}%", f"{high:.{places}f}%"


def _reach(excess: Callable[[float], float], here: float, most: float) -> float:
    """How far one can go, and a little further, until there is no excess."""
    there = excess(most)
    return most if there >= 0.0 else crossing(excess, (0.0, here), (most, there), tight=CLOSE, close=1e-9)
