"""Which of a person's rows count, by lot, in SQL that DuckDB and Spark both speak."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lots:
    """How an engine draws lots: by SHA-256 of a secret key and of what tells a person's rows apart.

    Rows that are the same have a number each. What is hashed can be read in one way only, so that no two rows have the
    same lot, and whoever does not hold the key cannot tell the lots from random ones.
    """

    hashed: str  # of a text
    copies: str  # the numbers below `many`, a row each
    first: str  # the codes with the smallest lots, at most so many, a row each

    def kept(self, table: str, most: int, key: str) -> str:
        """At most so many rows of each person; every row has the same chance, whatever the order they come in."""
        each = f"SELECT person, code, count(*) AS many FROM {table} GROUP BY person, code"
        copies = f"SELECT person, code, {self.copies} AS copy FROM ({each})"
        told = f"concat({key}, ',', copy, ',', length(CAST(code AS STRING)), ',', code, ',', person)"
        lots = f"SELECT person, code, {self.hashed.format(told)} AS lot FROM ({copies})"
        return f"SELECT {self.first.format(most=most)} AS code FROM ({lots}) GROUP BY person"
