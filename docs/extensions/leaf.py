"""A protocol's module docstring, taken apart: its title, the lines of fixed names, what follows, and the references."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

from headcount.protocols.base.protocol import Protocol
from headcount.protocols.shared.shuffled_local import ShuffledLocal

PARTS = ("Randomiser", "Analyser", "View", "Error")
KEY = re.compile(r"\[([A-Z]+\d\d(?:, [A-Z]+\d\d)*)\]")
PART = re.compile(rf"^({'|'.join(PARTS)}):\s+(.*(?:\n {{12}}.*)*)", re.MULTILINE)
REFERENCE = re.compile(r"^\[([A-Z]+\d\d)\] (.*(?:\n(?!\[|\n).*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Leaf:
    """Text is Markdown: formulas between dollars, names in backquotes, and citations as Sphinx has them."""

    title: str
    says: str
    parts: dict[str, str]
    notes: tuple[str, ...]
    references: dict[str, str]


def leaf(text: str) -> Leaf:
    """Refuses a docstring that has not the fixed shape."""
    head, *paragraphs = dedent(text).strip().split("\n\n")
    title, _, says = _one_line(head).partition(": ")
    parts = {name: cited(_one_line(part)) for name, part in PART.findall(paragraphs[0])}
    if tuple(parts) != PARTS or not KEY.search(title + says):
        raise ValueError(f"the docstring that begins {head[:40]!r} has not the shape of a leaf's")
    references = {key: _one_line(words) for key, words in REFERENCE.findall(paragraphs[-1])}
    if not references:
        raise ValueError(f"the docstring that begins {head[:40]!r} names no reference")
    notes = tuple(cited(_one_line(paragraph)) for paragraph in paragraphs[1:-1])
    if not says:  # the citation may stand before a comma instead of a colon
        title, _, says = _one_line(head).partition(", ")
    return Leaf(cited(title), cited(says), parts, notes, references)


def leaf_of(protocol: type[Protocol]) -> Leaf:
    return leaf(sys.modules[protocol.__module__].__doc__ or "")


def leaves(protocol: type[Protocol]) -> Iterator[Leaf]:
    """The protocol's own; of a shuffled one also that of the local protocol it shuffles."""
    yield leaf_of(protocol)
    if issubclass(protocol, ShuffledLocal):
        yield leaf_of(protocol.local)


def cited(text: str) -> str:
    return KEY.sub(lambda found: "{cite:p}`" + found[1].replace(", ", ",") + "`", text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
