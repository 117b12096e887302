"""Mixed messages in a lake: a folder of messages in Parquet, and the shuffler's manifest of them.

messages/     one column, `message`: sealed to the analyser, all of the same length, in an order that means nothing
manifest/     one line of JSON, signed: the collection, the batch, how many people there are, and what the messages are

What the messages are is told by hashes that do not depend on files or order, so that a folder may
be compacted or copied, and not one message be taken away or put in.
"""

from __future__ import annotations

import json
from typing import Any

from headcount.common.canonical import canonical
from headcount.errors import BadArgument
from headcount_service.lake.session import refusing

MESSAGES, MANIFEST = "messages", "manifest"
WORKS = "give the folder that headcount batch shuffle wrote"
PER_FILE = 1 << 17  # messages, about
PER_PART = 1 << 14  # hashes that are sorted together


class Mixed:
    """One such folder, wherever Spark can reach it."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.spark, self.folder = spark, folder.rstrip("/")

    @property
    def messages(self) -> Any:
        with refusing(f"{self.folder} cannot be read", WORKS):
            return self.spark.read.schema("message binary").parquet(f"{self.folder}/{MESSAGES}")

    @property
    def manifest(self) -> dict[str, Any]:
        with refusing(f"{self.folder} has no manifest", WORKS):
            lines = [row[0] for row in self.spark.read.text(f"{self.folder}/{MANIFEST}").collect()]
        try:
            (line,) = lines
            return dict(json.loads(line))
        except (TypeError, ValueError):
            raise BadArgument("mixed", "has a manifest that cannot be read", WORKS) from None

    def write(self, split: Any, number: int) -> None:
        """Write messages by their places. The file count depends on the message count alone."""
        placed = split.repartition(files(number), "place").sortWithinPartitions("place").select("message")
        with refusing(f"{self.folder} cannot be written, or was before", "give a folder that is not there"):
            placed.write.parquet(f"{self.folder}/{MESSAGES}", compression="uncompressed")

    def sign(self, manifest: Any) -> None:
        line = self.spark.createDataFrame([(canonical(manifest),)], "value string").coalesce(1)
        with refusing(f"{self.folder} cannot be written", "give a folder that can be written to"):
            line.write.mode("overwrite").text(f"{self.folder}/{MANIFEST}")

    def forget(self) -> None:
        """Delete messages that were written and must not be used."""
        nothing = self.spark.createDataFrame([], "message binary")
        nothing.write.mode("overwrite").parquet(f"{self.folder}/{MESSAGES}")


def files(number: int) -> int:
    """The number of files for this many messages."""
    return 1 + number // PER_FILE


def digests(messages: Any, number: int) -> list[str]:
    """A digest of the multiset of messages: sorted hashes, rehashed in parts by first bytes."""
    from pyspark.sql import functions as f

    digits = 1
    while number > PER_PART << 4 * digits:
        digits += 1
    hashed = messages.select(f.sha2("message", 256).alias("hash"))
    together = f.sha2(f.array_join(f.array_sort(f.collect_list("hash")), ""), 256)
    parts = hashed.groupBy(f.substring("hash", 1, digits).alias("part")).agg(together.alias("digest"))
    return [row["digest"] for row in sorted(parts.collect(), key=lambda row: row["part"] or "")]
