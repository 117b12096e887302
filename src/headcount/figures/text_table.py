"""A table of text for terminals, documents and notebooks; and rows as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

NAMED = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
SPECIAL = str.maketrans({each: rf"\{each}" for each in "&%$#_{}"} | NAMED)  # what LaTeX does not take as it is

TAG, PICTURE = re.compile(r"<(?=[A-Za-z/!?])"), "!["  # what Markdown would not show as it is, but obey
FORMULA = re.compile(r"\s*[=@＝＠]|\s*[-+－＋].*[(|!]|[\t\n]", re.DOTALL)  # what a spreadsheet would compute
QUOTE = "'"  # before it, a spreadsheet takes it as text


@dataclass(frozen=True)
class TextTable:
    """Headings and rows of the same width; columns of `figures` are right-aligned."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: frozenset[int] = frozenset()
    title: str = ""

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> TextTable:
        """The table of rows of JSON."""
        found = flat(rows)
        figures = {i for i, cell in enumerate(found[0].values() if found else ()) if isinstance(cell, int | float)}
        shown = tuple(tuple(map(_shown, row.values())) for row in found)
        return cls(tuple(found[0]) if found else (), shown, frozenset(figures))

    def text(self) -> str:
        """Plain text, a line for each row."""
        table = [self.headings, *self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.headings))]
        lines = ("  ".join(map(self._aside, range(len(row)), row, widths)).rstrip() for row in table)
        return "\n".join([*([self.title] if self.title else []), *lines])

    def _aside(self, column: int, cell: str, width: int) -> str:
        return cell.rjust(width) if column in self.figures else cell.ljust(width)

    def markdown(self) -> str:
        rule = ["---:" if i in self.figures else "---" for i in range(len(self.headings))]
        lines = ["| " + " | ".join(map(_marked, row)) + " |" for row in self.rows]
        head = ["| " + " | ".join(self.headings) + " |", "|" + "|".join(rule) + "|"]
        return "\n".join([*([self.title, ""] if self.title else []), *head, *lines])

    def latex(self) -> str:
        columns = "".join("r" if i in self.figures else "l" for i in range(len(self.headings)))
        head, *rest = (" & ".join(cell.translate(SPECIAL) for cell in row) for row in (self.headings, *self.rows))
        body = [r"\toprule", rf"{head} \\", r"\midrule", *(rf"{row} \\" for row in rest), r"\bottomrule"]
        return "\n".join([rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}"])

    def html(self) -> str:
        title = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        head = "".join(f"<th>{escape(heading)}</th>" for heading in self.headings)
        body = "".join(f"<tr>{''.join(map(self._cell, range(len(row)), row))}</tr>" for row in self.rows)
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cell(self, column: int, cell: str) -> str:
        side = ' style="text-align:right"' if column in self.figures else ""
        return f"<td{side}>{escape(cell)}</td>"


def _marked(cell: str) -> str:
    """A cell in Markdown: one line, without tags and pictures, as others may choose labels."""
    return TAG.sub("&lt;", " ".join(cell.splitlines())).replace(PICTURE, r"!\[").replace("|", r"\|")


def comma_separated(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows of JSON as CSV: the ends of an interval have columns of their own, other nested values
    become text, and text that a spreadsheet would take for a formula begins with a quote."""
    found = [{_inert(name): _inert(cell) for name, cell in row.items()} for row in flat(rows)]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(found[0]) if found else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


def flat(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of JSON with plain cells: an interval becomes two, other nested values text."""
    return [{key: _words(cell) for key, cell in _ends(row).items()} for row in rows]


def _inert(cell: Any) -> Any:
    """A cell of CSV no spreadsheet computes; a bare, unquoted carriage return would begin a row."""
    if not isinstance(cell, str):
        return cell
    one = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"{QUOTE}{one}" if FORMULA.match(one) else one


def _shown(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _ends(row: Mapping[str, Any]) -> dict[str, Any]:
    ends = row.get("interval95")
    if not isinstance(ends, Sequence):
        return dict(row)
    low, high = ends
    return {name: cell for name, cell in row.items() if name != "interval95"} | {"low95": low, "high95": high}


def _words(value: Any) -> Any:
    if isinstance(value, Mapping):
        return " ".join(f"{name}={part}" for name, part in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else value
