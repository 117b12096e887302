"""Answers on a terminal, as JSON or as CSV."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Text

from headcount.answers.cell import Cell
from headcount.answers.estimate import Estimate
from headcount.common.printable import is_control, printable
from headcount.figures.text_table import TextTable, comma_separated
from headcount.phrases import Spelling, said
from headcount.planner.advice import Advice
from headcount.privacy.model import Model
from headcount.questions.domains.categories import OTHER

LATEST = 253_402_300_799  # seconds since 1970: the end of the year 9999


class Plain(Console):
    """A console that obeys only its own escape codes and pictures, not those in others' words."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(emoji=False, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text, keep="\n"), style, control)


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def console() -> Console:
    """Wide enough for the tables when the output is not a terminal."""
    return Plain() if sys.stdout.isatty() else Plain(width=140)


def waiting(what: str) -> Status:
    """Says on standard error what is awaited, if that is a terminal: JSON answers stay valid."""
    return Plain(stderr=True).status(what)


def warn(words: str) -> None:
    """Prints notes on the answer on standard error."""
    print(f"headcount: {words}", file=sys.stderr)


def moment(seconds: int) -> str:
    """Seconds since 1970 as a date."""
    if not 0 <= seconds <= LATEST:
        return "in no year that has four digits"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def show(value: Any, how: Format, table: RenderableType, markdown: str | None = None) -> None:
    """The JSON value as it is, flattened into CSV or Markdown, or its table."""
    if how is Format.JSON:
        print(_escaped(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)))
    elif how is Format.CSV:
        print(printable(comma_separated(_rows(value)), keep="\r\n"), end="")
    elif how is Format.MARKDOWN:
        print(printable(markdown or TextTable.of(_rows(value)).markdown(), keep="\n"))
    else:
        console().print(table)


def _escaped(text: str) -> str:
    """JSON that means the same, in which nothing is obeyed: outside of text there are no such
    characters but ends of lines."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(json.dumps(letter)[1:-1] if is_control(letter) and letter != "\n" else letter for letter in text)


def _rows(value: Any) -> list[dict[str, Any]]:
    """A row per option of an advice, cell of a histogram, quantile or list line; else one row."""
    if isinstance(value, list):
        return value
    if "cells" in value:
        other = [{"category": OTHER, **value["other"]}] if value["other"] else []
        return [*map(_labelled, value["cells"]), *other]
    rows: list[dict[str, Any]] = value.get("options") or value.get("quantiles") or [value]
    return rows


def _labelled(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell of a table with a column for each label."""
    category = cell["category"]
    return (
        {**category, **{name: part for name, part in cell.items() if name != "category"}}
        if isinstance(category, dict)
        else cell
    )


def write_file(how: Format, write: Callable[[Path], object], path: Path) -> None:
    """Writes, and says where; beside an answer in JSON or CSV, on standard error."""
    folder = "" if path.parent.exists() else ", in a new folder"
    write(path)
    print(f"written to {path}{folder}", file=sys.stdout if how is Format.TABLE else sys.stderr)


def grid(*headings: str, title: str = "", right: tuple[int, ...] = ()) -> Table:
    table = Table(title=title or None, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        whole = i in right or heading in {"protocol", "name"}  # figures and names to copy are never broken
        table.add_column(heading, justify="right" if i in right else "left", no_wrap=whole, overflow="fold")
    return table


def estimate_table(estimate: Estimate, cells: Sequence[Cell] | None = None, ranks: str = "") -> RenderableType:
    """The answer, or, of several, these cells in this order, and what is true of their ranks."""
    table, several = grid("", ""), estimate.protocol.task.shape.several
    sheets = [part for sheet in estimate.sheets for part in titled(sheet)]
    if several and not sheets:
        for category, value, span in estimate.rows() if cells is None else estimate.rows_of(cells):
            table.add_row(escape(category), f"[bold]{value}[/]  ({span})")
        if ranks:
            table.add_row("ranks", escape(ranks))
        if estimate.simultaneous95 is not None:
            table.add_row("all at once, 95%", f"± {estimate.simultaneous95:,.4g}")
    elif not several:
        ((value, low, high),) = estimate.shown()
        table.add_row("answer", answered(value, estimate.protocol.task.about))
        table.add_row("95% interval", f"{low} to {high}")
    if estimate.note:
        table.add_row("", estimate.note)
    for rule in estimate.rules:
        table.add_row("as declared", escape(rule))
    table.add_row("guarantee", ", ".join(estimate.promises()))
    if estimate.simulated:
        table.add_row("simulated", "people's devices and all parties, by the data holder, who has every answer")
    if estimate.protocol.model is not Model.CENTRAL:
        table.add_row("messages", f"{estimate.protocol.messages_per_person:.4g} a person")
        table.add_row("if they collude", _collusion(estimate.protocol.local_epsilon))
    return Group(*sheets, table) if sheets else table


def titled(sheet: TextTable) -> tuple[RenderableType, ...]:
    """A sheet under its title, which may be wider."""
    return Text(sheet.title), sheet_table(replace(sheet, title="")), Text("")


def answered(value: str, about: str) -> str:
    """An answer, with the values that it is about where these are not the data themselves."""
    return f"[bold]{value}[/] {escape(about)}".rstrip()


def _collusion(local_epsilon: float | None) -> str:
    return "no guarantee is left" if local_epsilon is None else f"epsilon {local_epsilon:.3g} is left"


def sheet_table(sheet: TextTable, *, numbered: bool = False) -> Table:
    """A sheet as the terminal draws it."""
    shift = int(numbered)
    right = tuple(column + shift for column in sheet.figures)
    table = grid(*([""] if numbered else []), *sheet.headings, title=sheet.title, right=right)
    for place, row in enumerate(sheet.rows, 1):
        table.add_row(*([str(place)] if numbered else []), *map(escape, row))
    return table


def advice_table(advice: Advice, spelling: Spelling) -> Group:
    """The protocols that serve, in order, then what the others lack."""
    lacking = [
        Text(f"  - {', '.join(names)}: {said(reason, spelling)}", style="dim") for reason, names in advice.lacking
    ]
    served = sheet_table(advice.sheet(), numbered=True) if advice.feasible else Text(advice.title)
    return Group(served, *([Text("")] if lacking else []), *lacking)
