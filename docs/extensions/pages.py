"""Pieces of Markdown pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from headcount.figures.text_table import TextTable

THEMES = {"only-light": "", "only-dark": "-dark"}


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], figures: Collection[int] = ()) -> str:
    """Columns of figures stand to the right."""
    return TextTable(tuple(headings), tuple(map(tuple, rows)), frozenset(figures)).markdown()


def block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def indexed(entries: Iterable[str]) -> str:
    """Puts the page into the index, below each of these."""
    return "\n".join(f"```{{index}} single: {entry}\n```\n" for entry in entries)


def figure(name: str, alt: str, folder: str = "") -> str:
    """The light one or the dark one, whichever suits the reader."""
    images = (
        f":::{{image}} {folder}{name}{ending}.svg\n:class: {theme}\n:alt: {alt}\n:align: center\n:::\n"
        for theme, ending in THEMES.items()
    )
    return "\n".join(images)
