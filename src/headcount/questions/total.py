"""How much together, and on average?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from headcount.programme.law import Floats
from headcount.questions.argument import BOUNDS, Argument, Told
from headcount.questions.domains.domain import Codes, Merge, Shape
from headcount.questions.domains.levels import REAL_STEPS, Levels
from headcount.questions.question import Question
from headcount.types import Bounds


@dataclass(frozen=True, repr=False)
class Sum(Question):
    """How much do people hold together? Every value lies within `bounds`, which are never read from the data.

    The range is divided into `steps`: whole numbers between whole bounds have a step each, reals 2**40 of them. With
    `clip`, values outside the bounds are brought to the nearer one; otherwise they are refused. Where the steps reach
    beyond what people hold, `within` says what that is.

    Parameters
    ----------
    bounds : tuple of float
        The smallest and the largest possible value, stated without looking at the data.
    steps : int
        Equal steps between the bounds; with fewer than 2**40, values must lie on one. For whole numbers
        `hc.Sum.whole(bounds)` chooses them.
    clip : bool
        Whether values outside are brought to the nearer bound, instead of refused.
    within : tuple of float, optional
        The part of the bounds in which values lie; all of it unless given.

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
    name: ClassVar[str] = "sum"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
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
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", self.domain.bounds)
        object.__setattr__(self, "within", self.domain.within)

    @classmethod
    def posed(cls, *, bounds: Bounds, whole: bool = False, clip: bool = False) -> Self:  # type: ignore[override]
        return cls.whole(bounds, clip=clip) if whole else cls(bounds, clip=clip)

    @classmethod
    def whole(cls, bounds: Bounds, *, clip: bool = False) -> Self:
        """Of whole numbers: a step for each, unless the range is too long for that."""
        return cls(bounds, Levels.whole(bounds), clip)

    @cached_property
    def domain(self) -> Levels:
        merge = Merge.AVERAGE if self.per_person else Merge.ADD
        return Levels(self.bounds, self.steps, self.clip, self.within, merge)

    def counted_from_zero(self) -> Self:
        levels = super().counted_from_zero().domain.from_zero()
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

    def truth(self, codes: Codes) -> Floats:
        return np.array([float(codes.sum(dtype=np.float64)) / self.steps])


@dataclass(frozen=True, repr=False)
class Mean(Sum):
    """How much do people hold on average?

    Parameters
    ----------
    bounds, steps, clip, within
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
    per_person = True
