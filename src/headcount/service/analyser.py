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

from headcount.core.canonical import canonical
from headcount.core.errors import BadArgument
from headcount.ledger.ledger import Ledger
from headcount.ledger.spending import Allowance
from headcount.service.collection import Collection, Unknown
from headcount.service.keys import Announced, Keys
from headcount.store.account import Account
from headcount.store.database import Database, do, many, one

BATCH = "SELECT * FROM batches WHERE collection = :name AND number = :number"


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

    def account(self, population: str) -> Account:
        if population not in self._accounts:
            witness = (
                None if self.witness is None else self.witness / f"{sha256(population.encode()).hexdigest()}.jsonl"
            )
            self._accounts[population] = Account(self.database, population, witness)
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
        self.ledger(collection.population).require(*[collection.plan] * collection.batches)
        announced = [self._announced(collection, number + 1) for number in range(collection.batches)]
        with self.database.writing() as connection:
            new = "INSERT INTO collections VALUES (:id, :config, 'open') ON CONFLICT DO NOTHING"
            do(connection, new, id=collection.id, config=canonical(config))
        return announced

    def _announced(self, collection: Collection, number: int) -> dict[str, Any]:
        suite = collection.wire.suite
        key = self.keys.make(inner_key(collection.id, number), suite).hex()
        expires = collection.opens + collection.window * (collection.batches * (collection.holds + 1) + 1)
        announced = Announced("analyser", collection.purpose(number), number, suite, key, expires)
        return self.signer.signed(announced.to_json())

    def collection(self, name: str) -> Collection:
        with self.database.reading() as connection:
            row = one(connection, "SELECT * FROM collections WHERE id = :name", name=name)
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
        batches = [
            {"batch": row["number"], "state": row["state"], "reports": json.loads(row["manifest"])["reports"]}
            for row in rows
        ]
        return {"collection": name, "population": collection.population, "batches": batches}

    def destroy(self, name: str) -> None:
        """Messages, keys and answers; what was charged stays charged."""
        collection = self.collection(name)
        with self.database.writing() as connection:
            do(connection, "DELETE FROM parts WHERE collection = :name", name=name)
            do(connection, "DELETE FROM batches WHERE collection = :name", name=name)
            do(connection, "UPDATE collections SET state = 'destroyed' WHERE id = :name", name=name)
        for number in range(collection.batches):
            self.keys.delete(inner_key(name, number + 1))
        self.database.forget()


def inner_key(name: str, number: int) -> str:
    """What the key that a batch's messages are sealed to is called."""
    return f"inner-{name}-{number}"
