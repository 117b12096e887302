"""What accuracy costs, and who counts best, on the command line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from headcount.cli.commands import Commands
from headcount.cli.options import Delta, Epsilon, Formats, Models, Neighbours, Ones, People
from headcount.cli.posing import posing
from headcount.cli.progress import Bar
from headcount.cli.render import Format, sheet_table, show, written
from headcount.figures.canvas import destination
from headcount.figures.colours import theme_called
from headcount.planner.frontier import Frontier, frontier
from headcount.planner.map import SITUATIONS, Map
from headcount.planner.map import map as who_counts_best
from headcount.questions import QUESTIONS
from headcount.questions.question import Question

frontiers = Commands(help="What accuracy costs in messages, privacy, people or dropouts.")

AgainstWhat = Annotated[str, typer.Option("--against", help="messages, epsilon, n or dropouts.")]
Over = Annotated[tuple[float, float] | None, typer.Option("--over", help="The range of what it is held against.")]
Points = Annotated[int, typer.Option("--points", help="How many points along it.")]
Protocols = Annotated[str | None, typer.Option("--protocols", help="Only these protocols, separated by commas.")]
Out = Annotated[Path | None, typer.Option("--out", help="Also draw it, to a file that ends in .svg or .png.")]
Look = Annotated[str, typer.Option("--theme", help="The figure's colours: light or dark.")]


def draw_frontier(
    question: Question,
    n: People,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    against: AgainstWhat = "messages",
    ones: Ones = None,
    models: Models = None,
    protocols: Protocols = None,
    neighbours: Neighbours = "replace",
    over: Over = None,
    points: Points = 13,
    out: Out = None,
    theme: Look = "light",
    how: Formats = Format.TABLE,
) -> None:
    """The best errors that every protocol reaches, against what they cost."""
    _checked(out, theme)
    found = frontier(
        question,
        against=against,  # type: ignore[arg-type]  # what it is not is refused in words
        n=n,
        epsilon=epsilon,
        delta=delta,
        ones=ones,
        models=models or None,
        protocols=protocols,
        neighbours=neighbours,
        over=over,
        points=points,
        watch=Bar("calibrating"),
    )
    _shown(found, how)
    if out is not None:
        written(how, partial(found.plot, theme=theme), out)


def _shown(found: Frontier | Map, how: Format) -> None:
    sheet = found.sheet()
    if how is Format.TABLE:
        print(f"{sheet.title}\n")
    show(found.rows() if how is Format.CSV else found.to_json(), how, sheet_table(replace(sheet, title="")))


def _checked(out: Path | None, theme: str) -> None:
    """Refuses before anything is computed."""
    theme_called(theme)
    if out is not None:
        destination(out, "out")


for kind in QUESTIONS.values():
    frontiers.command(kind.name, help=f"Every protocol for a {kind.name}.")(posing(kind, draw_frontier))


def draw_map(
    epsilon: Epsilon,
    delta: Delta = 0.0,
    n: Annotated[tuple[float, float], typer.Option("--n", help="The smallest and the largest crowd.")] = (100, 1e6),
    ones: Annotated[tuple[float, float], typer.Option("--ones", help="The fewest and the most ones.")] = (1, 1e5),
    points: Annotated[int, typer.Option("--points", help="How many of each.")] = 40,
    models: Models = None,
    protocols: Protocols = None,
    situations: Annotated[bool, typer.Option(help="Mark three typical crowds.")] = False,
    out: Out = None,
    theme: Look = "light",
    how: Formats = Format.TABLE,
) -> None:
    """Which protocol counts best, by the number of people and of ones; and where additive noise overtakes sampling."""
    _checked(out, theme)
    found = who_counts_best(
        epsilon=epsilon,
        delta=delta,
        n=n,
        ones=ones,
        points=points,
        models=models or None,
        protocols=protocols,
        watch=Bar("calibrating"),
    )
    if how is Format.TABLE:
        print(f"{found.finding}.\n\n{found.summary()}\n")
    _shown(found, how)
    if out is not None:
        written(how, partial(found.plot, theme=theme, marks=SITUATIONS if situations else ()), out)
