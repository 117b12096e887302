"""The shuffler: takes sealed reports and cannot read them. What becomes of a batch is in `batches`.

Nothing is kept that tells when a report came or from whom: reports are stored under a keyed hash of a number that the
client drew, in the order of these hashes, and the key goes with the batch.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import Connection

from headcount.core.canonical import canonical
from headcount.core.errors import BadArgument, TooFewReports
from headcount.core.mixing import mixed
from headcount.service.collection import Admission, Collection, Shortfall, Unknown
from headcount.service.crash import point
from headcount.service.door import Door
from headcount.service.issuing import Redeeming
from headcount.service.keys import Announced, Keys
from headcount.service.logs import moved
from headcount.service.outer_keys import OuterKeys
from headcount.service.wire import Envelope, Upload, WireError
from headcount.store.database import Database, changed, do, many, one

BATCH = "SELECT * FROM batches WHERE collection = :name AND number = :number"
OPEN_BATCH = "SELECT * FROM batches WHERE collection = :name AND state = 'open'"
BATCHES = "SELECT * FROM batches WHERE collection = :name ORDER BY number"
INVITATIONS = "invitations"  # what the secret that signed them in version 0.2 is called


class Answer(Enum):
    """What becomes of an upload."""

    TAKEN = "taken"  # it is on the disk, now or since before
    CLOSED = "closed"  # this batch takes no reports now: not yet, not at this moment, not any more, or it is full
    INVALID = "invalid"


@dataclass(frozen=True)
class Sent:
    """An upload as it came, and the batch that it was sent to."""

    collection: str
    batch: int
    body: bytes


@dataclass(frozen=True)
class Offered:
    """An upload that has been opened, and the batch that it was sent to."""

    collection: str
    batch: int
    upload: Upload


class Shuffler:
    """One party, with a database and keys of its own."""

    def __init__(self, database: Database, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self.database, self.clock = database, clock
        self.signer = keys.signer()
        self.outer = OuterKeys(database, keys, self.signer, clock)
        self._collections: dict[str, Collection] = {}

    # Collections.

    def register(self, config: Any, announced: Sequence[Any]) -> Collection:
        """Takes part in a collection whose analyser has announced a key for every batch. Again is not an error."""
        collection = Collection.from_json(config)
        if collection.shuffler != self.signer.public:
            raise BadArgument("shuffler", "is not this one", f"create the collection with {self.signer.public}")
        purposes = [Announced.from_json(key, collection.analyser, "analyser").purpose for key in announced]
        if purposes != [collection.purpose(number + 1) for number in range(collection.batches)]:
            raise BadArgument("keys", "are not those of the collection's batches", "give what the analyser announced")
        if collection.admission is Admission.INVITED and collection.issuer is None:
            self._require_earlier(collection)
        self.outer.ready(collection.wire.suite)
        row = {"id": collection.id, "config": canonical(config), "keys": canonical(list(announced))}
        with self.database.writing() as connection:
            new = "INSERT INTO collections VALUES (:id, :config, :keys, 'open') ON CONFLICT DO NOTHING"
            first = do(connection, new, row)
            if first:
                self.open_batch(connection, collection, 1, self.clock())
        if first:
            moved("shuffler", collection.id, 1, "open")
        return collection

    def _require_earlier(self, collection: Collection) -> None:
        """Refuses a new collection whose invitations the shuffler itself would sign, as it did in version 0.2."""
        with self.database.reading() as connection:
            known = one(connection, "SELECT 1 FROM collections WHERE id = :name", name=collection.id)
        if known is None:
            raise BadArgument("issuer", "is missing", "let an issuer invite people, or the analyser: headcount desk")

    def collection(self, name: str) -> Collection:
        """By its id. What was agreed never changes, so that it is read once."""
        if name not in self._collections:
            with self.database.reading() as connection:
                row = one(connection, "SELECT config FROM collections WHERE id = :name", name=name)
            if row is None:
                raise Unknown(name)
            self._collections[name] = Collection.from_json(json.loads(row["config"]))
        return self._collections[name]

    def offer(self, name: str) -> dict[str, Any]:
        """What a client needs to report: the collection, its open batch, and the keys to seal to."""
        collection = self.collection(name)
        with self.database.reading() as connection:
            row = one(connection, "SELECT * FROM collections WHERE id = :name", name=name)
            batch = one(connection, OPEN_BATCH, name=name)
        told = {"collection": json.loads(row["config"]), "batch": None}
        if batch is None or row["state"] == "destroyed" or self.clock() < collection.opens:
            return told
        return {
            **told,
            "batch": batch["number"],
            "closes": batch["closes"],
            "analyser": json.loads(row["keys"])[batch["number"] - 1],
            "shuffler": self.outer.announcement(collection.wire.suite),
        }

    def state(self, name: str) -> dict[str, Any]:
        """For the operator: how far each batch has come. How many have reported is public."""
        least = self.collection(name).plan.protocol.crowd.least
        with self.database.reading() as connection:
            row = one(connection, "SELECT state FROM collections WHERE id = :name", name=name)
            batches = [
                {
                    "batch": batch["number"], "state": batch["state"], "reports": self.count(connection, batch),
                    "added": batch["added"] or 0, "closes": batch["closes"] if batch["state"] == "open" else None,
                }
                for batch in many(connection, BATCHES, name=name)
            ]  # fmt: skip
        return {"collection": name, "state": row["state"], "least": least, "batches": batches}

    def names(self) -> list[str]:
        with self.database.reading() as connection:
            rows = many(connection, "SELECT id FROM collections WHERE state <> 'destroyed' ORDER BY id")
        return [row["id"] for row in rows]

    def close(self, name: str) -> None:
        """Opens no further batch, and seals the open one: now, or at the end of its window if that was agreed."""
        collection = self.collection(name)
        least = collection.plan.protocol.crowd.least
        with self.database.writing() as connection:
            self.locked(connection, name)
            batch = one(connection, OPEN_BATCH + self.database.alone, name=name)
            came = 0 if batch is None else self.count(connection, batch)
            short = collection.shortfall is Shortfall.HOLD and came < least
            if batch is not None and short and not collection.fixed:
                raise TooFewReports(
                    f"the batch has {came:,} reports and the guarantee needs {least:,}; wait for more, or destroy the "
                    "collection"
                )
            do(connection, "UPDATE collections SET state = 'closed' WHERE id = :name AND state = 'open'", name=name)
            if batch is not None and not collection.fixed:
                changed(connection, batch, closes=0)

    def destroy(self, name: str) -> None:
        """Everything that is kept of a collection but what was agreed."""
        self.collection(name)
        with self.database.writing() as connection:
            self.locked(connection, name)
            batches = many(connection, BATCHES + self.database.alone, name=name)
            for batch in batches:
                self.drop(connection, batch)
            do(connection, "UPDATE collections SET state = 'destroyed' WHERE id = :name", name=name)
            do(connection, "UPDATE batches SET state = 'purged' WHERE collection = :name", name=name)
        for batch in batches:
            if batch["state"] != "purged":
                moved("shuffler", name, batch["number"], "purged")
        self.database.forget()

    # Reports.

    def require(self, sent: Sent) -> Envelope:
        """How it is sealed, by its looks; whatever does not look like an upload raises WireError."""
        collection = self.collection(sent.collection)
        if not 1 <= sent.batch <= collection.batches:
            raise WireError
        envelope = collection.envelope(sent.batch)
        envelope.key_number(sent.body)
        return envelope

    def open(self, name: str, batch: int, body: bytes) -> Offered:
        """An upload, opened; whatever is not one raises WireError."""
        envelope = self.require(Sent(name, batch, body))
        key = self.outer.private(envelope.key_number(body), envelope.wire.suite)
        return Offered(name, batch, envelope.opened(body, key))

    def accept(self, sent: Sequence[Sent]) -> list[Answer]:
        """Opens these uploads and keeps what is in them."""
        self.outer.forget()
        answers, opened = [Answer.INVALID] * len(sent), dict[int, Offered]()
        for at, each in enumerate(sent):
            with suppress(WireError):
                opened[at] = self.open(each.collection, each.batch, each.body)
        for at, answer in zip(opened, self.take(list(opened.values())), strict=True):
            answers[at] = answer
        return answers

    def take(self, offered: Sequence[Offered]) -> list[Answer]:
        """Keeps these reports, all in one transaction. A report that is there already is not kept again."""
        answers = [Answer.CLOSED] * len(offered)
        groups: dict[tuple[str, int], list[int]] = {}
        for at, each in enumerate(offered):
            groups.setdefault((each.collection, each.batch), []).append(at)
        point("before taking reports")
        with self.database.writing() as connection:
            for (name, number), places in groups.items():
                most = self.collection(name).plan.protocol.most  # of which nobody else may take any meanwhile
                lock = self.database.shared if most == math.inf else self.database.alone
                batch = one(connection, BATCH + lock, name=name, number=number)
                if batch is None or batch["state"] != "open" or not self._within(name, batch):
                    continue
                door, kept = self.door(name, batch), []
                room = most if most == math.inf else most - self.count(connection, batch)
                for at in places:
                    upload = offered[at].upload
                    known = door.known(upload)
                    if known is None:
                        answers[at] = Answer.INVALID
                    elif room >= 1 or self._has(connection, batch, known[0]):
                        answers[at], room = Answer.TAKEN, room - 1
                        kept.append({"id": known[0], "who": known[1], "messages": b"".join(upload.messages)})
                if kept:
                    new = f"INSERT INTO reports_{batch['tag']} VALUES (:id, :who, :messages) ON CONFLICT DO NOTHING"
                    do(connection, new, *mixed(kept))
        point("after taking reports")
        return answers

    def _has(self, connection: Connection, batch: Any, identity: bytes) -> bool:
        """Whether this report is in the batch already."""
        here = f"SELECT 1 FROM reports_{batch['tag']} WHERE id = :id"
        return one(connection, here, id=identity) is not None

    def _within(self, name: str, batch: Any) -> bool:
        return bool(self.collection(name).opens <= self.clock() < batch["closes"])

    def door(self, name: str, batch: Any) -> Door:
        """Who comes in to this batch."""
        collection = self.collection(name)
        if collection.issuer is not None:
            tokens = Redeeming.of(collection.issuer, collection.hash, batch["number"])
            return Door(name, batch["salt"], tokens)
        invited = collection.admission is Admission.INVITED
        return Door(name, batch["salt"], None, self.signer.secret_before(INVITATIONS) if invited else b"")

    def locked(self, connection: Connection, name: str) -> Any:
        """The collection's row, locked before those of its batches: so that no batch is opened meanwhile."""
        return one(connection, "SELECT * FROM collections WHERE id = :name" + self.database.alone, name=name)

    # The tables of a batch.

    def open_batch(self, connection: Connection, collection: Collection, number: int, now: float) -> None:
        batch = {
            "collection": collection.id,
            "number": number,
            "closes": collection.next_close(now),
            "tag": secrets.token_hex(8),
            "salt": secrets.token_bytes(32),
        }
        do(
            connection,
            "INSERT INTO batches (collection, number, state, closes, holds, tag, salt) "
            "VALUES (:collection, :number, 'open', :closes, 0, :tag, :salt)",
            batch,
        )
        kind = self.database.bytes
        do(
            connection,
            f"CREATE TABLE reports_{batch['tag']} (id {kind} PRIMARY KEY, who {kind} NOT NULL UNIQUE, "
            f"messages {kind} NOT NULL)" + " WITHOUT ROWID" * self.database.embedded,
        )

    def count(self, connection: Connection, batch: Any) -> int:
        if batch["state"] != "open":
            return int(batch["reports"] or 0)
        row = one(connection, f"SELECT count(*) AS came FROM reports_{batch['tag']}")
        return int(row["came"])

    def drop(self, connection: Connection, batch: Any) -> None:
        """Its reports and messages, and the key of their hashes."""
        for table in ("reports", "mixed"):
            do(connection, f"DROP TABLE IF EXISTS {table}_{batch['tag']}")
        changed(connection, batch, salt=b"")
