"""What Spark's executors do with the record batches of a partition: they make a tally of it, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.core.coins import Coins
from headcount.core.errors import BadData, Refused
from headcount.core.field import Values
from headcount.core.protocol import Protocol
from headcount.core.tally import Batch, Tally
from headcount.core.task import Array, Task
from headcount.engines.fold import of_arrays
from headcount.engines.intake import DIFFERENT, MISSING, in_groups

HALF = 32  # bits: halves of totals are added up apart
LOOKED = "refused string"
PARTIALS = "key string, high bigint, low bigint, refused string"  # no key: how many reports


@dataclass(frozen=True)
class Encoding:
    """From the columns of a batch, answers and perhaps groups, to the task's own integers."""

    task: Task
    merged: bool

    def __call__(self, columns: Sequence[Any]) -> Values:
        if any(column.null_count for column in columns):
            raise BadData(DIFFERENT if self.merged else MISSING)
        if len(columns) > 1:
            return self.task.encoded(in_groups(self.task, *map(_array, columns)))
        labels = columns[0]
        if str(labels.type) not in {"string", "large_string"}:
            return self.task.encoded(_array(labels))
        labels = labels.dictionary_encode()
        return np.asarray(self.task.encoded(_array(labels.dictionary))[labels.indices.to_numpy()])


@dataclass(frozen=True)
class Look:
    """Whether everybody's answer can be taken; nothing is drawn."""

    encoding: Encoding

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        try:
            for batch in batches:
                if batch.num_rows:
                    self.encoding(batch.columns)
        except Refused as refusal:
            yield pyarrow.record_batch({"refused": [str(refusal)]})


@dataclass(frozen=True)
class Randomise:
    """Everybody's randomiser, with the coins of the partition."""

    protocol: Protocol
    encoding: Encoding
    coins: Coins

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        coins = self.coins.part(TaskContext.get().partitionId())
        arrays = (self.encoding(batch.columns) for batch in batches if batch.num_rows)
        try:
            tally = of_arrays(self.protocol, arrays, coins)
        except Refused as refusal:
            yield _rows([None], [0], [str(refusal)])
        else:
            yield from _partial(tally)


@dataclass(frozen=True)
class TallyMessages:
    """Messages that were randomised elsewhere."""

    protocol: Protocol

    def work(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                try:
                    messages = self._messages(batch)
                except Refused as refusal:
                    yield _rows([None], [0], [str(refusal)])
                    return
                yield from _partial(self.protocol.tally(Batch(0, messages)))

    def _messages(self, batch: Any) -> npt.NDArray[Any]:
        """Compared with what the protocol allows while they are wide, and only then made as narrow as it has them."""
        message = self.protocol.message
        names = message.names or ()
        columns = [_field(column, message[name]) for name, column in zip(names, batch.columns, strict=True)]
        wide = np.empty(batch.num_rows, dtype=[
            (name, column.dtype, column.shape[1:]) for name, column in zip(names, columns, strict=True)
        ])  # fmt: skip
        for name, column in zip(names, columns, strict=True):
            wide[name] = column
        genuine: npt.NDArray[Any] = wide[self.protocol.genuine(wide)]
        return genuine.astype(message)


def _field(column: Any, kind: np.dtype[Any]) -> Array:
    """Whole numbers, or rows of bytes of the right length; others are not messages at all."""
    if column.null_count:
        raise BadData("messages have missing fields; drop those rows first")
    if kind.shape:
        rows, length = column.to_pylist(), kind.shape[0]
        if not all(isinstance(row, bytes) and len(row) == length for row in rows):
            raise BadData(f"messages must be rows of {length:,} bytes")
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, length)
    field = _array(column)
    if field.dtype.kind not in "iu":
        raise BadData("messages must be whole numbers")
    return field


def _partial(tally: Tally) -> Iterator[Any]:
    """A tally as rows: only what is not zero, and how many reports it is of."""
    totals: list[int] = tally.totals.tolist()
    keys = range(len(totals)) if tally.keys is None else tally.keys.tolist()
    kept = [(_key(key), total) for key, total in zip(keys, totals, strict=True) if total]
    texts, numbers = [key for key, _ in kept], [total for _, total in kept]
    yield _rows([None, *texts], [tally.reports, *numbers], [None] * (len(kept) + 1))


def _key(key: Any) -> str:
    return f"'{key}" if isinstance(key, str) else str(key)


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


def _array(column: Any) -> Array:
    array: Array = column.to_numpy(zero_copy_only=False)
    return array
