"""What accuracy costs, and who counts best, on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.commands import Commands
from headcount.cli.options import (
    Categories,
    Delta,
    Epsilon,
    Formats,
    Models,
    Needed,
    Neighbours,
    Ones,
    People,
    Whole,
    categories_of,
)
from headcount.cli.progress import Bar
from headcount.cli.render import Format, drawable, sheet_table, show, written
from headcount.core.histogram import Histogram
from headcount.core.task import Count, Fraction, Mean, Sum, Task
from headcount.drawing.colours import theme_called
from headcount.planner.frontier import Frontier, frontier
from headcount.planner.map import SITUATIONS, Map
from headcount.planner.map import map as who_counts_best

frontiers = Commands(help="What accuracy costs in messages, privacy, people or dropouts.")

AgainstWhat = Annotated[str, typer.Option("--against", help="messages, epsilon, n or dropouts.")]
Over = Annotated[tuple[float, float] | None, typer.Option("--over", help="The range of what it is held against.")]
Points = Annotated[int, typer.Option("--points", help="How many points along it.")]
Protocols = Annotated[str | None, typer.Option("--protocols", help="Only these protocols, separated by commas.")]
Out = Annotated[Path | None, typer.Option("--out", help="Also draw it, to a file that ends in .svg or .png.")]
Look = Annotated[str, typer.Option("--theme", help="The figure's colours: light or dark.")]


def _frontier(task: Task, how: Format, out: Path | None, theme: str, **given: Any) -> None:
    _checked(out, theme)
    found = frontier(task, watch=Bar("calibrating"), **given)
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
        drawable("--out", out)


def _on_ones(task: Task) -> Callable[..., None]:
    """The frontier of a count or a fraction."""

    def command(
        n: People, epsilon: Epsilon, delta: Delta = 0.0, against: AgainstWhat = "messages", ones: Ones = None,
        model: Models = None, protocols: Protocols = None, neighbours: Neighbours = "replace", over: Over = None,
        points: Points = 13, out: Out = None, theme: Look = "light", how: Formats = Format.TABLE,
    ) -> None:  # fmt: skip
        _frontier(
            task, how, out, theme, against=against, n=n, epsilon=epsilon, delta=delta, ones=ones, models=model or None,
            protocols=protocols, neighbours=neighbours, over=over, points=points,
        )  # fmt: skip

    return command


def _on_numbers(kind: type[Sum]) -> Callable[..., None]:
    """The frontier of a sum or a mean."""

    def command(
        n: People, bounds: Needed, epsilon: Epsilon, delta: Delta = 0.0, against: AgainstWhat = "messages",
        whole: Whole = False, model: Models = None, protocols: Protocols = None, neighbours: Neighbours = "replace",
        over: Over = None, points: Points = 13, out: Out = None, theme: Look = "light", how: Formats = Format.TABLE,
    ) -> None:  # fmt: skip
        _frontier(
            kind.whole(bounds) if whole else kind(bounds), how, out, theme, against=against, n=n, epsilon=epsilon,
            delta=delta, models=model or None, protocols=protocols, neighbours=neighbours, over=over, points=points,
        )  # fmt: skip

    return command


frontiers.command("count", help="Every protocol for a count.")(_on_ones(Count()))
frontiers.command("fraction", help="The same, as a fraction of the people.")(_on_ones(Fraction()))
frontiers.command("sum", help="Every protocol for a sum of numbers within the bounds.")(_on_numbers(Sum))
frontiers.command("mean", help="Every protocol for a mean of numbers within the bounds.")(_on_numbers(Mean))


@frontiers.command("histogram")
def frontier_histogram(
    n: People, epsilon: Epsilon, delta: Delta = 0.0, against: AgainstWhat = "messages", categories: Categories = None,
    ones: Ones = None, model: Models = None, protocols: Protocols = None, neighbours: Neighbours = "replace",
    over: Over = None, points: Points = 13, out: Out = None, theme: Look = "light", how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Every protocol for a histogram; without --categories, for labels that nobody knows beforehand."""
    _frontier(
        Histogram(categories_of(categories)), how, out, theme, against=against, n=n, epsilon=epsilon, delta=delta,
        ones=ones, models=model or None, protocols=protocols, neighbours=neighbours, over=over, points=points,
    )  # fmt: skip


def draw_map(
    epsilon: Epsilon, delta: Delta = 0.0,
    n: Annotated[tuple[float, float], typer.Option("--n", help="The smallest and the largest crowd.")] = (100, 1e6),
    ones: Annotated[tuple[float, float], typer.Option("--ones", help="The fewest and the most ones.")] = (1, 1e5),
    points: Annotated[int, typer.Option("--points", help="How many of each.")] = 40,
    model: Models = None, protocols: Protocols = None,
    situations: Annotated[bool, typer.Option(help="Mark three typical crowds.")] = False, out: Out = None,
    theme: Look = "light", how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Who counts best among so many people with so many ones; and where additive noise overtakes sampling."""
    _checked(out, theme)
    found = who_counts_best(
        epsilon=epsilon, delta=delta, n=n, ones=ones, points=points, models=model or None, protocols=protocols,
        watch=Bar("calibrating"),
    )  # fmt: skip
    if how is Format.TABLE:
        print(f"{found.finding}.\n\n{found.summary()}\n")
    _shown(found, how)
    if out is not None:
        written(how, partial(found.plot, theme=theme, marks=SITUATIONS if situations else ()), out)
