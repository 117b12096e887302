"""Labels that nobody listed beforehand, each its own code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount.errors import BadArgument
from headcount.questions.domains.domain import Codes, Domain, Shape
from headcount.questions.domains.missing import CATEGORY, MISSING, rule
from headcount.questions.reading import Array, Read, texts


@dataclass(frozen=True)
class Keys(Domain):
    """Any text that people hold: a code is the label itself, and their number is not known."""

    missing: str | None = None
    shape = Shape.KEY
    described = "One label for each person; which labels there are is not known beforehand."
    accepted = "any text"

    @property
    def size(self) -> int:
        raise BadArgument("categories", "are not known", "name them, or use a protocol for unknown keys")

    def codes(self, column: Array) -> Codes:
        if not column.size:
            return np.zeros(0, dtype=np.str_)
        works = "turn them into text first"
        read = texts(column)
        if self.missing == CATEGORY:
            read = Read(np.where(read.missing, MISSING, read.values), read.strange, np.zeros_like(read.missing))
        return read.require("data has values that are neither text nor numbers", works, counts_as=CATEGORY).values

    @property
    def rules(self) -> list[str]:
        return rule(self.missing)

    def to_json(self) -> dict[str, Any]:
        missing = {} if self.missing is None else {"missing": self.missing}
        return {"categories": None, "other": False, **missing}
