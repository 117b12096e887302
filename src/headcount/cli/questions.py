"""Questions about a table, a command for each: count, histogram, sum, quantile and all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import typer

from headcount.answers.estimate import Estimate
from headcount.answers.pictures import InOrder
from headcount.asking import ask
from headcount.cli.files import engine_called, table
from headcount.cli.ledger import Charged, keep_count
from headcount.cli.numbers import WHOLE
from headcount.cli.option_groups import OptionGroup
from headcount.cli.options import (
    Blanks,
    By,
    Clamp,
    Delta,
    EngineName,
    Epsilon,
    File,
    MaxContributions,
    Missing,
    ModelName,
    Neighbours,
    Numbers,
    OnEngine,
    Params,
    ProtocolName,
    Spelled,
    Synonyms,
    Unit,
    Where,
    blanks_of,
    missing_of,
    parameters_of,
    synonyms_of,
    where_of,
)
from headcount.cli.output import Output
from headcount.cli.posing import posing
from headcount.cli.render import Format, estimate_table, show
from headcount.errors import BadArgument
from headcount.figures.picture import Pictured
from headcount.questions import QUESTIONS
from headcount.questions.question import Question


@dataclass(frozen=True)
class Declared(OptionGroup):
    """Options that declare how values are read."""

    missing: Missing = None
    spelled: Spelled = False
    blanks: Blanks = None
    synonyms: Synonyms = None
    numbers: Numbers = None

    def options(self) -> dict[str, Any]:
        """The same as options of `ask`."""
        return {
            "missing": missing_of(self.missing),
            "spelled": self.spelled,
            "blanks": blanks_of(self.blanks),
            "synonyms": synonyms_of(self.synonyms),
            "numbers": self.numbers,
        }


@dataclass(frozen=True)
class Selected(OptionGroup):
    """Which of several categories are shown, and how they are brought together."""

    consistent: Annotated[bool, typer.Option(help="The nearest counts that add up; no longer unbiased.")] = False
    top: Annotated[
        int | None, typer.Option(**WHOLE, help="How many of the largest to show, with what is true of ranks.")
    ] = None
    sort: Annotated[
        str | None,
        typer.Option(help="The order of categories: by value, the largest first, or by category."),
    ] = None

    def require_several(self, question: Question, by: list[str] | None) -> None:
        """Refuses what is for answers with several categories, where there is one number."""
        several = question.shape.several or bool(by)
        if self.consistent and not several:
            raise BadArgument("--consistent", f"is for histograms, and this is a {question.name}", "leave it out")
        for option, given in (("--top", self.top), ("--sort", self.sort)):
            if given is not None and not several:
                raise BadArgument(option, f"is for several categories, and this is a {question.name}", "leave it out")
        if self.sort not in (None, "value", "category"):
            raise BadArgument("--sort", f"is {self.sort!r}", "use value or category")

    def show(self, estimate: Estimate, how: Format) -> Pictured:
        """Prints the estimate, and returns what can be drawn of it."""
        pictured: Pictured = estimate
        if self.top is not None:
            pictured = found = estimate.top(self.top)
            show(found.to_json(), how, estimate_table(estimate, found.cells, found.statement))
        elif self.sort is not None:
            cells = estimate.sorted(cast(Literal["value", "category"], self.sort))
            pictured = InOrder(estimate, cells)
            told = {**estimate.to_json(), "cells": [cell.to_json() for cell in cells]}
            show(told, how, estimate_table(estimate, cells))
        else:
            show(estimate.to_json(), how, estimate_table(estimate))
        return pictured


def answer(
    question: Question,
    file: File,
    epsilon: Epsilon,
    column: Annotated[
        str | None, typer.Option(help="The column that holds people's answers; without it, --by counts people.")
    ] = None,
    delta: Delta = 0.0,
    where: Where = None,
    *,
    declared: Declared,
    by: By = None,
    unit: Unit = None,
    max_contributions: MaxContributions = None,
    model: ModelName = None,
    neighbours: Neighbours = "replace",
    protocol: ProtocolName = None,
    param: Params = None,
    clamp: Clamp = False,
    selected: Selected,
    charged: Charged,
    engine: OnEngine = EngineName.HERE,
    output: Output,
) -> None:
    """Answers the question and prints the estimate."""
    selected.require_several(question, by)
    output.require_drawable()
    place = engine_called(engine)
    read = [*question.reads, column, unit, *(by or [])]
    data = table(file, [name for name in read if name is not None], place)
    book = charged.opened()
    estimate = ask(
        data,
        question,
        epsilon=epsilon,
        delta=delta,
        column=column,
        where=where_of(where),
        **declared.options(),
        by=by,
        unit=unit,
        max_contributions=max_contributions,
        model=model,
        neighbours=neighbours,
        protocol=protocol,
        parameters=parameters_of(param),
        clamp=clamp,
        engine=place,
        ledger=book,
    )
    pictured = selected.show(estimate.consistent() if selected.consistent else estimate, output.how)
    keep_count(file, estimate, book)
    output.draw(pictured)


COMMANDS = {name: posing(kind, answer) for name, kind in QUESTIONS.items()}
