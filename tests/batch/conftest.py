"""Both parties in a folder, a collection, and reports to it; and one Spark for all tests of a module."""

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest

import needs
from sparks import own_java

sys.path.insert(0, str(Path(__file__).parents[1] / "service"))

from cluster import quick_folder
from rig import Rig

from headcount.lake.session import session

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what runs once need not be compiled well
SUBMIT = (
    f"--driver-memory 1g --driver-java-options '{QUICK}' --conf 'spark.executor.extraJavaOptions={QUICK}' "
    "--conf spark.sql.shuffle.partitions=3 --conf spark.executor.memory=1g pyspark-shell"
)


def pytest_collection_modifyitems(items):
    """Spark leaves the sockets that answers came through to the collector of garbage."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"))


@pytest.fixture
def folder():
    """Somewhere quick, gone afterwards."""
    folder = quick_folder("headcount-lake-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def aside():
    """Where Spark puts things aside."""
    folder = quick_folder("headcount-spark-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def spark(request, aside):
    """Two cores of this machine, unless a module says otherwise."""
    needs.java()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_DIRS", str(aside))
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # the executors' too
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_SUBMIT_ARGS", SUBMIT)
        with own_java(), session(getattr(request.module, "MASTER", "local[2]")) as made:
            yield made
        gc.collect()


@pytest.fixture
def parties(folder):
    with Rig.made(folder).opened() as at_work:
        at_work.endowed(delta=1e-5)
        yield at_work
