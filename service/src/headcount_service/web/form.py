"""The page's form: made from question declarations, read exactly, retold as Python and command."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import headcount
from headcount.errors import BadArgument
from headcount.phrases import Spelling
from headcount.planner.advice import Advice
from headcount.planner.advise import advise
from headcount.privacy.model import Model
from headcount.questions import QUESTIONS
from headcount.questions.argument import Argument, Told
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question

MOST_PEOPLE = 10_000_000
MOST_CATEGORIES = 10_000
LARGEST = 1e9  # of a person's numbers


def _places(low: int, high: int) -> tuple[float, ...]:
    """1, 2 and 5 times the powers of ten, within the range."""
    found = (step * 10**power for power in range(9) for step in (1, 2, 5))
    return tuple(place for place in found if low <= place <= high)


@dataclass(frozen=True)
class Field:
    """A number on the page."""

    name: str
    argument: str  # of Python that it tells
    label: str
    range: tuple[float, float]
    first: float | None  # None only where `none` says what that means
    hint: str = ""
    places: tuple[float | None, ...] = ()  # where its slider stops; without any it has none
    whole: bool = False
    percent: bool = False
    none: str = ""
    needed: bool = False
    group: str = ""  # the label of fields that stand side by side

    def read(self, value: Any) -> Any:
        low, high = self.range
        works = f"use a{' whole' if self.whole else ''} number from {low:,g} to {high:,.10g}"
        if not _finite(value):
            raise BadArgument(self.name, "is not a number", works)
        if not low <= value <= high or (self.whole and value != int(value)):
            raise BadArgument(self.name, f"is {value:,.10g}", works)
        return int(value) if self.whole else float(value)


PEOPLE = Field(
    "n", "n", "People", (1, MOST_PEOPLE), 10_000, "How many will report.", _places(100, MOST_PEOPLE),
    whole=True, needed=True,
)  # fmt: skip
BUDGET = (
    Field("epsilon", "epsilon", "Epsilon", (0.01, 20), 1, needed=True,
          places=(0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 8)),
    Field("delta", "delta", "Delta", (0, 0.01), 1e-6, needed=True,
          places=(0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)),
)  # fmt: skip
HONEST = Field(
    "honest", "honest", "Honest share", (0.01, 1), 1, places=(0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1), percent=True
)
ONES = Field(
    "ones", "ones", "Expected answer", (0, MOST_PEOPLE), None, places=(None, 0, *_places(1, 1_000_000)),
    whole=True, none="unknown",
)  # fmt: skip
CAP = Field(
    "cap", "max_messages", "Messages, at most", (0.01, 1e6), None,
    places=(1, 2, 3, 5, 10, 20, 50, 100, 1000, None), none="no limit",
)  # fmt: skip


def _fields(argument: Argument) -> tuple[Field, ...]:
    """The fields that tell an argument: of bounds there are two."""
    name, label = argument.name, argument.label or argument.name.capitalize()
    match argument.told:
        case Told.LABELS:
            places, hint = _places(2, MOST_CATEGORIES), "How many there are to choose from."
            most = (2, MOST_CATEGORIES)
            return (Field(name, name, label, most, argument.first, hint, places, whole=True, needed=True),)
        case Told.BOUNDS:
            ends = zip(("low", "high"), ("Lower bound", "Upper bound"), argument.first, strict=True)
            span = (-LARGEST, LARGEST)
            return tuple(
                Field(end, name, words, span, first, argument.help, needed=True, group=label)
                for end, words, first in ends
            )
        case Told.NUMBER:
            return (Field(name, name, label, (-LARGEST, LARGEST), argument.first, argument.help, needed=True),)
    raise TypeError(f"the page has no field for {argument.told}, which {name} is")


@dataclass(frozen=True)
class Offered:
    """A question on the page, by its name, and the fields of its form."""

    kind: type[Question]
    own: tuple[Field, ...]
    example: Question  # as the form begins

    @classmethod
    def of(cls, kind: type[Question]) -> Offered:
        asked = [argument for argument in kind.arguments if argument.first is not None]
        example = kind.posed(**{argument.name: argument.first for argument in asked})
        return cls(kind, tuple(field for argument in asked for field in _fields(argument)), example)

    @property
    def fields(self) -> tuple[Field, ...]:
        ones = () if self.example.shape is Shape.AMOUNT else (ONES,)
        return (PEOPLE, *self.own, *BUDGET, HONEST, *ones, CAP)

    def told(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the question; of several fields for one, a tuple."""
        found: dict[str, Any] = {}
        for field in self.own:
            parts = tuple(numbers[each.name] for each in self.own if each.argument == field.argument)
            found[field.argument] = parts if field.group else parts[0]
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.kind.name,
            "called": self.example.called,
            "asks": self.kind.asks,
            "unit": self.example.unit_words,
            "percent": self.example.percent,
            "several": self.example.shape.several,
            "counts": self.example.shape is Shape.BIT,
            "fields": [field.name for field in self.fields],
        }


