"""How many, and which fraction?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.programme.law import Floats
from headcount.questions.argument import CATEGORIES, Argument
from headcount.questions.domains.bit import Bit
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.domains.filtered import Filtered, Groups
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.reading import declared
from headcount.types import Labels


@dataclass(frozen=True, repr=False)
class Count(Question):
    """How many people hold a one?

    Examples
    --------
    >>> answer = hc.ask([1] * 300 + [0] * 700, hc.Count(), epsilon=1, model="central")
    >>> 250 < answer.value < 350
    True
    """

    name: ClassVar[str] = "count"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT})
    asks: ClassVar[str] = "How many people hold a one"
    unit_words: ClassVar[str] = "people"
    arguments: ClassVar[tuple[Argument, ...]] = (replace(CATEGORIES, help="The groups to count in, with --by."),)

    domain = Bit()

    @classmethod
    def posed(cls, *, categories: Labels | None = None) -> Question:  # type: ignore[override]
        return cls() if categories is None else CountByGroup(categories, other=True)

    def read_as(self, where: object, groups: int) -> Domain:
        if groups:
            raise BadArgument("categories", "is missing", Phrase("with {by}, name the groups to count in"))
        return self.domain if where is None else Bit(declared(where))

    @property
    def ignores_zeros(self) -> bool:
        return not self.per_person

    def truth(self, codes: Codes) -> Floats:
        return np.array([float(np.count_nonzero(codes))])


@dataclass(frozen=True, repr=False)
class CountByGroup(Histogram):
    """How many people in each group hold a one? Everybody else is in `other`."""

    def read_as(self, where: object, groups: int) -> Domain:
        if not groups:
            raise BadArgument("by", "is missing", "name the column of groups, or ask for a histogram")
        return Filtered(Groups(self._categories), Bit(None if where is None else declared(where)))


@dataclass(frozen=True, repr=False)
class Fraction(Count):
    """Which fraction of the people hold a one?

    Examples
    --------
    >>> answer = hc.ask([1] * 300 + [0] * 700, hc.Fraction(), epsilon=1, model="central")
    >>> 0.25 < answer.value < 0.35
    True
    """

    name: ClassVar[str] = "fraction"
    asks: ClassVar[str] = "Which fraction of the people hold a one"
    meaning: ClassVar[str] = "How many people hold a one, divided by how many there are: 0.12 is 12 of 100."
    unit_words: ClassVar[str] = ""
    percent: ClassVar[bool] = True
    arguments: ClassVar[tuple[Argument, ...]] = ()
    per_person = True
