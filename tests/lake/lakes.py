"""A lake, and what is done with it: uploads in files, mixed by the shuffler, counted by the analyser."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import parquet
from rig import made, plan

from headcount.protocols.base.report_size import IDENTITY
from headcount_service.lake.counting import analyse
from headcount_service.lake.messages import Mixed
from headcount_service.lake.shuffling import LakeShuffler, read_uploads
from headcount_service.lake.uploads import write_uploads
from headcount_service.lake.work import SPLIT, SplitReports, table
from headcount_service.wire.collection import Collection

BUCKETS = 12


@dataclass
class Lake:
    """A collection whose reports lie in a folder."""

    parties: Any
    spark: Any
    folder: Path
    collection: Collection

    @classmethod
    def of(cls, parties, spark, folder, *, messages=2, **terms):
        return cls(parties, spark, folder, parties.agreed(plan(BUCKETS, messages=messages), **terms))

    @property
    def offer(self):
        return self.parties.offer(self.collection)

    def reports(self, *buckets, **given):
        offer = self.offer
        return [made(self.collection, offer, bucket, **given) for bucket in buckets]

    def put(self, *bodies):
        """A file of uploads."""
        write_uploads(self.folder / "uploads" / f"{os.urandom(8).hex()}.parquet", bodies)

    def uploads(self):
        return read_uploads(self.spark, [str(self.folder / "uploads")])

    def shuffle(self, out="mixed", uploads=None, batch=1):
        frame = self.uploads() if uploads is None else uploads
        return LakeShuffler(self.parties.shuffler).shuffle(self.collection.id, batch, frame, self.mixed(out))

    def mixed(self, out="mixed"):
        return Mixed(self.spark, str(self.folder / out))

    def rows(self, out="mixed"):
        """Mixed messages, file by file."""
        return [
            message
            for path in sorted((self.folder / out / "messages").glob("*.parquet"))
            for message in parquet.read_table(path, partitioning=None).column("message").to_pylist()
        ]

    def manifest(self, out="mixed"):
        (path,) = (self.folder / out / "manifest").glob("part-*")
        return path, json.loads(path.read_text())

    def analyse(self, out="mixed"):
        return analyse(self.parties.analyser, self.collection, self.mixed(out))


class ByReport(SplitReports):
    """The twin: messages by whose they are."""

    def work(self, batches):
        for batch in batches:
            for content in batch.column(0).to_pylist():
                messages = self.report_format.split(content)
                yield table(SPLIT, [self.known.keyed_hash(b"order", content)] * len(messages), messages)


class ByChance(SplitReports):
    """The twin: places that are drawn where the work is done, and so again when it is done again."""

    def work(self, batches):
        for batch in batches:
            messages = [each for content in batch.column(0).to_pylist() for each in self.report_format.split(content)]
            yield table(SPLIT, [os.urandom(IDENTITY) for _ in messages], messages)
