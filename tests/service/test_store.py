"""What databases must do, and what becomes of a party whose does not: old copies, other versions, settings that are not
taken, a full disk."""

import json
import os
import shutil
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from alembic import op
from processes import Child
from rig import WINDOW, Rig, asked, counted, made, plan
from serving import Served
from sqlalchemy import event

from headcount.common.canonical import canonical
from headcount.errors import BadArgument, Damaged, Unavailable, Unsupported
from headcount.ledger.chain import sealed
from headcount.ledger.ledger import Ledger
from headcount_service.party import Party
from headcount_service.store import database as databases_of
from headcount_service.store.account import Account
from headcount_service.store.database import PRAGMAS, Database, do, many, one
from headcount_service.store.schema import migrate, revert

only_sqlite = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
only_postgresql = pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
ROLES = ("shuffler", "analyser")


# Old copies.


@contextmanager
def put_back(rig, databases, request):
    """The analyser's database is as it was before, whatever happens in between."""
    if not databases:
        path = rig.folder / "analyser" / "party.db"
        shutil.copy(path, rig.folder / "copy")
        yield
        shutil.copy(rig.folder / "copy", path)
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        return
    cluster, name = request.getfixturevalue("postgres"), databases["analyser"].partition("@/")[2].partition("?")[0]
    copy = cluster.database(name)
    yield
    cluster.drop(name)
    cluster.database(copy, name)
    cluster.drop(copy)


@pytest.fixture
def told(rig, databases, request):
    """A batch that was paid for and told, and of which the database knows nothing any more."""
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
        parties.reported(collection, 0, 1, 2)
        rig.clock.now += WINDOW
        parties.batches.advance()
    with put_back(rig, databases, request), rig.opened() as parties:
        assert parties.release(collection).status == 200
    return collection


def test_a_restored_old_database_tells_nothing(told, rig):
    """It would tell what was told before, or something else, for a budget that is spent."""
    with rig.opened() as parties:
        path = f"/v1/collections/{told.id}/batches/1/release"
        token = parties.tokens["analyser"]["analyst"]
        answer = parties.loop.run_until_complete(asked(parties.apps["analyser"], "POST", path, token=token))
        assert answer.status == 500
        assert "an old copy was put back" in answer.json["error"]
        assert parties.states(told, "analyser") == {1: "delivered"}


def test_without_its_witness_nobody_would_notice(told, rig):
    """The twin takes the ledger's word for it."""
    with rig.opened() as parties:
        assert Ledger.of(Account(parties.analyser.database, "people")).reserved == (1,)


def test_a_witness_that_has_seen_charges_is_no_reason_to_refuse_a_ledger_that_has_them(rig):
    """Whoever starts again, or as another instance, finds both as they are."""
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
        parties.reported(collection, 0, 1, 2)
        rig.clock.now += WINDOW
        parties.batches.advance()
        answer = parties.release(collection)
    for _ in range(2):
        with rig.opened() as parties:
            assert parties.analyser.ledger("people").questions == 1
            assert parties.release(collection).body == answer.body


def test_a_charge_that_somebody_edited_is_noticed(rig):
    with rig.opened() as parties:
        parties.endowed(epsilon=1)
        with parties.analyser.database.writing() as connection:
            before = one(connection, "SELECT line FROM charges")["line"]
            line = before.replace('"epsilon":"1', '"epsilon":"9')
            assert line != before
            do(connection, "UPDATE charges SET line = :line", line=line)
    with rig.opened() as parties, pytest.raises(Damaged):
        parties.analyser.ledger("people")


# Versions.


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("found", "words"), [("{}_99", "a later version"), ("{}_1", "another role"), ("", "another")])
def test_tables_of_another_version_are_refused(rig, role, found, words):
    other = ROLES[1 - ROLES.index(role)] if words == "another role" else role
    with rig.opened() as parties, parties.opened[role].database.writing() as connection:
        do(connection, "UPDATE schema_version SET version_num = :found", found=found.format(other))
    with pytest.raises(Unsupported, match=words):
        Party.read(rig.folder / role).open()


