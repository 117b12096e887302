"""Deliveries of mixed batches to the analyser: signed manifest, parts, receipt, all idempotent."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, BatchUnavailable, Conflict
from headcount_service.analyser.analyser import BATCH, Analyser
from headcount_service.runtime.crash_points import point
from headcount_service.runtime.logs import log_state
from headcount_service.store.database import do, one, update_batch
from headcount_service.wire.collection import Collection, Shortfall
from headcount_service.wire.keys import verified

HEXADECIMAL = re.compile("[0-9a-f]+")


class Deliveries:
    """The analyser's side of a delivery. Every step may be repeated."""

    def __init__(self, analyser: Analyser) -> None:
        self.analyser, self.database = analyser, analyser.database

    def begin(self, manifest: Any) -> None:
        """Begin a delivery by its signed manifest. A batch number is used once, ever."""
        try:
            name = str(manifest["collection"])[:32]
            collection = self.analyser.collection(name if HEXADECIMAL.fullmatch(name) else "")
            content = verified(manifest, collection.shuffler, "manifest")
            number, reports, added = (content[part] for part in ("batch", "reports", "added"))
            fits = (
                content["collection"] == collection.hash
                and isinstance(content.get("early", False if collection.version == 1 else None), bool)
                and {type(content[part]) for part in ("batch", "reports", "added", "messages")} == {int}
                and 1 <= number <= collection.batches
                and 0 <= added <= (reports if collection.shortfall is Shortfall.TOP_UP else 0)
                and all(isinstance(part, str) for part in content["parts"])
            )
        except (KeyError, TypeError, AttributeError):
            fits = False
        if not fits:
            raise BadArgument("manifest", "is not that of a batch of the collection", "deliver what was signed")
        protocol, sent = collection.plan.protocol, reports * collection.wire.messages
        protocol.require_fit(reports)
        fewest, most = protocol.padded_by(reports)
        if not sent + fewest <= content["messages"] <= sent + most:
            adds = "what devices send and the plan lets the shuffler add"
            raise BadArgument("manifest", f"tells of another number of messages than {adds}", "mix as was agreed")
        if reports > collection.room:
            works = f"deliver at most {collection.room:,}"
            raise BadArgument("manifest", "tells of more reports than was agreed on", works)
        self._announce(collection, number, canonical(manifest))

    def _announce(self, collection: Collection, number: int, manifest: str) -> None:
        """Record the batch and reserve its price in one transaction, before taking any message."""
        reservations = self.analyser.reservations
        reserving = reservations.reserving(collection)
        point("before reserving")
        with self.database.writing() as connection:
            self.analyser.lock_open(connection, collection.id)
            new = "INSERT INTO batches (collection, number, state, manifest) VALUES "
            new += "(:name, :number, 'receiving', :manifest) ON CONFLICT DO NOTHING"
            first = do(connection, new, name=collection.id, number=number, manifest=manifest)
            row = one(connection, BATCH + self.database.for_update, name=collection.id, number=number)
            if row["state"] in ("purged", "expired"):
                raise Conflict(f"the batch is {row['state']} here, and its key is gone", "a number is used once")
            if row["manifest"] != manifest:
                raise Conflict("another batch of that number was announced before", "a number is used once")
            reservations.reserve(connection, collection, row, reserving)
        point("after reserving")
        self.analyser.account(collection.population).write_witness()
        point("after the witness")
        if first:
            log_state("analyser", collection.id, number, "receiving")

    def part(self, collection: str, batch: int, number: int, content: bytes) -> None:
        """Store one part, whose hash must be in the manifest. Idempotent."""
        point("before a part")
        with self.database.writing() as connection:
            self.analyser.lock_open(connection, collection)
            row = one(connection, BATCH + self.database.for_share, name=collection, number=batch)
            if row is None:
                raise BatchUnavailable("no such batch was announced")
            parts = json.loads(row["manifest"])["parts"]
            if not 0 <= number < len(parts) or sha256(content).hexdigest() != parts[number]:
                raise BadArgument("part", "is not the one that was signed for", "deliver it as it was mixed")
            if row["state"] == "receiving":
                new = "INSERT INTO parts VALUES (:name, :batch, :number, :content) ON CONFLICT DO NOTHING"
                do(connection, new, name=collection, batch=batch, number=number, content=content)
        point("after a part")

    def notify_purged(self, notice: Any) -> dict[str, Any]:
        """Delete the keys of batches that the shuffler has purged. Delivered ones stay."""
        try:
            name = str(notice["collection"])[:32]
            collection = self.analyser.collection(name if HEXADECIMAL.fullmatch(name) else "")
            content = verified(notice, collection.shuffler, "notice")
            numbers = content["purged"]
            fits = content["collection"] == collection.hash and {type(number) for number in numbers} <= {int}
            fits = fits and all(1 <= number <= collection.batches for number in numbers)
        except (KeyError, TypeError, AttributeError):
            fits = False
        if not fits:
            raise BadArgument("notice", "is not one about batches of the collection", "send what was signed")
        with self.database.writing() as connection:
            self.analyser.lock_open(connection, name)
            for number in numbers:
                new = "INSERT INTO batches (collection, number, state, manifest) VALUES "
                new += "(:name, :number, 'purged', :notice) ON CONFLICT DO NOTHING"
                do(connection, new, name=name, number=number, notice=canonical(notice))
                given = {"name": name, "number": number}
                late = "UPDATE batches SET state = 'purged' WHERE collection = :name AND number = :number AND "
                if do(connection, f"{late} state = 'receiving'", **given):
                    do(connection, "DELETE FROM parts WHERE collection = :name AND number = :number", **given)
        point("after a notice")
        self.analyser.forget_keys(name)
        return self.analyser.signer.signed("receipt", {"received": notice["signature"]})

    def complete(self, collection: str, batch: int) -> dict[str, Any]:
        """The receipt, once all parts are here."""
        point("before completing")
        with self.database.writing() as connection:
            agreed = self.analyser.lock_open(connection, collection)
            row = one(connection, BATCH + self.database.for_update, name=collection, number=batch)
            if row is None:
                raise BatchUnavailable("no such batch was announced")
            manifest = json.loads(row["manifest"])
            first = row["state"] == "receiving"
            if first:
                here = "SELECT count(*) AS parts, coalesce(sum(length(content)), 0) AS size FROM parts "
                here += "WHERE collection = :name AND number = :number"
                found = one(connection, here, name=collection, number=batch)
                if found["parts"] < len(manifest["parts"]):
                    raise BatchUnavailable("parts of the batch are missing")
                if found["size"] != manifest["messages"] * agreed.report_format(batch).message_bytes:
                    raise BadArgument("manifest", "tells of another number of messages", "deliver what was mixed")
                update_batch(connection, row, state="delivered")
        if first:
            log_state("analyser", collection, batch, "delivered")
        point("after completing")
        return self.analyser.signer.signed("receipt", {"received": manifest["signature"]})
