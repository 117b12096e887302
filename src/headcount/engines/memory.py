"""The engine for data in memory, or arriving in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.coins import Coins
from headcount.core.plan import Plan
from headcount.core.tally import Tally

PIECE = 1 << 18  # people at a time: their messages stay in the processor's cache


class MemoryEngine:
    """One array, or an iterable of arrays of any sizes; memory stays bounded by the pieces."""

    def tally(self, plan: Plan, data: npt.NDArray[Any] | Iterable[npt.NDArray[Any]], coins: Coins) -> Tally:
        protocol = plan.protocol
        total = Tally.nobody(protocol.kinds)
        for array in [data] if isinstance(data, np.ndarray) else data:
            for piece in _pieces(array):
                total += protocol.tally(protocol.reports(protocol.task.encoded(piece), coins))
        return total


def _pieces(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    return (array[start : start + PIECE] for start in range(0, array.size, PIECE))
