"""What the batches of a population cost: promised when a collection is agreed on, reserved when a
batch is announced, charged when its answer is told.

A reservation is a line of the ledger that counts at once. So a batch is paid for when it is
received, even if its answer is never told; telling it settles the reservation, by a line that costs
nothing. Promises, reservations and charges lock the population's row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from headcount.errors import OverBudget
from headcount.ledger.book import Page
from headcount.ledger.ledger import Ledger
from headcount.protocols.base.plan import Plan
from headcount_service.store.database import many, one, update_batch
from headcount_service.wire.collection import Collection

if TYPE_CHECKING:
    from headcount_service.analyser.analyser import Analyser

AGREED = (
    "SELECT id, config, (SELECT count(*) FROM batches WHERE collection = id AND charge IS NOT NULL) AS paid, "
    "(SELECT count(*) FROM batches WHERE collection = id AND charge IS NULL AND state = 'purged') AS purged "
    "FROM collections WHERE state = 'open' ORDER BY id"
)


class Reservations:
    """The reservations of one analyser."""

    def __init__(self, analyser: Analyser) -> None:
        self.analyser, self.database = analyser, analyser.database

    def promised(self, population: str) -> list[Plan]:
        """The plans of all batches that are promised and not yet charged."""
        with self.database.reading() as connection:
            return self.promised_within(connection, population)

    def promised_within(self, connection: Connection, population: str) -> list[Plan]:
        """The same, within this transaction. Purged batches and expired keys cost nothing."""
        now, plans = self.analyser.clock(), list[Plan]()
        for row in many(connection, AGREED):
            collection = Collection.from_json(json.loads(row["config"]))
            if collection.population == population and now <= collection.expires:
                left = collection.batches - int(row["paid"]) - int(row["purged"])
                paid = left if collection.series and row["paid"] else 0  # by the first round of a series
                plans += collection.paid_for[: left - paid]
        return plans

    def require_within(self, connection: Connection, collection: Collection) -> None:
        """Refuses a collection exceeding the unpromised budget; holds the population's lock."""
        account = self.analyser.account(collection.population)
        page = account.page_within(connection)
        promised = self.promised_within(connection, collection.population)
        Ledger.of(account).require_later_of(page, *collection.paid_for, promised=promised)

    def reserving(self, collection: Collection) -> Callable[[Page], Page]:
        """A function that reserves for one batch, priced here, before any row is locked."""
        account = self.analyser.account(collection.population)
        page = account.page()
        ahead = [] if page.charges else self.promised(collection.population)
        if collection.plan in ahead:
            ahead.remove(collection.plan)  # this one
        reserving = Ledger.of(account).charged(collection.plan, promised=ahead, reserved=True)
        with suppress(OverBudget):  # raised when it is charged
            reserving(page)
        return reserving

    def reserve(
        self, connection: Connection, collection: Collection, row: Any, reserving: Callable[[Page], Page]
    ) -> None:
        """Charge for this batch, once: rounds of a series share a charge."""
        if row["charge"] is None and (shared := self._shared(connection, collection)) is not None:
            update_batch(connection, row, charge=shared)
        elif row["charge"] is None:
            read = self.analyser.account(collection.population).turn_within(connection, reserving)
            update_batch(connection, row, charge=len(read.page.charges))

    def settle(
        self, connection: Connection, collection: Collection, row: Any, reserving: Callable[[Page], Page]
    ) -> None:
        """Turn the reservation into a charge, before the answer is told."""
        charge = row["charge"] or self._shared(connection, collection)

        def settled(page: Page) -> Page:
            charged = page if charge is not None else reserving(page)  # version 0.2 reserved nothing
            return charged.settle(charge or len(charged.charges))

        read = self.analyser.account(collection.population).turn_within(connection, settled)
        update_batch(connection, row, charge=charge or len(read.page.charges))

    def _shared(self, connection: Connection, collection: Collection) -> int | None:
        """The charge of a series, once one round is paid. The caller has locked the population."""
        if not collection.series:
            return None
        self.analyser.account(collection.population).page_within(connection)  # which locks it
        charged = "SELECT max(charge) AS charge FROM batches WHERE collection = :name"
        found: int | None = one(connection, charged, name=collection.id)["charge"]
        return found
