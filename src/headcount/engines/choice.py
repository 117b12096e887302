"""Which engine: that of the place where the data lie."""

from __future__ import annotations

from typing import Any

from headcount.engines.engine import Engine
from headcount.engines.memory import MemoryEngine
from headcount.engines.tables import is_dataset, is_path


def engine_for(data: Any) -> Engine:
    """Files and streams are read by DuckDB, Spark's frames stay on Spark, and all else has its columns in memory."""
    if type(data).__module__.startswith("pyspark.sql."):
        from headcount.engines.spark import SparkEngine

        return SparkEngine()
    columnar = hasattr(data, "to_numpy") or hasattr(data, "column_names")
    if is_path(data) or is_dataset(data) or (hasattr(data, "__arrow_c_stream__") and not columnar):
        from headcount.engines.arrow import ArrowEngine

        return ArrowEngine()
    return MemoryEngine()
