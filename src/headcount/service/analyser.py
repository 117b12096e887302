"""The analyser: who is asked what, with which budget. It never sees a report, only all messages of a batch, mixed.

What it receives is in `deliveries`, what it tells in `releases`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from headcount.core.canonical import canonical
from headcount.core.errors import BadArgument
from headcount.core.plan import Plan
from headcount.ledger.allowance import Allowance
from headcount.ledger.ledger import Ledger
from headcount.service.collection import Collection, Unknown
from headcount.service.keys import Announced, Keys
from headcount.store.account import Account
from headcount.store.database import Database, do, many, one

BATCH = "SELECT * FROM batches WHERE collection = :name AND number = :number"
COLLECTION = "SELECT * FROM collections WHERE id = :name"


class Analyser:
    """One party, with a database and keys of its own, and a witness outside of both."""

    def __init__(
        self, database: Database, keys: Keys, witness: Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.database, self.keys, self.witness, self.clock = database, keys, witness, clock
        self.signer = keys.signer()
        self._accounts: dict[str, Account] = {}

    # Populations.

    def endow(self, population: str, epsilon: Fraction | float, delta: Fraction | float) -> None:
        """Gives a population a budget for everything it will ever be asked."""
        Account.create(self.database, population, Allowance.of(epsilon, delta, "replace"))
        self.account(population, anew=True)

    def account(self, population: str, *, anew: bool = False) -> Account:
        if population not in self._accounts:
            witness = (
                None if self.witness is None else self.witness / f"{sha256(population.encode()).hexdigest()}.jsonl"
            )
            self._accounts[population] = Account(self.database, population, witness, anew=anew)
        return self._accounts[population]

    def ledger(self, population: str) -> Ledger:
        return Ledger.of(self.account(population))

    def populations(self) -> list[str]:
        with self.database.reading() as connection:
            return [row["name"] for row in many(connection, "SELECT name FROM populations ORDER BY name")]

    # Collections.

    def create(self, config: Any) -> list[dict[str, Any]]:
        """Takes part in a collection, if its population could pay for it, and announces a key for every batch."""
        collection = Collection.from_json(config)
        if collection.analyser != self.signer.public:
            raise BadArgument("analyser", "is not this one", f"create the collection with {self.signer.public}")
        with self.database.reading() as connection:
            known = one(connection, COLLECTION, name=collection.id)
        if known is None:
            batches = [collection.plan] * collection.batches
            self.ledger(collection.population).require_later(*batches, promised=self.promised(collection.population))
            keys = canonical([self._announced(collection, number + 1) for number in range(collection.batches)])
            with self.database.writing() as connection:
                new = "INSERT INTO collections VALUES (:id, :config, :keys, 'open') ON CONFLICT DO NOTHING"
                do(connection, new, id=collection.id, config=canonical(config), keys=keys)
                known = one(connection, COLLECTION, name=collection.id)
        if known["state"] == "destroyed":
            raise Unknown(collection.id)
        return list(json.loads(known["keys"]))

    def promised(self, population: str) -> list[Plan]:
        """What the collections of a population have still to pay for: it was promised that they could."""
        return [plan for name in self.names() for plan in self._to_be_paid(name, population)]

    def _to_be_paid(self, name: str, population: str) -> list[Plan]:
        collection = self.collection(name)
        if collection.population != population:
            return []
        paid = "SELECT count(*) AS paid FROM batches WHERE collection = :name AND charge IS NOT NULL"
        with self.database.reading() as connection:
            return [collection.plan] * (collection.batches - int(one(connection, paid, name=name)["paid"]))

    def _announced(self, collection: Collection, number: int) -> dict[str, Any]:
        suite = collection.wire.suite
        key = self.keys.make(inner_key(collection.id, number), suite).hex()
        expires = collection.opens + collection.window * (collection.batches * (collection.holds + 1) + 1)
        announced = Announced("analyser", collection.purpose(number), number, suite, key, expires)
        return self.signer.signed(announced.to_json())

    def collection(self, name: str) -> Collection:
        with self.database.reading() as connection:
            return self.still(connection, name)

    def still(self, connection: Connection, name: str) -> Collection:
        """The collection, which is not destroyed while this transaction lasts."""
        row = one(connection, COLLECTION + self.database.shared, name=name)
        if row is None or row["state"] == "destroyed":
            raise Unknown(name)
        return Collection.from_json(json.loads(row["config"]))

    def names(self) -> list[str]:
        with self.database.reading() as connection:
            return [
                row["id"] for row in many(connection, "SELECT id FROM collections WHERE state = 'open' ORDER BY id")
            ]

    def state(self, name: str) -> dict[str, Any]:
        collection = self.collection(name)
        with self.database.reading() as connection:
            rows = many(connection, "SELECT * FROM batches WHERE collection = :name ORDER BY number", name=name)
        signed = {row["number"]: json.loads(row["manifest"]) for row in rows}
        batches = [
            {"batch": row["number"], "state": row["state"]}
            | {part: signed[row["number"]][part] for part in ("reports", "added")}
            for row in rows
        ]
        return {
            "collection": name, "question": collection.question, "task": collection.plan.protocol.task.name,
            "population": collection.population, "least": collection.plan.protocol.crowd.least,
            "epsilon": collection.plan.budget.epsilon, "delta": collection.plan.budget.delta,
            "last": collection.batches, "batches": batches,
        }  # fmt: skip

    def destroy(self, name: str) -> None:
        """Messages, keys and answers; what was charged stays charged. Again is not an error."""
        with self.database.writing() as connection:
            row = one(connection, COLLECTION + self.database.alone, name=name)
            if row is None:
                raise Unknown(name)
            do(connection, "DELETE FROM parts WHERE collection = :name", name=name)
            do(connection, "DELETE FROM batches WHERE collection = :name", name=name)
            do(connection, "UPDATE collections SET state = 'destroyed' WHERE id = :name", name=name)
        self._forget_keys({inner_key(name, number + 1) for number in range(len(json.loads(row["keys"])))})

    def tidy(self) -> None:
        """When it starts: whatever a crash has left of what was to be deleted."""
        with self.database.reading() as connection:
            destroyed = many(connection, "SELECT id, keys FROM collections WHERE state = 'destroyed'")
            released = many(connection, "SELECT collection, number FROM batches WHERE state = 'released'")
        over = {inner_key(row["collection"], row["number"]) for row in released}
        for row in destroyed:
            over |= {inner_key(row["id"], number + 1) for number in range(len(json.loads(row["keys"])))}
        self._forget_keys(over)

    def _forget_keys(self, names: set[str]) -> None:
        for name in names & set(self.keys.names()):
            self.keys.delete(name)
        self.database.forget()


def inner_key(name: str, number: int) -> str:
    """What the key that a batch's messages are sealed to is called."""
    return f"inner-{name}-{number}"
