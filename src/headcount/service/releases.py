"""The answer of a batch: paid for, counted, committed, shown, in this order.

The batch is charged for and claimed in one transaction; the answer is committed in another before anybody sees it. A
crash in between costs nothing more: counting goes on where it was. Whoever asks again gets the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import Any

from headcount.core.canonical import canonical
from headcount.core.errors import Refused
from headcount.core.plan import Plan
from headcount.core.tally import Batch, Tally
from headcount.ledger.ledger import Ledger
from headcount.privacy.certificate import certify
from headcount.service.analyser import BATCH, Analyser, inner_key
from headcount.service.collection import Collection
from headcount.service.crash import point
from headcount.service.deliveries import Conflict, NotYet
from headcount.service.logs import moved
from headcount.service.wire import Envelope, PrivateKey, WireError
from headcount.store.database import changed, do, one

FORMAT = "headcount release 1"


class Releases:
    """What the analyser tells."""

    def __init__(self, analyser: Analyser) -> None:
        self.analyser, self.database = analyser, analyser.database
        self._counting = Lock()

    def release(self, name: str, number: int) -> str:
        """The answer, with its certificate and signature, as text: always the same.

        Here one at a time: whoever asks again while a batch is counted waits, and does not count it as well.
        """
        with self._counting:
            return self._released(self.analyser.collection(name), number)

    def _released(self, collection: Collection, number: int) -> str:
        result = self._claimed(collection, number)
        if result is None:
            try:
                result = self._kept(collection.id, number, self._told(collection, number))
            except Refused:
                result = self._claimed(collection, number)  # another was faster, and has forgotten the messages
                if result is None:
                    raise
        self._forgotten(collection.id, number)
        return result

    def _claimed(self, collection: Collection, number: int) -> str | None:
        """Charges for the batch and claims it, both or neither; an answer that is there already is returned."""
        account, name = self.analyser.account(collection.population), collection.id
        charged = Ledger.of(account).charged(collection.plan, promised=self._ahead(collection))
        point("before claiming")
        with self.database.writing() as connection:
            row = one(connection, BATCH + self.database.alone, name=name, number=number)
            if row is None or row["state"] == "receiving":
                raise NotYet(f"batch {number} has not been delivered; close the collection, or wait")
            if row["state"] == "released":
                return str(row["result"])
            if row["state"] == "claimed":
                account.show_within(connection)  # whoever claimed it may not have come to that
                return None
            read = account.turn_within(connection, charged)
            changed(connection, row, state="claimed", charge=len(read.hashes) - 1)
        moved("analyser", name, number, "claimed")
        point("after claiming")
        account.noted()
        point("after the witness")
        return None

    def _ahead(self, collection: Collection) -> list[Plan]:
        """What else is promised, if this is the first charge, which fixes by what rule all others are counted."""
        if self.analyser.account(collection.population).page().charges:
            return []
        promised = self.analyser.promised(collection.population)
        if collection.plan in promised:
            promised.remove(collection.plan)  # this one
        return promised

    def _told(self, collection: Collection, number: int) -> dict[str, Any]:
        """The answer, in memory only."""
        with self.database.reading() as connection:
            row = one(connection, BATCH, name=collection.id, number=number)
        manifest, plan = json.loads(row["manifest"]), collection.plan
        tally = self._counted(collection, number, manifest)
        estimate = plan.protocol.estimate(plan.protocol.release(tally))
        answer = replace(estimate, budget=plan.budget).to_json()
        proof = certify(plan).to_json()
        return self.analyser.signer.signed({
            "format": FORMAT,
            "collection": collection.hash,
            "question": collection.question,
            "population": collection.population,
            "batch": number,
            "people": manifest["reports"] - manifest["added"],
            "added": manifest["added"],
            "charge": row["charge"],
            "estimate": {**answer, "delta": float(Fraction(proof["claim"]["delta"]))},  # which is rounded up
            "certificate": proof,
            "analyser": self.analyser.signer.public,
        })  # fmt: skip

    def _kept(self, name: str, number: int, told: dict[str, Any]) -> str:
        """The answer that is kept, which is this one unless another was faster. Its messages go with that."""
        point("before releasing")
        with self.database.writing() as connection:
            row = one(connection, BATCH + self.database.alone, name=name, number=number)
            first = row["state"] == "claimed"
            if first:
                changed(connection, row, state="released", result=canonical(told))
                gone = "DELETE FROM parts WHERE collection = :name AND number = :number"
                do(connection, gone, name=name, number=number)
            result = one(connection, BATCH, name=name, number=number)["result"]
        if first:
            moved("analyser", name, number, "released")
        point("after releasing")
        return str(result)

    def _forgotten(self, name: str, number: int) -> None:
        """Nothing is left of the messages, nor of the key that could open a copy of them."""
        if self.analyser.keys.has(inner_key(name, number)):
            self.database.forget()
            self.analyser.keys.delete(inner_key(name, number))
            point("after forgetting")

    def _counted(self, collection: Collection, number: int, manifest: Any) -> Tally:
        """What the batch's messages come to: each once, and only those that could have been sent."""
        envelope, key = collection.envelope(number), self.analyser.keys.private(inner_key(collection.id, number))
        protocol, seen = collection.plan.protocol, set[bytes]()
        tally = replace(protocol.nobody(), reports=manifest["reports"])
        for part in range(len(manifest["parts"])):
            with self.database.reading() as connection:
                here = "SELECT content FROM parts WHERE collection = :name AND number = :number AND part = :part"
                row = one(connection, here, name=collection.id, number=number, part=part)
            if row is None:
                raise Conflict("the batch was released meanwhile; ask for it again")
            records = _opened(envelope, bytes(row["content"]), key, seen)
            tally += protocol.tally(Batch(0, envelope.records(records)))
        return tally


def _opened(envelope: Envelope, part: bytes, key: PrivateKey, seen: set[bytes]) -> Iterator[bytes]:
    """The records in a part of a batch; what cannot be opened, is a dummy or was there before is left out."""
    for at in range(0, len(part), envelope.message_bytes):
        try:
            identity, record = envelope.read(part[at : at + envelope.message_bytes], key)
        except WireError:
            continue
        if identity not in seen and record is not None:
            yield record
        seen.add(identity)
