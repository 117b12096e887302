"""Differences and ratios of answers from two separate runs: of single numbers, or by category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from headcount.answers.change import Change, Part, draw_changes
from headcount.answers.difference import Difference
from headcount.answers.labels import called
from headcount.answers.ratio import Ratio
from headcount.errors import Unsupported
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.privacy.budget import Budget, total
from headcount.programme.tally import Tally
from headcount.questions.domains.domain import Label
from headcount.questions.question import Question

Kind = TypeVar("Kind", bound=Change)


@dataclass(frozen=True, eq=False)
class Operand:
    """What a difference or ratio needs of an answer: its parts, and what was promised."""

    task: Question
    labels: tuple[Label, ...]  # none where the answer is one number
    parts: tuple[Part, ...]
    promises: str
    budget: Budget | None
    release: Tally
    apart: bool  # whether the errors of its parts are independent
    unit: str  # what they are counted in
    most: int | None  # how many rows of a person count, each for itself

    def part(self, place: int) -> Operand:
        """One of its parts alone."""
        return replace(self, labels=(), parts=(self.parts[place],))


class Pairs(Tabular, Pictured, Mapping[Label, Change]):
    """The difference or ratio of each category of two histograms, as a mapping by category.

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

    def __init__(self, each: Mapping[Label, Change]) -> None:
        self._each = dict(each)

    def __getitem__(self, category: Label) -> Change:
        return self._each[category]

    def __iter__(self) -> Iterator[Label]:
        return iter(self._each)

    def __len__(self) -> int:
        return len(self._each)

    @property
    def _first(self) -> Change:
        return next(iter(self.values()))

    def records(self) -> list[dict[str, Any]]:
        """A row for each category."""
        return [{"category": category, **change.records()[0]} for category, change in self.items()]

    def draw(self, target: Any, theme: str, title: str) -> object:
        changes = {called(category): change for category, change in self.items()}
        return draw_changes(changes, target, theme, title)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, with a cell for each category."""
        both = None if self._first.together is None else self._first.together.to_json()
        cells = [{"category": category, **change.to_json()} for category, change in self.items()]
        return {"cells": cells, "other": None, "together": both}

    @property
    def sheet(self) -> TextTable:
        """A row for each category."""
        rows = []
        for category, change in self.items():
            value, low, high = change.shown()
            rows.append((called(category), value, f"{low} to {high}"))
        return TextTable(("category", self._first.named, "95% interval"), tuple(rows), frozenset({1, 2}))

    @property
    def guarantee(self) -> str:
        """What both answers promise, and what both cost people who are in both."""
        return self._first.guarantee

    def __str__(self) -> str:
        return f"{self.sheet.text()}\n{self.guarantee}"

    def __repr__(self) -> str:
        together = "" if self._first.together is None else f", together {self._first.together} for people in both"
        return f"Pairs: {self._first.named} of {len(self):,} categories{together}"

    def _repr_html_(self) -> str:
        return f"<div>{self.sheet.html()}<small>{self.guarantee}</small></div>"


def difference(first: Operand, second: Operand) -> Difference | Pairs:
    """Of two answers, or of each category of theirs."""
    return _changed(Difference, first, second)


def ratio(first: Operand, second: Operand) -> Ratio | Pairs:
    """Of two answers, or of each category of theirs."""
    return _changed(Ratio, first, second)


def _changed(kind: type[Kind], first: Operand, second: Operand) -> Kind | Pairs:
    _require_same_question(first, second)
    budgets = [operand.budget for operand in (first, second) if operand.budget is not None]
    about: tuple[Any, ...] = (first.promises, second.promises), total(budgets) if len(budgets) == 2 else None
    if first.release is second.release:  # two parts of one answer, which cost nothing more
        about = (first.promises,), None, first.apart and second.apart
    each = [
        replace(kind(first.task, a, b, *about), unit=first.unit) for a, b in zip(first.parts, second.parts, strict=True)
    ]
    return Pairs(dict(zip(first.labels, each, strict=True))) if first.labels else each[0]


def _require_same_question(first: Operand, second: Operand) -> None:
    if type(first.task) is not type(second.task):
        raise Unsupported("only two answers to the same question have a difference or ratio")
    if first.task.per_person != second.task.per_person:
        raise Unsupported("only answers in the same unit have a difference or ratio")
    if first.task.clipped_to != second.task.clipped_to:
        raise Unsupported("only values that were clipped alike, or not at all, have a difference or ratio")
    if first.most != second.most:
        raise Unsupported("only answers of equally many rows of a person have a difference or ratio")
    if first.labels != second.labels:
        raise Unsupported("only answers about the same categories have a difference or ratio")
