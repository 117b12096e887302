"""The price of trust on the command line."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from headcount.cli.files import table
from headcount.cli.ledger import Charged
from headcount.cli.options import (
    Bounds,
    Categories,
    Clip,
    Column,
    Delta,
    Epsilon,
    File,
    MaxContributions,
    Neighbours,
    Other,
    Unit,
    Where,
    categories_of,
    where_of,
)
from headcount.cli.output import Output
from headcount.cli.render import Format, sheet_table, show
from headcount.cli.spelling import Flags
from headcount.comparing import compare as compared
from headcount.errors import BadArgument
from headcount.phrases import Spelling, said
from headcount.planner.comparison import Comparison
from headcount.questions import implied


def compare(
    context: typer.Context,
    file: File,
    column: Column,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    where: Where = None,
    unit: Unit = None,
    max_contributions: MaxContributions = None,
    bounds: Bounds = None,
    clip: Clip = False,
    mean: Annotated[bool, typer.Option(help="Within --bounds, the mean and not the sum.")] = False,
    categories: Categories = None,
    other: Other = False,
    neighbours: Neighbours = "replace",
    *,
    charged: Charged,
    output: Output,
) -> None:
    """Answer by the best protocol of every model of trust, side by side; all answers are spent."""
    output.require_drawable()
    if mean and bounds is None:
        raise BadArgument("--mean", "needs --bounds", "use for example --bounds 0 120")
    names = [name for name in (column, unit) if name]
    frame = table(file, names, None)
    comparison = compared(
        frame,
        implied(per_person=True, bounds=bounds, clip=clip) if mean else None,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        column=column,
        where=where_of(where),
        unit=unit,
        max_contributions=max_contributions,
        bounds=None if mean else bounds,
        clip=clip and not mean,
        categories=categories_of(categories),
        other=other,
        ledger=charged.opened(),
    )
    value = comparison.records() if output.how is Format.CSV else comparison.to_json()
    show(value, output.how, _tables(comparison, Flags(context.command)), comparison.to_markdown())
    output.draw(comparison)


def _tables(comparison: Comparison, spelling: Spelling) -> Group:
    cells = Text("") if comparison.cells is None else Group("", sheet_table(comparison.cells), "")
    below = Text("\n".join(said(sentence, spelling) for sentence in comparison.sentences))
    return Group(sheet_table(comparison.sheet), cells, below)
