"""Which engine: that of the place where the data lie."""

from __future__ import annotations

from typing import Any

from headcount.engines.engine import Engine
from headcount.engines.memory import MemoryEngine
from headcount.engines.tables import is_path

IN_MEMORY = ("pandas", "polars", "pyarrow.lib.Table")  # whose columns are arrays already


def engine_for(data: Any) -> Engine:
    """Files and streams are read by DuckDB, Spark's frames stay on Spark, and all else is in memory."""
    kind = f"{type(data).__module__}.{type(data).__name__}"
    if kind.startswith("pyspark.sql."):
        from headcount.engines.spark import SparkEngine

        return SparkEngine()
    if is_path(data) or (hasattr(data, "__arrow_c_stream__") and not kind.startswith(IN_MEMORY)):
        from headcount.engines.arrow import ArrowEngine

        return ArrowEngine()
    return MemoryEngine()
