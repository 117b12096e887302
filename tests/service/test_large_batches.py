"""A batch that is larger than memory, from its reports in the database to the end of its mixed messages."""

import os
import sys
from pathlib import Path

import pytest
from processes import Child
from rig import plan

from headcount.protocols.base.report_size import HYBRID, IDENTITY
from headcount_service.party import SETTINGS, Party
from headcount_service.shuffler import external_shuffle as scatter
from headcount_service.shuffler.batches import Batches
from headcount_service.shuffler.shuffler import BATCH
from headcount_service.store import database
from headcount_service.store.database import Database, do, one, update_batch
from stress import lengths

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="how much memory was used at most is asked of Linux")

MESSAGES = 8
MEMORY = 40  # megabytes more than the process had, at most
AT_ONCE = 1 << 20  # bytes that are read or mixed at once here; a copy or two of them are in memory
TOGETHER = 1_000


def filled(parties, collection, reports):
    """A batch of reports of random bytes, which nobody has to open here."""
    size, shuffler = MESSAGES * collection.report_format(1).message_bytes, parties.shuffler
    with shuffler.database.reading() as connection:
        batch = one(connection, BATCH, name=collection.id, number=1)
    for start in range(0, reports, TOGETHER):
        names = [at.to_bytes(IDENTITY, "big") for at in range(start, start + TOGETHER)]
        with shuffler.database.writing() as connection:
            shuffler.tables.add(connection, batch, [{"id": n, "who": n, "messages": os.urandom(size)} for n in names])
    with shuffler.database.writing() as connection:
        update_batch(connection, batch, state="sealed", reports=reports, added=0)


def most_memory():
    """Megabytes that were in use at once, since it was last forgotten."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) >> 10


def mixed_and_dropped(say, folder, name):
    """Mixed and thrown away, as after its delivery; how much more memory that took."""
    scatter.MEMORY = scatter.BLOCK = database.AT_A_TIME = AT_ONCE
    opened = Party.read(folder / "shuffler" / SETTINGS).open()
    batches = Batches(opened.shuffler(), receiver=None)
    Path("/proc/self/clear_refs").write_text("5")
    before = most_memory()
    batches.shuffle(name, 1)
    with opened.database.writing() as connection:
        batch = one(connection, BATCH, name=name, number=1)
        assert batch["state"] == "shuffled"
        update_batch(connection, batch, state="delivered")
    batches.purge(name, 1)
    say(str(most_memory() - before).encode())
    opened.close()


def overwritten(say, *given):
    """The twin, which has SQLite overwrite what nobody can read."""
    Database.drop = lambda _, connection, table, __: do(connection, f"DROP TABLE IF EXISTS {table}")
    mixed_and_dropped(say, *given)


def needed(rig, reports, work):
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(messages=MESSAGES, suite=HYBRID), most=10**8)
        filled(parties, collection, reports)
        child = Child(work, rig.folder, collection.id)
        [told] = child.said()
        assert child.code == 0
        assert parties.states(collection) == {1: "purged"}
    return int(told)


@lengths("reports", 6_000, 60_000)
def test_a_batch_is_mixed_and_dropped_in_little_memory_whatever_its_size(rig, reports):
    assert needed(rig, reports, mixed_and_dropped) < MEMORY


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_batch_that_is_overwritten_at_once_takes_as_much_memory_as_it_is_large(rig):
    assert needed(rig, 6_000, overwritten) > MEMORY
