"""Either database, as the service finds it: SQLite in a file, PostgreSQL in a cluster of its own."""

import shutil

import pytest
from cluster import quick_folder, started
from rig import Rig

import needs


@pytest.fixture(scope="session")
def postgres():
    """The cluster, one for all tests of a process."""
    with started(needs.postgresql()) as cluster:
        yield cluster


@pytest.fixture
def folder():
    """Somewhere quick, gone afterwards."""
    folder = quick_folder("headcount-test-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request, folder):
    """An address for each party, of a database that is empty, unless it is SQLite."""
    if request.param == "sqlite":
        yield {}  # it is in the party's folder
        return
    cluster = request.getfixturevalue("postgres")
    names = {role: cluster.database() for role in ("shuffler", "analyser")}
    yield {role: cluster.address(name) for role, name in names.items()}
    for name in names.values():
        cluster.drop(name)


@pytest.fixture
def rig(databases, folder):
    """Both parties, on either database."""
    return Rig.made(folder, databases)


@pytest.fixture
def parties(rig):
    """The same, at work."""
    with rig.opened() as at_work:
        yield at_work
