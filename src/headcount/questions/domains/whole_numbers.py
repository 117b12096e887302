"""Whole numbers between bounds, with an interval for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.domains.domain import Codes, SqlDialect, Steps
from headcount.questions.domains.intervals import Intervals
from headcount.questions.domains.levels import LONGEST, Levels
from headcount.questions.reading import Array
from headcount.questions.scales import NUMBERS, WHOLE_NUMBERS, Scale, scale_of


@dataclass(frozen=True)
class WholeNumbers(Intervals):
    """Each whole number is an interval of its own, which ends before the next one; the upper bound
    is within it, as a day is. Values have the codes that a sum of whole numbers gives them, and
    values between two are refused."""

    scale: ClassVar[Scale] = WHOLE_NUMBERS
    line = "numbers"

    def __post_init__(self) -> None:
        _ = self._levels  # which refuses what doubles cannot tell apart
        super().__post_init__()

    @classmethod
    def between(cls, bounds: Any, *, clip: bool = False, missing: float | str | None = None) -> WholeNumbers:
        """All whole numbers between the bounds."""
        if scale_of(bounds) is not NUMBERS:
            raise BadArgument("whole", "is for numbers", Phrase("leave it out, or give {bounds}", bounds=(0, 120)))
        low, high = cls.scale.ends(bounds)
        if high - low > LONGEST:
            works = Phrase(f"use bounds with at most {LONGEST:,} between them, or {{whole}}", whole=False)
            raise BadArgument("bounds", f"has {high - low:,.0f} whole numbers, too many for an interval each", works)
        return cls(tuple(bounds), int(high - low), clip, missing)

    @cached_property
    def _levels(self) -> Levels:
        """The same numbers as steps of an amount."""
        return Levels(self.bounds, self.count - 1, self.clip, missing=self.missing)

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.scale.texts(self.edges[:-1].tolist(), 1.0))

    @property
    def middles(self) -> tuple[Any, float]:
        """The numbers themselves: nothing lies between them."""
        return self.edges[:-1], 0.0

    def codes(self, column: Array) -> Codes:
        held = self.read(column)
        return self._levels.codes(held).astype(self.narrow) if held.size else np.zeros(0, dtype=self.narrow)

    def counted(self, value: str, dialect: SqlDialect) -> Steps:
        clipped = replace(self._levels, clip=True).steps(value, dialect)
        if self.clip:
            return clipped
        low, high = (dialect.parameter(name) for name in ("low", "high"))
        return replace(clipped, fits=f"{value} BETWEEN {low} AND {high} AND {clipped.fits}")

    def label(self, code: int) -> int:
        return int(self.edges[code])

    @property
    def described(self) -> str:
        return f"{super().described.partition(', in ')[0]}{self._clipped}."

    def to_json(self) -> dict[str, Any]:
        """As a sum of whole numbers, so that clients need to know one kind of steps."""
        return self._levels.to_json()
