"""The tables of a batch, encrypted: reports while it is open, then mixed messages.

Each table has a key of its own in the key folder. It is destroyed after the transaction that says
that the batch needs it no more or, if a crash came in between, the next time that the shuffler
looks.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from headcount.errors import Damaged
from headcount_service.store.database import Database, blocks, do, many, one, update_batch
from headcount_service.store.encryption import AtRest, Encrypted, InTheClear, new_secret
from headcount_service.wire.keys import Keys

FORM = 2  # encrypted; those of form 1 are not
NEEDED = {"reports": ("open", "sealed"), "mixed": ("sealed", "shuffled", "delivered")}  # in which states of a batch
COUNT = "SELECT coalesce(sum(came), 0) AS came FROM counts WHERE tag = :tag"
COME = (
    "INSERT INTO counts VALUES (:tag, :process, :came) "
    "ON CONFLICT (tag, process) DO UPDATE SET came = counts.came + excluded.came"
)


class BatchTables:
    """The tables of all batches of one shuffler."""

    def __init__(self, database: Database, keys: Keys) -> None:
        self.database, self.keys = database, keys
        self._process = secrets.token_hex(8)  # counts what it takes in a row of its own
        self._secrets: dict[str, Encrypted] = {}

    # Reports.

    def begin(self, connection: Connection, collection: str, number: int, closes: int) -> None:
        """A new batch, which is open."""
        tag = secrets.token_hex(8)
        if not self.database.embedded:  # `forget` waits for this transaction
            do(connection, "LOCK TABLE batches IN ROW EXCLUSIVE MODE")
        self.keys.keep(_name("reports", tag), new_secret())
        given = {"number": number, "closes": closes, "tag": tag, "salt": b"", "form": FORM}
        do(
            connection,
            "INSERT INTO batches (collection, number, state, closes, holds, tag, salt, form) "
            "VALUES (:collection, :number, 'open', :closes, 0, :tag, :salt, :form)",
            collection=collection,
            **given,
        )
        kind = self.database.bytes
        columns = {"id": f"{kind} PRIMARY KEY", "who": f"{kind} NOT NULL UNIQUE", "messages": f"{kind} NOT NULL"}
        self._create(connection, f"reports_{tag}", columns, " WITHOUT ROWID")

    def cipher(self, batch: Any) -> AtRest:
        """The cipher of a batch's reports."""
        return self._secret("reports", batch["tag"]) if batch["form"] == FORM else InTheClear(bytes(batch["salt"]))

    def add(self, connection: Connection, batch: Any, rows: Sequence[Mapping[str, bytes]]) -> int:
        """Stores these reports, and returns how many of them are new."""
        cipher, tag = self.cipher(batch), batch["tag"]
        sealed = [{**row, "messages": cipher.sealed(row["messages"], row["id"])} for row in rows]
        new = f"INSERT INTO reports_{tag} VALUES (:id, :who, :messages) ON CONFLICT DO NOTHING"
        came = do(connection, new, *sealed)
        do(connection, COME, tag=tag, process=self._process, came=came)
        return came

    def has(self, connection: Connection, batch: Any, identity: bytes) -> bool:
        """Whether this report is in the batch already."""
        here = f"SELECT 1 FROM reports_{batch['tag']} WHERE id = :id"
        return one(connection, here, id=identity) is not None

    def count(self, connection: Connection, batch: Any) -> int:
        if batch["state"] != "open":
            return int(batch["reports"] or 0)
        return int(one(connection, COUNT, tag=batch["tag"])["came"])

    def messages(self, connection: Connection, batch: Any, each: int) -> Iterator[list[bytes]]:
        """Each report's messages, concatenated, about `each` bytes; some megabytes at a time."""
        stored = self.cipher(batch)
        for rows in blocks(connection, f"SELECT id, messages FROM reports_{batch['tag']}", each):
            yield [stored.opened(bytes(content), bytes(identity)) for identity, content in rows]

    # Mixed messages.

    def begin_mixed(self, connection: Connection, batch: Any) -> str:
        """Create the table of mixed messages; drops that of an interrupted attempt."""
        self._drop_mixed(connection, batch)
        name = secrets.token_hex(8)
        kind = self.database.bytes
        self._create(connection, f"mixed_{name}", {"part": "INTEGER PRIMARY KEY", "content": f"{kind} NOT NULL"})
        update_batch(connection, batch, mixed=name)
        return name

    def part(self, connection: Connection, batch: Any, number: int) -> bytes:
        """A part of the mixed messages."""
        row = one(connection, f"SELECT content FROM mixed_{batch['mixed']} WHERE part = :part", part=number)
        if row is None:
            raise Damaged("a part of what was mixed is missing", "see to the shuffler's database")
        stored = self._secret("mixed", batch["mixed"]) if batch["form"] == FORM else InTheClear(b"")
        return stored.opened(bytes(row["content"]), bound(number))

    # The end.

    # The caller updates the columns of a batch that change with its tables, together with others: a
    # row that one transaction updates twice may deadlock with another that waits for it.

    def drop_reports(self, connection: Connection, batch: Any) -> dict[str, Any]:
        self.database.drop(connection, f"reports_{batch['tag']}", batch["form"] == FORM)
        do(connection, "DELETE FROM counts WHERE tag = :tag", tag=batch["tag"])
        return {"salt": b""}

    def drop(self, connection: Connection, batch: Any) -> dict[str, Any]:
        """Drop both tables of a batch; returns its new columns."""
        self._drop_mixed(connection, batch)
        return {**self.drop_reports(connection, batch), "mixed": None}

    def forget(self) -> None:
        """Destroys every secret that no batch needs."""
        if not self._unneeded():
            return
        with self.database.writing() as connection:
            if not self.database.embedded:  # waits for transactions that begin a batch
                do(connection, "LOCK TABLE batches IN SHARE MODE")
            over = self._unneeded(connection)
        for name in over:
            self._secrets.pop(name, None)
            self.keys.delete(name)

    def _unneeded(self, connection: Connection | None = None) -> set[str]:
        kept = {name for name in self.keys.names() if name.startswith(("reports-", "mixed-"))} | {*self._secrets}
        if connection is None:
            with self.database.reading() as own:
                return kept - self._needed(own)
        return kept - self._needed(connection)

    def _needed(self, connection: Connection) -> set[str]:
        found = set()
        for batch in many(connection, "SELECT state, tag, mixed FROM batches WHERE state <> 'purged'"):
            names = {"reports": batch["tag"], "mixed": batch["mixed"]}
            found |= {_name(table, names[table]) for table, states in NEEDED.items() if batch["state"] in states}
        return found

    def _secret(self, table: str, tag: str) -> Encrypted:
        name = _name(table, tag)
        if name not in self._secrets:
            self._secrets[name] = Encrypted(self.keys.secret(name))
        return self._secrets[name]

    def _drop_mixed(self, connection: Connection, batch: Any) -> None:
        if batch["mixed"]:
            self.database.drop(connection, f"mixed_{batch['mixed']}", batch["form"] == FORM)

    def _create(self, connection: Connection, table: str, columns: Mapping[str, str], embedded: str = "") -> None:
        """PostgreSQL would copy values of the columns into its statistics."""
        listed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        if self.database.embedded:
            do(connection, f"CREATE TABLE {table} ({listed}){embedded}")
            return
        do(connection, f"CREATE TABLE {table} ({listed}) WITH (autovacuum_enabled = off)")
        none = ", ".join(f"ALTER COLUMN {name} SET STATISTICS 0" for name in columns)
        do(connection, f"ALTER TABLE {table} {none}")


def bound(number: int) -> bytes:
    """The associated data of a part of the mixed messages."""
    return number.to_bytes(8, "big")


def mixed_name(attempt: str) -> str:
    """The name of the secret of the mixed messages."""
    return _name("mixed", attempt)


def _name(table: str, tag: str) -> str:
    return f"{table}-{tag}"
