"""Yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from headcount.phrases import Phrase
from headcount.questions.domains.domain import Domain, Merge, Shape
from headcount.questions.reading import Array, Declared, equal, truths

NOT_A_BIT = (
    "data has values other than 0 and 1, true and false",
    Phrase("use {where} to say which counts as 1"),
)


@dataclass(frozen=True)
class Bit(Domain):
    """A truth value, or whether the column holds the value `where`, which a missing one never does."""

    where: Declared | None = None
    shape: ClassVar[Shape] = Shape.BIT
    merge: ClassVar[Merge] = Merge.ANY  # type: ignore[misc]
    size = 2
    described = "One value for each person, 0 or 1."
    accepted = "1 for yes or 0 for no"

    def codes(self, column: Array) -> npt.NDArray[np.uint8]:
        if self.where is not None:
            return equal(column, self.where).view(np.uint8)
        return truths(column).require(*NOT_A_BIT).values

    def compared(self, place: int) -> Bit:
        return Bit()

    def label(self, code: int) -> float:
        return float(code)
