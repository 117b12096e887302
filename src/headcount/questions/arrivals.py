"""Arrivals: how many people have come by the end of each period, each coming at most once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, cast

import numpy as np

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, BadData
from headcount.programme.law import Floats
from headcount.questions.argument import Argument, Told
from headcount.questions.domains.categories import Categories
from headcount.questions.domains.domain import Codes, Label, Shape
from headcount.questions.domains.missing import AS_OTHER
from headcount.questions.question import Question
from headcount.questions.reading import Mask, Read
from headcount.questions.strategies.blocks_of_periods import BlocksOfPeriods, widths_over
from headcount.questions.strategies.over_time import OverTime
from headcount.questions.strategies.own_cells import Own
from headcount.questions.strategies.square_root import MOST_PERIODS, SquareRoot
from headcount.questions.strategies.strategy import Strategy

MOST = 10_000
FINE = 128  # parts of a person that a weighted cell counts in


@dataclass(frozen=True, repr=False)
class Numbered(Categories):
    """Numbers of periods. Others are refused: days nobody numbered are not people not yet come."""

    def placed(self, codes: Codes, read: Read, known: Mask) -> Codes:
        if np.any(read.strange & ~read.missing):
            problem = "data has values that are no numbers of periods"
            raise BadData(problem, "number the periods from 1 on, and leave a blank for whoever has not come")
        return super().placed(codes, read, known)


@dataclass(frozen=True)
class Arrivals(Question):
    """How many people have come so far: the sum over any stretch of periods, each at most once.

    Sign-ups, first purchases, first visits. A person is in one period, from 1 on; with any other
    number, or none, they have not come. Sums of many periods err much less than if periods were
    told one by one: by blocks of periods that are counted once more, or, where one party holds the
    data, by cells that are weighted sums of the past. Which is best is chosen with the protocol. No
    sum needs what comes after its end, so that all of it can be told while periods go on.

    Parameters
    ----------
    periods : int
        How many there are, from 1 to 10,000.
    widths : tuple of int, optional
        The widths of blocks that are counted, 1 first, each of which divides the next; chosen
        unless given.
    fine : int, optional
        Instead: into how many parts a person is divided in weighted cells.

    Raises
    ------
    errors.BadArgument
        If one of them is out of range, or both widths and fine are given.

    Examples
    --------
    >>> came = [1] * 300 + [2] * 400 + [5] * 200 + [None] * 100
    >>> answer = hc.ask(came, hc.Arrivals(5), epsilon=1, model="central")
    >>> 650 < answer.until(2).value < 750
    True
    """

    periods: int
    widths: tuple[int, ...] | None = None
    fine: int | None = None
    name: ClassVar[str] = "arrivals"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.K_OF, Shape.WEIGHTED})
    asks: ClassVar[str] = "How many people have come so far"
    meaning: ClassVar[str] = "How many people have come so far, period by period. Everybody comes at most once."
    unit_words: ClassVar[str] = "people"
    guess: ClassVar[str] = "to guess half of the people for every period"
    instead: ClassVar[str] = "numbers of people"
    answered: ClassVar[str] = "arrivals"
    arguments: ClassVar[tuple[Argument, ...]] = (
        Argument("periods", Told.NUMBER, "How many periods there are; people hold theirs, from 1 on.", needed=True),
    )

    def __post_init__(self) -> None:
        if self.widths is not None and self.fine is not None:
            raise BadArgument("fine", "is given together with widths", "leave one of them out")
        most = MOST if self.fine is None else MOST_PERIODS
        object.__setattr__(self, "periods", _whole("periods", self.periods, most))
        if self.fine is not None:
            object.__setattr__(self, "fine", _whole("fine", self.fine, 1 << 12))
        if self.widths is not None:
            object.__setattr__(self, "widths", _checked(self.widths, self.periods))

    @cached_property
    def domain(self) -> Numbered:
        return Numbered(tuple(range(1, self.periods + 1)), other=True, missing=AS_OTHER)

    @property
    def shape(self) -> Shape:
        return Shape.K_OF if self.fine is None else Shape.WEIGHTED

    @cached_property
    def strategy(self) -> BlocksOfPeriods | SquareRoot:
        if self.fine is not None:
            return SquareRoot(self.periods + 1, self.fine)
        return BlocksOfPeriods(self.periods + 1, self.widths or (1,))

    def variants(self) -> Iterable[Question]:
        """Weighted cells, and each number of levels."""
        if self.widths is not None or self.fine is not None:
            return (self,)
        weighted = [replace(self, fine=FINE)] if 1 < self.periods <= MOST_PERIODS else []
        return [*(replace(self, widths=widths) for widths in widths_over(self.periods)), *weighted]

    def spread(self, strategy: Strategy) -> float:
        """That of the sum of all periods up to one, where it is largest."""
        return math.sqrt(float(cast(OverTime, strategy).prefix_variances.max()))

    def average(self, strategy: Strategy) -> float:
        """The root mean square of these, over all periods."""
        return math.sqrt(float(cast(OverTime, strategy).prefix_variances.mean()))

    def own(self, strategy: Strategy, variances: Sequence[float]) -> Own:
        """That of one whose single cell adds most; half of all sums have one who may be in any."""
        return Own(max(variances) - 1.0, (max(variances) - 1.0) / 2.0)

    def truth(self, codes: Codes) -> Floats:
        return self.strategy.counts(np.bincount(codes, minlength=self.values)).astype(np.float64)

    def counted_from_zero(self) -> Self:
        return self

    def labels(self, keys: Sequence[Label] | None = None) -> list[Label]:
        return list(range(1, self.periods + 1))

    @property
    def in_order(self) -> bool:
        return True

    @property
    def each(self) -> str:
        return "the people so far, where that errs most"

    def to_json(self) -> dict[str, Any]:
        widths = None if self.widths is None else list(self.widths)
        return {**super().to_json(), "periods": self.periods, "widths": widths, "fine": self.fine}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Question:
        return cls(**{name: fields[name] for name in ("periods", "widths", "fine")})


def _whole(name: str, given: Any, most: int) -> int:
    works = f"use a whole number from 1 to {most:,}"
    number = quantity(name, given, works)
    if number != int(number) or not 1 <= number <= most:
        raise BadArgument(name, f"is {number:g}", works)
    return int(number)


def _checked(widths: Sequence[int], periods: int) -> tuple[int, ...]:
    found = tuple(int(width) for width in widths)
    grows = all(after % width == 0 and after > width for width, after in pairwise(found))
    if not found or found != tuple(widths) or found[0] != 1 or not grows or found[-1] > periods:
        works = f"use for example (1,) or (1, 10): 1 first, each dividing the next, none over {periods:,}"
        raise BadArgument("widths", f"is {widths!r}", works)
    return found
