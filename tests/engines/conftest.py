"""One Spark session for all the tests of a module: starting it takes longer than any of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import needs
from sparks import own_java


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    needs.java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
    with own_java():
        session = quiet.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
