"""What Spark's executors do with the record batches of a partition: open, split and count.

Each piece of work does the same when it is done again, as Spark does whenever it has lost
something: there is no chance in it. Keys travel within the work itself, and are shown nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from io import BytesIO
from operator import add
from typing import Any, cast

import numpy as np

from headcount.errors import WireError
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.protocol import Protocol
from headcount_service.wire.deduplication import Deduplication
from headcount_service.wire.report import PrivateKey, ReportFormat, genuine
from headcount_service.wire.suites import private_key

OPENED = "id binary, who binary, messages binary"
SPLIT = "place binary, message binary"
READ = "id binary, record binary"
PARTIALS = "totals binary, keys binary, readable binary"
ORDER = b"order"  # the purpose of the hash that messages are sorted by


@dataclass(frozen=True)
class OpenUploads:
    """Uploads opened with the shuffler's keys; an empty row for any not a report to this batch."""

    report_format: ReportFormat
    known: Deduplication
    keys: Mapping[int, bytes] = field(repr=False)

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        keys = {number: loaded(content) for number, content in self.keys.items()}
        for batch in batches:
            rows = [self._row(body, keys) for body in batch.column(0).to_pylist()]
            yield table(OPENED, *zip(*rows, strict=True)) if rows else table(OPENED, [], [], [])

    def _row(self, body: bytes | None, keys: Mapping[int, PrivateKey]) -> tuple[bytes | None, ...]:
        with suppress(WireError):
            key = keys.get(self.report_format.key_number(body or b""))
            if key is not None and body is not None:
                report = self.report_format.open_report(body, key)
                hashes = self.known.identify(report)
                if hashes is not None:
                    return *hashes, report.messages
        return None, None, None


@dataclass(frozen=True)
class SplitReports:
    """The messages of reports, each with its place: a keyed hash of the message alone."""

    report_format: ReportFormat
    known: Deduplication

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            contents = batch.column(0).to_pylist()
            messages = [message for content in contents for message in self.report_format.split(content)]
            yield table(SPLIT, [self.known.keyed_hash(ORDER, message) for message in messages], messages)


@dataclass(frozen=True)
class ReadMessages:
    """Messages opened with the analyser's key. Dummies have no record; unopenable ones drop out."""

    report_format: ReportFormat
    key: bytes = field(repr=False)

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        key = loaded(self.key)
        for batch in batches:
            identities, records = [], []
            for message in batch.column(0).to_pylist():
                with suppress(WireError):
                    identity, record = self.report_format.open_message(message or b"", key)
                    identities.append(identity)
                    records.append(record)
            yield table(READ, identities, records)


@dataclass(frozen=True)
class CountRecords:
    """The tally of a partition's plausible records, and the number of these and dummies."""

    protocol: Protocol

    @classmethod
    def of(cls, protocol: Protocol) -> CountRecords:
        """The work with a copy of the protocol without its caches, which executors do not need."""
        return cls(replace(protocol))

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        tally, readable = self.protocol.nobody(), 0
        for batch in batches:
            column = batch.column(0)
            records = genuine(self.protocol, column.drop_null().to_pylist())
            tally += self.protocol.tally(Batch(0, records))
            readable += column.null_count + len(records)
        keys = None if tally.keys is None else _packed(tally.keys)
        yield table(PARTIALS, [_packed(tally.totals)], [keys], [readable.to_bytes(8, "big")])

    def added(self, partials: Sequence[tuple[bytes, bytes | None]]) -> Tally:
        """The sum over partitions, with 0 reports: messages do not tell whose they are."""
        nobody = self.protocol.nobody()
        each = (
            replace(nobody, totals=_unpacked(totals), keys=None if keys is None else _unpacked(keys))
            for totals, keys in partials
        )
        return reduce(add, each, nobody)


def loaded(content: bytes) -> PrivateKey:
    return cast(PrivateKey, private_key(content))


def table(schema: str, *columns: Sequence[bytes | None]) -> Any:
    """A record batch of bytes, its columns named as in the schema."""
    import pyarrow as pa

    names = [part.split()[0] for part in schema.split(", ")]
    return pa.RecordBatch.from_arrays([pa.array(column, pa.binary()) for column in columns], names=names)


def _packed(array: Any) -> bytes:
    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _unpacked(content: bytes) -> Any:
    return np.load(BytesIO(content), allow_pickle=False)
