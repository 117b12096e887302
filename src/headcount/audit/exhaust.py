"""Every word a report could be drawn from: the interpreter against the enumerated law, with nothing left to chance."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from headcount.core.brick import All, Brick, Copies, Emit, Maybe, Message, drawn
from headcount.core.chance import WORD, Chance
from headcount.core.coins import Bytes, Coins
from headcount.core.protocol import Protocol
from headcount.core.table import Table


class Tape(Coins):
    """Coins that read out chosen words, one after the other, and fail when there are no more."""

    secret = False

    def __init__(self, words: tuple[int, ...]) -> None:
        self.left = list(words)

    def stream(self, size: int) -> Bytes:
        taken, self.left = self.left[: size // 8], self.left[size // 8 :]
        if len(taken) * 8 != size:
            raise EOFError("the tape is at its end")
        return np.array(taken, dtype="<u8").view(np.uint8)


def coarsened(brick: Brick, bits: int) -> Brick:
    """The same programme with every chance and table rounded to a few bits, so that all words can be tried."""
    unit = WORD >> bits
    if isinstance(brick, All):
        return type(brick)(*(coarsened(part, bits) for part in brick.parts))
    if isinstance(brick, Maybe):
        threshold = min(max(round(brick.chance * 2**bits), 1), 2**bits - 1) * unit
        return type(brick)(Chance(threshold / WORD), coarsened(brick.then, bits), coarsened(brick.otherwise, bits))
    if isinstance(brick, Copies):
        amount = brick.amount if not isinstance(brick.amount, Table) else _coarse_table(brick.amount, bits)
        return type(brick)(amount, coarsened(brick.brick, bits))
    if isinstance(brick, Emit):
        return brick
    raise TypeError(f"{type(brick).__name__} is not a brick that can be coarsened")


def _coarse_table(table: Table, bits: int) -> Table:
    """At most three cells, none of them empty, masses in units of 2**-bits."""
    rest = 2**bits - 2
    first = min(max(round(table.masses[0] / 2**128 * 2**bits), 1), rest)
    unit = WORD >> bits
    return Table(0, (first * unit, (2**bits - 1 - first) * unit, unit))


def words_drawn(brick: Brick) -> int:
    """The most words one run takes."""
    if isinstance(brick, All):
        return sum(words_drawn(part) for part in brick.parts)
    if isinstance(brick, Maybe):
        return 1 + max(words_drawn(brick.then), words_drawn(brick.otherwise))
    if isinstance(brick, Copies):
        most = len(brick.amount.coarse) - 1 if isinstance(brick.amount, Table) else 1
        return isinstance(brick.amount, Table) + most * words_drawn(brick.brick)
    return 0


def exhausted(protocol: Protocol, programme: Brick, value: int, bits: int) -> Counter[tuple[Message, ...]]:
    """How often each list of messages, sorted, comes out over all words of so many leading bits."""
    outcomes: Counter[tuple[Message, ...]] = Counter()
    for leading in product(range(2**bits), repeat=words_drawn(programme)):
        tape = Tape(tuple((word << (64 - bits)) + 12345 for word in leading))
        sent = drawn(programme, np.array([value], dtype=np.uint8), tape, protocol.message)
        outcomes[tuple(sorted(tuple(int(field) for field in record) for record in sent.tolist()))] += 1
    return outcomes
