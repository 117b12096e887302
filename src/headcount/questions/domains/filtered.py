"""The groups of the people who hold a one; one code for everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headcount.questions.domains.bit import Bit
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.domains.product import Product
from headcount.questions.reading import Array

NOBODY = "~"  # the key of people who hold no one: behind all others, which are lists in JSON


@dataclass(frozen=True)
class Filtered(Domain):
    """A group for each person who holds a one; everybody else is in the last code, `other`."""

    groups: Product
    bit: Bit

    @property
    def shape(self) -> Shape:
        return self.groups.shape

    @property
    def size(self) -> int:
        return self.groups.size + 1

    @property
    def parts(self) -> tuple[Domain, ...]:
        return *self.groups.parts, self.bit

    @property
    def grouped(self) -> bool:
        return self.groups.grouped

    def joined(self, codes: Sequence[Codes]) -> Codes:
        groups, ones = self.groups.joined(codes[:-1]), codes[-1]
        return np.where(ones == 1, groups, NOBODY if self.shape is Shape.KEY else self.groups.size)

    def compared(self, place: int) -> Filtered:
        return replace(self, bit=self.bit.compared(0)) if place == len(self.groups.parts) else self

    def codes(self, column: Array) -> Codes:
        raise NotImplementedError

    @property
    def described(self) -> str:
        return self.groups.described

    @property
    def accepted(self) -> str:
        return self.groups.accepted

    def to_json(self) -> dict[str, Any]:
        return {"parts": [part.to_json() for part in self.parts]}
