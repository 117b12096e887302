"""Either database, as the service finds it: SQLite in a file, PostgreSQL in a cluster of its own."""

import shutil

import pytest
from cluster import quick_folder, started
from rig import Rig

import needs

ROLES = ("shuffler", "analyser")


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


@pytest.fixture
def empty(request):
    """Whether databases are: not where there are parties, which are copies."""
    return "rig" not in request.fixturenames


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request, folder, empty):
    """An address for each party, unless it is SQLite."""
    if request.param == "sqlite":
        yield {}  # it is in the party's folder
        return
    cluster = request.getfixturevalue("postgres")
    like = {} if empty else request.getfixturevalue("first_on_postgresql")[1]
    names = {role: cluster.database(like.get(role, "template1")) for role in ROLES}
    yield {role: cluster.address(name) for role, name in names.items()}
    for name in names.values():
        cluster.drop(name)


@pytest.fixture(scope="session")
def first():
    """Both parties on SQLite, made once for all tests of a process, which copy them."""
    folder = quick_folder("headcount-first-")
    yield Rig.made(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def first_on_postgresql(postgres):
    """The same on PostgreSQL, with the names of their databases."""
    folder = quick_folder("headcount-first-")
    names = {role: postgres.database() for role in ROLES}
    yield Rig.made(folder, {role: postgres.address(name) for role, name in names.items()}), names
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def rig(request, databases, folder):
    """Both parties, on either database."""
    first = request.getfixturevalue("first_on_postgresql")[0] if databases else request.getfixturevalue("first")
    return first.copied(folder, databases)


@pytest.fixture
def parties(rig):
    """The same, at work."""
    with rig.opened() as at_work:
        yield at_work
