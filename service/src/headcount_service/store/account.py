"""The ledger of one population in a database: its budget, and the hash chain of its charges.

A charge locks the population's row first, so that two charges never rely on the same remaining
budget. The last line's hash stands in that row too: cutting off the end would leave it behind. A
database that was restored whole from an older copy is found out by the witness, a file in another
place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from headcount.errors import BadArgument, Damaged
from headcount.ledger.allowance import Allowance
from headcount.ledger.book import Page
from headcount.ledger.chain import complete
from headcount.ledger.lines import Lines, ReadSoFar, first_line
from headcount_service.store.database import Database, do, many, one

NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z ._-]{0,63}")
ROW = "SELECT head FROM populations WHERE name = :name"
LINES = "SELECT number, line FROM charges WHERE population = :name AND number > :after ORDER BY number"
NEW_LINE = "INSERT INTO charges VALUES (:name, :number, :line)"


class Account(Lines):
    """The book of one population."""

    @staticmethod
    def create(database: Database, name: str, allowance: Allowance) -> None:
        """Refused if there is one of that name."""
        if not NAME.fullmatch(name):
            raise BadArgument(
                "population", "is not a name that works", "use up to 64 letters, digits, spaces and . _ -"
            )
        line = first_line(allowance)
        with database.writing() as connection:
            head = json.loads(line)["hash"]
            new = "INSERT INTO populations VALUES (:name, :head) ON CONFLICT DO NOTHING"
            if not do(connection, new, name=name, head=head):
                raise BadArgument("population", f"{name!r} has a budget already", "use another name")
            do(connection, NEW_LINE, name=name, number=0, line=line.decode())

    def __init__(self, database: Database, name: str, witness: Path | None = None, *, anew: bool = False) -> None:
        """Opens the account; with `anew` its witness is created, otherwise it must exist."""
        self.database, self.name = database, name
        with database.reading() as connection:
            row = one(connection, "SELECT line FROM charges WHERE population = :name AND number = 0", name=name)
        if row is None:
            works = f"give it one: headcount ledger create {name} --data DIR --epsilon 5 --delta 1e-5"
            raise BadArgument("population", f"{name!r} has no budget", works)
        super().__init__(complete(row["line"].encode())[0], f"the ledger of {name!r}", witness)
        self._read = self._beginning
        if not anew:
            with self._alone() as connection:
                self._require_witness(self._catch_up(connection))
        self.write_witness()

    def lines(self) -> list[str]:
        """All lines, for others to verify."""
        with self.database.reading() as connection:
            return [row["line"].rstrip("\n") for row in many(connection, LINES, name=self.name, after=-1)]

    def page(self) -> Page:
        with self._alone() as connection:
            return self._catch_up(connection).page

    def turn(self, turned: Callable[[Page], Page]) -> None:
        """Change the page in a transaction of its own."""
        with self.database.writing() as connection:
            self.turn_within(connection, turned)
        self.write_witness()

    def turn_within(self, connection: Connection, turned: Callable[[Page], Page]) -> ReadSoFar:
        """Change the page within this transaction. Call `write_witness` after its commit."""
        one(connection, ROW + self.database.for_update, name=self.name)
        known = self._catch_up(connection)
        lines, read = self._added(known, turned(known.page))
        first = len(known.hashes)
        for number, line in enumerate(lines, first):
            do(connection, NEW_LINE, name=self.name, number=number, line=line.decode())
        do(connection, "UPDATE populations SET head = :head WHERE name = :name", head=read.hashes[-1], name=self.name)
        return read

    def write_witness(self) -> None:
        """Bring the witness up to date, after a commit."""
        with self._alone() as connection:
            self._update_witness(self._catch_up(connection))

    def page_within(self, connection: Connection) -> Page:
        """The page, with the population's row locked until this transaction ends."""
        one(connection, ROW + self.database.for_update, name=self.name)
        return self._catch_up(connection).page

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        """A lock on charges, so that ledger and witness are read at one moment."""
        with self.database.writing() as connection:
            one(connection, ROW + self.database.for_update, name=self.name)
            yield connection

    def _catch_up(self, connection: Connection) -> ReadSoFar:
        """Read the lines added since the last read, by this process or others."""
        known = self._read
        head = one(connection, ROW, name=self.name)
        after = len(known.hashes) - 1
        rows: list[Any] = many(connection, LINES, name=self.name, after=after)
        if [row["number"] for row in rows] != list(range(after + 1, after + 1 + len(rows))):
            raise Damaged(f"{self.place} lacks lines", "restore the newest copy of its database")
        read = self._grown(known, [complete(row["line"].encode())[0] for row in rows])
        if head is None or head["head"] != read.hashes[-1]:
            raise Damaged(f"{self.place} does not end where it should", "restore the newest copy of its database")
        self._read = read
        return read
