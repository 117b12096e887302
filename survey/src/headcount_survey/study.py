"""A study: a question, what was computed to answer it, and what was found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress

Drawn: TypeAlias = Callable[[Path, str], Path]  # to this file, in this theme


class Verdict(StrEnum):
    """What became of a statement."""

    HOLDS = "holds"
    CORRECTED = "holds with correction"
    FALSE = "false"


@dataclass(frozen=True)
class Finding:
    """The answer in a paragraph, whose figures come from the rows; the rows for JSON, and as people
    read them.

    A page shows the sheet, or the `body` where there is more to read than fits a table. Below its
    figure stands the `caption`: what is drawn, of whom, and how to read it.
    """

    answer: str
    rows: Sequence[Mapping[str, Any]]
    sheet: TextTable
    draw: Drawn | None = None
    body: str = ""
    caption: str = ""


class Study(ABC):
    """One question. The same version gives the same finding: whatever is random has a seed."""

    name: ClassVar[str]
    question: ClassVar[str]
    source: ClassVar[str]  # where the notes or the papers ask or claim it

    @abstractmethod
    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        """The finding; `quick` on a coarser grid. `watch` goes through the longest list, and may
        show how far."""


class Theorem(Study):
    """A statement that is checked wherever that can be done: its rows are the checks, each with
    what was seen."""

    statement: ClassVar[str]  # as it ought to read
    verdict: ClassVar[Verdict]  # on what the notes or the paper say