@pytest.mark.parametrize("role", ROLES)
def test_the_steps_of_a_schema_go_down_and_up_with_data_in_it(rig, role):
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
        parties.reported(collection, 0, 1, 2)
        rig.clock.now += WINDOW
        parties.batches.advance()
    opened = Party.read(rig.folder / role).open()
    with closing(opened):
        columns = tables(opened.database)
        revert(opened.database, role, "base")
        assert "collections" not in tables(opened.database)
        migrate(opened.database, role)
        assert {name: columns[name] for name in tables(opened.database)} == tables(opened.database)
        assert opened.tokens.table() == []


# What was begun before.


def of_the_first_form(parties, collection):
    """An open batch as it was stored when the salt was in the database, and reports in the clear."""
    shuffler = parties.shuffler
    with shuffler.database.writing() as connection:
        batch = one(connection, "SELECT * FROM batches")
        do(connection, "UPDATE batches SET form = 1, salt = :salt", salt=os.urandom(32))
    shuffler.keys.delete(f"reports-{batch['tag']}")
    reports = parties.reported(collection, 0, 1, 2)
    with shuffler.database.reading() as connection:
        kept = {bytes(row["messages"]) for row in many(connection, f"SELECT messages FROM reports_{batch['tag']}")}
    assert kept == {b"".join(report.messages) for report in reports}
    return reports


def mixed_in_the_first_form(parties):
    """The same when it is mixed and not yet delivered."""
    kept, database = parties.shuffler.tables, parties.shuffler.database
    with database.writing() as connection:
        batch = one(connection, "SELECT * FROM batches")
        part = kept.part(connection, batch, 0)
        do(connection, f"CREATE TABLE mixed_{batch['tag']} (part INTEGER PRIMARY KEY, content {database.bytes})")
        do(connection, f"INSERT INTO mixed_{batch['tag']} VALUES (0, :part)", part=part)
        do(connection, f"DROP TABLE mixed_{batch['mixed']}")
        do(connection, "UPDATE batches SET form = 1, mixed = NULL")
    kept.keys.delete(f"mixed-{batch['mixed']}")


@pytest.mark.parametrize("state", ["open", "sealed", "shuffled"])
def test_a_batch_that_was_begun_before_is_finished_after_the_migration(rig, state):
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
        reports = of_the_first_form(parties, collection)
        if state != "open":
            rig.clock.now += WINDOW
            parties.batches.seal(collection.id, 1)
        if state == "shuffled":
            parties.batches.shuffle(collection.id, 1)
            mixed_in_the_first_form(parties)
        revert(parties.shuffler.database, "shuffler", "shuffler_1")
    with rig.opened() as parties:
        expected = [1, 1, 1, 0]
        if state == "open":
            assert parties.report(collection, 1, reports[1].body).status == 200
            parties.reported(collection, 3)
            told = parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")
            assert told["batches"][0]["reports"] == 4
            expected = [1, 1, 1, 1]
        rig.clock.now += WINDOW
        assert parties.batches.advance() == []
        assert parties.states(collection) == {1: "purged"}
        assert counted(collection, parties.release(collection).json)[:4] == expected
        assert not [name for name in parties.shuffler.keys.names() if name.startswith("mixed-")]


def test_a_collection_that_was_agreed_on_and_delivered_before_is_finished_after_the_upgrade(rig):
    """Of version 0.2: its format, its bare signatures, the first schema, and nothing reserved."""
    with rig.opened() as parties:
        parties.endowed(epsilon=5)
        parties.analyser.signer, parties.shuffler.signer = Bare(parties.analyser.signer), Bare(parties.shuffler.signer)
        parties.shuffler.outer.signer = parties.shuffler.signer
        collection = parties.agreed(plan(), batches=3, version=1)
        assert "automatic" not in collection.to_json()
        for _ in range(2):
            parties.reported(collection, 0, 1, 2)
            rig.clock.now += WINDOW
            parties.batches.advance()
        parties.reported(collection, 3, 4, 5)
        assert parties.release(collection, 2).status == 200
    forget_reservations(rig)
    with rig.opened() as parties:
        assert parties.states(collection, "analyser") == {1: "delivered", 2: "released"}
        rig.clock.now += WINDOW
        parties.batches.advance()
        told = [parties.release(collection, batch).json for batch in (1, 2, 3)]
        assert [counted(collection, each)[:6] for each in told] == [[1, 1, 1, 0, 0, 0]] * 2 + [[0, 0, 0, 1, 1, 1]]
        assert [each.get("early") for each in told] == [None, None, False]
        ledger = parties.analyser.ledger("people")
        assert (ledger.questions, ledger.reserved) == (3, ())
        assert parties.analyser.keys.names() == ["identity"]


