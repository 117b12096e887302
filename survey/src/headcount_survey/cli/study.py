"""Studies on the command line."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from headcount.cli.commands import Commands
from headcount.cli.options import Formats, parameters_of
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, console, grid, show
from headcount.errors import BadArgument
from headcount_survey.cli.statements import check

studies = Commands(help="Every question, figure and theorem of the field, runnable.")


@studies.command("list")
def listed(how: Formats = Format.TABLE) -> None:
    """List the studies."""
    from headcount_survey.catalogue import STUDIES

    rows = [{"name": found.name, "question": found.question, "source": found.source} for found in STUDIES]
    table = grid("name", "question")
    for row in rows:
        table.add_row(row["name"], row["question"])
    show(rows, how, table)


@studies.command("run")
def run(
    name: Annotated[str, typer.Argument(help="A study, or all.")],
    out: Annotated[Path, typer.Option(help="The folder for its page, rows and figures.")] = Path("studies"),
    quick: Annotated[bool, typer.Option("--quick", help="On a coarser grid.")] = False,
    param: Annotated[list[str] | None, typer.Option("--param", help="A parameter of the study, as name=value.")] = None,
) -> None:
    """Computes, draws and writes; the answer is printed, with the time it took."""
    from headcount_survey.catalogue import STUDIES, study
    from headcount_survey.report import write

    if name == "all" and param:
        raise BadArgument("--param", "is about all studies", "name the study that has it")
    chosen = [found() for found in STUDIES] if name == "all" else [study(name, parameters_of(param))]
    terminal = console()
    began, amiss = time.monotonic(), []
    for place, one in enumerate(chosen, 1):
        started = time.monotonic()
        found = one.run(quick, ProgressBar(f"{place}/{len(chosen)} {one.name}" if len(chosen) > 1 else one.name))
        written = write(one, found, out)
        terminal.print(f"[bold]{one.name}[/]  {one.question}")
        terminal.print(found.answer, markup=False, highlight=False)
        terminal.print(f"→ {written[0]}, {_since(started)}\n", markup=False, highlight=False)
        amiss += [row["key"] for row in found.rows if row.get("supported") is False]
    if len(chosen) > 1:
        terminal.print(f"{len(chosen)} studies, {_since(began)}", markup=False, highlight=False)
    if amiss:
        terminal.print(f"not borne out: {', '.join(dict.fromkeys(amiss))}", markup=False, highlight=False)
        raise typer.Exit(1)


def _since(moment: float) -> str:
    minutes, seconds = divmod(time.monotonic() - moment, 60.0)
    return f"{minutes:.0f} min {seconds:.0f} s" if minutes else f"{seconds:.1f} s"


studies.command("check")(check)
