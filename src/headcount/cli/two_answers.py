"""Differences and ratios of two answers that were kept as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from headcount.answers.change import Change
from headcount.answers.two_runs import Pairs
from headcount.cli.options import Formats, Plot, Theme
from headcount.cli.render import Format, answered, draw, grid, require_drawable, sheet_table, show
from headcount.protocols.base.saved import load_answer

KEPT = "An answer, as --format json printed it into a file."
First = Annotated[Path, typer.Argument(help=KEPT)]
Second = Annotated[Path, typer.Argument(help=f"{KEPT} It must come from a run of its own.")]
Title = Annotated[str, typer.Option(help="What to write above the figure.")]


def difference(
    first: First,
    second: Second,
    plot: Plot = None,
    title: Title = "",
    theme: Theme = "light",
    how: Formats = Format.TABLE,
) -> None:
    """By how much is the first answer larger than the second? With an interval, and what both cost together."""
    require_drawable(plot, theme)
    _show(load_answer(first) - load_answer(second), how, plot, title, theme)


def ratio(
    first: First,
    second: Second,
    plot: Plot = None,
    title: Title = "",
    theme: Theme = "light",
    how: Formats = Format.TABLE,
) -> None:
    """How many times as large is the first answer as the second? With an interval, and what both cost together."""
    require_drawable(plot, theme)
    _show(load_answer(first) / load_answer(second), how, plot, title, theme)


def _show(found: Change | Pairs, how: Format, plot: Path | None, title: str, theme: str) -> None:
    table = grid("", "")
    if isinstance(found, Pairs):
        table = sheet_table(found.sheet)
        guarantee = found.guarantee
    else:
        value, low, high = found.shown()
        table.add_row(found.named, answered(value, found.task.about))
        table.add_row("95% interval", f"{low} to {high}")
        guarantee = found.guarantee
    table.add_row("guarantee", escape(guarantee))
    show(found.to_json(), how, table)
    draw(how, plot, lambda: found.plot(title=title, theme=theme))
