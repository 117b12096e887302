"""A study: a question, what was computed to answer it, and what was found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

from headcount.errors import BadArgument
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress

Drawn: TypeAlias = Callable[[Path, str], Path]  # to this file, in this theme


class Verdict(StrEnum):
    """The verdict on a statement."""

    HOLDS = "holds"
    CORRECTED = "holds with correction"
    FALSE = "false"


@dataclass(frozen=True)
class Finding:
    """The answer in a paragraph, its figures from the rows; rows for JSON, and as people read them.

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
    """One question. The same version gives the same finding: whatever is random has a seed.

    A study with parameters is a dataclass, with a default for each.
    """

    name: ClassVar[str]
    question: ClassVar[str]
    source: ClassVar[str]  # where the notes or the papers ask or claim it

    @classmethod
    def of(cls, parameters: Mapping[str, float]) -> Self:
        """The study with these parameters; one that has parameters is a dataclass."""
        own: dict[str, type] = {each.name: type(each.default) for each in fields(cls)} if is_dataclass(cls) else {}
        for name, value in parameters.items():
            if name not in own:
                works = f"use one of {', '.join(own)}" if own else f"{cls.name} has none: leave it out"
                raise BadArgument("parameters", f"have {name!r}", works)
            if own[name] is int and value != int(value):
                raise BadArgument(name, f"is {value:g}", "use a whole number")
        return cls(**{name: own[name](value) for name, value in parameters.items()})

    @property
    def command(self) -> str:
        """The command that runs it."""
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        words = [f"headcount study run {self.name}"]
        for each in own:
            value = getattr(self, each.name)
            words += [f"--param {each.name}={value:g}"] if value != each.default else []
        return " ".join(words)

    @abstractmethod
    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        """The finding; `quick` uses a coarser grid. `watch` goes through the longest list."""


class Theorem(Study):
    """A statement checked wherever possible: its rows are the checks, each with what was seen."""

    statement: ClassVar[str]  # as it ought to read
    verdict: ClassVar[Verdict]  # on what the notes or the paper say
