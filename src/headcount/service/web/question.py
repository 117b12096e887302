"""A question as the page asks it: read exactly, and told again as Python and as a command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headcount.errors import BadArgument
from headcount.planner.advice import Advice
from headcount.planner.advise import advise
from headcount.privacy.model import Model
from headcount.questions.count import Count, Fraction
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.total import Mean, Sum

MOST_PEOPLE = 10_000_000
MOST_CATEGORIES = 10_000
NUMBERS = {
    "n": (1.0, float(MOST_PEOPLE)), "epsilon": (0.01, 20.0), "delta": (0.0, 0.01), "honest": (0.01, 1.0),
    "categories": (2.0, float(MOST_CATEGORIES)), "low": (-1e9, 1e9), "high": (-1e9, 1e9),
    "ones": (0.0, float(MOST_PEOPLE)), "cap": (0.01, 1e6),
}  # fmt: skip
WHOLE = {"n", "categories", "ones"}
NEEDED = {"task", "n", "epsilon", "delta", "models"}
BY_TASK = {"histogram": {"categories"}, "sum": {"low", "high"}, "mean": {"low", "high"}}
WITHOUT_ONES = {"sum", "mean"}


@dataclass(frozen=True)
class Form:
    """What the page's fields say."""

    task: str
    n: int
    epsilon: float
    delta: float
    models: tuple[str, ...]
    honest: float = 1.0
    categories: int = 0
    low: float = 0.0
    high: float = 1.0
    ones: int | None = None
    cap: float | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Form:
        """From JSON. Fields that do not belong to the task are refused, as are numbers out of all proportion."""
        task = given.get("task")
        if task not in ("count", "fraction", "histogram", "sum", "mean"):
            raise BadArgument("task", "is not known", "use count, fraction, histogram, sum or mean")
        own = BY_TASK.get(task, set())
        allowed = NEEDED | own | {"honest", "cap"} | ({"ones"} if task not in WITHOUT_ONES else set())
        for name in sorted(NEEDED | own):
            if given.get(name) is None:
                raise BadArgument(name, "is missing", "fill it in")
        for name in sorted(set(given) - allowed):
            raise BadArgument(name, f"does not belong to a {task}", "leave it out")
        numbers = {name: _number(name, given[name]) for name in NUMBERS if given.get(name) is not None}
        return cls(task=task, models=_models(given["models"]), **numbers)._sensible()

    def _sensible(self) -> Form:
        """With numbers that go together, in the words of the page's fields."""
        if self.ones is not None and self.ones > self.n:
            raise BadArgument("ones", f"is {self.ones:,}", f"use at most the number of people, {self.n:,}")
        if self.task in WITHOUT_ONES and self.low >= self.high:
            raise BadArgument("low", f"is {self.low:,.10g}", f"use less than the upper bound, {self.high:,.10g}")
        return self

    @property
    def about(self) -> Question:
        if self.task == "histogram":
            return Histogram(self.categories)
        if self.task in WITHOUT_ONES:
            return (Sum if self.task == "sum" else Mean)((self.low, self.high))
        return Count() if self.task == "count" else Fraction()

    @property
    def crowd(self) -> dict[str, Any]:
        """What is said of people and budget; what is left out is as if it were not asked."""
        said: dict[str, Any] = {"n": self.n, "epsilon": self.epsilon, "delta": self.delta}
        said |= {} if self.honest == 1.0 else {"honest": self.honest}
        said |= {} if self.ones is None else {"ones": self.ones}
        return said | ({} if len(self.models) == len(Model) else {"models": list(self.models)})

    @property
    def wishes(self) -> dict[str, Any]:
        return self.crowd | ({} if self.cap is None else {"max_messages": self.cap})

    def advice(self, protocols: list[str] | None = None) -> Advice:
        return advise(self.about, **self.wishes, protocols=protocols)

    def python(self) -> str:
        """What gives the same ranking in Python."""
        kind = {"histogram": f"Histogram({self.categories})", "count": "Count()", "fraction": "Fraction()"}
        bounded = f"{self.task.capitalize()}(({self.low!r}, {self.high!r}))"
        said = ", ".join(f"{name}={_written(value)}" for name, value in self.wishes.items())
        return f"import headcount as hc\n\nadvice = hc.advise(hc.{kind.get(self.task, bounded)}, {said})\nprint(advice)"

    def command(self) -> str:
        """What gives the same ranking on the command line."""
        own = {"histogram": f" --categories {self.categories}"}.get(self.task, "")
        own = f" --bounds {self.low!r} {self.high!r}" if self.task in WITHOUT_ONES else own
        said = [f"--{name.replace('_', '-')} {value}" for name, value in self.wishes.items() if name != "models"] + [
            f"--model {model}" for model in self.wishes.get("models", [])
        ]
        return f"headcount advise {self.task}{own} {' '.join(said)}"


def _number(name: str, value: Any) -> Any:
    low, high = NUMBERS[name]
    works = f"use a{' whole' if name in WHOLE else ''} number from {low:,g} to {high:,.10g}"
    if not _finite(value):
        raise BadArgument(name, "is not a number", works)
    if not low <= value <= high or (name in WHOLE and value != int(value)):
        raise BadArgument(name, f"is {value:,.10g}", works)
    return int(value) if name in WHOLE else float(value)


def _finite(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(value)
    except (TypeError, OverflowError):  # text, or a whole number that no float comes near
        return False


def _models(given: Any) -> tuple[str, ...]:
    known = [str(model) for model in Model]
    if not isinstance(given, list) or not given or not all(model in known for model in given):
        raise BadArgument("models", "are not those you can trust", f"choose at least one of {', '.join(known)}")
    return tuple(model for model in known if model in given)


def _written(value: Any) -> str:
    return f"{value:_}" if isinstance(value, int) else repr(value)
