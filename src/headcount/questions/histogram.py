"""Histograms: how many people hold each category, bin, or label that enough people share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.argument import CATEGORIES, Argument, Told
from headcount.questions.domains.bins import Bins
from headcount.questions.domains.categories import OTHER, YES, Categories, Listed
from headcount.questions.domains.domain import Domain, Label, Shape
from headcount.questions.domains.keys import Keys
from headcount.questions.domains.missing import AS_OTHER, LISTS, NO, require_listed, told
from headcount.questions.domains.periods import Periods, are_days
from headcount.questions.question import Question
from headcount.questions.reading_options import ReadingOptions
from headcount.types import Bounds, Edges, Labels


@dataclass(frozen=True, repr=False)
class Histogram(Question):
    """Which category, how often? Each person belongs to one.

    `categories` is a list of labels, or their number if they are called 0, 1, 2 …; with `edges`
    they are the intervals between them. With `other`, people who belong to none are counted apart
    instead of refused. Without categories the labels are whatever people hold, and only those that
    enough of them hold can be shown.

    Parameters
    ----------
    categories : list or int, optional
        The labels, all text or all numbers, or how many there are.
    edges : tuple of float
        For numbers, the edges of bins, which are then the categories. `hc.Histogram.binned` makes
        equal ones.
    other : bool
        Whether people in none of the categories are counted apart.
    fractions : bool
        Whether answers are fractions of the people.
    missing : str, optional
        What a missing value counts as: "other", or "category" for one of its own, or "no" where the
        categories are yes and no; it is refused unless given.
    starts, period
        For days and moments, where periods begin and the end of the last one; and which periods
        they are, if they have a name. `hc.Histogram.binned` makes them.
    dates : str, optional
        How text writes days and moments, as "%d.%m.%Y"; by ISO 8601 unless given.
    spelled : bool
        Whether the categories yes and no are read in any spelling.

    Raises
    ------
    errors.BadArgument
        If labels are mixed or named twice, edges do not increase, or `other` stands without
        categories.

    Examples
    --------
    >>> question = hc.Histogram(["a", "b"])
    >>> answer = hc.ask(["a"] * 600 + ["b"] * 400, question, epsilon=1, model="central")
    >>> 550 < answer["a"].value < 650
    True
    """

    categories: Labels | None = None
    edges: tuple[float, ...] = ()
    other: bool = False
    fractions: bool = False
    missing: str | None = None
    starts: tuple[str, ...] = ()
    period: str = ""
    dates: str | None = None
    spelled: bool = False
    name: ClassVar[str] = "histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.KEY})
    asks: ClassVar[str] = "How many people are in each category"
    meaning: ClassVar[str] = "How many people are in each category. Each person is in one."
    unit_words: ClassVar[str] = "people"
    guess: ClassVar[str] = "to guess half of the people for every category"
    instead: ClassVar[str] = "numbers of people"
    implied_by: ClassVar[str] = "categories"
    arguments: ClassVar[tuple[Argument, ...]] = (
        replace(CATEGORIES, first=10),
        Argument(
            "bins",
            Told.EDGES,
            "For numbers and days: the edges, or, within --bounds, how many bins, or day, week, month, quarter, year.",
        ),
        Argument("bounds", Told.LIMITS, "The smallest and the largest possible value, or the first and the last day."),
        Argument("dates", Told.TEXT, "How text writes days, as %d.%m.%Y; by ISO 8601 (2026-11-16) unless given."),
        Argument("other", Told.FLAG, "Count people in none of the categories apart."),
        Argument("fractions", Told.FLAG, "Answer in fractions of the people."),
    )

    def __post_init__(self) -> None:
        if self.edges:
            object.__setattr__(self, "edges", Bins(self.edges).edges)
        if self.dates is not None and not self.starts:
            works = Phrase("name periods or days, too, for example {bins}", bins="month")
            raise BadArgument("dates", "is for periods and days", works)
        object.__setattr__(self, "starts", tuple(self.starts))
        if self.missing == AS_OTHER and not self.other and (self.edges or self.starts or self.categories is not None):
            object.__setattr__(self, "other", True)
        if self.spelled and (self._made or self.categories is None):
            works = Phrase("call them so, as in {categories}", categories=[YES, NO])
            raise BadArgument("spelled", "is for yes and no, and no categories have these names", works)
        if self._listed is not None:
            object.__setattr__(self, "categories", self._listed.labels)
        else:
            require_listed(self.missing, other=self.other, labels="categories")

    @classmethod
    def posed(  # type: ignore[override]
        cls,
        *,
        categories: Labels | None = None,
        bins: Edges | None = None,
        bounds: Bounds | tuple[str, str] | None = None,
        dates: str | None = None,
        other: bool = False,
        fractions: bool = False,
    ) -> Histogram:
        if bins is None:
            if bounds is not None:
                raise BadArgument("bounds", "is for bins", Phrase("name them, too, for example {bins}", bins=10))
            return cls(categories, other=other, fractions=fractions, dates=dates)
        if categories is not None:
            raise BadArgument("bins", "is given together with categories", "leave one of them out")
        return cls.binned(bins, bounds, dates=dates, other=other, fractions=fractions)

    @classmethod
    def binned(
        cls,
        bins: Edges,
        bounds: Bounds | tuple[str, str] | None = None,
        *,
        dates: str | None = None,
        other: bool = False,
        fractions: bool = False,
    ) -> Histogram:
        """Of numbers and days: `bins` is a list of edges, or, between the `bounds`, how many equal
        bins there are, or which periods: "day", "week", "month", "quarter" or "year"."""
        if isinstance(bins, int | float | np.integer) or (not isinstance(bins, str) and not are_days(bins)):
            return cls(edges=Bins.of(bins, bounds).edges, dates=dates, other=other, fractions=fractions)
        found = Periods.of(bins, bounds)
        return cls(starts=found.starts, period=found.period, dates=dates, other=other, fractions=fractions)

    def declared(self, options: ReadingOptions) -> Question:
        options.require_column(self.name)
        if options.by:
            raise BadArgument("by", f"does not fit a {self.name}", "ask for a count in groups of both columns")
        (own,) = told(options.missing, LISTS if self._listed is None else self._listed.takes, names=[options.column])
        if own is None and not options.spelled:
            return self
        said = {"missing": own or self.missing, "spelled": options.spelled or self.spelled}
        return replace(self, categories=None if self._made else self.categories, **said)  # type: ignore[arg-type]

    @property
    def _made(self) -> bool:
        """Whether the categories follow from edges or periods."""
        return bool(self.edges or self.starts)

    @cached_property
    def domain(self) -> Domain:
        return self._listed or Keys(self.missing)

    @cached_property
    def _listed(self) -> Listed | None:
        if self.starts:
            return Periods(self.starts, self.period, self.other, self.missing, self.dates)
        if self.edges:
            return Bins(self.edges, self.other, self.missing)
        if self.categories is None:
            return None
        return Categories(self._categories, self.other, self.missing, self.spelled)

    @property
    def _categories(self) -> Sequence[Label]:
        return cast("Sequence[Label]", self.categories)  # which Categories makes of a number of them

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        if keys is not None or self._listed is None:
            return list(keys or ())
        return [*self._listed.called, *([OTHER] if self.other else [])]

    @property
    def in_order(self) -> bool:
        return self._made

    @property
    def per_person(self) -> bool:  # type: ignore[override]
        return self.fractions

    @property
    def percent(self) -> bool:  # type: ignore[override]
        return self.fractions

    @property
    def called(self) -> str:
        return "a histogram of fractions" if self.fractions else "a histogram"

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "fractions": self.fractions}
