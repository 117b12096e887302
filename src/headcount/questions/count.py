"""Counts and fractions of the people who are a yes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headcount.programme.law import Floats
from headcount.questions.argument import GROUPS, OTHER_GROUPS, Argument
from headcount.questions.arrivals import Arrivals
from headcount.questions.domains.bit import Bit
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.domains.missing import BITS, told
from headcount.questions.grouped import CountByGroup, FractionByGroup, grouping
from headcount.questions.question import Question
from headcount.questions.reading_options import ReadingOptions
from headcount.types import Groupings


@dataclass(frozen=True, repr=False)
class Count(Question):
    """How many people are a yes?

    Parameters
    ----------
    categories, other
        With `by`, the groups, and whether people in none of them are counted apart.
    missing : str, optional
        What a missing value counts as: "no", or it is refused.
    spelled : bool
        Whether yes and no are read in any spelling.

    Examples
    --------
    >>> answer = hc.ask([1] * 300 + [0] * 700, hc.Count(), epsilon=1, model="central")
    >>> 250 < answer.value < 350
    True
    """

    categories: Groupings | None = None
    other: bool = False
    missing: str | None = None
    spelled: bool = False
    name: ClassVar[str] = "count"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT})
    asks: ClassVar[str] = "How many people are a yes"
    unit_words: ClassVar[str] = "people"
    arguments: ClassVar[tuple[Argument, ...]] = (GROUPS, OTHER_GROUPS)

    @cached_property
    def domain(self) -> Bit:
        return Bit(missing=self.missing, spelled=self.spelled)

    def declared(self, options: ReadingOptions) -> Question:
        options.require_by(self.categories, self.other)
        if not options.by:
            options.require_column(self.name)
            (own,) = told(options.missing, BITS, names=[options.column])
            return replace(self, missing=own or self.missing, spelled=options.spelled or self.spelled)
        groups, own = grouping(options, self.categories, BITS, other=self.other)
        bit = None if options.everybody else Bit(missing=own or self.missing, spelled=options.spelled or self.spelled)
        return self._in(groups, options, bit)

    def over_rounds(self, rounds: int) -> Question:
        return Arrivals(rounds)

    def _in(self, groups: Any, options: ReadingOptions, bit: Bit | None) -> Question:
        return CountByGroup(groups, options.by, bit)

    def planned(self, *, private: bool) -> Question:
        ReadingOptions().require_by(self.categories, self.other)
        return super().planned(private=private)

    def read_as(self, where: object, groups: int) -> Domain:
        return self.domain if where is None else self.domain.told_by(where)

    @property
    def ignores_zeros(self) -> bool:
        return not self.per_person

    def truth(self, codes: Codes) -> Floats:
        return np.array([float(np.count_nonzero(codes))])

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Question:
        return CountByGroup.from_json(fields) if "by" in fields else cls(**fields)


@dataclass(frozen=True, repr=False)
class Fraction(Count):
    """Which fraction of the people are a yes?

    Parameters
    ----------
    categories, other, missing, spelled
        As for `Count`.

    Examples
    --------
    >>> answer = hc.ask([1] * 300 + [0] * 700, hc.Fraction(), epsilon=1, model="central")
    >>> 0.25 < answer.value < 0.35
    True
    """

    name: ClassVar[str] = "fraction"
    asks: ClassVar[str] = "Which fraction of the people are a yes"
    meaning: ClassVar[str] = "How many people are a yes, divided by how many there are: 0.12 is 12 of 100."
    unit_words: ClassVar[str] = ""
    percent: ClassVar[bool] = True
    per_person = True

    def _in(self, groups: Any, options: ReadingOptions, bit: Bit | None) -> Question:
        options.require_column(self.name)
        return FractionByGroup(groups, options.by, bit or Bit())

    def counted_from_zero(self) -> Question:
        return FractionByGroup((), (), self.domain)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Question:
        return FractionByGroup.from_json(fields) if "by" in fields else cls(**fields)
