"""Both parties in a folder, a collection, and reports to it."""

import shutil

import pytest
from cluster import quick_folder
from rig import Rig

import sparks


@pytest.fixture
def folder():
    """Somewhere quick, gone afterwards."""
    folder = quick_folder("headcount-lake-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def aside(spark):
    """Where Spark puts things aside."""
    return sparks.Running.now.aside


@pytest.fixture
def parties(folder):
    with Rig.made(folder).opened() as at_work:
        at_work.endowed(delta=1e-5)
        yield at_work
