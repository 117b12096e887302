"""The engine for data in memory, or arriving in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.coins import Coins
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.core.tally import Tally

PIECE = 1 << 18  # people at a time, at most: their messages stay in the processor's cache
BYTES = 1 << 26  # of messages at a time, about


class MemoryEngine:
    """One array, or an iterable of arrays of any sizes; memory stays bounded by the pieces."""

    def tally(self, plan: Plan, data: npt.NDArray[Any] | Iterable[npt.NDArray[Any]], coins: Coins) -> Tally:
        protocol = plan.protocol
        arrays = [data] if isinstance(data, np.ndarray) else data
        pieces = (piece for array in arrays for piece in _pieces(protocol, array))
        tallies = (protocol.tally(protocol.reports(protocol.task.encoded(piece), coins)) for piece in pieces)
        first = next(tallies, None)
        return protocol.nobody() if first is None else reduce(add, tallies, first)


def _pieces(protocol: Protocol, array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    # A row of bits is drawn a byte to the bit before it is packed, and other messages a few words at a time.
    heavy = max(protocol.bits_per_person, 8.0 * protocol.messages_per_person)
    size = max(1, min(PIECE, int(BYTES / heavy)))
    return (array[start : start + size] for start in range(0, array.size, size))
