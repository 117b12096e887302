"""Several things that each person holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.reading import Array


@dataclass(frozen=True)
class Product(Domain):
    """One code for every combination of the parts' codes, the last part's changing fastest."""

    of: tuple[Domain, ...]
    shape: ClassVar[Shape] = Shape.ONE_OF

    @property
    def size(self) -> int:
        return prod(part.size for part in self.of)

    @property
    def grouped(self) -> bool:
        return all(part.grouped for part in self.of)

    @property
    def parts(self) -> tuple[Domain, ...]:
        return self.of

    def joined(self, codes: Sequence[Codes]) -> Codes:
        return np.ravel_multi_index([each.astype(np.int64) for each in codes], [part.size for part in self.of])

    def compared(self, place: int) -> Product:
        return Product(tuple(part.compared(0) if at == place else part for at, part in enumerate(self.of)))

    def codes(self, column: Array) -> Codes:
        raise NotImplementedError

    @property
    def described(self) -> str:
        return " ".join(part.described for part in self.of)

    @property
    def accepted(self) -> str:
        return ", and ".join(part.accepted for part in self.of)

    def to_json(self) -> dict[str, Any]:
        return {"parts": [part.to_json() for part in self.of]}
