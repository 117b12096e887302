"""How a person's rows become one: of arrays, and in SQL that DuckDB and Spark both speak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headcount.errors import BadData
from headcount.questions.domains.domain import DIFFERENT, Codes, Domain, Merge, Persons
from headcount.questions.reading import Array


def merged(part: Domain, column: Array, person: Persons) -> Codes:
    """The code of each person from their rows of a column, `person` saying whose each row is."""
    if part.merge.numeric:
        return part.codes(_totals(part, column, person))
    rows = part.codes(column)
    _, first = np.unique(person, return_index=True)
    codes = rows[first]
    if part.merge is Merge.ANY:
        np.maximum.at(codes, person, rows)
    elif (rows != codes[person]).any():
        raise BadData(*DIFFERENT)
    return codes


def _totals(part: Domain, column: Array, person: Persons) -> Array:
    """Each person's sum or mean, added from least to largest, so that row order has no effect.

    Infinite numbers of both signs come to nothing; and no warning may tell that somebody holds
    such.
    """
    numbers = part.numbers(column)
    order = np.lexsort([numbers, person])
    totals = np.zeros(int(person.max(initial=-1)) + 1)
    with np.errstate(all="ignore"):
        np.add.at(totals, person[order], numbers[order])
    totals[np.isnan(totals)] = 0.0
    return totals / np.bincount(person) if part.merge is Merge.AVERAGE else totals


@dataclass(frozen=True)
class Lots:
    """Sampling of rows: each lot is SHA-256 of a secret key and what tells a person's rows apart.

    Rows that are the same have a number each. What is hashed can be read in one way only, so that
    no two rows have the same lot, and without the key the lots cannot be told from random ones.
    """

    hashed: str  # of a text
    copies: str  # the numbers below `many`, a row each
    packed: str  # columns as one value, which keeps their names
    field: str  # one of these columns
    first: str  # the codes with the smallest lots, at most `most`, a row each

    def in_rounds(self, table: str, codes: Sequence[str], most: int, rounds: int, key: str) -> str:
        """A row per person and round: in at most `most` of these rounds, all with the same chance.

        The first part of a code is its round; `codes` are what the others of a person's rows come
        to. Rounds whose rows contradict each other, and only these, have an empty lot: whether they
        are refused does not hang on the lots.
        """
        names = ["part0", *(f"part{at}" for at in range(1, len(codes) + 1))]
        merged = ", ".join(["part0", *(f"{code} AS {name}" for code, name in zip(codes, names[1:], strict=True))])
        each = f"SELECT person, {merged} FROM {table} WHERE part0 < {rounds} GROUP BY person, part0"
        if most >= rounds:
            return f"SELECT {', '.join(names)} FROM ({each})"
        lot = self.hashed.format(f"concat({key}, ',', part0, ',', person)")
        differing = " OR ".join(f"{name} IS NULL" for name in names)
        return self._first(each, names, f"CASE WHEN {differing} THEN '' ELSE {lot} END", most)

    def kept(self, table: str, columns: Sequence[str], most: int, key: str) -> str:
        """At most `most` rows of each person, each with the same chance, whatever their order."""
        names = ", ".join(columns)
        each = f"SELECT person, {names}, count(*) AS many FROM {table} GROUP BY person, {names}"
        copies = f"SELECT person, {names}, {self.copies} AS copy FROM ({each})"
        held = ", ".join(f"length(CAST({name} AS STRING)), ',', {name}, ','" for name in columns)
        told = f"concat({key}, ',', copy, ',', {held}, person)"
        return self._first(copies, columns, self.hashed.format(told), most)

    def _first(self, rows: str, columns: Sequence[str], lot: str, most: int) -> str:
        """The rows of each person whose lots are the smallest."""
        packed = self.packed.format(", ".join(map(self.field.format, columns)))
        lots = f"SELECT person, {packed} AS code, {lot} AS lot FROM ({rows})"
        first = f"SELECT {self.first.format(most=most)} AS drawn FROM ({lots}) GROUP BY person"
        return f"SELECT {', '.join(f'drawn.{name} AS {name}' for name in columns)} FROM ({first})"


def in_sql(merge: Merge, column: str, added: str) -> str:
    """What a person's rows of a column come to; NULL where they contradict each other.

    `added` is how the engine adds numbers up from the least to the largest, infinite ones of both
    signs to nothing.
    """
    return {
        Merge.ANY: f"max({column})",
        Merge.SAME: f"CASE WHEN min({column}) = max({column}) THEN min({column}) END",
        Merge.ADD: added.format(column),
        Merge.AVERAGE: f"{added.format(column)} / count(*)",
    }[merge]
