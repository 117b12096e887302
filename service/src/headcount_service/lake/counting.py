"""The analyser over a lake: executors open and count messages, the driver charges and releases.

Charges, draws and records are those of any other batch: see `analyser/releases.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headcount.errors import BadArgument
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount_service.analyser.analyser import BATCH, Analyser, inner_key
from headcount_service.analyser.deliveries import Deliveries
from headcount_service.analyser.releases import Releases
from headcount_service.lake.messages import Mixed, digests
from headcount_service.lake.session import ASK_SPARK, refusing
from headcount_service.lake.work import PARTIALS, READ, CountRecords, ReadMessages
from headcount_service.store.database import one, update_batch
from headcount_service.wire.collection import Collection
from headcount_service.wire.report import PrivateKey, ReportFormat
from headcount_service.wire.suites import private_bytes


class LakeReleases(Releases):
    """The same releases, of messages that lie in a lake."""

    def __init__(self, analyser: Analyser, messages: Any) -> None:
        super().__init__(analyser)
        self.messages = messages

    def _count(self, collection: Collection, number: int, manifest: Any) -> tuple[Tally, int]:
        key = self.analyser.keys.private(inner_key(collection.id, number))
        tally, readable = count(self.messages, collection.report_format(number), collection.plan.protocol, key)
        return replace(tally, reports=manifest["reports"]), readable


def analyse(analyser: Analyser, collection: Collection, mixed: Mixed) -> str:
    """The signed release of a mixed batch, as text. A repeat is the same, with no recounting."""
    manifest = mixed.manifest
    if manifest.get("collection") != collection.hash:
        raise BadArgument("mixed", "is a batch of another collection", "give the folder of this one's")
    Deliveries(analyser).begin(manifest)
    number = int(manifest["batch"])
    messages = mixed.messages.persist()  # what was looked at is what is counted
    try:
        receive(analyser, collection, number, manifest, messages)
        return LakeReleases(analyser, messages).release(collection.id, number)
    finally:
        messages.unpersist()


def receive(analyser: Analyser, collection: Collection, number: int, manifest: Any, messages: Any) -> None:
    """Refuses messages other than those the shuffler signed for, before any charge or count."""
    with analyser.database.reading() as connection:
        if one(connection, BATCH, name=collection.id, number=number)["state"] == "released":
            return
    with refusing("has messages that cannot be read", ASK_SPARK, "mixed"):
        same = messages.count() == manifest["messages"] and digests(messages, manifest["messages"]) == manifest["parts"]
    if not same:
        raise BadArgument("mixed", "has other messages than were signed for", "get them from the shuffler again")
    with analyser.database.writing() as connection:
        analyser.lock_open(connection, collection.id)
        row = one(connection, BATCH + analyser.database.for_update, name=collection.id, number=number)
        if row["state"] == "receiving":
            update_batch(connection, row, state="delivered")


def count(messages: Any, report_format: ReportFormat, protocol: Protocol, key: PrivateKey) -> tuple[Tally, int]:
    """The tally of distinct messages and the number of valid ones. Only totals leave executors."""
    from pyspark.sql import functions as f

    work = CountRecords.of(protocol)
    read = messages.mapInArrow(ReadMessages(report_format, private_bytes(key)).work, READ)
    once = read.groupBy("id").agg(f.min("record").alias("record")).select("record")
    rows = once.mapInArrow(work.work, PARTIALS).collect()
    readable = sum(int.from_bytes(row["readable"], "big") for row in rows)
    return work.added([(row["totals"], row["keys"]) for row in rows]), readable
