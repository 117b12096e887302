"""A series about a table with times: a count or a histogram in every round, under one promise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headcount.asking_in_rounds import series as series_about
from headcount.cli.files import engine_called, table
from headcount.cli.ledger import Charged
from headcount.cli.numbers import WHOLE
from headcount.cli.options import (
    Bounds,
    Categories,
    Delta,
    EngineName,
    Epsilon,
    File,
    OnEngine,
    Where,
    categories_of,
    where_of,
)
from headcount.cli.output import Output
from headcount.cli.questions import Declared
from headcount.cli.series_output import Cell, Save, require_cell, require_writable, show_series
from headcount.errors import BadArgument
from headcount.questions import implied
from headcount.questions.domains.calendar_rounds import EVERY


def series(
    file: File,
    time: Annotated[str, typer.Option(help="The column of times: dates, times, or texts such as 2026-01-31.")],
    unit: Annotated[str, typer.Option(help="The column of person ids: a person may have several rows.")],
    first: Annotated[str, typer.Option(help="When the first round begins, as 2026-01-05.")],
    rounds: Annotated[int, typer.Option(**WHOLE, help="How many rounds there are. What lies outside is not counted.")],
    epsilon: Epsilon,
    delta: Delta = 0.0,
    every: Annotated[str, typer.Option(help=f"How long a round is: {', '.join(EVERY[:-1])} or {EVERY[-1]}.")] = "week",
    timezone: Annotated[str, typer.Option(help="Where days begin, as Europe/Berlin.")] = "UTC",
    column: Annotated[
        str | None, typer.Option(help="The column of answers; without it, people with a row in a round are counted.")
    ] = None,
    where: Where = None,
    categories: Categories = None,
    bounds: Bounds = None,
    contributes: Annotated[int, typer.Option(**WHOLE, help="In how many rounds a person counts at most.")] = 1,
    cumulative: Annotated[bool, typer.Option("--cumulative", help="Sums over many rounds matter most.")] = False,
    cell: Cell = None,
    save: Save = None,
    dates: Annotated[
        str | None, typer.Option(help="How text writes times, as %d.%m.%Y; by ISO 8601 (2026-11-16) unless given.")
    ] = None,
    *,
    declared: Declared,
    charged: Charged,
    engine: OnEngine = EngineName.HERE,
    output: Output,
) -> None:
    """Count people round after round, every week for example: one charge for all rounds."""
    require_writable(save, output)
    if save is not None and save.exists() and Path(file).exists() and save.samefile(file):
        raise BadArgument("--save", f"is {save.name!r}, which holds the rows", "use the name of another file")
    question = implied(categories=categories_of(categories), bounds=bounds) if categories or bounds else None
    require_cell(cell, question is not None and question.shape.several, output)
    place = engine_called(engine)
    found = series_about(
        table(file, [name for name in (column, time, unit) if name is not None], place),
        question,
        column=column,
        time=time,
        unit=unit,
        first=first,
        rounds=rounds,
        epsilon=epsilon,
        delta=delta,
        every=every,  # type: ignore[arg-type]
        timezone=timezone,
        contributes=contributes,
        cumulative=cumulative,
        where=where_of(where),
        dates=dates,
        **declared.options(),
        engine=place,
        ledger=charged.opened(),
    )
    show_series(found, cell, save, output)
