"""The Markdown page: one section, and one table, per benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """What was measured, the table, and what stands in the way of a better figure."""

    title: str
    measured: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    limit: str
    others: float = 0.0  # cores kept busy by other processes meanwhile

    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        noise = f"Other processes kept {self.others:.1f} cores busy meanwhile."
        return f"## {self.title}\n\n{self.measured}\n\n{table}\n\n**Limit.** {self.limit}\n\n{noise}\n"


def met(holds: bool) -> str:
    return "met" if holds else "**missed**"


def page(head: str, sections: Iterable[Section]) -> str:
    return "\n".join([head, *(section.markdown() for section in sections)])
