"""The shuffler over a lake: opens, deduplicates, mixes, writes and signs for uploads once a batch.

A message's place depends on the message and a secret of the batch alone: neither on its sender nor
on where it lay. A task that Spark repeats comes to the same places. The secret is drawn when the
batch is opened and goes when its messages are signed for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Conflict, Damaged, Refused, TooFewReports, Unsupported
from headcount_service.lake.messages import Mixed, digests, files
from headcount_service.lake.session import ASK_SPARK, refusing
from headcount_service.lake.uploads import COLUMN
from headcount_service.lake.work import OPENED, SPLIT, OpenUploads, SplitReports
from headcount_service.runtime.crash_points import point
from headcount_service.shuffler.shuffler import BATCH, Shuffler
from headcount_service.store.database import one, update_batch
from headcount_service.wire.collection import Collection
from headcount_service.wire.suites import private_bytes


@dataclass(frozen=True)
class Came:
    """The numbers of uploads by their fate."""

    taken: int = 0  # reports, each of another person
    repeated: int = 0  # uploads of somebody who has been counted
    unreadable: int = 0  # not sealed for this batch, or of somebody who was not invited

    def to_json(self) -> dict[str, int]:
        return asdict(self)


class LakeShuffler:
    """A shuffler whose uploads lie in a lake."""

    def __init__(self, shuffler: Shuffler) -> None:
        self.shuffler, self.database = shuffler, shuffler.database

    def shuffle(self, name: str, number: int, uploads: Any, out: Mixed) -> Came | None:
        """Mixes a batch and signs for it. None if done before: only the manifest is rewritten."""
        collection = self.shuffler.collection(name)
        if collection.padded:
            needs = "needs messages of the shuffler's, and Spark may do again whatever it does"
            works = "collect it over the network: headcount serve"
            raise Unsupported(f"{collection.plan.protocol.name} {needs}", works)
        batch = self._batch(collection, number)
        if batch["state"] != "open":
            self._again(batch, out)
            return None
        report_format, known = collection.report_format(number), self.shuffler.deduplication(name, batch)
        opened = uploads.select(COLUMN).mapInArrow(
            OpenUploads(report_format, known, self._keys(collection)).work, OPENED
        )
        kept = once(opened, invited=known.invited).persist()
        try:
            with refusing("cannot be read to their end", ASK_SPARK, "uploads"):
                came = counted(kept)
            if came.taken < (least := collection.plan.protocol.crowd.least):
                raise TooFewReports(
                    f"{came.taken:,} people reported and the guarantee needs {least:,}", "wait for more"
                )
            collection.plan.protocol.require_fit(came.taken)
            messages = came.taken * collection.wire.messages
            reports = kept.where("messages IS NOT NULL").select("messages").coalesce(files(messages))
            split = reports.mapInArrow(SplitReports(report_format, known).work, SPLIT)
            parts = digests(split, messages)
            point("before mixing")
            out.write(split, messages)
        finally:
            kept.unpersist()
        try:
            if out.messages.count() != messages or digests(out.messages, messages) != parts:
                raise Damaged("what was written is not what was mixed", "see to the cluster and its disks")
            manifest = self._signed(collection, number, came, parts)
        except Refused:
            out.forget()
            raise
        self.shuffler.forget()
        point("after mixing")
        out.sign(manifest)
        return came

    def _batch(self, collection: Collection, number: int) -> Any:
        with self.database.reading() as connection:
            batch = one(connection, BATCH, name=collection.id, number=number)
            if batch is not None and batch["state"] == "open":
                self._require(connection, collection, batch)
        if batch is None:
            raise BadArgument("batch", f"{number} has not been opened", "see headcount collection show")
        return batch

    def _require(self, connection: Any, collection: Collection, batch: Any) -> None:
        """Check that the batch may be closed now, as its operator might close it."""
        if self.shuffler.clock() < (batch["closes"] if collection.fixed else collection.opens):
            raise Unsupported("the collection has not come to the end of its window", "wait for that")
        if self.shuffler.tables.count(connection, batch):
            raise Conflict(
                "reports to this batch have come over the network", "a batch is collected in one way or the other"
            )

    def _keys(self, collection: Collection) -> dict[int, bytes]:
        """The keys that uploads may have been sealed to."""
        outer, suite = self.shuffler.outer, collection.wire.suite
        usable = [row["number"] for row in outer.table() if row["suite"] == suite and row["state"] != "deleted"]
        return {number: private_bytes(outer.private(number, suite)) for number in usable}

    def _signed(self, collection: Collection, number: int, came: Came, parts: Sequence[str]) -> Any:
        """The one manifest of a batch of this number. The secret of its order is gone with that."""
        content = {
            "collection": collection.hash,
            "batch": number,
            "reports": came.taken,
            "added": 0,
            "messages": came.taken * collection.wire.messages,
            "parts": list(parts),
        }
        with self.database.writing() as connection:
            state = self.shuffler.lock_collection(connection, collection.id)["state"]
            batch = one(connection, BATCH + self.database.for_update, name=collection.id, number=number)
            early = self.shuffler.clock() < batch["closes"]
            manifest = self.shuffler.signer.signed("manifest", {**content, "early": early})
            if batch["state"] != "open":
                raise Conflict("the batch was mixed meanwhile", "a number is used once")
            self._require(connection, collection, batch)
            over = self.shuffler.tables.drop(connection, batch)
            signed = canonical(manifest)
            update_batch(connection, batch, state="purged", reports=came.taken, added=0, manifest=signed, **over)
            if state == "open" and number < collection.batches:
                self.shuffler.open_batch(connection, collection, number + 1, self.shuffler.clock())
        return manifest

    def _again(self, batch: Any, out: Mixed) -> None:
        """The manifest of a batch that was signed for here, if its messages are."""
        manifest = json.loads(batch["manifest"] or "null")
        if manifest is None:
            raise Conflict("the batch is over, and was not mixed", "reports to it count no more")
        try:
            same = digests(out.messages, manifest["messages"]) == manifest["parts"]
        except BadArgument:
            same = False
        if not same:
            raise Conflict("the batch was mixed before, into another folder", "a number is used once")
        out.sign(manifest)


def read_uploads(spark: Any, paths: Sequence[str]) -> Any:
    """The column of uploads in these Parquet files; nothing else in them is read."""
    with refusing("cannot be read", "give Parquet files, or folders of them", "uploads"):
        frame = spark.read.parquet(*paths)
    if dict(frame.dtypes).get(COLUMN) != "binary":
        raise BadArgument("uploads", f"have no column {COLUMN!r} of bytes", "see what headcount batch report writes")
    return frame.select(COLUMN)


def once(opened: Any, *, invited: bool) -> Any:
    """One report per sender, always the smallest if they differ, and its number of uploads.

    What could not be opened has no sender, and is one row of nothing.
    """
    from pyspark.sql import functions as f

    one_each = opened.groupBy("who").agg(f.min(f.struct("messages", "id")).alias("kept"), f.count("*").alias("uploads"))
    rows = one_each.select("kept.id", "kept.messages", "uploads")
    if not invited:  # then the sender is known by the upload's number, and nothing else
        return rows.select("messages", "uploads")
    return rows.groupBy("id").agg(f.min("messages").alias("messages"), f.sum("uploads").alias("uploads"))


def counted(kept: Any) -> Came:
    from pyspark.sql import functions as f

    readable = f.when(f.col("messages").isNotNull(), f.col("uploads"))
    row = kept.agg(f.count("messages").alias("taken"), f.sum(readable).alias("readable"), f.sum("uploads").alias("all"))
    found = row.collect()[0]
    readable_uploads, uploads = found["readable"] or 0, found["all"] or 0
    return Came(found["taken"], readable_uploads - found["taken"], uploads - readable_uploads)
