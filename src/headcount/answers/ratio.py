r"""The ratio of two answers: how many times as many?

The interval of a ratio $r$ inverts a test (Fieller's theorem, with the exact laws instead of normal
ones): if the truths are $\alpha = r\beta$, then $a - rb$ is the error of $a$ less $r$ times that of
$b$, whatever $\alpha$ is. It has no end where the second truth may be 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from headcount.answers.change import Change
from headcount.answers.error_law import ErrorLaw
from headcount.answers.intervals import digits

TIE = 1e-9  # relative: what floats are off counts as equal
BISECTIONS, OUTSIDE = 60, 48  # steps to an end, and places beyond it that are tried as well
DOUBLINGS = 200
EVERYTHING = (-math.inf, math.inf)


@dataclass(frozen=True, repr=False, eq=False)
class Ratio(Change):
    """The ratio of two answers, as `a / b` returns it: how many times as many.

    Its interval has all ratios with which the answers agree, and is everything if the second truth
    may be 0.

    Parameters
    ----------
    task : Question
        What was asked.
    first, second : Part
        The answers.
    promises : tuple of str
        What each of them promises.
    together : Budget, optional
        What both cost people who are in both.
    apart : bool
        Whether the errors of the two are independent, as they are of two runs.
    unit : str
        What it is counted in.

    Examples
    --------
    >>> march = hc.count([1] * 300 + [0] * 700, epsilon=1, model="central")
    >>> april = hc.count([1] * 450 + [0] * 550, epsilon=1, model="central")
    >>> low, high = (april / march).interval(0.999999)
    >>> low < 1.5 < high
    True
    """

    named: ClassVar[str] = "ratio"

    @property
    def value(self) -> float:
        """The first answer by the second; no number if that is 0."""
        return self.first.value / self.second.value if self.second.value else math.nan

    @property
    def std_error(self) -> None:
        """None: a ratio has no mean error, as its second answer may be close to 0."""
        return

    def _ends(self, confidence: float) -> tuple[float, float]:
        if self.laws is None:
            return _quotient(*self.both(confidence))
        if not self.second.value or _may_be_nothing(self.second.value, self.laws[1], (1.0 - confidence) / 2.0):
            return EVERYTHING
        return self._end(-1.0, confidence, self.laws), self._end(1.0, confidence, self.laws)

    def accepts(self, ratio: float, confidence: float = 0.95) -> bool:
        """Whether the answers agree with this ratio: neither tail of the error is too unlikely."""
        if self.laws is None:
            low, high = self.interval(confidence)
            return low <= ratio <= high
        first, second = self.laws
        values, masses, gap = second.points
        seen = self.first.value - ratio * self.second.value
        slack = abs(ratio) * gap + first.lattice
        slack += TIE * (abs(self.first.value) + abs(ratio * self.second.value))
        reached = seen + ratio * values
        lost = first.noise.dropped + second.noise.dropped
        below = float(masses @ first.at_most(reached + slack)) + lost
        above = float(masses @ first.at_least(reached - slack)) + lost
        tail = (1.0 - confidence) / 2.0
        return below > tail and above > tail

    def _end(self, sign: float, confidence: float, laws: tuple[ErrorLaw, ErrorLaw]) -> float:
        inside = self.value
        step = (laws[0].std_error + abs(self.value) * laws[1].std_error) / abs(self.second.value) or TIE
        for _ in range(DOUBLINGS):
            if not self.accepts(inside + sign * step, confidence):
                break
            inside, step = inside + sign * step, 2.0 * step
        else:
            return sign * math.inf
        outside = inside + sign * step
        for _ in range(BISECTIONS):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if self.accepts(middle, confidence) else (inside, middle)
        # On a lattice the answers may agree with ratios a little further out again.
        beyond = outside + (outside - self.value) * np.linspace(0.0, 0.25, OUTSIDE)
        return float(
            max([outside, *(x for x in beyond.tolist() if self.accepts(x, confidence))], key=lambda x: sign * x)
        )

    def shown(self) -> tuple[str, str, str]:
        low, high = self.interval()
        if not math.isfinite(low) or math.isnan(self.value):
            return "not known", "anything", "anything, as the second may be 0"
        places = digits(low, high)
        return f"{self.value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"


def _may_be_nothing(value: float, law: ErrorLaw, tail: float) -> bool:
    """Whether an answer agrees with a truth of 0."""
    slack, lost = law.lattice + TIE * abs(value), law.noise.dropped
    below, above = law.at_most(np.array([value + slack])), law.at_least(np.array([value - slack]))
    return float(below[0]) + lost > tail and float(above[0]) + lost > tail


def _quotient(above: tuple[float, float], below: tuple[float, float]) -> tuple[float, float]:
    """All ratios of a number in the first interval and one in the second."""
    if below[0] <= 0.0 <= below[1]:
        return EVERYTHING
    corners = [a / b for a in above for b in below]
    return min(corners), max(corners)
