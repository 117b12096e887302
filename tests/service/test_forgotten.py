"""What a shuffler's database keeps of a batch in its own files: nothing that can be read, while it is open or after it.

Looked into are heap, log, statistics, TOAST, temporary files and what else there is. The analyser, which has the mixed
messages, is on another database. SQLite and PostgreSQL are treated alike.
"""

import time
from pathlib import Path

import pytest
from rig import WINDOW, Rig, plan
from sqlalchemy import text
from test_canary import rejoined
from test_crash_points import DIED, Story

from headcount_service.runtime.crash_points import POINTS
from headcount_service.store.database import do, many
from headcount_service.store.encryption import Encrypted
from stress import some

PROBE = slice(0, 24)  # of a message: random bytes, as all of it
QUICK = ("while mixing", "when it is mixed")


@pytest.fixture
def empty():
    return True


@pytest.fixture
def rig(databases, folder):
    """Only the shuffler's database may be PostgreSQL, and files are new."""
    return Rig.made(folder, {role: address for role, address in databases.items() if role == "shuffler"})


class Files:
    """Of the shuffler and its database, as far as they were written since the test began."""

    def __init__(self, rig, databases, request):
        self._start = time.time() - 1
        self._places = [rig.folder / "shuffler"]
        if databases:
            self._places.append(request.getfixturevalue("postgres").folder)
        self.keys = rig.folder / "shuffler" / "keys"

    def content(self):
        for place in self._places:
            for path in sorted(place.rglob("*")):
                if path.is_file() and path.stat().st_mtime >= self._start:
                    found = path.read_bytes()
                    yield path, rejoined(found) if path.parent.name == "pg_wal" else found

    def hits(self, secrets):
        """In which files any of these is, as it is or in hexadecimal digits."""
        forms = [form for secret in secrets for form in (secret, secret.hex().encode())]
        return {path.parent.name for path, content in self.content() if any(form in content for form in forms)}

    @property
    def secrets(self):
        """Those of open batches, as they lie in the key folder."""
        return [path.read_bytes() for path in self.keys.iterdir() if path.name.startswith(("reports-", "mixed-"))]


@pytest.fixture
def files(rig, databases, request):
    return Files(rig, databases, request)


def probes(reports):
    return [message[PROBE] for report in reports for message in report.messages]


def looked_at(parties):
    """The database does with its tables what it does at times by itself."""
    with parties.shuffler.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
        if not parties.shuffler.database.embedded:
            connection.execute(text("CHECKPOINT"))


def released(parties, collection):
    parties.clock.now += WINDOW
    parties.batches.advance()
    assert parties.release(collection).status == 200


def purged(parties, collection):
    for _ in range(collection.holds + 1):
        parties.clock.now += WINDOW
        parties.batches.advance()


def destroyed(parties, collection):
    parties.told("shuffler", "DELETE", f"/v1/collections/{collection.id}")


ENDS = {
    "released": (released, 12, {}),
    "purged": (purged, 2, {"shortfall": "purge", "holds": 0}),
    "held, then purged": (purged, 2, {"holds": 2}),
    "destroyed": (destroyed, 12, {}),
}


def ended(rig, files, end):
    """A batch that comes to this end, with its messages, its secrets, and where they were found meanwhile."""
    finish, people, terms = ENDS[end]
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), **terms)
        reports = parties.reported(collection, *range(people))
        looked_at(parties)
        found, secrets = files.hits(probes(reports)), files.secrets
        finish(parties, collection)
        assert parties.states(collection) == {1: "purged"}
        looked_at(parties)
    return probes(reports), secrets, found


@pytest.mark.parametrize("end", ENDS)
def test_nothing_is_left_of_a_batch_whatever_its_end(end, rig, files):
    messages, secrets, meanwhile = ended(rig, files, end)
    assert secrets
    assert meanwhile == set()
    assert files.hits(messages) == set()
    assert files.secrets == []
    assert files.hits(secrets) == set()


@pytest.mark.parametrize("end", ENDS)
def test_a_shuffler_that_does_not_encrypt_is_found_out(end, rig, files, databases, monkeypatch):
    """The twin, which trusts the database to delete: PostgreSQL's log has it all, long after the batch."""
    monkeypatch.setattr(Encrypted, "sealed", lambda _, content, __: content)
    monkeypatch.setattr(Encrypted, "opened", lambda _, content, __: content)
    messages, _, meanwhile = ended(rig, files, end)
    assert meanwhile
    if databases:
        assert "pg_wal" in files.hits(messages)


@pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
def test_postgresql_makes_no_statistics_of_reports(rig):
    """They would be copies of values, which stay when the table is dropped."""
    with rig.opened() as parties:
        parties.endowed()
        parties.reported(parties.agreed(plan()), *range(12))
        looked_at(parties)
        listed = "SELECT tablename, attname FROM pg_stats WHERE tablename LIKE 'reports_%'"
        with parties.shuffler.database.reading() as connection:
            assert many(connection, listed) == []
        with parties.shuffler.database.writing() as connection:  # the twin
            [table] = many(connection, "SELECT relname FROM pg_class WHERE relname ~ '^reports_[0-9a-f]+$'")
            do(connection, f"ALTER TABLE {table['relname']} ALTER COLUMN messages SET STATISTICS 100")
        looked_at(parties)
        with parties.shuffler.database.reading() as connection:
            assert len(many(connection, listed)) == 1


@pytest.mark.parametrize("point", some(POINTS, lambda point: point in QUICK))
def test_nothing_is_left_after_a_crash(point, rig, files):
    """Neither when the process has died, nor when another one has finished the batch."""
    story = Story(rig)
    messages, secrets = probes(story.reports), files.secrets
    assert story.lived(die_at=point)[0] == DIED
    assert files.hits(messages) == set()
    secrets += files.secrets
    assert story.lived()[0] == 0
    assert files.hits(messages) == set()
    assert files.secrets == []
    assert files.hits(secrets) == set()
    assert Path(files.keys / "identity.key").exists()
