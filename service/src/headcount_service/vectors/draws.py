"""Test vectors of randomisers: answers, random bytes, and the messages Python makes of them.

docs/client-vectors.md says in which order bytes are used. Words near the edges of what they decide
are drawn as often as all others together, so that a client that is off by one is found out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from headcount.privacy.budget import Neighbours
from headcount.programme.brick import All, Brick, Copies, Each, Emit, Let, Maybe, Outbox
from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Bools, Bytes, Coins, SeededCoins
from headcount.programme.draw import Below, From, Rounded
from headcount.programme.field import VALUE, Field, People, number
from headcount.programme.rows import Row, Shares, Subset
from headcount.programme.table import Ints, Table, Words
from headcount.protocols import CATALOGUE
from headcount.protocols.base.plan import for_devices
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import Wire, record_of
from headcount.questions.reading import column
from headcount_service.wire.report import contents

ANY, OTHER = Field.named("any"), Field.named("other")
SPILLING = Table.of([3**30 // 3**k for k in range(12)])
AGAIN = Table(-2, (3 << 60, 5 << 60, 1))
NUMBER, PAIR = np.dtype([("kind", "<i8")]), np.dtype([("kind", "<i8"), ("key", "<i4")])
BITS, MANY_BITS = np.dtype([("row", np.uint8, (2,))]), np.dtype([("row", np.uint8, (17,))])
OPERATIONS = (VALUE * -3 + 5, (VALUE - 7) // 3, (VALUE - 7) % 3, (VALUE ^ 9) & 6, (1 - VALUE).parity, VALUE * VALUE)
EVENTS = np.dtype([(f"field{at}", "<i8") for at in range(len(OPERATIONS))])

# What one person sends, the form of a message, and how many values there are: every brick, every
# draw, and some nests.
BRICKS: dict[str, tuple[Brick, np.dtype[Any], int]] = {
    "emit": (Emit(*OPERATIONS), EVENTS, 1 << 20),
    "all": (All(Emit(VALUE), All(), Emit(1 - VALUE)), NUMBER, 5),
    "maybe": (Maybe(Chance(0.3), Maybe(Chance.up(1e-3), Emit(0), Emit(1)), Emit(VALUE)), NUMBER, 4),
    "maybe, surely and never": (All(Maybe(Chance(1.0), Emit(1)), Maybe(Chance(0.0), Emit(2))), NUMBER, 2),
    "copies of a table": (Copies(SPILLING, Maybe(Chance(0.25), Emit(VALUE), Emit(9))), NUMBER, 3),
    "copies of a field": (Copies(VALUE, Let("any", Below(6), Emit(ANY))), NUMBER, 6),
    "let below": (Let("any", Below(12), Let("other", Below(1), Emit(ANY ^ VALUE, OTHER))), PAIR, 8),
    "let below much": (Let("any", Below((1 << 62) + 1), Emit(ANY)), NUMBER, 2),
    "let a table": (Let("any", From(AGAIN), Emit(ANY + VALUE)), NUMBER, 9),
    "let a rounding": (Let("any", Rounded(VALUE, 1000, 7), Emit(ANY)), NUMBER, 1001),
    "each": (Each("any", 4, Maybe(Chance(0.5), Emit(ANY * VALUE, ANY))), PAIR, 4),
    "row": (Row(11, Chance(0.125), VALUE, Chance(0.75)), BITS, 11),
    "row of nobody": (Copies(VALUE, Row(130, Chance.down(0.01))), MANY_BITS, 3),
    "subset": (Copies(SPILLING, Subset(9, 4, VALUE, Chance(0.6))), BITS, 9),
    "shares": (Shares(VALUE, 1_000_003, 4), NUMBER, 1_000_003),
    "copies of copies": (
        Copies(SPILLING, Let("any", Below(3), Copies(ANY, Maybe(Chance(0.5), Emit(ANY, VALUE))))),
        PAIR,
        2,
    ),
}


class NearEdges(Coins):
    """Coins that write down what they gave, half of it near the edges of what it decides."""

    secret = False

    def __init__(self, seed: int) -> None:
        self._coins, self._edges, self._given = SeededCoins(seed), [1], bytearray()

    def taken(self) -> bytes:
        """The bytes given out since the last call."""
        given, self._given = bytes(self._given), bytearray()
        return given

    def stream(self, size: int) -> Bytes:
        given = self._coins.stream(size)
        self._given += given.tobytes()
        return given

    def words(self, size: int) -> Words:
        words, which = self._coins.words(2 * size).reshape(2, size)
        near = np.array([(edge + step) % WORD for edge in self._edges for step in (-1, 0, 1)], dtype=np.uint64)
        chosen = np.where(which & np.uint64(1), words, near[(which >> np.uint64(1)) % np.uint64(near.size)])
        self._given += chosen.astype("<u8").tobytes()
        return chosen

    def bernoulli(self, chance: Chance, size: int) -> Bools:
        self._edges = [chance.threshold]
        return super().bernoulli(chance, size)

    def draw(self, table: Table, size: int) -> Ints:
        fine = table.fine_edges if table.fine else ()
        self._edges = [*map(int, table.edges), *map(int, fine), WORD - table.spill // 2]
        return super().draw(table, size)

    def below(self, bound: int, size: int) -> Ints:
        self._edges = [WORD // bound * part for part in {1, bound // 2, bound - 1, bound}]
        return super().below(bound, size)


def drawn(programme: Brick, value: Any, coins: Coins, message: np.dtype[Any]) -> npt.NDArray[Any]:
    """The messages of one person with this value."""
    outbox = Outbox(message)
    programme.draw(People(1, {"value": np.array([value])}), coins, outbox)
    return outbox.messages()


def bricks(vectors: int) -> Iterator[dict[str, Any]]:
    for seed, (name, (programme, message, values)) in enumerate(BRICKS.items()):
        coins, held = NearEdges(seed), some(values, vectors, seed)
        made = []
        for value in held:
            sent = drawn(programme, value, coins, message)
            made.append([number(value), coins.taken().hex(), sent.tobytes().hex()])
        yield {"name": name, "programme": programme.encode(), "record": record_of(message), "vectors": made}


@dataclass(frozen=True)
class Instance:
    """A protocol as it is collected; of a tiny one nobody asks what it proves."""

    protocol: Protocol

    @property
    def wire(self) -> Wire:
        """A wire with so few messages that some reports must be truncated."""
        return Wire(min(128, max(1, round(self.protocol.messages_per_person))))

    def vectors(self, number_of_them: int, seed: int) -> dict[str, Any]:
        protocol, wire, coins = self.protocol, self.wire, NearEdges(seed)
        made = []
        for value in some(protocol.task.values, number_of_them, seed):
            answer = answer_of(protocol, value)
            encoded = protocol.task.domain.codes(column([answer]))
            whole = contents(protocol.reports(encoded, coins).messages, wire.messages, coins)
            made.append([answer, coins.taken().hex(), b"".join(whole).hex()])
        told = {"task": protocol.task.to_json(), "wire": wire.to_json(), **for_devices(protocol, wire, 1)}
        return {"protocol": protocol.name, **told, "vectors": made}


def protocols(vectors: int) -> Iterator[dict[str, Any]]:
    """Every collectable protocol: at least this many vectors each, over its tiny instances.

    They depend on its name and not on what else there is.
    """
    for cls in (each for each in CATALOGUE if each.collectable()):
        tinies = instances(cls)
        for tiny in tinies:
            yield Instance(tiny).vectors(-(-vectors // len(tinies)), crc32(cls.name.encode()))


def instances(cls: type[Protocol]) -> list[Protocol]:
    """The protocol's tiny collectable instances: those with a public number of reports."""
    return [tiny for tiny in cls.tinies() if tiny.neighbours is Neighbours.REPLACE]


def some(values: int, size: int, seed: int) -> list[int]:
    """Values that people might hold, the first and the last among them."""
    return [0, values - 1, *SeededCoins(seed).below(values, max(0, size - 2)).tolist()][:size]


def answer_of(protocol: Protocol, value: int) -> Any:
    """An answer that is encoded as this value."""
    return protocol.task.domain.label(value)
