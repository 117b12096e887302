"""The answer of a batch: paid for, counted, committed, shown, in this order.

What was reserved for the batch is charged and the batch claimed in one transaction; the answer is
committed in another before anybody sees it. After a crash in between, counting goes on and nothing
is charged again. A repeated request gets the same bytes.

Reports are not told apart here, messages are. Nobody honest sends one that does not open, so that a
message that does not tells of a report that is not honest, and it may be another report for each:
of `reports` with `unreadable` such messages, only `reports - unreadable` are sure to be whole.
These must be as many as the guarantee counts on, the least less the corrupt; otherwise nothing is
told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import BatchUnavailable, Conflict, Refused, TooFewReports, WireError
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.certificate import certify
from headcount_service.analyser.analyser import BATCH, Analyser, inner_key
from headcount_service.analyser.distinct_messages import distinct
from headcount_service.runtime.crash_points import point
from headcount_service.runtime.logs import log_state
from headcount_service.store.database import do, one, update_batch
from headcount_service.wire.collection import Collection
from headcount_service.wire.report import PrivateKey, ReportFormat, genuine, record_of


class Releases:
    """The analyser's answers."""

    def __init__(self, analyser: Analyser) -> None:
        self.analyser, self.database = analyser, analyser.database
        self._counting = Lock()

    def release(self, name: str, number: int) -> str:
        """The answer, with its certificate and signature, as text: always the same.

        Here one at a time: a second request for a batch that is being counted waits for the first.
        """
        with self._counting:
            return self._release(self.analyser.collection(name), number)

    def _release(self, collection: Collection, number: int) -> str:
        row = self._claim(collection, number)
        if row["state"] == "claimed":
            try:
                row = self._commit(collection, number, *self._answer(collection, number, row))
            except Refused:
                row = self._claim(collection, number)  # another process has released it and deleted the messages
                if row["state"] == "claimed":
                    raise
        self._forget(collection.id, number)
        if row["state"] == "refused":
            raise TooFewReports(_refusal(collection, number, json.loads(row["result"])))
        return str(row["result"])

    def _claim(self, collection: Collection, number: int) -> Any:
        """Claim the batch and settle its reservation, in one transaction and once; returns it."""
        name, reserving = collection.id, self.analyser.reservations.reserving(collection)
        point("before claiming")
        with self.database.writing() as connection:
            row = one(connection, BATCH + self.database.for_update, name=name, number=number)
            _require_here(number, "receiving" if row is None else row["state"])
            first = row["state"] == "delivered"
            if first:
                self.analyser.reservations.settle(connection, collection, row, reserving)
                update_batch(connection, row, state="claimed")
            row = one(connection, BATCH, name=name, number=number)
        if row["state"] == "claimed":
            point("after claiming")
            self.analyser.account(collection.population).write_witness()
        if first:
            log_state("analyser", name, number, "claimed")
        return row

    def _answer(self, collection: Collection, number: int, row: Any) -> tuple[str, dict[str, Any]]:
        """The batch's next state, and its signed answer or reason for refusal; writes nothing."""
        manifest, plan = json.loads(row["manifest"]), collection.plan
        tally, readable = self._count(collection, number, manifest)
        crowd, came = plan.protocol.crowd, manifest["reports"]
        unreadable = manifest["messages"] - readable
        looks = {"unreadable": unreadable, "plausible": max(0, came - unreadable)}
        if looks["plausible"] < crowd.honest:
            return "refused", looks
        estimate = plan.protocol.estimate(plan.protocol.release(tally, padded=True))
        answer = replace(estimate, budget=plan.budget).to_json()
        proof = certify(plan).to_json()
        content = {
            "collection": collection.hash,
            "question": collection.question,
            "population": collection.population,
            "batch": number,
            "people": came - manifest["added"],
            "added": manifest["added"],
            **looks,
            "corrupt": crowd.corrupt,
            "admission": str(collection.admission),
            "fixed": collection.fixed,
            "early": manifest.get("early"),  # None where the shuffler did not say
            "charge": row["charge"],
            "estimate": {**answer, "delta": float(Fraction(proof["claim"]["delta"]))},  # which is rounded up
            "certificate": proof,
            "analyser": self.analyser.signer.public,
        }
        return "released", self.analyser.signer.signed("release", content)

    def _commit(self, collection: Collection, number: int, state: str, told: dict[str, Any]) -> Any:
        """Commit this answer or refusal unless one exists, delete messages; returns the batch."""
        name = collection.id
        point("before releasing")
        with self.database.writing() as connection:
            row = one(connection, BATCH + self.database.for_update, name=name, number=number)
            first = row["state"] == "claimed"
            if first:
                update_batch(connection, row, state=state, result=canonical(told), notified=not self.analyser.webhook)
                gone = "DELETE FROM parts WHERE collection = :name AND number = :number"
                do(connection, gone, name=name, number=number)
            row = one(connection, BATCH, name=name, number=number)
        if first:
            log_state("analyser", name, number, state)
        point("after releasing")
        return row

    def _forget(self, name: str, number: int) -> None:
        """Delete the messages and the key that opens copies of them."""
        if self.analyser.keys.has(inner_key(name, number)):
            self.database.checkpoint()
            self.analyser.keys.delete(inner_key(name, number))
            point("after forgetting")

    def _count(self, collection: Collection, number: int, manifest: Any) -> tuple[Tally, int]:
        """The tally of the batch's distinct messages, and the number valid under the protocol."""
        report_format, key = (
            collection.report_format(number),
            self.analyser.keys.private(inner_key(collection.id, number)),
        )
        protocol = collection.plan.protocol
        tally, readable = replace(protocol.nobody(), reports=manifest["reports"]), 0
        parts = self._parts(collection, number, len(manifest["parts"]))
        opened = ([*_opened(report_format, part, key)] for part in parts)
        for contents in distinct(opened, manifest["messages"], self.analyser.keys.temporary_file):
            records = [record_of(content) for content in contents]
            counted = genuine(protocol, (record for record in records if record is not None))
            tally += protocol.tally(Batch(0, counted))
            readable += records.count(None) + len(counted)
        return tally, readable

    def _parts(self, collection: Collection, number: int, parts: int) -> Iterator[bytes]:
        for part in range(parts):
            with self.database.reading() as connection:
                here = "SELECT content FROM parts WHERE collection = :name AND number = :number AND part = :part"
                row = one(connection, here, name=collection.id, number=number, part=part)
            if row is None:
                raise Conflict("the batch was released meanwhile", "ask for it again")
            yield bytes(row["content"])


