"""The shuffler: accepts and stores sealed reports, which it cannot read. The rest is in `batches`.

Nothing is kept that tells when a report came or from whom: reports are stored under a keyed hash of
a number that the client drew, encrypted, and the secret of both goes with the batch. Several
processes may take reports at once, with one database and one key folder.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any

from sqlalchemy import Connection

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, TooFewReports, Unavailable, UnknownCollection, WireError
from headcount_service.runtime.crash_points import point
from headcount_service.runtime.logs import log, log_state
from headcount_service.shuffler.batch_tables import BatchTables
from headcount_service.shuffler.outer_keys import OuterKeys
from headcount_service.store.database import Database, do, many, one, update_batch
from headcount_service.wire.admission import Redeeming
from headcount_service.wire.collection import Admission, Collection, Shortfall
from headcount_service.wire.deduplication import Deduplication
from headcount_service.wire.keys import Announced, Keys
from headcount_service.wire.random_order import in_random_order
from headcount_service.wire.report import Report, ReportFormat, Upload

BATCH = "SELECT * FROM batches WHERE collection = :name AND number = :number"
OPEN_BATCH = "SELECT * FROM batches WHERE collection = :name AND state = 'open'"
BATCHES = "SELECT * FROM batches WHERE collection = :name ORDER BY number"
EARLY = 0  # when a batch closes that its operator has closed before the end of its window
INVITATIONS = "invitations"  # the name of the secret that signed them in version 0.2
AT_ONCE = 1 << 14  # reports that all processes together may be about to keep: 64 of them, 256 each


class Answer(Enum):
    """The answer to an upload."""

    TAKEN = "taken"  # it is on the disk, now or since before
    CLOSED = "closed"  # this batch takes no reports now: not yet, not at this moment, or not any more
    FULL = "full"  # as many as was agreed on have come
    INVALID = "invalid"


Place = tuple[str, int]  # a collection, and the number of a batch
Groups = Mapping[Place, Sequence[Report]]


class Shuffler:
    """One party, with a database and keys of its own."""

    def __init__(self, database: Database, keys: Keys, clock: Callable[[], float] = time.time) -> None:
        self.database, self.keys, self.clock = database, keys, clock
        self.signer = keys.signer()
        self.outer = OuterKeys(database, keys, self.signer, clock)
        self.tables = BatchTables(database, keys)
        self._collections: dict[str, Collection] = {}
        self._nearly_full: set[Place] = set()

    # Collections.

    def register(self, config: Any, announced: Sequence[Any]) -> Collection:
        """Joins a collection whose analyser announced a key for every batch. May be repeated."""
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
            log_state("shuffler", collection.id, 1, "open")
        return collection

    def _require_earlier(self, collection: Collection) -> None:
        """Refuses a new collection with invitations signed by the shuffler, as in version 0.2."""
        with self.database.reading() as connection:
            known = one(connection, "SELECT 1 FROM collections WHERE id = :name", name=collection.id)
        if known is None:
            raise BadArgument("issuer", "is missing", "let an issuer invite people, or the analyser: headcount desk")

    def collection(self, name: str) -> Collection:
        """The collection with this id, read once: what was agreed never changes."""
        if name not in self._collections:
            with self.database.reading() as connection:
                row = one(connection, "SELECT config FROM collections WHERE id = :name", name=name)
            if row is None:
                raise UnknownCollection(name)
            self._collections[name] = Collection.from_json(json.loads(row["config"]))
        return self._collections[name]

    def offer(self, name: str) -> dict[str, Any]:
        """A client's needs to report: the collection, its open batch, and the keys to seal to."""
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
        """The state of each batch, for the operator. The number of reports is public."""
        least = self.collection(name).plan.protocol.crowd.least
        with self.database.reading() as connection:
            row = one(connection, "SELECT state FROM collections WHERE id = :name", name=name)
            batches = [
                {
                    "batch": batch["number"],
                    "state": batch["state"],
                    "reports": self.tables.count(connection, batch),
                    "added": batch["added"] or 0,
                    "closes": batch["closes"] if batch["state"] == "open" else None,
                }
                for batch in many(connection, BATCHES, name=name)
            ]
        return {"collection": name, "state": row["state"], "least": least, "batches": batches}

    def names(self) -> list[str]:
        with self.database.reading() as connection:
            rows = many(connection, "SELECT id FROM collections WHERE state <> 'destroyed' ORDER BY id")
        return [row["id"] for row in rows]

    def close(self, name: str) -> None:
        """Opens no further batch, and seals the open one: now, or at its window's end if agreed."""
        collection = self.collection(name)
        least = collection.plan.protocol.crowd.least
        with self.database.writing() as connection:
            self.lock_collection(connection, name)
            batch = one(connection, OPEN_BATCH + self.database.for_update, name=name)
            came = 0 if batch is None else self.tables.count(connection, batch)
            short = collection.shortfall is Shortfall.HOLD and came < least
            if batch is not None and short and not collection.fixed:
                raise TooFewReports(
                    f"the batch has {came:,} reports and the guarantee needs {least:,}",
                    "wait for more, or destroy the collection",
                )
            do(connection, "UPDATE collections SET state = 'closed' WHERE id = :name AND state = 'open'", name=name)
            if batch is not None and not collection.fixed and self.clock() < batch["closes"]:
                update_batch(connection, batch, closes=EARLY)

    def destroy(self, name: str) -> None:
        """Delete everything of a collection but the agreement."""
        self.collection(name)
        with self.database.writing() as connection:
            self.lock_collection(connection, name)
            batches = many(connection, BATCHES + self.database.for_update, name=name)
            for batch in batches:
                over = self.tables.drop(connection, batch)
                undelivered = batch["state"] != "purged" and batch["receipt"] is None
                update_batch(connection, batch, state="purged", **over, **({"manifest": None} if undelivered else {}))
            do(connection, "UPDATE collections SET state = 'destroyed' WHERE id = :name", name=name)
        for batch in batches:
            if batch["state"] != "purged":
                log_state("shuffler", name, batch["number"], "purged")
        self.forget()

    # Reports.

    def check(self, upload: Upload) -> ReportFormat:
        """The report format of the upload's batch; WireError if its length or version is wrong."""
        collection = self.collection(upload.collection)
        if not 1 <= upload.batch <= collection.batches:
            raise WireError
        report_format = collection.report_format(upload.batch)
        report_format.key_number(upload.body)
        return report_format

    def open(self, upload: Upload) -> Report:
        """The report in an upload; WireError if it cannot be opened."""
        report_format = self.check(upload)
        key = self.outer.private(report_format.key_number(upload.body), report_format.suite)
        return report_format.open_report(upload.body, key)

    def accept(self, uploads: Sequence[Upload]) -> list[Answer | Exception]:
        """Opens uploads and stores their reports. An exception answers only its batch's uploads."""
        self.outer.forget_deleted()
        answers, groups = list[Answer | Exception]([Answer.INVALID] * len(uploads)), dict[Place, dict[int, Report]]()
        for at, upload in enumerate(uploads):
            with suppress(WireError):
                groups.setdefault((upload.collection, upload.batch), {})[at] = self.open(upload)
        stored = self.store({place: [*group.values()] for place, group in groups.items()})
        for place, group in groups.items():
            for at, answer in zip(group, stored[place], strict=True):
                answers[at] = answer
        return answers

    def store(self, groups: Groups) -> dict[Place, Sequence[Answer | Exception]]:
        """Stores reports to these batches in one transaction (group commit), duplicates once.

        Where that fails because of one batch, each has a transaction of its own.
        """
        point("before taking reports")
        answers = dict[Place, Sequence[Answer | Exception]]()
        try:
            answers |= self._store(groups)
        except Unavailable:
            raise
        except Exception as problem:
            if len(groups) == 1:
                raise
            log("reports failed", party="shuffler", problem=type(problem).__name__)
            for place, reports in groups.items():
                try:
                    answers |= self._store({place: reports})
                except Exception as own:  # noqa: BLE001  # answers the uploads to this batch
                    answers[place] = [own] * len(reports)
        point("after taking reports")
        return answers

    def _store(self, groups: Groups) -> dict[Place, list[Answer]]:
        """One transaction, repeated if a batch is nearly full. One lock order: no deadlock."""
        while True:
            try:
                with self.database.writing() as connection:
                    return {
                        place: self._store_batch(connection, place, reports)
                        for place, reports in sorted(groups.items())
                    }
            except NearlyFull as found:
                self._nearly_full |= {found.batch}

    def _store_batch(self, connection: Connection, place: Place, reports: Sequence[Report]) -> list[Answer]:
        """Store reports to a batch, its row locked FOR SHARE, or FOR UPDATE where nearly full."""
        (name, number), nearly_full = place, place in self._nearly_full
        lock = self.database.for_update if nearly_full else self.database.for_share
        batch = one(connection, BATCH + lock, name=name, number=number)
        if batch is None or batch["state"] != "open" or not self._within(name, batch):
            return [Answer.CLOSED] * len(reports)
        room = self.collection(name).room - self.tables.count(connection, batch)
        if not nearly_full and room < AT_ONCE:  # what others are about to store is not counted yet
            raise NearlyFull(place)
        answers, rows, known = [], dict[bytes, dict[str, bytes]](), self.deduplication(name, batch)
        for report in reports:
            hashes = known.identify(report)
            if hashes is None:
                answers.append(Answer.INVALID)
                continue
            identity, who = hashes
            there = identity in rows or (nearly_full and self.tables.has(connection, batch, identity))
            answers.append(Answer.TAKEN if there or room >= 1 else Answer.FULL)
            if not there and room >= 1:
                rows[identity] = {"id": identity, "who": who, "messages": report.messages}
                room -= 1
        if rows:
            self.tables.add(connection, batch, in_random_order([*rows.values()]))
        return answers

    def _within(self, name: str, batch: Any) -> bool:
        return bool(self.collection(name).opens <= self.clock() < batch["closes"])

    def deduplication(self, name: str, batch: Any) -> Deduplication:
        """How reports to this batch are admitted and told apart."""
        collection, salt = self.collection(name), self.tables.cipher(batch).salt
        if collection.issuer is not None:
            return Deduplication(name, salt, Redeeming.of(collection.issuer, collection.hash, batch["number"]))
        invited = collection.admission is Admission.INVITED
        return Deduplication(name, salt, None, self.signer.secret_before(INVITATIONS) if invited else b"")

    def lock_collection(self, connection: Connection, name: str) -> Any:
        """The collection's row, locked before its batches' rows: no batch is opened meanwhile."""
        return one(connection, "SELECT * FROM collections WHERE id = :name" + self.database.for_update, name=name)

    def open_batch(self, connection: Connection, collection: Collection, number: int, now: float) -> None:
        self.tables.begin(connection, collection.id, number, collection.next_close(now))

    def forget(self) -> None:
        """Destroy the secrets of deleted batches, so that their remains cannot be read."""
        self.tables.forget()
        self.database.checkpoint()


class NearlyFull(Exception):
    """The batch is nearly full: processes take turns."""

    def __init__(self, batch: Place) -> None:
        super().__init__(batch)
        self.batch = batch