class Bare:
    """Signs as version 0.2 did: canonical JSON, for no purpose, of a manifest that tells nothing of an early end."""

    def __init__(self, signer):
        self._signer, self.public, self.secret = signer, signer.public, signer.secret

    def signed(self, _, content):
        own = {name: part for name, part in content.items() if name != "early"}
        return {**own, "signature": self._signer._key.sign(canonical(own).encode()).hex()}


def forget_reservations(rig):
    """The first batch was delivered and not charged, the second was released and charged; in the first schema."""
    opened = Party.read(rig.folder / "analyser").open()
    with closing(opened):
        with opened.database.writing() as connection:
            lines = [json.loads(row["line"]) for row in many(connection, "SELECT line FROM charges ORDER BY number")]
            do(connection, "DELETE FROM charges WHERE number > 0")
            do(connection, "UPDATE batches SET charge = NULL WHERE number = 1")
            do(connection, "UPDATE batches SET charge = 1 WHERE number = 2")
            charge = {name: part for name, part in lines[2].items() if name not in ("hash", "reserved")} | {"number": 1}
            line, seal = sealed(charge, lines[0]["hash"])
            new = "INSERT INTO charges VALUES ('people', 1, :line)"
            do(connection, new, line=line.decode())
            do(connection, "UPDATE populations SET head = :head", head=seal)
        revert(opened.database, "analyser", "analyser_1")
    for path in (rig.folder / "analyser" / "witness").iterdir():
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


def tables(database):
    """The columns of each, by its name."""
    listed = (
        "SELECT m.name AS name, p.name AS column FROM sqlite_master m, pragma_table_info(m.name) p WHERE "
        "m.type = 'table'"
        if database.embedded
        else "SELECT table_name AS name, column_name AS column FROM information_schema.columns WHERE table_schema = "
        "'public'"
    ).replace("AS column", 'AS "column"')
    found = {}
    with database.reading() as connection:
        for row in many(connection, listed):
            found.setdefault(row["name"], set()).add(row["column"])
    return found


@pytest.mark.parametrize("role", ROLES)
def test_a_schema_is_made_whole_or_not_at_all(databases, folder, role, monkeypatch):
    """A step that fails half way leaves nothing; the next start makes it."""
    address = databases.get(role) or f"sqlite:///{folder / 'new.db'}"
    create, left = op.create_table, [3]

    def fails(*given, **named):
        left[0] -= 1
        if not left[0]:
            raise RuntimeError("the power went off")
        return create(*given, **named)

    with closing(Database.open(address)) as database:
        with monkeypatch.context() as once:
            once.setattr(op, "create_table", fails)
            with pytest.raises(RuntimeError):
                migrate(database, role)
        assert tables(database) == {}
        migrate(database, role)
        assert "collections" in tables(database)


def open_it(say, address):
    with closing(Database.open(address)) as database:
        migrate(database, "shuffler")
    say(b"opened")


def test_many_who_open_a_new_database_at_once_all_do(databases, folder):
    address = databases.get("shuffler") or f"sqlite:///{folder / 'new.db'}"
    children = [Child(open_it, address) for _ in range(6)]
    assert [child.said() for child in children] == [[b"opened"]] * 6
    assert [child.code for child in children] == [0] * 6


# Settings.


@only_sqlite
def test_every_connection_has_every_setting(parties):
    for opened in parties.opened.values():
        engines = [opened.database.engine.connect() for _ in range(3)]
        for connection in engines:
            found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in PRAGMAS}
            assert found == PRAGMAS
            connection.close()
        assert opened.database.engine.dialect.dbapi.sqlite_version_info >= databases_of.OLDEST_SQLITE


