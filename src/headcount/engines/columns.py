"""Columns of pandas, polars, Arrow and numpy as arrays, entry by entry: a gap changes no other."""

from __future__ import annotations

from typing import Any

import numpy as np

from headcount.questions.reading import Array, column, in_utc

WIDE = {"Int128", "UInt128"}  # of polars, which numpy has not
FEW = 4_096  # entries that are turned into Python's own sooner than Arrow loads pandas, as it does to make an array


def from_pandas(data: Any) -> Array:
    """A pandas column as an array; pandas itself turns integers to floats where one is missing."""
    if isinstance(data.dtype, np.dtype):
        return np.asarray(data.to_numpy())
    if hasattr(data.dtype, "pyarrow_dtype"):
        return from_arrow(data.array.__arrow_array__())
    if hasattr(data.dtype, "tz"):
        return in_utc(getattr(data, "dt", data).tz_convert(None).to_numpy())
    gaps = np.asarray(data.isna())
    kept = np.asarray(data[~gaps].to_numpy())
    if not gaps.any():
        return kept
    values = np.zeros(gaps.size, dtype=kept.dtype)
    values[~gaps] = kept
    return np.ma.masked_array(values, gaps)


def from_polars(data: Any) -> Array:
    if data.dtype.is_integer() and str(data.dtype) not in WIDE:
        values = np.asarray(data.fill_null(0).to_numpy())
        return np.ma.masked_array(values, data.is_null().to_numpy()) if data.null_count() else values
    if data.dtype.is_float() or str(data.dtype).startswith("Date"):
        values = np.asarray(data.to_numpy())
        return in_utc(values) if getattr(data.dtype, "time_zone", None) else values
    return column(data.to_list())


def from_arrow(data: Any) -> Array:
    """An array of Arrow, in one piece or several."""
    import pyarrow as pa

    kind = data.type
    if pa.types.is_dictionary(kind):
        return from_arrow(data.cast(kind.value_type))
    if len(data) <= FEW and not pa.types.is_temporal(kind):
        return column(data.to_pylist())
    if pa.types.is_integer(kind) and data.null_count:
        gaps = data.is_null().to_numpy(zero_copy_only=False)
        return np.ma.masked_array(data.fill_null(0).to_numpy(zero_copy_only=False), gaps)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return in_utc(data.cast(pa.timestamp(kind.unit)).to_numpy(zero_copy_only=False))
    if pa.types.is_primitive(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.asarray(data.to_numpy(zero_copy_only=False))
    return column(data.to_pylist())
