r"""Differences and ratios of two answers: did the change help, and by how much?

The errors of two runs are independent. The interval of a ratio $r$ inverts a test (Fieller's theorem, with the exact
laws instead of normal ones): if the truths are $\alpha = r\beta$, then $a - rb$ is the error of $a$ less $r$ times that
of $b$, whatever $\alpha$ is. It has no end where the second truth may be 0.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headcount.answers.intervals import digits
from headcount.common.quantity import require_confidence
from headcount.errors import BadArgument, Unsupported
from headcount.figures.picture import Picture
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.privacy.budget import Budget, total
from headcount.programme.law import Floats, Noise, weighed
from headcount.questions.domains.domain import Label
from headcount.questions.question import Question

LIKELY = 1e-12
POINTS = 2_000
TIE = 1e-9  # relative: what floats are off counts as equal
BISECTIONS, OUTSIDE = 60, 48  # steps to an end, and places beyond it that are tried as well
DOUBLINGS = 200


@dataclass(frozen=True, eq=False)
class Error:
    """The law of an answer's error, in people, and one person's part in the unit of the answer."""

    noise: Noise
    scale: float
    lattice: float = 0.0  # how far the law may be shifted, where that depends on the crowd

    @property
    def size(self) -> float:
        return self.noise.rmse * self.scale

    @cached_property
    def points(self) -> tuple[Floats, Floats, float]:
        """The law on few points, and how far they may lie from the values they stand for."""
        noise, scale = self.noise, self.scale
        likely = noise.masses > LIKELY * noise.masses.max()
        values, masses = noise.values[likely] * scale, noise.masses[likely]
        if values.size <= POINTS:
            return values, masses, self.lattice
        low, high = float(values.min()), float(values.max())
        gap = (high - low) / POINTS
        cell = np.minimum(((values - low) / gap).astype(np.int64), POINTS - 1)
        return low + (np.arange(POINTS) + 0.5) * gap, weighed(cell, masses, POINTS), gap / 2.0 + self.lattice

    @cached_property
    def _sorted(self) -> tuple[Floats, Floats]:
        order = np.argsort(self.noise.values, kind="stable")
        return self.noise.values[order] * self.scale, np.append(0.0, np.cumsum(self.noise.masses[order]))

    def at_most(self, values: Floats) -> Floats:
        """The chance of an error up to each of these values."""
        places, reached = self._sorted
        return np.asarray(reached[np.searchsorted(places, values, side="right")])

    def at_least(self, values: Floats) -> Floats:
        places, reached = self._sorted
        return np.asarray(reached[-1] - reached[np.searchsorted(places, values, side="left")])


@dataclass(frozen=True, eq=False)
class Told:
    """What a difference or ratio needs of an answer: values, the laws of their errors, and what was promised."""

    task: Question
    labels: tuple[Label, ...]  # none where the answer is one number
    values: tuple[float, ...]
    error: Error  # of each value
    promises: str
    budget: Budget | None


class OfTwo(Tabular):
    """What differences and ratios have in common."""

    task: Question
    value: float
    promises: tuple[str, ...]
    together: Budget | None
    named: ClassVar[str]

    @property
    @abstractmethod
    def std_error(self) -> float | None: ...

    @abstractmethod
    def interval(self, confidence: float = 0.95) -> tuple[float, float]: ...

    @abstractmethod
    def shown(self) -> tuple[str, str, str]:
        """The value and the ends of its 95% interval, as text."""

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount difference --format json` prints it."""
        clipped = self.task.clipped_to
        return {
            "value": _finite(self.value),
            "interval95": [_finite(end) for end in self.interval()],
            "clipped_to": None if clipped is None else list(clipped),
            "std_error": self.std_error,
            "together": None if self.together is None else self.together.to_json(),
        }

    def records(self) -> list[dict[str, Any]]:
        return [{"value": _finite(self.value), "interval95": [_finite(end) for end in self.interval()]}]

    def plot(self, ax: Any = None, *, title: str = "", theme: str = "light") -> Picture:
        """Its interval, beside that of no change.

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
        return _picture({"": self}, ax, title, theme)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    @property
    def guarantee(self) -> str:
        """What both answers promise, and what both cost people who are in both."""
        both = "" if self.together is None else f"; together {self.together} for people in both"
        return f"{' | '.join(self.promises)}{both}"

    def __str__(self) -> str:
        value, low, high = self.shown()
        told = f"{value} {self.task.about}".rstrip()
        return f"{told}  (95% interval {low} to {high})   {self.guarantee}"

    __repr__ = __str__


@dataclass(frozen=True, repr=False, eq=False)
class Difference(OfTwo):
    """The difference of two answers, as `a - b` returns it.

    Parameters
    ----------
    task : Question
        What was asked.
    value : float
        The first answer less the second.
    first, second : Error
        The laws of their errors.
    promises : tuple of str
        What each of them promises.
    together : Budget, optional
        What both cost people who are in both, by the sum of epsilons and deltas.

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

    task: Question
    value: float
    first: Error
    second: Error
    promises: tuple[str, ...]
    together: Budget | None = None
    named: ClassVar[str] = "difference"

    @property
    def std_error(self) -> float:
        """The root mean square of its error."""
        return math.hypot(self.first.size, self.second.size)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval, from the law of the difference of the two independent errors.

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
        (a, a_masses, a_gap), (b, b_masses, b_gap) = self.first.points, self.second.points
        size = np.abs(a[:, None] - b[None, :]).ravel()
        order = np.argsort(size, kind="stable")
        reached = np.cumsum(np.outer(a_masses, b_masses).ravel()[order])
        last = min(int(np.searchsorted(reached, confidence)), order.size - 1)
        half = float(size[order[last]]) * (1.0 + 1e-12) + a_gap + b_gap
        return self.value - half, self.value + half

    def shown(self) -> tuple[str, str, str]:
        low, high = self.interval()
        places = 0 if all(abs(each - round(each)) < TIE for each in (self.value, low, high)) else digits(low, high)
        return f"{self.value:+,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"