def _opened(report_format: ReportFormat, part: bytes, key: PrivateKey) -> Iterator[bytes]:
    """The contents of the messages in a part of a batch; omits those that cannot be decrypted."""
    for message in report_format.split(part):
        with suppress(WireError):
            yield report_format.open_content(message, key)


def _require_here(number: int, state: str) -> None:
    """Refuses a batch that was not delivered, or was deleted."""
    if state == "receiving":
        raise BatchUnavailable(f"batch {number} has not been delivered", "close the collection, or wait")
    if state == "purged":
        raise BatchUnavailable(
            f"batch {number} had too few reports and was destroyed unread: there is no answer to release"
        )
    if state == "expired":
        raise BatchUnavailable(f"the key of batch {number} has expired, and nobody can open its messages any more")


def _refusal(collection: Collection, number: int, looks: dict[str, int]) -> str:
    """Why there is no answer. The reason does not depend on any honest person's value."""
    crowd = collection.plan.protocol.crowd
    return (
        f"{looks['unreadable']:,} messages of batch {number} are not what a device could have sent, so that no more "
        f"than {looks['plausible']:,} reports are sure to be whole, and the guarantee needs {crowd.honest:,}. Nothing "
        "is told, the messages are destroyed, and what was reserved stays spent; ask again, of people who are invited"
    )
