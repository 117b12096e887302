"""What differences and ratios of two answers have in common, or of two cells of one.

The errors of two runs are independent.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from headcount.answers.error_law import ErrorLaw
from headcount.answers.number import Number
from headcount.errors import BadArgument
from headcount.privacy.budget import Budget
from headcount.questions.question import Question


@dataclass(frozen=True, eq=False)
class Part:
    """A number of an answer, its interval at any confidence, and its error's one law, if any."""

    value: float
    interval: Callable[[float], tuple[float, float]]
    law: ErrorLaw | None = None


@dataclass(frozen=True, repr=False, eq=False)
class Change(Number):
    """The difference or the ratio of two answers."""

    task: Question
    first: Part
    second: Part
    promises: tuple[str, ...]
    together: Budget | None = None
    apart: bool = True  # whether the errors of the two are independent
    unit: str = ""  # what it is counted in
    named: ClassVar[str]

    @property
    @abstractmethod
    def value(self) -> float: ...

    @property
    @abstractmethod
    def std_error(self) -> float | None: ...

    @property
    def laws(self) -> tuple[ErrorLaw, ErrorLaw] | None:
        """The laws of both errors; None if one of them has none, or they are not independent."""
        first, second = self.first.law, self.second.law
        return None if first is None or second is None or not self.apart else (first, second)

    def both(self, confidence: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """The intervals of both answers, which cover at once with this confidence."""
        each = math.sqrt(confidence) if self.apart else (1.0 + confidence) / 2.0
        return self.first.interval(each), self.second.interval(each)

    @property
    def guarantee(self) -> str:
        """What both answers promise, and what both cost people who are in both."""
        both = "" if self.together is None else f"; together {self.together} for people in both"
        alike = len(set(self.promises)) == 1 < len(self.promises)
        return f"{f'{self.promises[0]}, each' if alike else ' | '.join(self.promises)}{both}"

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount difference --format json` prints it."""
        clipped = self.task.clipped_to
        return {
            **self.records()[0],
            "clipped_to": None if clipped is None else list(clipped),
            "std_error": self.std_error,
            "together": None if self.together is None else self.together.to_json(),
        }

    def records(self) -> list[dict[str, Any]]:
        """One row."""
        return [{"value": _finite(self.value), "interval95": [_finite(end) for end in self.interval()]}]

    def draw(self, target: Any, theme: str, title: str) -> object:
        return draw_changes({"": self}, target, theme, title)

    @property
    def said(self) -> str:
        """The value, what it is about, and its interval, as text."""
        value, low, high = self.shown()
        return f"{f'{value} {self.task.about}'.rstrip()}  (95% interval {low} to {high})"


def draw_changes(changes: Mapping[str, Change], target: Any, theme: str, title: str) -> object:
    """Draw an interval for each, beside that of no change."""
    from headcount.figures.intervals import Span, rows

    spans, first = [], next(iter(changes.values()))
    for label, change in changes.items():
        value, low, high = change.shown()
        if not math.isfinite(change.value):
            continue
        text = value if value == "not known" else f"{value}  ({low} to {high})"
        spans.append(Span(label or first.named, change.value, *change.interval(), text))
    if not spans:
        raise BadArgument("plot", "has nothing to show", "no value is known: there are too few people")
    unit = "times" if first.named == "ratio" else first.unit
    what = f"{first.named.capitalize()}: {spans[0].text}" if len(spans) == 1 else first.named.capitalize()
    look: dict[str, Any] = {
        "title": title or what,
        "subtitle": first.task.about,
        "xlabel": f"{first.named}, in {unit}" if unit else first.named,
        "caption": f"Lines are 95% intervals. {first.guarantee}",
        "percent": first.task.percent and first.named != "ratio",
        "from_zero": len(spans) > 1 and first.named != "ratio",
        "mark": 1.0 if first.named == "ratio" else 0.0,
    }
    return rows(spans, target, theme=theme, **look)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
