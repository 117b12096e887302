"""Protocols whose messages are rows of bits, one for each category, added up bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount.programme import Batch, Tally
from headcount.programme.rows import bit_totals, row_bytes
from headcount.protocols.base import Protocol


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

    def tally(self, batch: Batch) -> Tally:
        return Tally(batch.reports, bit_totals(batch.messages["row"], self.task.values))