def test_a_database_that_does_not_take_a_setting_is_refused(tmp_path, monkeypatch):
    """The twins: one that cannot keep a log beside it, and one that would not wait for the disk."""
    monkeypatch.chdir(tmp_path)
    unsaved = Database(databases_of._sqlite(Path(":memory:")), "")
    with closing(unsaved), pytest.raises(Unsupported, match="journal_mode = wal"), unsaved.reading():
        pass
    monkeypatch.setitem(PRAGMAS, "synchronous", 9)
    hasty = Database.open(f"sqlite:///{tmp_path}/own.db")
    with closing(hasty), pytest.raises(Unsupported, match="synchronous = 9"), hasty.reading():
        pass


def test_an_old_sqlite_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(databases_of, "OLDEST_SQLITE", (99, 0, 0))
    with pytest.raises(Unsupported, match=r"at least 99\.0\.0"):
        Database.open(f"sqlite:///{tmp_path}/own.db")


@only_postgresql
def test_postgresql_keeps_what_it_says_whatever_its_defaults_are(databases, monkeypatch):
    name = databases["shuffler"].partition("@/")[2].partition("?")[0]
    with closing(Database.open(databases["shuffler"])) as database, database.writing() as connection:
        do(connection, f"ALTER DATABASE {name} SET synchronous_commit = off")
        do(connection, f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    with closing(Database.open(databases["shuffler"])) as database, database.reading() as connection:
        assert one(connection, "SHOW synchronous_commit")["synchronous_commit"] == "on"
        assert one(connection, "SHOW transaction_isolation")["transaction_isolation"] == "read committed"
    monkeypatch.setitem(databases_of.SETTINGS, "fsync", "off")
    hasty = Database.open(databases["shuffler"])
    with closing(hasty), pytest.raises(Unsupported, match="fsync"), hasty.reading():
        pass


def test_what_is_in_a_folder_is_for_its_owner_alone(rig):
    with rig.opened() as parties:
        parties.endowed()
        parties.agreed(plan())
    found = {path: path.stat().st_mode & 0o077 for path in rig.folder.rglob("*") if path.is_file()}
    assert {path.name for path, mode in found.items() if mode} == set()
    assert any(path.suffix == ".key" for path in found)


@pytest.mark.parametrize("address", ["mysql://here/db", "sqlite://", "nonsense", "sqlite:////no/such/folder/a.db"])
def test_an_address_that_cannot_be_used_is_refused(address):
    with pytest.raises(BadArgument, match="database"):
        Database.open(address)


def test_a_database_that_has_gone_away_is_said_so_in_one_line(folder):
    gone = Database.open(f"postgresql://headcount@/none?host={folder}")
    with closing(gone), pytest.raises(Unavailable, match="the database refused"), gone.reading():
        pass


# A full disk.


@contextmanager
def small_disk(folder):
    """Two megabytes; and a way to make it larger."""
    place = folder / "disk"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    options = [mount, "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", place]
    if os.getuid() or not mount or not umount or subprocess.run(options, capture_output=True).returncode:
        pytest.skip("a small disk can be made by root only, where mounting is allowed")
    try:
        yield place, lambda: subprocess.run([mount, "-o", "remount,size=32m", place], check=True)
    finally:
        subprocess.run([umount, "--lazy", place], check=True)


def test_a_full_disk_loses_nothing_and_recovers_by_itself(folder):
    with small_disk(folder) as (place, grow):
        rig = Rig.made(place)
        with rig.opened() as parties:
            parties.endowed()
            collection = parties.agreed(plan(2_000, messages=8))
            kept, refused = filled(parties, collection)
            assert kept
            assert {answer.status for answer in refused} == {503}
            assert {answer.headers["retry-after"] for answer in refused} == {"2"}
            assert parties.ask("shuffler", "GET", "/live").status == 200
            grow()
            more = parties.reported(collection, 1_999)
            finished(parties, collection, {*kept, more[0].bucket})


def test_on_a_full_disk_nothing_is_told_and_later_it_is_paid_for_once(folder):
    with small_disk(folder) as (place, _):
        rig = Rig.made(place)
        with rig.opened() as parties:
            parties.endowed()
            collection = parties.agreed(plan())
            parties.reported(collection, *range(12))
            rig.clock.now += WINDOW
            parties.batches.advance()
            path, token = f"/v1/collections/{collection.id}/batches/1/release", rig.tokens["analyser"]["analyst"]
            statuses = []
            for left in (0, 0, 20_000, 60_000):
                full(place / "filler", left)
                asking = asked(parties.apps["analyser"], "POST", path, token=token)
                statuses.append(parties.loop.run_until_complete(asking).status)
            assert statuses[:2] == [503, 503]
            assert {*statuses} <= {200, 503}
            (place / "filler").unlink()
            assert counted(collection, parties.release(collection).json) == [1] * 12
            assert parties.analyser.ledger("people").questions == 1
        with rig.opened() as parties:
            assert parties.analyser.ledger("people").questions == 1


def full(filler, left):
    """Takes all of the disk but so many bytes."""
    filler.unlink(missing_ok=True)
    disk = os.statvfs(filler.parent)
    with filler.open("wb") as file:
        file.write(bytes(max(0, disk.f_bavail * disk.f_frsize - left)))


@only_sqlite
def test_a_database_that_may_not_grow_loses_nothing_either(parties):
    """Where no disk can be made: SQLite is told how large its file may be."""
    parties.endowed()
    collection = parties.agreed(plan(2_000, messages=8))
    database = parties.shuffler.database
    pages = database.engine.connect()
    now = pages.exec_driver_sql("PRAGMA page_count").scalar()
    pages.close()
    with limited(database, now + 20):
        kept, refused = filled(parties, collection)
        assert kept
        assert {answer.status for answer in refused} == {503}
    finished(parties, collection, kept)


@contextmanager
def limited(database, pages):
    """A connection is told when it is made."""

    def told(connection, _):
        connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()

    database.close()
    event.listen(database.engine, "connect", told)
    yield
    event.remove(database.engine, "connect", told)
    database.close()


def filled(parties, collection):
    """Reports until five in a row are refused: whose were kept, and the refusals."""
    offer, kept, refused = parties.offer(collection), set(), []
    path = f"/v1/collections/{collection.id}/batches/1/reports"
    for bucket in range(1_990):
        body = made(collection, offer, bucket).body
        answer = parties.loop.run_until_complete(asked(parties.apps["shuffler"], "POST", path, body))
        if answer.status == 200:
            kept.add(bucket)
        else:
            refused.append(answer)
        if len(refused) == 5:
            return kept, refused
    raise AssertionError("there is room for everybody")


def finished(parties, collection, kept):
    parties.clock.now += WINDOW
    parties.batches.advance()
    result = counted(collection, parties.release(collection).json)
    assert {bucket for bucket, count in enumerate(result) if count} == {*kept}
    assert {*result} == {0, 1}


# Two of one.


def test_two_servers_on_one_database_count_everybody_once(rig):
    """Whichever of them a report comes to, and comes to again."""
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), opens=int(rig.clock.now), window=86_400)
        offer = parties.offer(collection)
    path = f"/v1/collections/{collection.id}"
    with Served(rig).running() as one_of_them, Served(rig).running() as other:
        with one_of_them.caller("shuffler", "operator") as here, other.caller("shuffler", "operator") as there:
            for bucket in range(12):
                body = made(collection, offer, bucket).body
                for server in (here, there, here)[bucket % 2 :]:
                    assert server.ask("POST", f"{path}/batches/1/reports", body).status == 200
            here.told("POST", f"{path}/close")
            until = time.monotonic() + 120
            while there.told("GET", f"{path}/state")["batches"][0]["state"] != "purged":
                assert time.monotonic() < until
                time.sleep(0.05)
        with one_of_them.caller("analyser", "analyst") as here, other.caller("analyser", "analyst") as there:
            answers = [server.ask("POST", f"{path}/batches/1/release").body for server in (here, there)]
        assert answers[0] == answers[1]
    with rig.opened() as parties:
        assert counted(collection, parties.release(collection).json) == [1] * 12
        assert parties.analyser.ledger("people").questions == 1


@only_sqlite
def test_a_second_server_at_the_same_address_is_refused(rig):
    with Served(rig).running() as first:
        second = Served(rig)
        second.ports = first.ports
        with pytest.raises(AssertionError):
            second.start()
        assert second.ended() != 0
        with first.caller("shuffler") as anybody:
            assert anybody.ask("GET", "/live").status == 200