@cache
def offered() -> dict[str, Offered]:
    """Every question for which the page has a field for all that it must be told."""
    able = [
        kind for kind in QUESTIONS.values() if all(told.first is not None for told in kind.arguments if told.needed)
    ]
    return {kind.name: Offered.of(kind) for kind in able}


def fields() -> dict[str, Field]:
    """The fields of all questions, in the order of the page."""
    own = (field for one in offered().values() for field in one.own)
    return {field.name: field for field in (PEOPLE, *own, *BUDGET, HONEST, ONES, CAP)}


def description() -> dict[str, Any]:
    """The description that the page builds its form from."""
    return {
        "questions": [one.to_json() for one in offered().values()],
        "fields": [asdict(field) for field in fields().values()],
        "models": [str(model) for model in Model],
    }


class Labels(Spelling):
    """Arguments as the labels of the page's fields; one without a field is written as in Python."""

    def __init__(self) -> None:
        every = fields().values()
        self._labels = {field.argument: field.group or field.label for field in every}
        self._labels |= {field.name: field.label for field in every}

    def argument(self, name: str) -> str:
        return f"“{self._labels[name]}”" if name in self._labels else name

    def setting(self, name: str, value: object = ...) -> str:
        if name not in self._labels:
            return super().setting(name, value)
        return self.argument(name) + ("" if value is ... else f" {value}")

    def offers(self, name: str) -> bool:
        return name in self._labels


@dataclass(frozen=True)
class Form:
    """The values of the page's fields."""

    offered: Offered
    models: tuple[str, ...]
    numbers: Mapping[str, Any]

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Form:
        """Read a form from JSON. Refuses fields not of the question, and numbers out of range."""
        task = given.get("task")
        if not isinstance(task, str) or task not in offered():
            raise BadArgument("task", "is not known", f"use one of {', '.join(offered())}")
        own = {field.name: field for field in offered()[task].fields}
        for name in sorted({"models"} | {name for name, field in own.items() if field.needed}):
            if given.get(name) is None:
                raise BadArgument(name, "is missing", "fill it in")
        for name in sorted(set(given) - set(own) - {"task", "models"}):
            raise BadArgument(name, f"does not belong to a {task}", "leave it out")
        numbers = {name: field.read(given[name]) for name, field in own.items() if given.get(name) is not None}
        return cls(offered()[task], _models(given["models"]), numbers)._sensible()

    def _sensible(self) -> Form:
        """Refuses numbers that contradict each other, in the words of the page's fields."""
        ones, people = self.numbers.get("ones"), self.n
        if ones is not None and ones > people:
            raise BadArgument("ones", f"is {ones:,}", f"use at most the number of people, {people:,}")
        low, high = self.numbers.get("low"), self.numbers.get("high")
        if low is not None and high is not None and low >= high:
            raise BadArgument("low", f"is {low:,.10g}", f"use less than the upper bound, {high:,.10g}")
        return self

    @property
    def n(self) -> int:
        return int(self.numbers["n"])

    @property
    def question(self) -> Question:
        return self.offered.kind.posed(**self.offered.told(self.numbers))

    @property
    def crowd(self) -> dict[str, Any]:
        """People and budget, as arguments of `advise`, without defaults."""
        common = [field for field in (PEOPLE, *BUDGET, HONEST, ONES) if field.name in self.numbers]
        told = {field.argument: self.numbers[field.name] for field in common}
        told = {name: value for name, value in told.items() if (name, value) != (HONEST.argument, HONEST.first)}
        return told | ({} if len(self.models) == len(Model) else {"models": list(self.models)})

    @property
    def wishes(self) -> dict[str, Any]:
        cap = self.numbers.get(CAP.name)
        return self.crowd | ({} if cap is None else {CAP.argument: cap})

    def advice(self, protocols: list[str] | None = None) -> Advice:
        return advise(self.question, **self.wishes, protocols=protocols)

    def python(self) -> str:
        """Python that gives the same ranking."""
        kind, told = self.offered.kind, self.offered.told(self.numbers)
        public = getattr(headcount, kind.__name__, None) is kind
        imported = "" if public else f"from {kind.__module__} import {kind.__name__}\n"
        question = f"{'hc.' if public else ''}{kind.__name__}({_arguments(told)})"
        said = _arguments(self.wishes)
        return f"import headcount as hc\n{imported}\nadvice = hc.advise({question}, {said})\nprint(advice)"

    def command(self) -> str:
        """The command that gives the same ranking."""
        every = self.offered.told(self.numbers) | self.wishes
        said = [_option(name, value) for name, value in every.items() if name != "models"]
        said += [f"--model {model}" for model in self.wishes.get("models", [])]
        return f"headcount advise {self.offered.kind.name} {' '.join(said)}"


def _arguments(told: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={f'{value:_}' if isinstance(value, int) else repr(value)}" for name, value in told.items()
    )


def _option(name: str, value: Any) -> str:
    typed = " ".join(map(repr, value)) if isinstance(value, tuple) else value
    return f"--{name.replace('_', '-')} {typed}"


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
