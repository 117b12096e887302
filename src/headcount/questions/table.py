"""Tables: how many people are in each cell of several columns together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self, cast

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.programme.field import VALUE
from headcount.programme.law import Floats
from headcount.questions.argument import Argument, Told
from headcount.questions.domains.categories import OTHER, YES, Listed
from headcount.questions.domains.columns import declared_columns
from headcount.questions.domains.domain import Codes, Domain, Label, Shape
from headcount.questions.domains.missing import NO, told
from headcount.questions.domains.record import Record
from headcount.questions.question import Question
from headcount.questions.reading_options import ReadingOptions
from headcount.questions.strategies import own_cells
from headcount.questions.strategies.margins import Axes, Margins, maximal
from headcount.questions.strategies.own_cells import Own
from headcount.questions.strategies.strategy import Strategy

MOST_CODES = 1 << 53  # cells of the whole table, of which a person's is one number
MOST_CELLS = 1 << 22  # cells that are measured
WHOLE_TABLE = 1 << 20  # cells that are worth a try


@dataclass(frozen=True, repr=False)
class Table(Question):
    """How many people are in each category of each column, and of two or more together?

    The margins of `margins` columns each, and all smaller ones, come from one release and agree
    with each other. Either the largest margins are measured or, where that has the smaller error,
    the whole table.

    Parameters
    ----------
    columns : mapping
        For each column its labels, or a mapping as the arguments of `hc.histogram`: `{"categories":
        …, "other": …}`, `{"bins": [edges]}`, or `{"bounds": (low, high), "bins": 12, "clip":
        True}`, or of days `{"bounds": ("2026-01-01", "2026-12-31"), "bins": "month"}`.
    margins : int or list of tuple of str
        How many columns at most are told together, or which.
    measured : list of tuple of str, optional
        The margins that are measured; chosen unless given.
    public : bool
        Whether the number of people is public; it is, unless neighbours="add-remove".

    Raises
    ------
    errors.BadArgument
        If columns are declared in no such way, or a margin has none of them.

    Examples
    --------
    >>> frame = {"sex": ["f", "m"] * 500, "vote": ["yes"] * 700 + ["no"] * 300}
    >>> question = hc.Table({"sex": ["f", "m"], "vote": ["yes", "no"]})
    >>> answer = hc.ask(frame, question, epsilon=1, model="central")
    >>> 330 < answer["sex", "vote"]["f", "yes"].value < 370
    True
    """

    columns: Any
    margins: Any = 2
    measured: Any = None
    public: bool = True
    name: ClassVar[str] = "table"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.K_OF})
    asks: ClassVar[str] = "How many people are in each cell of a table"
    meaning: ClassVar[str] = (
        "How many people are in each category of several columns, and of two or more of them together, all from one "
        "release."
    )
    unit_words: ClassVar[str] = "people"
    guess: ClassVar[str] = "to guess half of the people for every cell"
    answered: ClassVar[str] = "table"
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument(
            "columns",
            Told.COLUMNS,
            "A column and what it holds, repeated for each: sex=f,m for categories, region=9 for 0 to 8, age=0:18:65 "
            "for bins between these edges, age=0:120/12 for 12 equal bins, "
            "hired=2026-01-01:2026-12-31/month for months; with + at the end, others apart.",
            needed=True,
        ),
        Argument("margins", Told.NUMBER, "How many columns at most are told together; 2 unless given."),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", declared_columns(self.columns))
        if self.domain.size > MOST_CODES:
            raise BadArgument("columns", "have more combinations than 2**53", "use fewer columns, or fewer categories")
        object.__setattr__(self, "margins", self._named("margins", self._asked(self.margins)))
        if self.measured is not None:
            measured = maximal(self._axes("measured", self.measured))
            if missing := [each for each in self._margins if not any(set(each) <= set(other) for other in measured)]:
                told = " and ".join(self._named("measured", missing)[0])
                raise BadArgument("measured", f"does not tell {told} together", "leave it out")
            object.__setattr__(self, "measured", self._named("measured", measured))
        if self.strategy.size > MOST_CELLS:
            works = "ask for smaller margins, or fewer categories"
            raise BadArgument("margins", f"have {self.strategy.size:,} cells, and {MOST_CELLS:,} are the most", works)

    @classmethod
    def posed(cls, *, columns: Any, margins: Any = None) -> Self:  # type: ignore[override]
        return cls(columns, 2 if margins is None else margins)

    def declared(self, options: ReadingOptions) -> Question:
        """The words on missing values, and on yes and no, for every column that takes them."""
        if options.spelled and not any(domain.yes_or_no for domain in self.domains):
            works = Phrase("call them so, as in {columns}", columns={self.names[0]: [YES, NO]})
            raise BadArgument("spelled", "is for yes and no, and no column has these categories", works)
        words = told(options.missing, *(domain.takes for domain in self.domains), names=self.names)
        pairs = zip(self.columns, words, strict=True)
        columns = tuple((name, domain.told(word, spelled=options.spelled)) for (name, domain), word in pairs)
        return super(Table, replace(self, columns=columns)).declared(replace(options, missing=None, spelled=False))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.columns)

    @property
    def domains(self) -> tuple[Listed, ...]:
        """What each column holds."""
        return tuple(domain for _, domain in self.columns)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.names

    @cached_property
    def domain(self) -> Record:
        return Record(self.domains, self.names)

    def read_as(self, where: object, groups: int) -> Domain:
        if where is not None:
            raise BadArgument("where", "is for counts, and this is a table", "name the value with .sum or .rate")
        if groups:
            raise BadArgument("by", "is not for tables", "name the column of groups among the columns")
        return self.domain

    @property
    def shape(self) -> Shape:
        return Shape.K_OF

    @cached_property
    def strategy(self) -> Margins:
        sizes = tuple(domain.size for domain in self.domains)
        measured = self._margins if self.measured is None else self._axes("measured", self.measured)
        return Margins(sizes, self._margins, measured, self.public)

    @property
    def _margins(self) -> tuple[Axes, ...]:
        """The margins asked for that no other one contains."""
        return self._axes("margins", self.margins)

    def _asked(self, margins: Any) -> tuple[Axes, ...]:
        if isinstance(margins, bool) or not isinstance(margins, int | float | np.integer):
            return maximal(self._axes("margins", margins))
        if margins != int(margins) or not 1 <= margins <= max(2, len(self.columns)):
            works = f"use a whole number from 1 to {len(self.columns)}, or list tuples of columns"
            raise BadArgument("margins", f"is {margins:g}", works)
        return tuple(combinations(range(len(self.columns)), min(int(margins), len(self.columns))))

    def _axes(self, argument: str, margins: Any) -> tuple[Axes, ...]:
        """The places of named columns."""
        works = f"list tuples of the columns, which are {', '.join(self.names)}"
        if not isinstance(margins, Iterable) or isinstance(margins, str | bytes):
            raise BadArgument(argument, f"is {margins!r}", works)
        found = []
        for margin in margins:
            if not isinstance(margin, Iterable):
                raise BadArgument(argument, f"has {margin!r}", works)
            named = (margin,) if isinstance(margin, str) else tuple(margin)
            if not named or not set(named) <= set(self.names) or len(set(named)) < len(named):
                raise BadArgument(argument, f"has {named!r}", works)
            found.append(tuple(sorted(map(self.names.index, named))))
        if not found:
            raise BadArgument(argument, "has no margin", works)
        return tuple(found)

    def _named(self, argument: str, margins: Iterable[Axes]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(self.names[axis] for axis in margin) for margin in margins)

    def variants(self) -> Iterable[Question]:
        """The whole table, where it is not too large, and the margins asked for."""
        if self.measured is not None:
            return (self,)
        whole = (self.names,)
        found = [replace(self, measured=whole)] if self.domain.size <= WHOLE_TABLE else []
        return found if self.margins == whole else [*found, replace(self, measured=self.margins)]

    def spread(self, strategy: Strategy) -> float:
        return math.sqrt(cast(Margins, strategy).mean_variance)

    def own(self, strategy: Strategy, variances: Sequence[float]) -> Own:
        return own_cells.in_margins(cast(Margins, strategy), variances)

    def truth(self, codes: Codes) -> Floats:
        found = np.zeros(self.strategy.size)
        for cell in self.strategy.cells(VALUE):
            np.add.at(found, cell.column({"value": codes}, codes.size), 1.0)
        return found

    @property
    def about(self) -> str:
        parts = zip(self.names, self.domain.parts, strict=True)
        return "; ".join(f"{name}: {part.about}" for name, part in parts if part.about)

    def counted_from_zero(self) -> Self:
        return replace(self, public=False)

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        found: list[Label] = []
        for margin in self.strategy.margins:
            named = [(self.names[axis], self.labels_of(axis)) for axis in margin]
            for place in np.ndindex(*self.strategy.shape_of(margin)):
                cells = zip(named, place, strict=True)
                found.append(", ".join(f"{name}={labels[at]}" for (name, labels), at in cells))
        return found

    def labels_of(self, axis: int) -> list[Label]:
        """The labels of a column."""
        domain = self.domains[axis]
        return [*domain.called, *([OTHER] if domain.other else [])]

    @property
    def each(self) -> str:
        return "a typical cell"

    def __repr__(self) -> str:
        said = [repr({name: domain.to_json() for name, domain in self.columns})]
        said += [f"{name}={value!r}" for name, value in self._said().items()]
        return f"Table({', '.join(said)})"

    def _said(self) -> Mapping[str, Any]:
        left = {} if self.measured is None else {"measured": list(self.measured)}
        return {"margins": list(self.margins), **left, **({} if self.public else {"public": False})}

    def to_json(self) -> dict[str, Any]:
        measured = None if self.measured is None else [list(each) for each in self.measured]
        margins = [list(each) for each in self.margins]
        return {**super().to_json(), "margins": margins, "measured": measured, "public": self.public}
