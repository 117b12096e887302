"""Ledgers on the command line: begin one, see what is spent, check that nobody changed it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.options import Delta, Epsilon, Formats, Neighbours, WitnessFile
from headcount.cli.render import Format, grid, show
from headcount.core.counted import counted
from headcount.core.errors import BadArgument
from headcount.ledger.charge import Charge
from headcount.ledger.ledger import Ledger

ledgers = typer.Typer(help="What has been spent on one crowd, kept in a file.", no_args_is_help=True)

Kept = Annotated[Path, typer.Argument(help="The ledger's file.")]


def ledger_of(path: Path | None, witness: Path | None) -> Ledger | None:
    """The ledger that a question is to be charged to."""
    if path is None:
        if witness is not None:
            raise BadArgument("--witness", "is given without --ledger", "say which ledger it is the witness of")
        return None
    _exists(path)
    return Ledger.open(path, witness=witness)


@ledgers.command()
def create(
    file: Kept, epsilon: Epsilon, delta: Delta = 0.0, neighbours: Neighbours = "replace", witness: WitnessFile = None,
    how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Begin a ledger: what one crowd may lose in all."""
    _show(Ledger.create(file, epsilon=epsilon, delta=delta, neighbours=neighbours, witness=witness), how)


@ledgers.command("show")
def show_ledger(file: Kept, how: Formats = Format.TABLE) -> None:
    """What was asked, and what is left."""
    _exists(file)
    _show(Ledger.verify(file), how)


@ledgers.command()
def verify(file: Kept, witness: WitnessFile = None, how: Formats = Format.TABLE) -> None:
    """Check every line and what it adds up to; with a witness, that none is missing. Nothing is written."""
    _exists(file)
    ledger = Ledger.verify(file, witness=witness)
    checked = {"questions": ledger.questions, "spent": ledger.spent, "witnessed": witness is not None}
    lines = "every line is in place" + (", and none is missing" if witness is not None else "")
    asked = counted(ledger.questions, "question")
    show(checked, how, f"{lines}: {ledger.spent:.4g} of {ledger.budget} spent on {asked}")


def _exists(path: Path) -> None:
    if not path.exists():
        works = f"begin it with: headcount ledger create {path} --epsilon 1"
        raise BadArgument("ledger", f"{path} does not exist", works)


def _show(ledger: Ledger, how: Format) -> None:
    rows = [_row(charge) for charge in ledger.charges]
    figures = {**ledger.budget.to_json(), "spent": ledger.spent, "remaining": ledger.remaining}
    table = grid(
        "", "day", "task", "protocol", "epsilon", "delta", "spent so far", title=str(ledger), right=(0, 4, 5, 6)
    )
    for row in rows:
        cells = (row[name] for name in ("number", "day", "task", "protocol", "epsilon", "delta", "spent"))
        table.add_row(*(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells))
    show(rows if how is Format.CSV else {**figures, "questions": len(rows), "charges": rows}, how, table)


def _row(charge: Charge) -> dict[str, Any]:
    return {
        "number": charge.number,
        "day": charge.day,
        "task": charge.question["task"]["name"],
        "protocol": charge.question["protocol"],
        "epsilon": float(charge.epsilon),
        "delta": float(charge.delta),
        "spent": float(charge.spent),
        "plan": charge.plan,
    }
