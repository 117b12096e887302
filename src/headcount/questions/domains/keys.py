"""Labels that nobody listed beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headcount.errors import BadArgument
from headcount.questions.domains.domain import Codes, Domain, Merge, Shape
from headcount.questions.reading import Array, texts


@dataclass(frozen=True)
class Keys(Domain):
    """Whatever people hold, as text: a code is the label itself, and how many there are is not known."""

    shape: ClassVar[Shape] = Shape.KEY
    merge: ClassVar[Merge] = Merge.SAME  # type: ignore[misc]
    described = "One label for each person; which labels there are is not known beforehand."
    accepted = "any text"

    @property
    def size(self) -> int:
        raise BadArgument("categories", "are not known", "name them, or use a protocol for unknown keys")

    def codes(self, column: Array) -> Codes:
        if not column.size:
            return np.zeros(0, dtype=np.str_)
        works = "turn them into text first"
        return texts(column).require("data has values that are neither text nor numbers", works).values

    def to_json(self) -> dict[str, Any]:
        return {"categories": None, "other": False}
