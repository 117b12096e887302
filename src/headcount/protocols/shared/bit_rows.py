"""Protocols whose messages are rows of bits, one for each category, added up bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.privacy import laws
from headcount.programme import Batch, Tally
from headcount.programme.rows import bit_totals, row_bytes
from headcount.protocols.base import Protocol

RARELY = 1e-9  # the chance that any honest row of a crowd is taken for a liar's


def heaviest_row(own: float, other: float, values: int, people: int) -> int:
    """The fewest ones that people exceed with chance at most 1e-9, given the bits' chances."""
    ones = laws.binomial(values - 1, other) + laws.binomial(1, own)
    return min(values, ones.within(RARELY / people)[1])


@dataclass(frozen=True, kw_only=True)
class BitRows(Protocol):
    """Any row may be sent, unless a leaf knows better."""

    @property
    def kinds(self) -> int:
        return 1 << self.task.values

    @property
    def message(self) -> np.dtype[Any]:
        return np.dtype([("row", np.uint8, (row_bytes(self.task.values),))])

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        """Bits beyond the last category are not set."""
        return {"row": (0, np.packbits(np.ones(self.task.values, dtype=np.bool_), bitorder="little"))}

    @property
    def heaviest(self) -> int:
        """The most ones of a row that somebody honest might have sent."""
        return self.task.values

    def genuine(self, messages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        light: npt.NDArray[np.bool_] = np.bitwise_count(messages["row"]).sum(axis=1) <= self.heaviest
        return super().genuine(messages) & light

    def telling(self) -> npt.NDArray[Any]:
        """A row of as many ones as there may be, one of a single one, and an empty one."""
        rows = np.zeros(3, dtype=self.message)
        for row, ones in zip(rows, (self.heaviest, 1, 0), strict=True):
            bits = np.arange(self.task.values) < ones
            row["row"] = np.packbits(bits, bitorder="little")
        return rows[self.genuine(rows)]

    def tally(self, batch: Batch) -> Tally:
        return Tally(batch.reports, bit_totals(batch.messages["row"], self.task.values))
