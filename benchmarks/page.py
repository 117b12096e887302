"""The Markdown page: one section, and one table, per benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby


@dataclass(frozen=True)
class Section:
    """A measurement, its table, and the obstacle to a better figure."""

    title: str
    measured: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    limit: str
    others: float = 0.0  # cores kept busy by other processes meanwhile
    apart: str = ""  # on what it was measured, where that was not with the rest of the page
    grouped: bool = False  # a table for each entry of the first column, under that heading

    def markdown(self) -> str:
        noise = f"Other processes kept {self.others:.1f} cores busy meanwhile."
        if self.apart:
            noise += f" Measured apart from the rest of the page. {self.apart}"
        body = self._tables() if self.grouped else _table(self.columns, self.rows)
        return f"## {self.title}\n\n{self.measured}\n\n{body}\n\n**Limit.** {self.limit}\n\n{noise}\n"

    def _tables(self) -> str:
        groups = groupby(self.rows, key=lambda row: row[0])
        return "\n\n".join(
            f"### {title}\n\n{_table(self.columns[1:], [row[1:] for row in rows])}" for title, rows in groups
        )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def met(holds: bool) -> str:
    return "met" if holds else "**missed**"


def page(head: str, sections: Iterable[Section]) -> str:
    return "\n".join([head, *(section.markdown() for section in sections)])


def replaced(text: str, sections: Iterable[Section], facts: str) -> str:
    """A page with these sections in the place of those of the same title; a new one follows the one before it."""
    head, *known = text.split("\n## ")
    at = len(known)
    for section in sections:
        new = replace(section, apart=facts).markdown().removeprefix("## ")
        titles = [each.partition("\n")[0] for each in known]
        if section.title in titles:
            at = titles.index(section.title)
            known[at] = new
        else:
            known.insert(at, new)
        at += 1
    return "\n## ".join([head.rstrip("\n") + "\n", *(each.rstrip("\n") + "\n" for each in known)])
