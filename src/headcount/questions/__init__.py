"""Domains (what people hold), questions (what is asked of it), strategies (how it is measured).

Begin with `question.py` and `domains/domain.py`. A question is one file; it is found by name in
`QUESTIONS`, on the command line and by the advisor. Nothing outside of this package asks a question
or a domain of which class it is: they answer for themselves. Another package adds questions by an
entry point of the group `headcount.questions`, which names a class.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from typing import Any

from headcount.common.calls import checked_class
from headcount.common.plugins import with_installed
from headcount.errors import BadArgument
from headcount.questions.arrivals import Arrivals
from headcount.questions.count import Count, Fraction
from headcount.questions.distribution import Distribution
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.quantile import Quantile
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table

__all__ = ["Arrivals", "Count", "Distribution", "Fraction", "Histogram", "Mean", "Quantile", "Question", "Sum", "Table"]

GROUP = "headcount.questions"
OWN: tuple[type[Question], ...] = (Count, Fraction, Sum, Mean, Histogram, Distribution, Quantile, Table, Arrivals)


def installed(own: tuple[type[Question], ...] = OWN) -> dict[str, type[Question]]:
    """These questions and those of other packages, by name."""
    return with_installed({question.name: question for question in own}, GROUP, Question, "question")


QUESTIONS = installed()
for _kind in OWN:
    checked_class(_kind)


def required(argument: str, given: object) -> Question:
    """Refuses what is no question."""
    if not isinstance(given, Question):
        needed = [", ".join(told.name for told in each.arguments if told.needed) for each in OWN]
        asked = [f"hc.{each.__name__}({names})" for each, names in zip(OWN, needed, strict=True)]
        raise BadArgument(argument, f"is {given!r}", f"use {', '.join(asked[:-1])} or {asked[-1]}")
    return given


def question_called(given: object) -> Question:
    """The question itself, or by its name one that needs to be told nothing further."""
    kind = QUESTIONS.get(given) if isinstance(given, str) else None
    simple = kind is not None and not any(told.needed for told in kind.arguments)
    return kind.posed() if kind is not None and simple else required("task", given)


def implied(*, per_person: bool = False, **told: Any) -> Question:
    """The question that arguments ask where none is named; a count if nothing is told."""
    given = {name: value for name, value in told.items() if value is not None and value is not False}
    names = [name for name in given if name in implying()]
    if len(names) > 1:
        raise BadArgument(names[1], f"is given together with {names[0]}", "leave one of them out")
    kinds = (kind for kind in QUESTIONS.values() if (kind.per_person is True) is per_person)
    kind = next((kind for kind in kinds if kind.implied_by in names), Count)
    return kind.posed(**{each.name: given[each.name] for each in kind.arguments if each.name in given})


def implying(shapes: frozenset[Shape] = frozenset(Shape)) -> list[str]:
    """The arguments that ask a question of one of these shapes where none is named."""
    kinds = (kind for kind in QUESTIONS.values() if kind.implied_by and kind.shapes & shapes)
    return list(dict.fromkeys(kind.implied_by for kind in kinds))


def question_from_json(data: dict[str, Any]) -> Question:
    """The question that `Question.to_json` wrote down."""
    return QUESTIONS[data["name"]].from_json({name: part for name, part in data.items() if name != "name"})
