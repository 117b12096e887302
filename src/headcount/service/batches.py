"""What becomes of a batch: open, sealed, shuffled, delivered, purged.

Each step is one transaction that may be tried again and is never skipped. Once its messages are mixed, nothing is left
that tells which of them are one person's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Protocol

import numpy as np
from sqlalchemy import Connection

from headcount.core.canonical import canonical
from headcount.core.coins import SecretCoins
from headcount.core.errors import BadArgument, HeadcountError
from headcount.core.mixing import mixed_order
from headcount.service.collection import Collection, Shortfall
from headcount.service.crash import point
from headcount.service.keys import Announced, verified
from headcount.service.logs import moved
from headcount.service.notices import Notices
from headcount.service.shuffler import BATCH, EARLY, Shuffler
from headcount.store.database import changed, do, many, one

PART = 1 << 20  # bytes, about, in which a batch is handed on


class Receiver(Protocol):
    """Whom batches are delivered to: the analyser, here or elsewhere."""

    def begin(self, manifest: Any) -> None: ...

    def part(self, collection: str, batch: int, number: int, content: bytes) -> None: ...

    def complete(self, collection: str, batch: int) -> dict[str, Any]:
        """The signed receipt."""

    def purged(self, notice: Any) -> dict[str, Any]:
        """The signed receipt."""


class Batches:
    """The shuffler's work on what it has taken."""

    def __init__(self, shuffler: Shuffler, receiver: Receiver) -> None:
        self.shuffler, self.receiver = shuffler, receiver
        self.database = shuffler.database
        self.notices = Notices(shuffler, receiver)

    def advance(self) -> None:
        """Every step that is due, of every batch."""
        self.mix()
        self.hand_on()

    def mix(self) -> None:
        """What needs nobody else: seals, and mixes."""
        self.shuffler.outer.look_after()
        self._each(self.seal, self.shuffle)

    def hand_on(self) -> None:
        """What the analyser is needed for, which may take its time."""
        try:
            self._each(self.deliver, self.purge)
        finally:
            self.notices.send()

    def _each(self, *steps: Callable[[str, int], None]) -> None:
        """A batch whose step fails does not keep the others waiting."""
        problems = []
        for batch in self._due():
            try:
                for step in steps:
                    step(batch["collection"], batch["number"])
            except HeadcountError as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    def _due(self) -> list[Any]:
        """Looked for without a lock: whoever takes a step looks again, with one."""
        due = "SELECT * FROM batches WHERE state <> 'purged' AND (state <> 'open' OR closes <= :now)"
        with self.database.reading() as connection:
            return many(connection, due, now=int(self.shuffler.clock()))

    def seal(self, name: str, number: int) -> None:
        """At the end of its window: enough reports, and it takes no more; too few, and what was agreed happens."""
        collection = self.shuffler.collection(name)
        least, now = collection.plan.protocol.crowd.least, self.shuffler.clock()
        point("before sealing")
        with self.database.writing() as connection:
            agreed = self.shuffler.locked(connection, name)["state"]
            batch = self._locked(connection, name, number, "open")
            if batch is None or now < batch["closes"]:
                return
            came = self.shuffler.count(connection, batch)
            if came >= least or collection.shortfall is Shortfall.TOP_UP:
                state = "sealed"
                changed(connection, batch, state=state, reports=came, added=max(0, least - came))
            elif collection.shortfall is Shortfall.HOLD and batch["holds"] < collection.holds:
                state = "held"
                changed(connection, batch, closes=collection.next_close(now), holds=batch["holds"] + 1)
            else:
                state = "purged"
                self.shuffler.drop(connection, batch)
                changed(connection, batch, state=state)
            another = state != "held" and agreed == "open" and number < collection.batches
            if another:
                self.shuffler.open_batch(connection, collection, number + 1, now)
        moved("shuffler", name, number, state)
        if state == "held":
            return
        if another:
            moved("shuffler", name, number + 1, "open")
        self.database.forget()
        point("after sealing")

    def shuffle(self, name: str, number: int) -> None:
        """All messages of the batch into one secret order. The reports, which grouped them, are gone with that."""
        collection = self.shuffler.collection(name)
        added = self._of_nobody(collection, number)  # which takes a while, and so is done before anything is locked
        point("before mixing")
        with self.database.writing() as connection:
            batch = self._locked(connection, name, number, "sealed")
            if batch is None or len(added) != batch["added"]:  # somebody else has sealed it since; so next time
                return
            tag = batch["tag"]
            reports = [row["messages"] for row in many(connection, f"SELECT messages FROM reports_{tag}")]
            reports += added
            parts = _mixed(reports, collection.envelope(number).message_bytes)
            content = {
                "collection": collection.hash, "batch": number, "reports": len(reports), "added": batch["added"],
                "early": batch["closes"] == EARLY,
                "messages": len(reports) * collection.wire.messages, "parts": [_digest(part) for part in parts],
            }  # fmt: skip
            do(
                connection,
                f"CREATE TABLE mixed_{tag} (part INTEGER PRIMARY KEY, content {self.database.bytes} NOT NULL)",
            )
            rows = [{"part": at, "content": part} for at, part in enumerate(parts)]
            if rows:
                do(connection, f"INSERT INTO mixed_{tag} VALUES (:part, :content)", *rows)
            do(connection, f"DROP TABLE reports_{tag}")
            manifest = canonical(self.shuffler.signer.signed("manifest", content))
            changed(connection, batch, state="shuffled", manifest=manifest, salt=b"")
        moved("shuffler", name, number, "shuffled")
        self.database.forget()
        point("after mixing")

    def deliver(self, name: str, number: int) -> None:
        """The mixed messages to the analyser, part by part; those that it has already it does not take again."""
        collection = self.shuffler.collection(name)
        with self.database.reading() as connection:
            batch = one(connection, BATCH, name=name, number=number)
        if batch is None or batch["state"] != "shuffled":
            return
        manifest = json.loads(batch["manifest"])
        point("before delivering")
        self.receiver.begin(manifest)
        for part in range(len(manifest["parts"])):
            with self.database.reading() as connection:
                here = f"SELECT content FROM mixed_{batch['tag']} WHERE part = :part"
                row = one(connection, here, part=part)
            if row is None:
                return  # somebody else has delivered it meanwhile
            self.receiver.part(name, number, part, bytes(row["content"]))
            point("while delivering")
        receipt = self.receiver.complete(name, number)
        if verified(receipt, collection.analyser, "receipt") != {"received": manifest["signature"]}:
            raise BadArgument("receipt", "is for another batch", "ask the analyser's operator")
        point("after delivering")
        with self.database.writing() as connection:
            first = self._locked(connection, name, number, "shuffled") is not None
            if first:
                changed(connection, batch, state="delivered", receipt=canonical(receipt))
        if first:
            moved("shuffler", name, number, "delivered")
        point("after noting the receipt")

    def purge(self, name: str, number: int) -> None:
        """What the analyser has, the shuffler needs no more."""
        point("before purging")
        with self.database.writing() as connection:
            batch = self._locked(connection, name, number, "delivered")
            if batch is None:
                return
            self.shuffler.drop(connection, batch)
            changed(connection, batch, state="purged")
        moved("shuffler", name, number, "purged")
        self.database.forget()
        point("after purging")

    def _of_nobody(self, collection: Collection, number: int) -> list[bytes]:
        """Reports of people who are not there and hold nothing, for the noise they bring, where a batch was short."""
        with self.database.reading() as connection:
            batch = one(connection, BATCH, name=collection.id, number=number)
            row = one(connection, "SELECT keys FROM collections WHERE id = :name", name=collection.id)
        if batch is None or batch["state"] != "sealed":
            return []
        protocol, envelope = collection.plan.protocol, collection.envelope(number)
        key = Announced.from_json(json.loads(row["keys"])[number - 1], collection.analyser, "analyser").public
        nothing = np.zeros(1, dtype=np.int64)
        each = (protocol.reports(nothing, SecretCoins()).messages for _ in range(batch["added"]))
        return [b"".join(envelope.sealed(messages, key)) for messages in each]

    def _locked(self, connection: Connection, name: str, number: int, state: str) -> Any:
        """The batch, if it is in this state; nobody else moves it on until the transaction ends."""
        batch = one(connection, BATCH + self.database.alone, name=name, number=number)
        return batch if batch is not None and batch["state"] == state else None


def _mixed(reports: Sequence[bytes], size: int) -> list[bytes]:
    """Messages of this size, in an order that means nothing, in parts."""
    messages = np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(-1, size)
    order, step = mixed_order(len(messages), SecretCoins()), max(1, PART // size)
    return [messages[order[at : at + step]].tobytes() for at in range(0, len(order), step)]


def _digest(part: bytes) -> str:
    return sha256(part).hexdigest()
