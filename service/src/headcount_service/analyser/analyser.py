"""The analyser: populations, their budgets, collections, and the keys that messages are sealed to.

What it receives is in `deliveries`, what it tells in `releases`, what that costs in `reservations`,
and what it does by itself in `duties`.
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

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Refused, UnknownCollection
from headcount.ledger.allowance import Allowance
from headcount.ledger.ledger import Ledger
from headcount_service.analyser.reservations import Reservations
from headcount_service.runtime.crash_points import point
from headcount_service.store.account import Account
from headcount_service.store.database import Database, do, many, one
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import Announced, Keys
from headcount_service.wire.signed_release import Released

BATCH = "SELECT * FROM batches WHERE collection = :name AND number = :number"
COLLECTION = "SELECT * FROM collections WHERE id = :name"
OVER = "('released', 'refused', 'purged', 'expired')"  # states of batches whose messages nobody needs to open any more
INNER = "inner-"  # how the names of keys begin that messages are sealed to


class Analyser:
    """One party, with a database and keys of its own, and a witness outside of both."""

    def __init__(
        self,
        database: Database,
        keys: Keys,
        witness: Path | None = None,
        clock: Callable[[], float] = time.time,
        webhook: str = "",
    ) -> None:
        self.database, self.keys, self.witness, self.clock = database, keys, witness, clock
        self.webhook = webhook  # the address that is told of answers
        self.signer = keys.signer()
        self._accounts: dict[str, Account] = {}
        self.reservations = Reservations(self)

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
        """Joins a collection its population can afford, and announces a key for every batch."""
        collection = Collection.from_json(config)
        if collection.analyser != self.signer.public:
            raise BadArgument("analyser", "is not this one", f"create the collection with {self.signer.public}")
        with self.database.reading() as connection:
            known = one(connection, COLLECTION, name=collection.id)
        if known is None:
            known = self._agree(collection, canonical(config))
        if known["state"] == "destroyed":
            raise UnknownCollection(collection.id)
        return list(json.loads(known["keys"]))

    def _agree(self, collection: Collection, config: str) -> Any:
        """Promise the budget and record the agreement in one transaction, locking the population.

        What takes a while, prices and keys, is done before anything is locked.
        """
        promised = self.reservations.promised(collection.population)
        self.ledger(collection.population).require_later(*collection.paid_for, promised=promised)
        names = inner_keys(collection.id, collection.batches)
        self.keys.make(names, collection.wire.suite)
        point("before agreeing")
        with self.database.writing() as connection:
            self.account(collection.population).page_within(connection)
            known = one(connection, COLLECTION, name=collection.id)
            if known is not None:  # another process has agreed on it
                return known
            try:
                self.reservations.require_within(connection, collection)
            except Refused:
                for name in names:
                    self.keys.delete(name)
                raise
            keys = canonical(self._announce_keys(collection))
            new = "INSERT INTO collections VALUES (:id, :config, :keys, 'open')"
            do(connection, new, id=collection.id, config=config, keys=keys)
            return one(connection, COLLECTION, name=collection.id)

    def _announce_keys(self, collection: Collection) -> list[dict[str, Any]]:
        """The keys of all its batches."""
        suite, made = collection.wire.suite, self.keys.make
        keys = made(inner_keys(collection.id, collection.batches), collection.wire.suite)
        return [self._announcement(collection, number, suite, key.hex()) for number, key in enumerate(keys, 1)]

    def _announcement(self, collection: Collection, number: int, suite: str, key: str) -> dict[str, Any]:
        announced = Announced("analyser", collection.purpose(number), number, suite, key, collection.expires)
        return self.signer.signed("announcement", announced.to_json())

    def collection(self, name: str) -> Collection:
        with self.database.reading() as connection:
            return self.lock_open(connection, name)

    def lock_open(self, connection: Connection, name: str) -> Collection:
        """The collection, locked FOR SHARE: nobody destroys it while this transaction lasts."""
        row = one(connection, COLLECTION + self.database.for_share, name=name)
        if row is None or row["state"] == "destroyed":
            raise UnknownCollection(name)
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
            | {part: signed[row["number"]].get(part, 0) for part in ("reports", "added")}
            for row in rows
        ]
        return {
            "collection": name,
            "question": collection.question,
            "task": collection.plan.protocol.task.name,
            "population": collection.population,
            "least": collection.plan.protocol.crowd.least,
            "epsilon": collection.plan.budget.epsilon,
            "delta": collection.plan.budget.delta,
            "last": collection.batches,
            "rounds": collection.plan.rounds,
            "batches": batches,
        }

    def released(self, name: str) -> dict[int, Released]:
        """The releases of a collection so far, by batch. Nothing is released that was not yet."""
        told = "SELECT number, result FROM batches WHERE collection = :name AND state = 'released' ORDER BY number"
        with self.database.reading() as connection:
            self.lock_open(connection, name)
            return {row["number"]: Released(json.loads(row["result"])) for row in many(connection, told, name=name)}

    def destroy(self, name: str) -> None:
        """Delete messages, keys and answers; charges stay. Idempotent."""
        with self.database.writing() as connection:
            row = one(connection, COLLECTION + self.database.for_update, name=name)
            if row is None:
                raise UnknownCollection(name)
            do(connection, "DELETE FROM parts WHERE collection = :name", name=name)
            do(connection, "DELETE FROM batches WHERE collection = :name", name=name)
            do(connection, "UPDATE collections SET state = 'destroyed' WHERE id = :name", name=name)
        self._forget_keys(set(inner_keys(name, len(json.loads(row["keys"])))))

    def tidy(self) -> None:
        """At start: deletes keys a crash left of collections never agreed on, and all due keys."""
        with self.database.reading() as connection:
            agreed = {row["id"] for row in many(connection, "SELECT id FROM collections")}
        self._forget_keys({key for name, keys in self._kept().items() if name not in agreed for key in keys})
        self.forget_keys()

    def forget_keys(self, *collections: str) -> None:
        """Deletes the keys of batches that are released, refused or purged, and all of a collection
        that is destroyed or whose keys have expired: of these collections, or of all."""
        kept = self._kept()
        for name in collections or kept:
            keys = kept.get(name, set())
            with self.database.reading() as connection:
                row = one(connection, COLLECTION, name=name)
                over = many(
                    connection, f"SELECT number FROM batches WHERE collection = :name AND state IN {OVER}", name=name
                )
            if row is None:  # it is being agreed on
                continue
            expired = self.clock() > json.loads(row["keys"])[0]["expires"]  # as was announced
            if expired:
                self._expire(name)
            ended = expired or row["state"] == "destroyed"
            self._forget_keys(keys if ended else keys & {inner_key(name, batch["number"]) for batch in over})

    def _kept(self) -> dict[str, set[str]]:
        """The names of the existing decryption keys, by collection."""
        found: dict[str, set[str]] = {}
        for key in self.keys.names():
            if key.startswith(INNER):
                found.setdefault(key.split("-")[1], set()).add(key)
        return found

    def _expire(self, name: str) -> None:
        """Delete batches that were delivered and never released, once their keys have expired."""
        with self.database.writing() as connection:
            do(connection, "DELETE FROM parts WHERE collection = :name", name=name)
            late = f"UPDATE batches SET state = 'expired' WHERE collection = :name AND state NOT IN {OVER}"
            do(connection, late, name=name)

    def _forget_keys(self, names: set[str]) -> None:
        for name in names:
            self.keys.delete(name)
        if names:
            self.database.checkpoint()


def inner_key(name: str, number: int) -> str:
    """The name of the key that a batch's messages are sealed to."""
    return f"{INNER}{name}-{number}"


def inner_keys(name: str, batches: int) -> list[str]:
    """The names of the keys of all batches."""
    return [inner_key(name, number + 1) for number in range(batches)]
