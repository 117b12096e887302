"""Ledgers on the command line: begin one, see what is spent, check that nobody changed it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.answers.estimate import Estimate
from headcount.cli.commands import Commands, part_of_service
from headcount.cli.option_groups import OptionGroup
from headcount.cli.options import Delta, Epsilon, Formats, Neighbours, WitnessFile
from headcount.cli.output import Output
from headcount.cli.render import Format, grid, show, warn
from headcount.errors import BadArgument
from headcount.ledger.charge import charge_title
from headcount.ledger.habit import habit
from headcount.ledger.ledger import Ledger
from headcount.ledger.words import percent
from headcount.protocols.base.saved import load_plan

DEFAULT = Path("headcount.ledger")  # of whatever is asked in its folder
NONE = "none"

ledgers = Commands(help="What has been spent on one crowd, kept in a file.")

Kept = Annotated[Path, typer.Argument(help="The ledger's file; with --data, the name of a population.")]
Data = Annotated[
    Path | None, typer.Option("--data", help="Of a population that an analyser keeps: the folder of serve or desk.")
]


def is_here() -> bool:
    """Whether this folder has a ledger, even one out of reach, as a link to a missing disk."""
    return os.path.lexists(DEFAULT)


@dataclass(frozen=True)
class Charged(OptionGroup):
    """The options of commands that answer questions about data."""

    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            help="The ledger of this crowd, which is charged first: headcount.ledger, if this folder has it; or none.",
        ),
    ] = None
    witness: WitnessFile = None

    def opened(self) -> Ledger | None:
        """The ledger that the question is to be charged to."""
        path = self.ledger
        if path is None and is_here():
            warn(f"charged to {DEFAULT} in this folder; --ledger none charges nothing")
            path = DEFAULT
        if path is None or str(path) == NONE:
            if self.witness is not None:
                raise BadArgument("--witness", "is given without --ledger", "say which ledger it is the witness of")
            return None
        _exists(path)
        return Ledger.open(path, witness=self.witness)


def keep_count(file: str, estimate: Estimate, ledger: Ledger | None) -> None:
    """Warns on standard error, the second time, then at times, that a file's answers add up."""
    if ledger is None and estimate.budget is not None:
        words = habit(file, estimate.budget, remembered=True)
        if words:
            warn(f"{words}: headcount ledger create --epsilon 3")


@ledgers.command()
def create(
    epsilon: Epsilon,
    file: Kept = DEFAULT,
    delta: Delta | None = None,
    neighbours: Neighbours = "replace",
    witness: WitnessFile = None,
    data: Data = None,
    how: Formats = Format.TABLE,
) -> None:
    """Begin a ledger: what one crowd may lose in all."""
    if data is not None:
        if neighbours != "replace" or witness is not None:
            works = "leave them out: an analyser counts in 'replace' and has a witness of its own"
            raise BadArgument("--data", "is given with --neighbours or --witness", works)
        if delta is None:
            works = (
                "use for example --delta 1e-5, far below one in the population, or --delta 0 if no plan will need it"
            )
            raise BadArgument("--delta", "is missing for a population, whose budget can never be changed", works)
        _operator(data).endow(str(file), epsilon, delta)
        _show(_operator(data).ledger(str(file)), how)
        return
    _show(Ledger.create(file, epsilon=epsilon, delta=delta or 0.0, neighbours=neighbours, witness=witness), how)
    if file == DEFAULT:
        warn(f"every question that is asked in this folder is charged to {DEFAULT}, unless --ledger says otherwise")


@ledgers.command("show")
def show_ledger(file: Kept = DEFAULT, data: Data = None, *, output: Output) -> None:
    """What was asked, what is left, and what would still be possible."""
    output.require_drawable()
    told = None if data is None else _operator(data).population(str(file))
    ledger = _verified(file, None, data)
    _show(ledger, output.how, told)
    output.draw(ledger)


@ledgers.command()
def verify(file: Kept = DEFAULT, witness: WitnessFile = None, data: Data = None, how: Formats = Format.TABLE) -> None:
    """Check every line and the sums; with a witness, that none is missing. Nothing is written."""
    ledger = _verified(file, witness, data)
    checked = {"questions": ledger.questions, "spent": ledger.spent, "witnessed": witness is not None}
    lines = "every line is in place" + (", and none is missing" if witness is not None else "")
    show(checked, how, f"{lines}. {ledger}")


@ledgers.command()
def cost(
    file: Kept,
    plan: Annotated[Path, typer.Argument(help="The plan's file.")],
    data: Data = None,
    how: Formats = Format.TABLE,
) -> None:
    """What a plan would cost, and whether that is left. Nothing is spent."""
    ledger, asked = _verified(file, None, data), load_plan(plan)
    more, left, times = ledger.would_cost(asked), ledger.remaining, ledger.affords(asked)
    fits = f"enough for {times:,.0f} such" if times else "which is not enough"
    figures = {"cost": more, "spent": ledger.spent, "remaining": left, "fits": times > 0, "affords": times}
    show(figures, how, f"it would cost {percent(more)} of the budget; {percent(left, spent=False)} is left, {fits}")


def _verified(file: Path, witness: Path | None, data: Path | None) -> Ledger:
    if data is not None:
        kept: Ledger = _operator(data).ledger(str(file), witness)
        return kept
    _exists(file)
    return Ledger.verify(file, witness=witness)


def _operator(folder: Path) -> Any:
    """The operator of the service whose credentials are in this folder."""
    return part_of_service("operator", "--data").open(folder)


def _exists(path: Path) -> None:
    if not path.exists():
        works = f"begin it with: headcount ledger create {path} --epsilon 1"
        raise BadArgument("ledger", f"{path} does not exist", works)


def _show(ledger: Ledger, how: Format, told: dict[str, Any] | None = None) -> None:
    """Print a ledger and, of a population an analyser keeps, the budget promised to collections."""
    rows = ledger.records()
    order = None if ledger.order is None else float(ledger.order)
    figures = {**ledger.budget.to_json(), "spent": ledger.spent, "remaining": ledger.remaining, "order": order}
    figures["outlook"] = ledger.outlook()
    figures |= {} if told is None else {name: told[name] for name in ("promised", "reserved")}
    table = grid(
        "", "day", "question", "protocol", "epsilon", "delta", "spent so far", title=str(ledger), right=(0, 4, 5, 6)
    )
    for row in rows:
        asks = charge_title(row["task"], row["column"])
        cells = (row["number"], row["day"], asks, row["protocol"], row["epsilon"], row["delta"])
        shown = (f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
        table.add_row(*shown, percent(row["spent"]))
    show(rows if how is Format.CSV else {**figures, "questions": len(rows), "charges": rows}, how, table)
    if how is Format.TABLE:
        print(f"{ledger.outlook()}.")
    if told is not None and how is Format.TABLE:
        left, promised = percent(ledger.remaining, spent=False), percent(told["promised"])
        print(f"{left} is left, of which {promised} is promised to collections that are under way")
