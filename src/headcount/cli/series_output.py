"""How a series is shown on the command line: a table of its rounds, a chart, and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headcount.cli.output import Output
from headcount.cli.render import Format, console, sheet_table, show, write_file
from headcount.errors import BadArgument

if TYPE_CHECKING:
    from headcount.questions.domains.domain import Label
    from headcount.rounds import Series

TABLES = (".csv", ".parquet")
Cell = Annotated[str | None, typer.Option(help="Of a histogram, the category that is shown.")]
Save = Annotated[Path | None, typer.Option(help="Also write all rounds to a file: .csv or .parquet.")]


def require_writable(save: Path | None, output: Output) -> None:
    """Refuse a file that could not be written, before anything is asked."""
    output.require_drawable()
    if save is not None and save.suffix not in TABLES:
        raise BadArgument("--save", f"is {save.name!r}", f"use a name that ends in {' or '.join(TABLES)}")


def require_cell(cell: str | None, several: bool, output: Output) -> None:
    """Refuse to show all categories at once, or one where there are none."""
    if several != (cell is not None) and (output.plot is not None or output.how is Format.TABLE or not several):
        problem = "is missing: a histogram is shown by category" if several else "is for histograms"
        raise BadArgument("--cell", problem, "name one of its categories" if several else "leave it out")


def show_series(found: Series, cell: Label | None, save: Path | None, output: Output) -> None:
    """Print a series as a table or as records, and write the files that were asked for."""
    if output.how is Format.TABLE:
        console().print(sheet_table(found.sheet(cell=cell)))
    else:
        show(found.records(), output.how, "")
    if save is not None:
        write_file(output.how, lambda path: _write(found, path), save)
    output.draw(found, cell=cell)


def _write(found: Series, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        found.to_csv(path)
    else:
        found.to_parquet(path)
