"""The shuffler: takes sealed reports and cannot read them. What becomes of a batch is in `batches`.

Nothing is kept that tells when a report came or from whom: reports are stored under a keyed hash of a number that the
client drew, encrypted, and the secret of both goes with the batch. Several processes may take reports at once, with one
database and one key folder.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import Connection

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, TooFewReports, Unavailable, UnknownCollection, WireError
from headcount.programme.permutation import in_random_order
from headcount.service.runtime.crash_points import point
from headcount.service.runtime.logs import log, moved
from headcount.service.shuffler.batch_tables import Kept
from headcount.service.shuffler.outer_keys import OuterKeys
from headcount.service.store.database import Database, changed, do, many, one
from headcount.service.wire.admission import Redeeming
from headcount.service.wire.collection import Admission, Collection, Shortfall
from headcount.service.wire.deduplication import Door
from headcount.service.wire.keys import Announced, Keys
from headcount.service.wire.report import Envelope, Upload

BATCH = "SELECT * FROM batches WHERE collection = :name AND number = :number"
OPEN_BATCH = "SELECT * FROM batches WHERE collection = :name AND state = 'open'"
BATCHES = "SELECT * FROM batches WHERE collection = :name ORDER BY number"
EARLY = 0  # when a batch closes that its operator has closed before the end of its window
INVITATIONS = "invitations"  # what the secret that signed them in version 0.2 is called
AT_ONCE = 1 << 14  # reports that all processes together may be about to keep: 64 of them, 256 each


class Answer(Enum):
    """What becomes of an upload."""

    TAKEN = "taken"  # it is on the disk, now or since before
    CLOSED = "closed"  # this batch takes no reports now: not yet, not at this moment, or not any more
    FULL = "full"  # as many as was agreed on have come
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


Place = tuple[str, int]  # a collection, and the number of a batch
Groups = Mapping[Place, Sequence[Offered]]


class Shuffler:
    """One party, with a database and keys of its own."""

    def __init__(self, database: Database, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self.database, self.keys, self.clock = database, keys, clock
        self.signer = keys.signer()
        self.outer = OuterKeys(database, keys, self.signer, clock)
        self.kept = Kept(database, keys)
        self._collections: dict[str, Collection] = {}
        self._nearly_full: set[Place] = set()

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
                raise UnknownCollection(name)
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
                    "batch": batch["number"], "state": batch["state"], "reports": self.kept.count(connection, batch),
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
            came = 0 if batch is None else self.kept.count(connection, batch)
            short = collection.shortfall is Shortfall.HOLD and came < least
            if batch is not None and short and not collection.fixed:
                raise TooFewReports(
                    f"the batch has {came:,} reports and the guarantee needs {least:,}",
                    "wait for more, or destroy the collection",
                )
            do(connection, "UPDATE collections SET state = 'closed' WHERE id = :name AND state = 'open'", name=name)
            if batch is not None and not collection.fixed and self.clock() < batch["closes"]:
                changed(connection, batch, closes=EARLY)

    def destroy(self, name: str) -> None:
        """Everything that is kept of a collection but what was agreed."""
        self.collection(name)
        with self.database.writing() as connection:
            self.locked(connection, name)
            batches = many(connection, BATCHES + self.database.alone, name=name)
            for batch in batches:
                over = self.kept.drop(connection, batch)
                undelivered = batch["state"] != "purged" and batch["receipt"] is None
                changed(connection, batch, state="purged", **over, **({"manifest": None} if undelivered else {}))
            do(connection, "UPDATE collections SET state = 'destroyed' WHERE id = :name", name=name)
        for batch in batches:
            if batch["state"] != "purged":
                moved("shuffler", name, batch["number"], "purged")
        self.forget()

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

    def accept(self, sent: Sequence[Sent]) -> list[Answer | Exception]:
        """Opens these uploads and keeps what is in them. An error is the answer to uploads of its own batch only."""
        self.outer.forget()
        answers, opened = list[Answer | Exception]([Answer.INVALID] * len(sent)), dict[int, Offered]()
        for at, each in enumerate(sent):
            with suppress(WireError):
                opened[at] = self.open(each.collection, each.batch, each.body)
        for at, answer in zip(opened, self.take(list(opened.values())), strict=True):
            answers[at] = answer
        return answers

    def take(self, offered: Sequence[Offered]) -> list[Answer | Exception]:
        """Keeps these reports, all in one transaction. A report that is there already is not kept again.

        Where that fails because of one batch, each has a transaction of its own.
        """
        groups: dict[Place, list[Offered]] = {}
        for each in offered:
            groups.setdefault((each.collection, each.batch), []).append(each)
        point("before taking reports")
        answers = dict[Place, Sequence[Answer | Exception]]()
        try:
            answers |= self._taken(groups)
        except Unavailable:
            raise
        except Exception as problem:
            if len(groups) == 1:
                raise
            log("reports failed", party="shuffler", problem=type(problem).__name__)
            for place, group in groups.items():
                answers |= self._alone(place, group)
        point("after taking reports")
        told = {batch: iter(found) for batch, found in answers.items()}
        return [next(told[each.collection, each.batch]) for each in offered]

    def _alone(self, place: Place, sent: Sequence[Offered]) -> dict[Place, Sequence[Answer | Exception]]:
        """Those to one batch, which may fail."""
        try:
            return dict(self._taken({place: sent}))
        except Exception as problem:  # noqa: BLE001  # whoever waits for this batch is told
            return {place: [problem] * len(sent)}

    def _taken(self, groups: Groups) -> dict[Place, list[Answer]]:
        """One transaction, or another if a batch turns out to be nearly full."""
        try:
            return self._written(groups)
        except NearlyFull as found:
            self._nearly_full |= {found.batch}
            return self._taken(groups)

    def _written(self, groups: Groups) -> dict[Place, list[Answer]]:
        """The rows of batches are locked in one order, so that no two wait for each other."""
        with self.database.writing() as connection:
            return {place: self._into(connection, place, sent) for place, sent in sorted(groups.items())}

    def _into(self, connection: Connection, place: Place, sent: Sequence[Offered]) -> list[Answer]:
        """Into one batch, whose row is locked against its end: shared, or alone where every place left counts."""
        (name, number), alone = place, place in self._nearly_full
        lock = self.database.alone if alone else self.database.shared
        batch = one(connection, BATCH + lock, name=name, number=number)
        if batch is None or batch["state"] != "open" or not self._within(name, batch):
            return [Answer.CLOSED] * len(sent)
        room = self.collection(name).room - self.kept.count(connection, batch)
        if not alone and room < AT_ONCE:  # what others are about to keep is not counted yet
            raise NearlyFull(place)
        answers, kept, door = [], dict[bytes, dict[str, bytes]](), self.door(name, batch)
        for each in sent:
            known = door.known(each.upload)
            if known is None:
                answers.append(Answer.INVALID)
                continue
            identity, who = known
            there = identity in kept or (alone and self.kept.has(connection, batch, identity))
            answers.append(Answer.TAKEN if there or room >= 1 else Answer.FULL)
            if not there and room >= 1:
                kept[identity] = {"id": identity, "who": who, "messages": b"".join(each.upload.messages)}
                room -= 1
        if kept:
            self.kept.add(connection, batch, in_random_order([*kept.values()]))
        return answers

    def _within(self, name: str, batch: Any) -> bool:
        return bool(self.collection(name).opens <= self.clock() < batch["closes"])

    def door(self, name: str, batch: Any) -> Door:
        """Who comes in to this batch."""
        collection, salt = self.collection(name), self.kept.reports(batch).salt
        if collection.issuer is not None:
            return Door(name, salt, Redeeming.of(collection.issuer, collection.hash, batch["number"]))
        invited = collection.admission is Admission.INVITED
        return Door(name, salt, None, self.signer.secret_before(INVITATIONS) if invited else b"")

    def locked(self, connection: Connection, name: str) -> Any:
        """The collection's row, locked before those of its batches: so that no batch is opened meanwhile."""
        return one(connection, "SELECT * FROM collections WHERE id = :name" + self.database.alone, name=name)

    def open_batch(self, connection: Connection, collection: Collection, number: int, now: float) -> None:
        self.kept.begin(connection, collection.id, number, collection.next_close(now))

    def forget(self) -> None:
        """After something was deleted: nothing of it can be read any more."""
        self.kept.forget()
        self.database.forget()


class NearlyFull(Exception):
    """So few places are left in this batch that they are given out by one process at a time."""

    def __init__(self, batch: Place) -> None:
        super().__init__(batch)
        self.batch = batch
