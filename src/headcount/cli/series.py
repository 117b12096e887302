"""A series about a table with times: a count or a histogram in every round, under one promise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headcount.asking_in_rounds import series as series_about
from headcount.cli.files import engine_called, table
from headcount.cli.ledger import ledger_of
from headcount.cli.numbers import WHOLE
from headcount.cli.options import (
    Bounds,
    Categories,
    Delta,
    EngineName,
    Epsilon,
    File,
    Formats,
    LedgerFile,
    OnEngine,
    Plot,
    Theme,
    Title,
    Where,
    WitnessFile,
    categories_of,
    where_of,
)
from headcount.cli.render import Format, console, draw, require_drawable, sheet_table, show, write_file
from headcount.errors import BadArgument
from headcount.questions import implied
from headcount.questions.domains.rounds import EVERY
from headcount.rounds import Series

TABLES = (".csv", ".parquet")


def series(
    file: File,
    time: Annotated[str, typer.Option(help="The column of times: dates, times, or texts such as 2026-01-31.")],
    unit: Annotated[str, typer.Option(help="The column of person ids: a person may have several rows.")],
    first: Annotated[str, typer.Option(help="When the first round begins, as 2026-01-05.")],
    rounds: Annotated[int, typer.Option(**WHOLE, help="How many rounds there are. What lies outside is not counted.")],
    epsilon: Epsilon,
    delta: Delta = 0.0,
    every: Annotated[str, typer.Option(help=f"How long a round is: {', '.join(EVERY[:-1])} or {EVERY[-1]}.")] = "week",
    column: Annotated[
        str | None, typer.Option(help="The column of answers; without it, people with a row in a round are counted.")
    ] = None,
    where: Where = None,
    categories: Categories = None,
    bounds: Bounds = None,
    contributes: Annotated[int, typer.Option(**WHOLE, help="In how many rounds a person counts at most.")] = 1,
    cumulative: Annotated[bool, typer.Option("--cumulative", help="Sums over many rounds matter most.")] = False,
    cell: Annotated[str | None, typer.Option(help="Of a histogram, the category that is shown.")] = None,
    save: Annotated[Path | None, typer.Option(help="Also write all rounds to a file: .csv or .parquet.")] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    engine: OnEngine = EngineName.HERE,
    plot: Plot = None,
    title: Title = "",
    theme: Theme = "light",
    how: Formats = Format.TABLE,
) -> None:
    """Count people round after round, every week for example: one charge for all rounds."""
    require_drawable(plot, theme)
    if save is not None and save.suffix not in TABLES:
        raise BadArgument("--save", f"is {save.name!r}", f"use a name that ends in {' or '.join(TABLES)}")
    question = implied(categories=categories_of(categories), bounds=bounds) if categories or bounds else None
    several = question is not None and question.shape.several
    if several != (cell is not None) and (plot is not None or how is Format.TABLE or not several):
        problem = "is missing: a histogram is shown by category" if several else "is for histograms"
        raise BadArgument("--cell", problem, "name one of --categories" if several else "leave it out")
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
        contributes=contributes,
        cumulative=cumulative,
        where=where_of(where),
        engine=place,
        ledger=ledger_of(ledger, witness),
    )
    if how is Format.TABLE:
        console().print(sheet_table(found.sheet(cell=cell)))
    else:
        show(found.records(), how, "")
    if save is not None:
        write_file(how, lambda path: _write(found, path), save)
    draw(how, plot, lambda: found.plot(cell=cell, title=title, theme=theme))


def _write(found: Series, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        found.to_csv(path)
    else:
        found.to_parquet(path)
