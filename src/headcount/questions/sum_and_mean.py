"""Sums and means of numbers within bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from headcount.errors import BadArgument
from headcount.programme.law import Floats
from headcount.questions.argument import BOUNDS, GROUPS, OTHER_GROUPS, Argument, Told
from headcount.questions.domains.domain import Codes, Merge, Shape
from headcount.questions.domains.levels import REAL_STEPS, Levels
from headcount.questions.domains.missing import AMOUNTS, told
from headcount.questions.grouped import MeanByGroup, SumByGroup, grouping
from headcount.questions.question import Question
from headcount.questions.reading_options import ReadingOptions
from headcount.types import Bounds, Groupings


@dataclass(frozen=True, repr=False)
class Sum(Question):
    """How much do people hold together? Values lie within `bounds`, never read from the data.

    The range is divided into `steps`: whole numbers between whole bounds have a step each, reals
    2**40 of them. With `clip`, values outside the bounds are brought to the nearer one; otherwise
    they are refused. Where the steps reach beyond what people hold, `within` says what that is.

    Parameters
    ----------
    bounds : tuple of float
        The smallest and the largest possible value, stated without looking at the data.
    steps : int
        Equal steps between the bounds; with fewer than 2**40, values must lie on one. For whole
        numbers `hc.Sum.whole(bounds)` chooses them.
    clip : bool
        Whether values outside are brought to the nearer bound, instead of refused.
    within : tuple of float, optional
        The part of the bounds in which values lie; all of it unless given.
    missing : float or str, optional
        The number that a missing value counts as; it is refused unless given.
    categories, other
        With `by`, the groups, and whether people in none of them are counted apart.

    Raises
    ------
    errors.BadArgument
        If the bounds are not two finite numbers, the smaller first, or the others do not fit them.

    Examples
    --------
    >>> answer = hc.ask([3] * 1_000, hc.Sum.whole((0, 10)), epsilon=1, model="central")
    >>> 2_500 < answer.value < 3_500
    True
    """

    bounds: Bounds
    steps: int = REAL_STEPS
    clip: bool = False
    within: tuple[float, float] | None = None
    missing: float | str | None = None
    categories: Groupings | None = None
    other: bool = False
    name: ClassVar[str] = "sum"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    in_groups: ClassVar[frozenset[Shape]] = SumByGroup.shapes
    asks: ClassVar[str] = "How much people hold together"
    meaning: ClassVar[str] = (
        "How much people hold together. Every value has to lie within bounds that are stated beforehand."
    )
    guess: ClassVar[str] = "to guess the middle of the bounds for everybody"
    implied_by: ClassVar[str] = "bounds"
    arguments: ClassVar[tuple[Argument, ...]] = (
        replace(BOUNDS, needed=True, label="Numbers", first=(0, 100)),
        Argument("whole", Told.FLAG, "Whether the values are whole numbers."),
        Argument("clip", Told.FLAG, "Bring values outside the bounds to the nearer one instead of refusing them."),
        GROUPS,
        OTHER_GROUPS,
    )
    by_group: ClassVar[type[SumByGroup]] = SumByGroup

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", self.domain.bounds)
        object.__setattr__(self, "within", self.domain.within)

    @classmethod
    def posed(  # type: ignore[override]
        cls,
        *,
        bounds: Bounds,
        whole: bool = False,
        clip: bool = False,
        categories: Groupings | None = None,
        other: bool = False,
    ) -> Self:
        return replace(
            cls.whole(bounds, clip=clip) if whole else cls(bounds, clip=clip), categories=categories, other=other
        )

    def declared(self, options: ReadingOptions) -> Question:
        if options.spelled:
            raise BadArgument("spelled", f"is for counts, and this is a {self.name}", "leave it out")
        options.require_by(self.categories, self.other)
        options.require_column(self.name)
        if not options.by:
            (own,) = told(options.missing, AMOUNTS, names=[options.column])
            return self if own is None else replace(self, missing=own)
        groups, own = grouping(options, self.categories, AMOUNTS, other=self.other)
        levels = self.domain if own is None else replace(self.domain, missing=own)
        return self.by_group(groups, options.by, levels)

    @classmethod
    def whole(cls, bounds: Bounds, *, clip: bool = False) -> Self:
        """The question about whole numbers: steps of one, unless the range is too long for them."""
        return cls(bounds, Levels.whole(bounds), clip)

    @cached_property
    def domain(self) -> Levels:
        merge = Merge.AVERAGE if self.per_person else Merge.ADD
        return Levels(self.bounds, self.steps, self.clip, self.within, merge, self.missing)

    def counted_from_zero(self) -> Question:
        levels = self.domain.from_zero()
        return replace(self, bounds=levels.bounds, steps=levels.count, within=levels.within)

    @property
    def clipped_to(self) -> tuple[float, float] | None:  # type: ignore[override]
        return self.domain.limits if self.clip else None

    @property
    def low(self) -> float:  # type: ignore[override]
        return self.bounds[0]

    @property
    def width(self) -> float:  # type: ignore[override]
        return self.domain.width

    def planned(self, *, private: bool) -> Question:
        ReadingOptions().require_by(self.categories, self.other)
        return super().planned(private=private)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Question:
        return cls.by_group.from_json(fields) if "by" in fields else cls(**fields)

    def truth(self, codes: Codes) -> Floats:
        return np.array([float(codes.sum(dtype=np.float64)) / self.steps])


@dataclass(frozen=True, repr=False)
class Mean(Sum):
    """How much do people hold on average?

    Parameters
    ----------
    bounds, steps, clip, within, missing, categories, other
        As for `Sum`.

    Raises
    ------
    errors.BadArgument
        As `Sum` does.

    Examples
    --------
    >>> answer = hc.ask([3] * 1_000, hc.Mean((0, 10)), epsilon=1, model="central")
    >>> 2.5 < answer.value < 3.5
    True
    """

    name: ClassVar[str] = "mean"
    asks: ClassVar[str] = "How much people hold on average"
    meaning: ClassVar[str] = "How much people hold on average: the sum divided by how many there are."
    instead: ClassVar[str] = "sum"
    by_group: ClassVar[type[SumByGroup]] = MeanByGroup
    per_person = True

    def counted_from_zero(self) -> Question:
        return MeanByGroup((), (), self.domain)
