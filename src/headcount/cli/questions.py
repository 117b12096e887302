"""Questions about a table, a command for each: count, histogram, sum, quantile, and whatever else can be asked."""

from __future__ import annotations

from typing import Annotated

import typer

from headcount.asking import ask
from headcount.cli.files import engine_called, table
from headcount.cli.ledger import keep_count, ledger_of
from headcount.cli.options import (
    Clamp,
    Column,
    Delta,
    EngineName,
    Epsilon,
    File,
    Formats,
    LedgerFile,
    MaxContributions,
    ModelName,
    Neighbours,
    OnEngine,
    Params,
    Plot,
    ProtocolName,
    Theme,
    Unit,
    Where,
    WitnessFile,
    parameters_of,
    where_of,
)
from headcount.cli.posing import posing
from headcount.cli.render import Format, draw, estimate_table, require_drawable, show
from headcount.errors import BadArgument
from headcount.questions import QUESTIONS
from headcount.questions.question import Question


def answer(
    question: Question,
    file: File,
    column: Column,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    where: Where = None,
    by: Annotated[str | None, typer.Option(help="The column of groups, to count in each.")] = None,
    unit: Unit = None,
    max_contributions: MaxContributions = None,
    model: ModelName = None,
    neighbours: Neighbours = "replace",
    protocol: ProtocolName = None,
    param: Params = None,
    clamp: Clamp = False,
    consistent: Annotated[bool, typer.Option(help="The nearest counts that add up; no longer unbiased.")] = False,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    engine: OnEngine = EngineName.HERE,
    plot: Plot = None,
    theme: Theme = "light",
    how: Formats = Format.TABLE,
) -> None:
    """Answers the question and prints the estimate."""
    if consistent and not question.shape.several:
        raise BadArgument("--consistent", f"is for histograms, and this is a {question.name}", "leave it out")
    require_drawable(plot, theme)
    place = engine_called(engine)
    read = [*question.reads, column, unit, by]
    data = table(file, [name for name in read if name is not None], place)
    book = ledger_of(ledger, witness)
    estimate = ask(
        data,
        question,
        epsilon=epsilon,
        delta=delta,
        where=where_of(where),
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
    show(estimate.to_json(), how, estimate_table(estimate))
    keep_count(file, estimate, book)
    draw(how, plot, lambda: estimate.plot(theme=theme))


COMMANDS = {name: posing(kind, answer) for name, kind in QUESTIONS.items()}
