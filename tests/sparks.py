"""One Spark for all tests of a process: starting it takes longer than any of them."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

TWICE = "local[2,2]"  # two cores of this machine; a task that failed is tried once more
HERE = Path(__file__).parent
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what runs once need not be compiled well
SUBMIT = (
    f"--driver-memory 1g --driver-java-options '{QUICK}' --conf 'spark.executor.extraJavaOptions={QUICK}' "
    "--conf spark.sql.shuffle.partitions=3 --conf spark.executor.memory=1g pyspark-shell"
)


@dataclass(frozen=True)
class Running:
    """A session, the folder where it puts things aside, and how it ends."""

    master: str
    session: Any
    aside: Path
    ending: ExitStack

    now: ClassVar[Running | None] = None


def running(master: str = TWICE) -> Running:
    """The session at this master: the one that runs, or a new one in its place."""
    if Running.now is None or Running.now.master != master:
        end()
        Running.now = _started(master)
    return Running.now


def _started(master: str) -> Running:
    from cluster import quick_folder

    from headcount_service.lake.session import session

    ending, aside = ExitStack(), quick_folder("headcount-spark-")
    ending.callback(shutil.rmtree, aside, ignore_errors=True)
    ending.callback(_end_java)
    with pytest.MonkeyPatch.context() as patch:  # executors take it along
        folders = (*sys.path, *map(str, HERE.iterdir()))
        patch.setenv("PYTHONPATH", os.pathsep.join(folders))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_DIRS", str(aside))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_SUBMIT_ARGS", SUBMIT)
        made = ending.enter_context(session(master))
    made.sparkContext.setLogLevel("OFF")
    return Running(master, made, aside, ending)


@atexit.register
def end() -> None:
    """What a session is started with holds for every session after it in the same Java machine: that ends, too."""
    if Running.now is not None:
        Running.now.ending.close()
        Running.now = None
        gc.collect()


def _end_java() -> None:
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.kill()
    gateway.proc.stdin.close()
    gateway.proc.wait()
