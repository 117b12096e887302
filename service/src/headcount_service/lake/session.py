"""Spark sessions: quiet, and with encrypted spill files."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headcount.errors import BadArgument, MissingExtra, Refused, without_cause

SETTINGS = {
    "spark.app.name": "headcount",
    "spark.ui.enabled": "false",  # its pages show how many rows each task had
    "spark.eventLog.enabled": "false",  # and so does this
    "spark.io.encryption.enabled": "true",  # spill files of executors
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",  # little is left to do after messages are open
}
ASK_SPARK = "check that the files are intact; Spark's log says more"
REMOTE = "sc://"  # how an address of Spark Connect begins


@contextmanager
def session(address: str = "") -> Iterator[Any]:
    """The running session, or a new one at this address, which is stopped afterwards."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("a data lake", "spark") from None
    if not address and (active := SparkSession.getActiveSession()) is not None:
        yield active
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "unclosed", ResourceWarning)  # sockets that answers came through
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)  # pandas, which is not used
        made = _made(SparkSession.builder, address)
        try:
            yield made
        finally:
            made.stop()
            gc.collect()


def _made(builder: Any, address: str) -> Any:
    if address.startswith(REMOTE):
        return builder.remote(address).getOrCreate()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return (builder.master(address) if address else builder).config(map=SETTINGS).getOrCreate()


@contextmanager
def refusing(problem: str, works: str, argument: str = "folder") -> Iterator[None]:
    """Re-raises errors of Spark, without the values that they quote."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except Refused:
        raise
    except (PySparkException, Py4JError):
        without_cause(BadArgument(argument, problem, works))