@dataclass(frozen=True, repr=False, eq=False)
class Ratio(OfTwo):
    """The ratio of two answers, as `a / b` returns it: how many times as many.

    Parameters
    ----------
    task : Question
        What was asked.
    above, below : float
        The two answers.
    first, second : Error
        The laws of their errors.
    promises : tuple of str
        What each of them promises.
    together : Budget, optional
        What both cost people who are in both.

    Examples
    --------
    >>> march = hc.count([1] * 300 + [0] * 700, epsilon=1, model="central")
    >>> april = hc.count([1] * 450 + [0] * 550, epsilon=1, model="central")
    >>> low, high = (april / march).interval(0.999999)
    >>> low < 1.5 < high
    True
    """

    task: Question
    above: float
    below: float
    first: Error
    second: Error
    promises: tuple[str, ...]
    together: Budget | None = None
    named: ClassVar[str] = "ratio"

    @property
    def value(self) -> float:  # type: ignore[override]
        """The first answer by the second; no number if that is 0."""
        return self.above / self.below if self.below else math.nan

    @property
    def std_error(self) -> None:
        """None: a ratio has no mean error, as its second answer may be close to 0."""
        return

    def accepts(self, ratio: float, confidence: float = 0.95) -> bool:
        """Whether the answers agree with this ratio: neither tail of the error is as unlikely as it may be."""
        tail = (1.0 - confidence) / 2.0
        values, masses, gap = self.second.points
        seen = self.above - ratio * self.below
        slack = abs(ratio) * gap + self.first.lattice
        slack += TIE * (abs(self.above) + abs(ratio * self.below))
        reached = seen + ratio * values
        lost = self.first.noise.dropped + self.second.noise.dropped
        below = float(masses @ self.first.at_most(reached + slack)) + lost
        above = float(masses @ self.first.at_least(reached - slack)) + lost
        return below > tail and above > tail

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval: all ratios with which the answers agree.

        Parameters
        ----------
        confidence : float
            Chance that the interval covers the truth, above 0 and below 1.

        Returns
        -------
        tuple of float
            Its two ends; infinite both if the second truth may be 0.
        """
        require_confidence(confidence)
        nothing = Ratio(self.task, self.below, 1.0, self.second, _EXACT, self.promises)
        if not self.below or nothing.accepts(0.0, confidence):
            return -math.inf, math.inf
        return self._end(-1.0, confidence), self._end(1.0, confidence)

    def _end(self, sign: float, confidence: float) -> float:
        inside = self.value
        step = (self.first.size + abs(self.value) * self.second.size) / abs(self.below) or TIE
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
        if math.isinf(low):
            return "not known", "anything", "anything, as the second may be 0"
        places = digits(low, high)
        return f"{self.value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"


_EXACT = Error(Noise(np.zeros(1), np.ones(1)), 1.0)


class Pairs(Tabular, Mapping[Label, OfTwo]):
    """The difference or ratio of each category of two histograms: a mapping from category to either.

    Parameters
    ----------
    each : mapping
        The difference or ratio of each category.

    Examples
    --------
    >>> march = hc.histogram(["a"] * 600 + ["b"] * 400, categories=["a", "b"], epsilon=1, model="central")
    >>> april = hc.histogram(["a"] * 500 + ["b"] * 600, categories=["a", "b"], epsilon=1, model="central")
    >>> low, high = (april - march)["b"].interval(0.999999)
    >>> low < 200 < high
    True
    """

    def __init__(self, each: Mapping[Label, OfTwo]) -> None:
        self._each = dict(each)

    def __getitem__(self, category: Label) -> OfTwo:
        return self._each[category]

    def __iter__(self) -> Iterator[Label]:
        return iter(self._each)

    def __len__(self) -> int:
        return len(self._each)

    def records(self) -> list[dict[str, Any]]:
        return [{"category": category, **pair.records()[0]} for category, pair in self.items()]

    def plot(self, ax: Any = None, *, title: str = "", theme: str = "light") -> Picture:
        """An interval for each category, beside that of no change.

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
        return _picture({str(category): pair for category, pair in self.items()}, ax, title, theme)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, with a cell for each category."""
        first = next(iter(self.values()))
        both = None if first.together is None else first.together.to_json()
        cells = [{"category": category, **pair.to_json()} for category, pair in self.items()]
        return {"cells": cells, "other": None, "together": both}

    @property
    def sheet(self) -> TextTable:
        first = next(iter(self.values()))
        rows = []
        for category, pair in self.items():
            value, low, high = pair.shown()
            rows.append((str(category), value, f"{low} to {high}"))
        return TextTable(("category", first.named, "95% interval"), tuple(rows), frozenset({1, 2}))

    @property
    def guarantee(self) -> str:
        return next(iter(self.values())).guarantee

    def __str__(self) -> str:
        return f"{self.sheet.text()}\n{self.guarantee}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<div>{self.sheet.html()}<small>{self.guarantee}</small></div>"


def difference(first: Told, second: Told) -> Difference | Pairs:
    """Of two answers from separate runs, or of each category of theirs."""
    _same_question(first, second)
    about = first.error, second.error, (first.promises, second.promises), _together(first, second)
    each = [Difference(first.task, a - b, *about) for a, b in zip(first.values, second.values, strict=True)]
    return Pairs(dict(zip(first.labels, each, strict=True))) if first.labels else each[0]


def ratio(first: Told, second: Told) -> Ratio | Pairs:
    """Of two answers from separate runs, or of each category of theirs."""
    _same_question(first, second)
    about = first.error, second.error, (first.promises, second.promises), _together(first, second)
    each = [Ratio(first.task, a, b, *about) for a, b in zip(first.values, second.values, strict=True)]
    return Pairs(dict(zip(first.labels, each, strict=True))) if first.labels else each[0]


def _together(first: Told, second: Told) -> Budget | None:
    """What both cost people who are in both."""
    budgets = [told.budget for told in (first, second) if told.budget is not None]
    return total(budgets) if len(budgets) == 2 else None


def refuse_arithmetic(what: str) -> Unsupported:
    """Why answers cannot be added, multiplied or ordered like numbers."""
    if what in ("<", "<=", ">", ">="):
        problem = "answers are not ordered like numbers: noise could decide"
        return Unsupported(problem, "look whether (a - b).interval() holds 0, or order float(a) and float(b)")
    problem = f"an answer has no {what!r}: its interval and its promise would be lost"
    return Unsupported(problem, "use a - b or a / b of two answers, or float(a) for the number alone")


def _same_question(first: Told, second: Told) -> None:
    if type(first.task) is not type(second.task):
        raise Unsupported("only two answers to the same question have a difference or ratio")
    if first.task.clipped_to != second.task.clipped_to:
        raise Unsupported("only values that were clipped alike, or not at all, have a difference or ratio")
    if first.labels != second.labels:
        raise Unsupported("only answers about the same categories have a difference or ratio")


def _picture(pairs: Mapping[str, OfTwo], ax: Any, title: str, theme: str) -> Picture:
    from headcount.figures.intervals import Span, rows

    spans, first = [], next(iter(pairs.values()))
    for label, pair in pairs.items():
        value, low, high = pair.shown()
        if not math.isfinite(pair.value):
            continue
        text = value if value == "not known" else f"{value}  ({low} to {high})"
        spans.append(Span(label or first.named, pair.value, *pair.interval(), text))
    if not spans:
        raise BadArgument("plot", "has nothing to show", "every second answer is 0")
    unit = "times" if first.named == "ratio" else first.task.unit_words
    what = "How many times as many" if first.named == "ratio" else "How many more"
    look: dict[str, Any] = {
        "title": title or f"{what}: {spans[0].text}" if len(spans) == 1 else title or what,
        "subtitle": first.task.about,
        "xlabel": f"{first.named}, in {unit}" if unit else first.named,
        "caption": f"Lines are 95% intervals. {first.guarantee}",
        "percent": first.task.percent and first.named != "ratio",
        "from_zero": len(spans) > 1 and first.named != "ratio",
        "mark": 1.0 if first.named == "ratio" else 0.0,
    }
    return Picture.drawn(lambda target, theme: rows(spans, target, theme=theme, **look), ax, theme)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
