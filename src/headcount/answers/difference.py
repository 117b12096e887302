"""The difference of two answers: by how much did it change?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headcount.answers.change import Change
from headcount.answers.intervals import digits

TIE = 1e-9  # what floats are off counts as equal


@dataclass(frozen=True, repr=False, eq=False)
class Difference(Change):
    """The difference of two answers, as `a - b` returns it.

    Its interval comes from the law of the difference of the two independent errors. Rates and means
    in groups have no such law: there it is made of both intervals.

    Parameters
    ----------
    task : Question
        What was asked.
    first, second : Part
        The answers.
    promises : tuple of str
        What each of them promises.
    together : Budget, optional
        What both cost people who are in both, by the sum of epsilons and deltas.
    apart : bool
        Whether the errors of the two are independent, as they are of two runs.
    unit : str
        What it is counted in.

    Examples
    --------
    >>> march = hc.count([1] * 300 + [0] * 700, epsilon=1, model="central")
    >>> april = hc.count([1] * 450 + [0] * 550, epsilon=1, model="central")
    >>> low, high = (april - march).interval(0.999999)
    >>> low < 150 < high
    True
    >>> print((april - march).together)
    (ε=2, δ=0)
    """

    named: ClassVar[str] = "difference"

    @property
    def value(self) -> float:
        """The first answer less the second."""
        return self.first.value - self.second.value

    @property
    def std_error(self) -> float | None:
        """The root mean square of its error; None where that has no law."""
        return None if self.laws is None else math.hypot(*(law.std_error for law in self.laws))

    def _ends(self, confidence: float) -> tuple[float, float]:
        if self.laws is None:
            (low, high), (least, most) = self.both(confidence)
            return low - most, high - least
        (a, a_masses, a_gap), (b, b_masses, b_gap) = (law.points for law in self.laws)
        size = np.abs(a[:, None] - b[None, :]).ravel()
        order = np.argsort(size, kind="stable")
        reached = np.cumsum(np.outer(a_masses, b_masses).ravel()[order])
        last = min(int(np.searchsorted(reached, confidence)), order.size - 1)
        half = float(size[order[last]]) * (1.0 + 1e-12) + a_gap + b_gap
        return self.value - half, self.value + half

    def shown(self) -> tuple[str, str, str]:
        low, high = self.interval()
        if math.isnan(self.value):
            return "not known", f"{low:,.6g}", f"{high:,.6g}"
        places = 0 if all(abs(each - round(each)) < TIE for each in (self.value, low, high)) else digits(low, high)
        return f"{self.value:+,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"
