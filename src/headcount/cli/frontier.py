"""What accuracy costs, and who counts best, on the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from headcount.cli.commands import Commands
from headcount.cli.options import Delta, Epsilon, Models, Neighbours, Ones, People
from headcount.cli.output import Output
from headcount.cli.posing import posing
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, sheet_table, show
from headcount.planner.frontier import Frontier
from headcount.planner.frontier_points import frontier
from headcount.planner.map import SITUATIONS, Map
from headcount.planner.map_panels import map as who_counts_best
from headcount.questions import QUESTIONS
from headcount.questions.question import Question

frontiers = Commands(help="What accuracy costs in messages, privacy, people or dropouts.")

AgainstWhat = Annotated[str, typer.Option("--against", help="messages, epsilon, n or dropouts.")]
Over = Annotated[tuple[float, float] | None, typer.Option("--over", help="The range of what it is held against.")]
Points = Annotated[int, typer.Option("--points", help="How many points along it.")]
Protocols = Annotated[str | None, typer.Option("--protocols", help="Only these protocols, separated by commas.")]


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
    *,
    output: Output,
) -> None:
    """The best errors that every protocol reaches, against what they cost."""
    output.require_drawable()
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
        watch=ProgressBar("calibrating"),
    )
    _show_sheet(found, output.how)
    output.draw(found)


def _show_sheet(found: Frontier | Map, how: Format) -> None:
    sheet = found.sheet()
    if how is Format.TABLE:
        print(f"{sheet.title}\n")
    show(found.records() if how is Format.CSV else found.to_json(), how, sheet_table(replace(sheet, title="")))


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
    *,
    output: Output,
) -> None:
    """The best protocol for counts, by people and ones; where additive noise overtakes sampling."""
    output.require_drawable()
    found = who_counts_best(
        epsilon=epsilon,
        delta=delta,
        n=n,
        ones=ones,
        points=points,
        models=models or None,
        protocols=protocols,
        watch=ProgressBar("calibrating"),
    )
    if output.how is Format.TABLE:
        print(f"{found.finding}.\n\n{found.summary()}\n")
    _show_sheet(found, output.how)
    output.draw(found, marks=SITUATIONS if situations else ())
