"""The catalogue, on the command line."""

from __future__ import annotations

from typing import Any

from headcount.cli.options import Formats
from headcount.cli.render import Format, grid, show
from headcount.protocols import CATALOGUE


def protocols(how: Formats = Format.TABLE) -> None:
    """The catalogue."""
    rows = [protocol.describe() for protocol in CATALOGUE]
    table = grid("name", "model", "tasks", "parameters", "relations", "collectable", "reference")
    for row in rows:
        table.add_row(*(", ".join(cell) if isinstance(cell, list) else _yes(cell) for cell in row.values()))
    show(rows, how, table)


def _yes(cell: Any) -> str:
    return {True: "yes", False: "no"}[cell] if isinstance(cell, bool) else str(cell)
