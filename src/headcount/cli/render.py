"""Answers on a terminal, as JSON or as CSV."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headcount.core.estimate import OTHER, Estimate
from headcount.core.histogram import Histogram
from headcount.core.model import Model
from headcount.planner.advice import HEADINGS, Advice, Candidate
from headcount.planner.sheet import comma_separated


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def console() -> Console:
    """Wide enough for the tables when the output is not a terminal."""
    return Console() if sys.stdout.isatty() else Console(width=140)


def show(value: Any, how: Format, table: Table | str) -> None:
    """The JSON value as it is, flattened into CSV, or its table."""
    if how is Format.JSON:
        print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
    elif how is Format.CSV:
        print(comma_separated(_rows(value)), end="")
    else:
        console().print(table)


def _rows(value: Any) -> list[dict[str, Any]]:
    """A row for each option of an advice, cell of a histogram or line of a list; otherwise a single one."""
    if isinstance(value, list):
        return value
    if "cells" in value:
        other = [{"category": OTHER, **value["other"]}] if value["other"] else []
        return [*value["cells"], *other]
    rows: list[dict[str, Any]] = value.get("options", [value])
    return rows


def grid(*headings: str, title: str = "", right: tuple[int, ...] = ()) -> Table:
    table = Table(title=title or None, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        whole = i in right or heading in {"protocol", "name"}  # figures and names to copy are never broken
        table.add_column(heading, justify="right" if i in right else "left", no_wrap=whole, overflow="fold")
    return table


def estimate_table(estimate: Estimate) -> Table:
    table = grid("", "")
    if isinstance(estimate.protocol.task, Histogram):
        for category, value, span in estimate.rows():
            table.add_row(escape(category), f"[bold]{value}[/]  ({span})")
        if estimate.simultaneous95 is not None:
            table.add_row("all at once, 95%", f"± {estimate.simultaneous95:,.4g}")
    else:
        value, low, high = estimate.shown()
        table.add_row("answer", f"[bold]{value}[/]")
        table.add_row("95% interval", f"{low} to {high}")
    table.add_row("guarantee", ", ".join(estimate.promises()))
    if estimate.protocol.model is not Model.CENTRAL:
        table.add_row("messages", f"{estimate.protocol.messages_per_person:.4g} a person")
        table.add_row("if they collude", _collusion(estimate.protocol.local_epsilon))
    return table


def _collusion(local_epsilon: float | None) -> str:
    return "no guarantee is left" if local_epsilon is None else f"epsilon {local_epsilon:.3g} is left"


def advice_table(advice: Advice) -> Table:
    title = f"{advice.crowd.size:,} people, {advice.budget}, {advice.budget.neighbours.words}"
    if advice.ones is not None:
        title += f", about {advice.ones:,} ones"
    table = grid("", *HEADINGS, title=title, right=(3, 4, 5))
    for place, option in enumerate(advice.options, 1):
        served = isinstance(option, Candidate)
        table.add_row(str(place) if served else "-", *option.cells(), style="" if served else "dim")
    return table
