"""The states of a batch and the steps between them: open, sealed, shuffled, delivered, purged.

Each step is decided by one transaction and idempotent; of several processes one takes it.
Once its messages are mixed, nothing is left that tells which of them are one person's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from itertools import chain, compress
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Damaged, RemoteRefusal
from headcount.programme.coins import Coins, SecretCoins
from headcount_service.runtime.crash_points import point
from headcount_service.runtime.logs import log, log_state
from headcount_service.shuffler.batch_tables import FORM, bound, mixed_name
from headcount_service.shuffler.external_shuffle import in_parts, mixed_blocks
from headcount_service.shuffler.purge_notices import PurgeNotices
from headcount_service.shuffler.shuffler import BATCH, EARLY, Shuffler
from headcount_service.store.database import do, many, one, update_batch
from headcount_service.store.encryption import Encrypted, new_secret
from headcount_service.wire.collection import Shortfall
from headcount_service.wire.http_client import Receiver
from headcount_service.wire.keys import Announced, verified
from headcount_service.wire.report import ReportFormat
from headcount_service.wire.suites import PublicKey

PART = 1 << 20  # bytes, about, in which a batch is handed on
AT_ONCE = 1 << 10  # messages that are sealed before they are mixed


class Batches:
    """The shuffler's work on stored reports, batch by batch."""

    def __init__(self, shuffler: Shuffler, receiver: Receiver) -> None:
        self.shuffler, self.receiver = shuffler, receiver
        self.database, self.tables = shuffler.database, shuffler.tables
        self.notices = PurgeNotices(shuffler, receiver)

    def advance(self) -> list[Exception]:
        """Take every step that is due, of every batch; returns what failed."""
        return [*self.mix(), *self.hand_on()]

    def close(self) -> list[Exception]:
        """Seal batches whose window has ended, at once, even while another batch is mixed."""
        return self._each(self.seal)

    def mix(self) -> list[Exception]:
        """The steps that need no other party: seal, and mix, the smallest batch first."""
        kept = [*self._try(self.shuffler.outer.look_after), *self._try(self.tables.forget)]
        return [*kept, *self.close(), *self._each(self.shuffle)]

    def hand_on(self) -> list[Exception]:
        """The steps that need the analyser, which may be slow: deliver and purge."""
        return [*self._each(self.deliver, self.purge), *self.notices.send()]

    def _each(self, *steps: Callable[[str, int], None]) -> list[Exception]:
        """Take steps of each batch. One that fails delays no other and is tried again later."""
        problems = list[Exception]()
        for batch in self._due():
            name, number = batch["collection"], batch["number"]
            problems += self._try(*(partial(step, name, number) for step in steps), collection=name, batch=number)
        return problems

    @staticmethod
    def _try(*steps: Callable[[], object], **of: Any) -> list[Exception]:
        """Take one step after the other, up to one that fails; returns its failure."""
        try:
            for step in steps:
                step()
        except Exception as problem:  # noqa: BLE001  # also where memory or the disk ran out
            log("step failed", party="shuffler", problem=kind_of(problem), **of)
            return [problem]
        return []

    def _due(self) -> list[Any]:
        """The batches with a step due, read without a lock; each step checks again, under one."""
        due = "SELECT * FROM batches WHERE state <> 'purged' AND (state <> 'open' OR closes <= :now) ORDER BY reports"
        with self.database.reading() as connection:
            return many(connection, due, now=int(self.shuffler.clock()))

    def seal(self, name: str, number: int) -> None:
        """At window's end: seal a batch with enough reports, or hold, top up or purge as agreed."""
        collection = self.shuffler.collection(name)
        least, now = collection.plan.protocol.crowd.least, self.shuffler.clock()
        point("before sealing")
        with self.database.writing() as connection:
            agreed = self.shuffler.lock_collection(connection, name)["state"]
            batch = self._lock(connection, name, number, "open")
            if batch is None or now < batch["closes"]:
                return
            came = self.tables.count(connection, batch)
            if came >= least or collection.shortfall is Shortfall.TOP_UP:
                state = "sealed"
                update_batch(connection, batch, state=state, reports=came, added=max(0, least - came))
            elif collection.shortfall is Shortfall.HOLD and batch["holds"] < collection.holds:
                state = "held"
                update_batch(connection, batch, closes=collection.next_close(now), holds=batch["holds"] + 1)
            else:
                state = "purged"
                update_batch(connection, batch, state=state, **self.tables.drop(connection, batch))
            another = state != "held" and agreed == "open" and number < collection.batches
            if another:
                self.shuffler.open_batch(connection, collection, number + 1, now)
        log_state("shuffler", name, number, state)
        if state == "held":
            return
        if another:
            log_state("shuffler", name, number + 1, "open")
        self.shuffler.forget()
        point("after sealing")

    def shuffle(self, name: str, number: int) -> None:
        """All messages of the batch in one secret order. The reports that grouped them are gone.

        It is done in little memory, and in many short transactions, so that reports to other
        batches are taken meanwhile. The last of them decides; until then nothing has happened, and
        what was written is unreadable.
        """
        batch = self._found(name, number, "sealed")
        if batch is None:
            return
        with self.database.try_lock("mix", batch["tag"]) as mine:
            if mine and self._found(name, number, "sealed") is not None:
                self._mix(name, number)

    def _mix(self, name: str, number: int) -> None:
        point("before mixing")
        with self.database.writing() as connection:
            batch = self._lock(connection, name, number, "sealed")
            if batch is None:
                return
            attempt = self.tables.begin_mixed(connection, batch)
        secret = new_secret()
        messages, digests = self._write(batch, attempt, Encrypted(secret))
        content = {
            "collection": self.shuffler.collection(name).hash,
            "batch": number,
            "reports": batch["reports"] + batch["added"],
            "added": batch["added"],
            "early": batch["closes"] == EARLY,
            "messages": messages,
            "parts": digests,
        }
        manifest = canonical(self.shuffler.signer.signed("manifest", content))
        self.shuffler.keys.keep(mixed_name(attempt), secret)
        point("before it is mixed")
        with self.database.writing() as connection:
            batch = self._lock(connection, name, number, "sealed")
            if batch is None or batch["mixed"] != attempt:
                return  # it was destroyed meanwhile, or somebody else has begun anew
            over = self.tables.drop_reports(connection, batch)
            update_batch(connection, batch, state="shuffled", manifest=manifest, form=FORM, **over)
        log_state("shuffler", name, number, "shuffled")
        point("when it is mixed")
        self.shuffler.forget()
        point("after mixing")

    def _write(self, batch: Any, attempt: str, cipher: Encrypted) -> tuple[int, list[str]]:
        """Write mixed messages to their table in parts; returns their number and each part's hash.

        What the shuffler adds is drawn here, for this attempt, and is nowhere but in memory. Of
        several attempts one is signed for; the others, and what was added to them, nobody can read.
        """
        collection, coins = self.shuffler.collection(batch["collection"]), SecretCoins()
        size = collection.report_format(batch["number"]).message_bytes
        padding = collection.plan.protocol.padding(coins)
        most = ((batch["reports"] + batch["added"]) * collection.wire.messages + len(padding)) * size
        written, digests, new = 0, list[str](), f"INSERT INTO mixed_{attempt} VALUES (:part, :content)"
        with self.database.reading() as connection:
            messages = chain(self._kept(connection, batch, coins), self._added(batch, padding))
            blocks = mixed_blocks(messages, size, most, coins, self.shuffler.keys.temporary_file)
            for at, part in enumerate(in_parts(blocks, max(1, PART // size) * size)):
                with self.database.writing() as writing:
                    do(writing, new, part=at, content=cipher.sealed(part, bound(at)))
                digests.append(sha256(part).hexdigest())
                written += len(part)
                point("while mixing")
        return written // size, digests

    def _kept(self, connection: Connection, batch: Any, coins: Coins) -> Iterator[bytes]:
        """The messages of all reports that are kept, a coin for each where the protocol samples."""
        protocol = self.shuffler.collection(batch["collection"]).plan.protocol
        for reports in chain(self._reports(connection, batch), self._of_nobody(batch)):
            yield b"".join(compress(reports, protocol.kept(len(reports), coins)))

    def _reports(self, connection: Connection, batch: Any) -> Iterator[list[bytes]]:
        collection, came = self.shuffler.collection(batch["collection"]), 0
        each = collection.report_format(batch["number"]).message_bytes * collection.wire.messages
        for reports in self.tables.messages(connection, batch, each):
            came += len(reports)
            yield reports
        if came != batch["reports"]:
            raise Damaged("a batch has not as many reports as were counted", "see to the shuffler's database")

    def deliver(self, name: str, number: int) -> None:
        """Deliver the mixed messages to the analyser in parts, skipping those that it has."""
        batch = self._found(name, number, "shuffled")
        if batch is None:
            return
        with self.database.try_lock("deliver", batch["tag"]) as mine:
            if mine and self._found(name, number, "shuffled") is not None:
                self._deliver(batch)

    def _deliver(self, batch: Any) -> None:
        name, number, manifest = batch["collection"], batch["number"], json.loads(batch["manifest"])
        point("before delivering")
        self.receiver.begin(manifest)
        for at in range(len(manifest["parts"])):
            with self.database.reading() as connection:
                part = self.tables.part(connection, batch, at)
            self.receiver.part(name, number, at, part)
            point("while delivering")
        receipt = self.receiver.complete(name, number)
        if verified(receipt, self.shuffler.collection(name).analyser, "receipt") != {"received": manifest["signature"]}:
            raise BadArgument("receipt", "is for another batch", "ask the analyser's operator")
        point("after delivering")
        with self.database.writing() as connection:
            first = self._lock(connection, name, number, "shuffled") is not None
            if first:
                update_batch(connection, batch, state="delivered", receipt=canonical(receipt))
        if first:
            log_state("shuffler", name, number, "delivered")
        point("after noting the receipt")

    def purge(self, name: str, number: int) -> None:
        """Delete the messages of a delivered batch."""
        point("before purging")
        with self.database.writing() as connection:
            batch = self._lock(connection, name, number, "delivered")
            if batch is None:
                return
            update_batch(connection, batch, state="purged", **self.tables.drop(connection, batch))
        log_state("shuffler", name, number, "purged")
        self.shuffler.forget()
        point("after purging")

    def _of_nobody(self, batch: Any) -> Iterator[list[bytes]]:
        """Top-up reports, of the value 0, for the noise that they add to a short batch."""
        protocol, nothing = self.shuffler.collection(batch["collection"]).plan.protocol, np.zeros(1, dtype=np.int64)
        report_format, key = self._sealing(batch)
        for _ in range(batch["added"]):
            yield [b"".join(report_format.seal_messages(protocol.reports(nothing, SecretCoins()).messages, key))]

    def _added(self, batch: Any, padding: npt.NDArray[Any]) -> Iterator[bytes]:
        """The messages that the shuffler adds, sealed to the analyser as devices seal theirs."""
        report_format, key = self._sealing(batch)
        for start in range(0, len(padding), AT_ONCE):
            yield b"".join(report_format.seal_own(padding[start : start + AT_ONCE], key))

    def _sealing(self, batch: Any) -> tuple[ReportFormat, PublicKey]:
        """The format of the batch's messages, and the analyser's key for them."""
        collection, number = self.shuffler.collection(batch["collection"]), batch["number"]
        with self.database.reading() as connection:
            row = one(connection, "SELECT keys FROM collections WHERE id = :name", name=collection.id)
        announced = Announced.from_json(json.loads(row["keys"])[number - 1], collection.analyser, "analyser")
        return collection.report_format(number), announced.public

    def _found(self, name: str, number: int, state: str) -> Any:
        """The batch, if it is in this state; other processes may move it on."""
        with self.database.reading() as connection:
            batch = one(connection, BATCH, name=name, number=number)
        return batch if batch is not None and batch["state"] == state else None

    def _lock(self, connection: Connection, name: str, number: int, state: str) -> Any:
        """The batch, if in this state; no other process advances it until the transaction ends."""
        batch = one(connection, BATCH + self.database.for_update, name=name, number=number)
        return batch if batch is not None and batch["state"] == state else None


def kind_of(problem: Exception) -> str:
    """The kind of a failure, without its text."""
    if isinstance(problem, RemoteRefusal):
        return f"refused with {problem.status}" if problem.status else "unreachable"
    return type(problem).__name__
