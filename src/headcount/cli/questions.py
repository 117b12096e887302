"""Questions about a table, a command for each: count, histogram, sum, quantile, and whatever else can be asked."""

from __future__ import annotations

from typing import Annotated

import typer

from headcount.answers.pictures import InOrder
from headcount.asking import ask
from headcount.cli.files import engine_called, table
from headcount.cli.ledger import Charged, keep_count
from headcount.cli.numbers import WHOLE
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
from headcount.cli.render import estimate_table, show
from headcount.errors import BadArgument
from headcount.figures.picture import Pictured
from headcount.questions import QUESTIONS
from headcount.questions.question import Question


def answer(
    question: Question,
    file: File,
    epsilon: Epsilon,
    column: Annotated[
        str | None, typer.Option(help="The column that holds people's answers; without it, --by counts people.")
    ] = None,
    delta: Delta = 0.0,
    where: Where = None,
    missing: Missing = None,
    spelled: Spelled = False,
    blanks: Blanks = None,
    synonyms: Synonyms = None,
    numbers: Numbers = None,
    by: By = None,
    unit: Unit = None,
    max_contributions: MaxContributions = None,
    model: ModelName = None,
    neighbours: Neighbours = "replace",
    protocol: ProtocolName = None,
    param: Params = None,
    clamp: Clamp = False,
    consistent: Annotated[bool, typer.Option(help="The nearest counts that add up; no longer unbiased.")] = False,
    top: Annotated[
        int | None, typer.Option(**WHOLE, help="How many of the largest to show, with what is true of ranks.")
    ] = None,
    sort: Annotated[
        str | None, typer.Option(help="The order of categories: by value, the largest first, or by category.")
    ] = None,
    *,
    charged: Charged,
    engine: OnEngine = EngineName.HERE,
    output: Output,
) -> None:
    """Answers the question and prints the estimate."""
    if consistent and not question.shape.several and not by:
        raise BadArgument("--consistent", f"is for histograms, and this is a {question.name}", "leave it out")
    for option, given in (("--top", top), ("--sort", sort)):
        if given is not None and not question.shape.several and not by:
            raise BadArgument(option, f"is for several categories, and this is a {question.name}", "leave it out")
    if sort not in (None, "value", "category"):
        raise BadArgument("--sort", f"is {sort!r}", "use value or category")
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
        where=where_of(where),
        missing=missing_of(missing),
        spelled=spelled,
        blanks=blanks_of(blanks),
        synonyms=synonyms_of(synonyms),
        numbers=numbers,
        by=by,
        column=column,
        unit=unit,
        max_contributions=max_contributions,
        model=model,
        neighbours=neighbours,
        protocol=protocol,
        clamp=clamp,
        ledger=book,
        engine=place,
        parameters=parameters_of(param),
    )
    estimate = estimate.consistent() if consistent else estimate
    pictured: Pictured = estimate
    if top is not None:
        pictured = found = estimate.top(top)
        show(found.to_json(), output.how, estimate_table(estimate, found.cells, found.statement))
    elif sort is not None:
        cells = estimate.sorted(sort)  # type: ignore[arg-type]
        pictured = InOrder(estimate, cells)
        show(
            {**estimate.to_json(), "cells": [cell.to_json() for cell in cells]},
            output.how,
            estimate_table(estimate, cells),
        )
    else:
        show(estimate.to_json(), output.how, estimate_table(estimate))
    keep_count(file, estimate, book)
    output.draw(pictured)


COMMANDS = {name: posing(kind, answer) for name, kind in QUESTIONS.items()}
