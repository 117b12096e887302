"""Differences and ratios of two answers that were kept as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from headcount.answers.cell import Cell
from headcount.answers.change import Change
from headcount.answers.estimate import Estimate
from headcount.answers.labels import called
from headcount.answers.two_runs import Pairs
from headcount.cli.output import Output
from headcount.cli.render import answered, grid, sheet_table, show
from headcount.errors import BadArgument
from headcount.protocols.base.saved import load_answer

KEPT = "An answer, as --format json printed it into a file."
First = Annotated[Path, typer.Argument(help=KEPT)]
Second = Annotated[
    Path | None,
    typer.Argument(help="Another one, from a run of its own; left out, two cells of the first are compared."),
]
CellNames = Annotated[
    list[str] | None,
    typer.Option("--cell", help="A category or group: one of both answers, or two of one, the first less the second."),
]


def difference(first: First, second: Second = None, cell: CellNames = None, *, output: Output) -> None:
    """By how much is the first answer larger than the second, or one cell than another?

    With an interval, and what both cost together.
    """
    output.require_drawable()
    one, another = _two(first, second, cell or [])
    _show(one - another, output)


def ratio(first: First, second: Second = None, cell: CellNames = None, *, output: Output) -> None:
    """How many times as large is the first answer as the second, or one cell as another?

    With an interval, and what both cost together.
    """
    output.require_drawable()
    one, another = _two(first, second, cell or [])
    _show(one / another, output)


def _two(first: Path, second: Path | None, names: list[str]) -> tuple[Any, Any]:
    """Two answers, a cell of each, or two cells of one."""
    files = dict.fromkeys(path.resolve() for path in (first, second) if path is not None)
    answers = [load_answer(path) for path in files]
    if len(answers) == 1 and len(names) != 2:
        works = "name two cells of the answer, as in --cell 2026-02 --cell 2026-01, or give another answer"
        raise BadArgument("--cell", f"is given {len(names)} times for one answer", works)
    if not names:
        return answers[0], answers[1]
    one, another = answers[0], answers[-1]
    return _cell(one, names[0]), _cell(another, names[-1])


def _cell(answer: Estimate, name: str) -> Cell:
    found = {called(cell.category): cell for cell in [*answer.cells, *([answer.other] if answer.other else [])]}
    if name not in found:
        raise BadArgument("--cell", f"is {name!r}, which the answer does not have", f"use one of {'; '.join(found)}")
    return found[name]


def _show(found: Change | Pairs, output: Output) -> None:
    if isinstance(found, Pairs):
        table = sheet_table(found.sheet)
    else:
        table, (value, low, high) = grid("", ""), found.shown()
        table.add_row(found.named, answered(value, found.task.about))
        table.add_row("95% interval", f"{low} to {high}")
    table.add_row("guarantee", escape(found.guarantee))
    show(found.to_json(), output.how, table)
    output.draw(found)
