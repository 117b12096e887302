"""How well reports tell values apart: by the chances of every message under two values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from headcount.proof.ball_laws import ball
from headcount.proof.divergence import BallPair, Bounds, either_order, worst_of
from headcount.proof.effort import TooLarge, spend
from headcount.proof.enumeration import Sent
from headcount.proof.enumeration import law as law_of
from headcount.proof.programme import Step

MOST_CELLS = 1 << 22
MOVED = 100  # cells of a table that are filled in a unit
FEW_MASSES = 8
FLOPS = 2_000  # of doubles, that take as long as a few operations on fractions

# How many messages have which chances under two values, and at least which under any value.
Kind: TypeAlias = frozenset[tuple[tuple[Fraction, Fraction, Fraction], int]]
Chances: TypeAlias = Counter[tuple[Fraction, Fraction, Fraction]]


class Compared(ABC):
    """How well a report tells any two values apart."""

    @abstractmethod
    def bounds(self, epsilon: Fraction) -> Bounds: ...

    @abstractmethod
    def worst(self) -> list[Chances]:
        """Pairs of values, one of which is told apart best among messages of others."""


@dataclass(frozen=True)
class Kinds(Compared):
    """The distinct ways in which two values compare: chances and numbers of equal messages."""

    kinds: dict[Kind, str]

    @classmethod
    def of(cls, *found: tuple[Chances, str]) -> Kinds:
        return cls({frozenset((both, n) for both, n in chances.items() if n): text for chances, text in found})

    def bounds(self, epsilon: Fraction) -> Bounds:
        return worst_of(
            either_order(epsilon, pair_of((n * p, n * q) for (p, q, _), n in kind)).among(text)
            for kind, text in self.kinds.items()
        )

    def worst(self) -> list[Chances]:
        """The kind with the least overlap, among those that differ in that alone.

        Where the chance of a message is w or a w, a message that is likelier under both and one
        that is under neither lie between two of which either is under one: as steps of a walk
        they vary less, and have the same mean.
        """
        least: dict[Hashable, tuple[Fraction, Kind]] = {}
        for kind in self.kinds:
            alike, both = _overlap(kind)
            if alike not in least or both < least[alike][0]:
                least[alike] = both, kind
        return [Counter(dict(kind)) for _, kind in least.values()]


def _overlap(kind: Kind) -> tuple[Hashable, Fraction]:
    """All but the overlap, and the least chance of messages likelier under both values."""
    raised = {chance / w for (p, q, w), _ in kind for chance in (p, q) if w and chance > w}
    if len(raised) > 1 or not all(w for (_, _, w), _ in kind):
        return kind, Fraction(0)
    every = sum((n * w for (_, _, w), n in kind), Fraction(0))
    own = sum((n * w for (p, _, w), n in kind if p > w), Fraction(0))
    other = sum((n * w for (_, q, w), n in kind if q > w), Fraction(0))
    return (*raised, every, own, other), sum((n * w for (p, q, w), n in kind if min(p, q) > w), Fraction(0))


def pair_of(chances: Iterable[tuple[Fraction, Fraction]]) -> BallPair:
    both = list(chances)
    return BallPair([ball(p) for p, _ in both], [ball(q) for _, q in both])


@dataclass(frozen=True)
class Laws(Compared):
    """The exact law of every value's report: `table[value, message]` is a place in `masses`."""

    masses: tuple[Fraction, ...]
    table: npt.NDArray[np.int64]
    word: str

    @classmethod
    def of(cls, step: Step, name: str, values: int, word: str) -> Laws:
        columns: dict[Sent, int] = {}
        places: dict[Fraction, int] = {Fraction(0): 0}
        rows = []
        for value in range(values):
            law = law_of(step, {name: value})
            spend(4 * len(law))
            known = {id(mass): mass for mass in law.values()}  # most are one object
            place = {key: places.setdefault(mass, len(places)) for key, mass in known.items()}
            here = [columns.setdefault(messages, len(columns)) for messages in law]
            rows.append((np.array(here), np.array([place[id(mass)] for mass in law.values()])))
            if len(columns) * values > MOST_CELLS:
                raise TooLarge("there are too many values and messages to compare them one by one")
        spend(len(columns) * values // MOVED)
        masses = sorted(places)
        rank = {mass: i for i, mass in enumerate(masses)}
        ranks = np.array([rank[mass] for mass in places])
        table = np.zeros((values, len(columns)), dtype=np.int64)  # 0 is the smallest mass
        for value, (sent, placed) in enumerate(rows):
            table[value, sent] = ranks[placed]
        unused = int(table.min())  # whether every message may be sent under every value
        return cls(tuple(masses[unused:]), table - unused, word)

    def worst(self) -> list[Chances]:
        return self._kinds.worst()

    def bounds(self, epsilon: Fraction) -> Bounds:
        return self._kinds.bounds(epsilon)

    @cached_property
    def _kinds(self) -> Kinds:
        """The distinct pairs of rows, by how often one mass meets another: exact in doubles."""
        if len(self.masses) > FEW_MASSES:
            return self._message_by_message()
        lowest = self.table.min(axis=0)
        lows = np.unique(lowest)
        flops = self.table.size * len(self.table) * len(self.masses) ** 2 * len(lows)
        spend(flops // FLOPS + len(self.table) ** 2)
        levels = [(self.table == i).astype(np.float64) for i in range(len(self.masses))]
        both = [(p, q, self.masses[w]) for w in lows.tolist() for p in self.masses for q in self.masses]
        found: dict[tuple[float, ...], str] = {}
        for value in range(len(self.table)):
            here = [first[value] * (lowest == low) for low in lows for first in levels]
            counts = np.stack([second @ first for first in here for second in levels], axis=-1)
            for other, row in enumerate(map(tuple, counts.tolist())):
                found.setdefault(row, f"one person holds the {self.word} {value} or {other}")
        rows = ((dict(zip(both, map(int, row), strict=True)), text) for row, text in found.items())
        return Kinds.of(*((Counter(times), text) for times, text in rows))

    def _message_by_message(self) -> Kinds:
        values = len(self.table)
        if self.table.size * values > MOST_CELLS:
            raise TooLarge("messages have too many different chances to compare all values")
        spend(self.table.size * values)
        masses = [
            [self.masses[place] for place in row] for row in (*self.table.tolist(), self.table.min(axis=0).tolist())
        ]
        pairs = ((i, j) for i in range(values) for j in range(i))
        return Kinds.of(
            *(
                (
                    Counter(zip(masses[i], masses[j], masses[-1], strict=True)),
                    f"one person holds the {self.word} {j} or {i}",
                )
                for i, j in pairs
            )
        )
