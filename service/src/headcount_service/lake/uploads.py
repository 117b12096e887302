"""Uploads in a lake: Parquet files with one column, `upload`, of sealed bytes of one length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headcount.errors import BadArgument, MissingExtra
from headcount_service.wire.random_order import in_random_order

COLUMN = "upload"


def write_uploads(path: Path, bodies: Sequence[bytes]) -> None:
    """A file of its own for these uploads, in no order."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "files") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(
            pa.table({COLUMN: pa.array(in_random_order(bodies), pa.binary())}), path, compression="none"
        )
    except OSError as problem:
        raise BadArgument("out", f"{path} cannot be written ({problem.strerror})", "use another file") from None
