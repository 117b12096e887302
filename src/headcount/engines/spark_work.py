"""The work of Spark's executors on a partition's record batches: a tally of it, as table rows."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headcount.engines.columns import from_arrow
from headcount.engines.memory import person_ids
from headcount.engines.tallying import tally_arrays
from headcount.errors import BadData, Refused
from headcount.phrases import packed
from headcount.programme.coins import Coins
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import DIFFERENT, Codes, Domain, Shape
from headcount.questions.reading import Array

HALF = 32  # bits: halves of totals are added up apart
LOOKED = "refused string"
PARTIALS = "key string, high bigint, low bigint, refused string"  # no key: how many reports


@dataclass(frozen=True)
class FromBatch:
    """From the columns of a batch, one for each part of the domain, to codes."""

    domain: Domain
    coded: bool  # whether rows were read before, so that there are codes, and numbers where these are merged

    def __call__(self, columns: Sequence[Any], counted: Container[int] = ()) -> Codes:
        """Some of the columns may have been counted by Spark: they are codes."""
        if self.coded and any(column.null_count for column in columns):
            raise BadData(*DIFFERENT)
        parts = enumerate(zip(self.domain.parts, map(from_arrow, columns), strict=True))
        return self.domain.joined(
            [
                column if at in counted or (self.coded and not part.merge.numeric) else part.codes(column)
                for at, (part, column) in parts
            ]
        )


@dataclass(frozen=True)
class ReadRows:
    """Rows as merged: of which person, and for each part the code or, where merged, the number."""

    domain: Domain
    people: bool  # whether the last column says whose a row is
    kept: bool  # whether rows count each for itself

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            if not batch.num_rows:
                continue
            refused: list[str | None] = [None] * batch.num_rows
            try:
                persons, read = self._read([*map(from_arrow, batch.columns)])
            except Refused as refusal:
                persons, read, refused = [None], [[None] for _ in self.domain.parts], [packed(refusal.reason)]
            codes = [pa.array(each, _kind(part)) for part, each in zip(self.domain.parts, read, strict=True)]
            columns = [pa.array(persons, pa.string()), *codes, pa.array(refused, pa.string())]
            names = ["person", *(f"part{place}" for place in range(len(codes))), "refused"]
            yield pa.RecordBatch.from_arrays(columns, names=names)

    def _read(self, columns: list[Array]) -> tuple[list[Any], list[list[Any]]]:
        persons = person_ids(columns.pop()).tolist() if self.people else [None] * columns[0].size
        return persons, [self._part(*each).tolist() for each in zip(self.domain.parts, columns, strict=True)]

    def _part(self, part: Domain, column: Array) -> Array:
        if not part.merge.numeric:
            return part.codes(column)
        if self.kept:
            part.codes(column)  # refuses what does not fit, also of rows that will not be kept
        return part.numbers(column) + 0.0  # no negative zero


def _kind(part: Domain) -> Any:
    """The type of what a row is read as: a number that is to be merged, a label, or a code."""
    import pyarrow as pa

    return pa.float64() if part.merge.numeric else pa.string() if part.shape is Shape.KEY else pa.int64()


@dataclass(frozen=True)
class Look:
    """Checks everybody's answer against the domain; draws nothing."""

    from_batch: FromBatch

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        try:
            for batch in batches:
                if batch.num_rows:
                    self.from_batch(batch.columns)
        except Refused as refusal:
            yield pyarrow.record_batch({"refused": [packed(refusal.reason)]})


@dataclass(frozen=True)
class Randomise:
    """Runs everybody's randomiser with the coins of the partition."""

    protocol: Protocol
    from_batch: FromBatch
    coins: Coins

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        coins = self.coins.part(TaskContext.get().partitionId())
        arrays = (self.from_batch(batch.columns) for batch in batches if batch.num_rows)
        try:
            tally = tally_arrays(self.protocol, arrays, coins)
        except Refused as refusal:
            yield _rows([None], [0], [packed(refusal.reason)])
        else:
            yield _partial(tally)


def _partial(tally: Tally) -> Any:
    """A tally as rows: only what is not zero, and how many reports it is of."""
    totals: list[int] = tally.totals.tolist()
    keys = range(len(totals)) if tally.keys is None else tally.keys.tolist()
    kept = [(str(key), total) for key, total in zip(keys, totals, strict=True) if total]
    texts, numbers = [key for key, _ in kept], [total for _, total in kept]
    return _rows([None, *texts], [tally.reports, *numbers], [None] * (len(kept) + 1))


def _rows(keys: list[str | None], totals: list[int], refused: list[str | None]) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [
            pa.array(keys, pa.string()),
            pa.array([total >> HALF for total in totals], pa.int64()),
            pa.array([total & ((1 << HALF) - 1) for total in totals], pa.int64()),
            pa.array(refused, pa.string()),
        ],
        names=["key", "high", "low", "refused"],
    )
