"""Sources of drawn integers, which a programme binds to a name and may use several times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from headcount.programme.chance import WORD
from headcount.programme.coins import Coins
from headcount.programme.field import Field, Names, People, Values, number
from headcount.programme.report_law import Weights
from headcount.programme.table import Ints, Table


class Draw(ABC):
    """One integer a person."""

    reads: frozenset[str] = frozenset()

    @abstractmethod
    def draw(self, people: People, coins: Coins) -> Values: ...

    @abstractmethod
    def law(self, names: Names) -> Weights:
        """Every outcome with its weight, an integer."""

    @abstractmethod
    def encode(self) -> dict[str, Any]: ...


class Below(Draw):
    """Uniform on 0 .. bound - 1."""

    def __init__(self, bound: int) -> None:
        self.bound = bound

    def draw(self, people: People, coins: Coins) -> Ints:
        return coins.below(self.bound, people.size)

    def law(self, names: Names) -> Weights:
        return [(outcome, 1) for outcome in range(self.bound)]

    def encode(self) -> dict[str, Any]:
        return {"below": number(self.bound)}


class From(Draw):
    """A draw from a table: a word, rarely two."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def draw(self, people: People, coins: Coins) -> Ints:
        return coins.draw(self.table, people.size)

    def law(self, names: Names) -> Weights:
        return [(self.table.start + cell, mass) for cell, mass in enumerate(self.table.masses) if mass]

    def encode(self) -> dict[str, Any]:
        return {"table": encoded(self.table)}


class Rounded(Draw):
    """A field from 0 .. steps, stochastically rounded to 0 .. levels with an exact mean.

    One word, whether or not there is anything to round.
    """

    def __init__(self, field: Field, steps: int, levels: int) -> None:
        if not 0 < steps < WORD or (steps & (steps - 1) and steps > 1 << 32):
            raise ValueError("steps beyond 2**32 must be a power of two")
        self.field, self.steps, self.levels = field, steps, levels
        self.reads = field.reads

    def draw(self, people: People, coins: Coins) -> Ints:
        scaled = self.field.column(people.held, people.size).astype(np.int64) * self.levels
        down, rest = np.divmod(scaled, self.steps)
        return down + (coins.below(self.steps, people.size) < rest)

    def law(self, names: Names) -> Weights:
        down, rest = divmod(self.field.at(names) * self.levels, self.steps)
        return [(down, self.steps - rest)] + ([(down + 1, rest)] if rest else [])

    def encode(self) -> dict[str, Any]:
        return {"round": self.field.encode(), "from": number(self.steps), "to": self.levels}


def encoded(table: Table) -> dict[str, Any]:
    return {"start": table.start, "coarse": [*map(str, table.coarse)], "fine": [*map(str, table.fine)]}
