"""The narrow waist: what the analyser keeps of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.table import Ints


@dataclass(frozen=True, eq=False)
class Batch:
    """All messages of some reports, as the shuffler hands them on: their order means nothing."""

    reports: int
    messages: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Tally:
    """A map from keys 0 .. len - 1 to integers; added pointwise, in any order, by any number of workers."""

    reports: int
    totals: Ints

    def __post_init__(self) -> None:
        object.__setattr__(self, "totals", np.asarray(self.totals, dtype=np.int64))

    @classmethod
    def nobody(cls, cells: int) -> Tally:
        return cls(0, np.zeros(cells, dtype=np.int64))

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.reports + other.reports, self.totals + other.totals)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return self.reports == other.reports and np.array_equal(self.totals, other.totals)

    def __hash__(self) -> int:
        return hash((self.reports, self.totals.tobytes()))
