"""Bricks whose messages have many parts: rows of bits, and shares that add up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.programme.brick import Brick, Outbox
from headcount.programme.chance import WORD, Chance
from headcount.programme.coins import Bools, Coins
from headcount.programme.field import Field, Names, People, number
from headcount.programme.report_law import NOTHING_SENT, ReportLaw
from headcount.programme.table import Ints

NEVER = Chance(0.0)
PIECE = 1 << 20  # bits at a time, one to a byte: they stay in the processor's cache
LARGE_PIECE = 1 << 23  # where every step of many is about all rows
LONGEST_SUM = 255  # of bits, in a byte


def row_bytes(width: int) -> int:
    return -(-width // 8)


def _pieces(rows: int, width: int, bits: int = PIECE) -> Iterator[slice]:
    length = max(1, bits // width)
    return (slice(start, start + length) for start in range(0, rows, length))


def bit_totals(rows: npt.NDArray[np.uint8], width: int) -> Ints:
    """The number of packed rows with each bit on, summed in bytes and then in words."""
    totals = np.zeros(width, dtype=np.int64)
    for piece in _pieces(len(rows), width):
        bits = np.unpackbits(rows[piece], axis=1, count=width, bitorder="little")
        for start in range(0, len(bits), LONGEST_SUM):
            totals += np.add.reduce(bits[start : start + LONGEST_SUM], axis=0, dtype=np.uint8)
    return totals


def packed(bits: Bools) -> npt.NDArray[np.uint8]:
    """Rows of bits, eight to a byte, the first bit in the lowest place."""
    return np.packbits(bits, axis=1, bitorder="little")


class Row(Brick):
    """One message, a row of bits: the one at `here` is on with chance `on`, others with `off`.

    A word for each bit, then one more for the bit at `here`, which replaces the one drawn for its
    place.
    """

    def __init__(self, width: int, off: Chance, here: Field | None = None, on: Chance = NEVER) -> None:
        self.width, self.off, self.here, self.on = width, off, here, on
        self.reads = here.reads if here else frozenset()

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        for piece in _pieces(people.size, self.width):
            some = people.within(piece)
            bits = coins.bernoulli(self.off, some.size * self.width).reshape(some.size, self.width)
            if self.here is not None:
                bits[np.arange(some.size), self.here.column(some.held, some.size)] = coins.bernoulli(self.on, some.size)
            outbox.send([packed(bits)], some)

    def law(self, names: Names) -> ReportLaw:
        chances = [self.off.threshold] * self.width
        if self.here:
            chances[self.here.at(names)] = self.on.threshold
        masses = {}
        for bits in product((0, 1), repeat=self.width):
            mass = 1
            for bit, chance in zip(bits, chances, strict=True):
                mass *= chance if bit else WORD - chance
            masses[(((sum(bit << j for j, bit in enumerate(bits)),), 1),)] = mass
        return ReportLaw({row: mass for row, mass in masses.items() if mass}, WORD**self.width)

    def mean(self, names: Names) -> float:
        return 1.0

    def encode(self) -> dict[str, Any]:
        here = None if self.here is None else self.here.encode()
        chances = {"off": str(self.off.threshold), "on": str(self.on.threshold)}
        return {"row": number(self.width), "here": here, **chances}


class Subset(Brick):
    """One message, a row with `size` bits on: `here` with this chance, the others uniformly.

    One word says whether; then the others are chosen by Floyd's algorithm, one draw below j + 1 for
    each j.
    """

    def __init__(self, width: int, size: int, here: Field, chance: Chance) -> None:
        self.width, self.size, self.here, self.chance = width, size, here, chance
        self.reads = here.reads

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        inside = coins.bernoulli(self.chance, people.size)
        for who, others in ((inside, self.size - 1), (~inside, self.size)):
            chosen = people.chosen(who, self.reads)
            for piece in _pieces(chosen.size, self.width, LARGE_PIECE):
                some = chosen.within(piece)
                here = np.asarray(self.here.column(some.held, some.size))
                bits = np.zeros((some.size, self.width), dtype=np.bool_)
                self._choose(bits, here, others, coins)
                bits[np.arange(some.size), here] = others < self.size
                outbox.send([packed(bits)], some)

    def _choose(self, bits: Bools, here: Ints, amount: int, coins: Coins) -> None:
        """Turns on `amount` of the other places in each row, every set of them equally likely."""
        flat, first, others = bits.reshape(-1), np.arange(here.size) * self.width, self.width - 1
        for last in range(others - amount, others):
            place = coins.below(last + 1, here.size)
            place += place >= here
            place += first
            taken = np.flatnonzero(flat[place])
            place[taken] = first[taken] + last + (last >= here[taken])
            flat[place] = True

    def law(self, names: Names) -> ReportLaw:
        here = self.here.at(names)
        others = [place for place in range(self.width) if place != here]
        parts = []
        for yes, weight in ((1, self.chance.threshold), (0, WORD - self.chance.threshold)):
            rows = [yes << here | sum(1 << j for j in chosen) for chosen in combinations(others, self.size - yes)]
            parts.append((weight, ReportLaw({(((row,), 1),): 1 for row in rows}, len(rows))))
        return ReportLaw.mixed(parts)

    def mean(self, names: Names) -> float:
        return 1.0

    def encode(self) -> dict[str, Any]:
        size, chance = number(self.size), str(self.chance.threshold)
        return {"subset": number(self.width), "size": size, "here": self.here.encode(), "with": chance}


class Shares(Brick):
    """Additive secret shares of the field modulo q: all but the last are drawn uniformly."""

    def __init__(self, field: Field, modulus: int, shares: int) -> None:
        self.field, self.modulus, self.shares = field, modulus, shares
        self.reads = field.reads

    def draw(self, people: People, coins: Coins, outbox: Outbox) -> None:
        last = np.asarray(self.field.column(people.held, people.size), dtype=np.int64) % self.modulus
        for _ in range(self.shares - 1):
            share = coins.below(self.modulus, people.size)
            outbox.send([share], people)
            last = (last - share) % self.modulus
        outbox.send([last], people)

    def law(self, names: Names) -> ReportLaw:
        target = self.field.at(names)
        parts = []
        for drawn in product(range(self.modulus), repeat=self.shares - 1):
            last = (target - sum(drawn)) % self.modulus
            parts.append((1, ReportLaw.surely(*((share,) for share in (*drawn, last)))))
        return ReportLaw.mixed(parts) if parts else NOTHING_SENT

    def mean(self, names: Names) -> float:
        return float(self.shares)

    def encode(self) -> dict[str, Any]:
        return {"shares": self.field.encode(), "modulus": number(self.modulus), "count": self.shares}
