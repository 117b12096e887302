"""Categories of the people who hold a one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadData
from headcount.phrases import Phrase
from headcount.questions.domains.bit import Bit
from headcount.questions.domains.categories import Categories
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.reading import Array


@dataclass(frozen=True)
class Groups(Categories):
    """The categories of a column of groups."""

    def codes(self, column: Array) -> Codes:
        try:
            return super().codes(column)
        except BadData:
            works = Phrase("name them all in {categories}")
            raise BadData("by has groups outside the categories", works) from None


@dataclass(frozen=True)
class Filtered(Domain):
    """A group for each person who holds a one; everybody else is in the last code, `other`."""

    groups: Groups
    bit: Bit
    shape: ClassVar[Shape] = Shape.ONE_OF

    @property
    def size(self) -> int:
        return self.groups.size + 1

    @property
    def parts(self) -> tuple[Domain, ...]:
        return self.groups, self.bit

    def joined(self, codes: Sequence[Codes]) -> Codes:
        groups, ones = codes
        return np.where(ones == 1, groups.astype(np.int64), self.groups.size)

    def compared(self, place: int) -> Filtered:
        return Filtered(self.groups, Bit())

    def codes(self, column: Array) -> Codes:
        raise NotImplementedError

    @property
    def described(self) -> str:
        return self.groups.described

    @property
    def accepted(self) -> str:
        return self.groups.accepted

    def to_json(self) -> dict[str, Any]:
        return Categories(self.groups.labels, other=True).to_json()
