"""Studies on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headcount.cli.options import Formats
from headcount.cli.progress import Bar
from headcount.cli.render import Format, console, grid, show
from headcount.cli.statements import check
from headcount.studies import STUDIES, study
from headcount.studies.report import write

studies = typer.Typer(help="Every question, figure and theorem of the field, runnable.", no_args_is_help=True)


@studies.command("list")
def listed(how: Formats = Format.TABLE) -> None:
    """What can be asked."""
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
) -> None:
    """Computes, draws and writes; the answer is printed."""
    chosen = [found() for found in STUDIES] if name == "all" else [study(name)]
    terminal = console()
    for one in chosen:
        found = one.run(quick, Bar(one.name))
        written = write(one, found, out)
        terminal.print(f"[bold]{one.name}[/]  {one.question}")
        terminal.print(found.answer, markup=False, highlight=False)
        terminal.print(f"→ {written[0]}\n", markup=False, highlight=False)
        if any(row.get("supported") is False for row in found.rows):
            amiss = [row["key"] for row in found.rows if row.get("supported") is False]
            terminal.print(f"not borne out: {', '.join(amiss)}", markup=False, highlight=False)
            raise typer.Exit(1)


studies.command("check")(check)
