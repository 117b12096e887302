"""What operators rely on beside the promises: readiness, settings, modes of files, gauges."""

import os
import resource
import time
from pathlib import Path

import pytest
from cluster import started
from processes import Child
from rig import START, WINDOW, Rig, plan
from rig import asked as request
from serving import Served

import needs
from cli.shell import headcount as shell
from headcount.common.atomic_files import write_atomically, write_secret
from headcount.errors import BadArgument
from headcount_service import party
from headcount_service.client.device import Client, Limits
from headcount_service.operator.operator import Operator
from headcount_service.party import Party
from headcount_service.runtime.metrics import KEPT, CachedGauges
from headcount_service.shuffler.outer_keys import LIFETIME
from headcount_service.store.database import Database, do
from headcount_service.store.schema import _head, is_current
from headcount_service.wire.keys import Keys


def asked(parties, role, path):
    parties.apps[role]._looked = -1e9  # as if a second had passed
    return parties.loop.run_until_complete(_asked(parties.apps[role], path))


async def _asked(app, path):
    answer = await request(app, "GET", path)
    return answer.status, answer.json


# Ready, or only alive.


def test_a_party_whose_database_is_stopped_is_alive_and_not_ready(folder):
    """A PostgreSQL of its own is stopped, and started again."""
    with started(needs.postgresql()) as cluster:
        rig = Rig.made(folder, {role: cluster.address(cluster.database()) for role in ("shuffler", "analyser")})
        with Served(rig).running() as served:
            for role in ("shuffler", "analyser"):
                caller = served.caller(role)
                assert caller.ask("GET", "/ready").status == 200
                caller.close()
            cluster.stop()
            try:
                for role in ("shuffler", "analyser"):
                    caller = served.caller(role)
                    assert _until(caller, 503).json == {"error": "the database cannot be reached"}
                    assert caller.ask("GET", "/live").status == 200
                    caller.close()
            finally:
                cluster.start()
            for role in ("shuffler", "analyser"):
                caller = served.caller(role)
                assert _until(caller, 200).json == {"ready": True}
                caller.close()


def _until(caller, status):
    """One look serves everybody for a second."""
    for _ in range(100):
        answer = caller.ask("GET", "/ready")
        if answer.status == status:
            return answer
        time.sleep(0.1)
    pytest.fail(f"still {answer}")


def test_a_party_with_other_tables_or_without_its_keys_is_not_ready(parties):
    for role in ("shuffler", "analyser"):
        assert asked(parties, role, "/ready") == (200, {"ready": True})
        database, keys = parties.opened[role].database, parties.opened[role].keys
        assert is_current(database, role)
        with database.writing() as connection:
            do(connection, "UPDATE schema_version SET version_num = :later", later=f"{role}_999")
        assert asked(parties, role, "/ready") == (503, {"error": "the database is of another version"})
        assert asked(parties, role, "/live") == (200, {"live": True})
        with database.writing() as connection:
            do(connection, "UPDATE schema_version SET version_num = :now", now=_head(role))
        identity = keys.folder / "identity.key"
        identity.rename(keys.folder / "elsewhere")
        identity.write_bytes(b"no key")
        assert asked(parties, role, "/ready") == (503, {"error": "the keys cannot be read"})
        (keys.folder / "elsewhere").rename(identity)
        assert asked(parties, role, "/ready") == (200, {"ready": True})


# Files with secrets.


def test_a_file_that_others_could_read_does_not_stay_so(tmp_path):
    """Whoever has the old one open reads nothing of the new one."""
    path = tmp_path / "operator.token"
    path.write_text("old")
    path.chmod(0o644)
    with path.open() as reader:
        write_secret(path, "hc-new")
        assert reader.read() == "old"
    assert path.read_text() == "hc-new\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["operator.token"]


def test_every_file_with_a_secret_is_made_for_its_owner_alone(tmp_path, parties):
    old = os.umask(0)
    try:
        database = tmp_path / "party.db"
        database.write_bytes(b"")
        database.chmod(0o666)
        Database.open(f"sqlite:///{database}").close()
        Operator.write(tmp_path, analyser=("http://127.0.0.1:1", "hc-token"))
        parties.endowed()
        collection = parties.agreed(plan(), admission="invited")
        [code] = parties.invitations(collection, 1)
        device, offer = Client(tmp_path / "device", Limits(least=1), lambda: START), parties.offer(collection)
        device.obtain(offer, collection.id, invitation=code, remote=parties.calling("analyser"))
        report = device.prepare(offer, collection.id, 1, invitation=code)
        [token] = device.folder.glob("*.token")
        for path in (database, tmp_path / "desk.json", report, token):
            assert path.stat().st_mode & 0o077 == 0, path
        assert write_atomically(tmp_path / "plan.json", "{}").stat().st_mode & 0o777 == 0o666, (
            "what is no secret follows the umask"
        )
    finally:
        os.umask(old)


def _cut_short(say, folder):
    """Keeps a secret where files may have sixteen bytes."""
    keys = Keys(folder)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))
    try:
        keys.keep("reports-1", bytes(32))
    except OSError:
        say(b"refused")


def test_a_part_of_a_key_never_takes_its_place(tmp_path):
    """A disk that is nearly full may take the beginning of a file."""
    child = Child(_cut_short, tmp_path / "keys")
    assert child.said() == [b"refused"]
    assert child.code == 0
    assert list((tmp_path / "keys").iterdir()) == []


# Settings.


def test_the_environment_takes_the_place_of_settings(tmp_path):
    party.create(tmp_path / "analyser", "analyser")
    given = {
        "HEADCOUNT_LISTEN": "127.0.0.1:9999",
        "HEADCOUNT_DATABASE": "postgresql:///elsewhere",
        "HEADCOUNT_WITNESS": "/srv/witness",
        "HEADCOUNT_KEYS": "other",
        "HEADCOUNT_SPILL": "/srv",
        "PATH": "/bin",
    }
    found = Party.read(tmp_path / "analyser", given)
    assert (found.host, found.port, found.database) == ("127.0.0.1", 9999, "postgresql:///elsewhere")
    assert (found.witness, found.keys) == (Path("/srv/witness"), tmp_path / "analyser" / "other")
    assert Party.read(tmp_path / "analyser", {}) == Party.read(tmp_path / "analyser")
    for wrong in ("HEADCOUNT_DATABSE", "HEADCOUNT_PARTY"):
        with pytest.raises(BadArgument, match=f"{wrong} in the environment is no setting; there are HEADCOUNT_ANALY"):
            Party.read(tmp_path / "analyser", {wrong: "x"})


def test_commands_look_at_the_environment(tmp_path, monkeypatch):
    party.create(tmp_path / "shuffler", "shuffler")
    monkeypatch.setenv("HEADCOUNT_KEYS", str(tmp_path / "keys"))
    done = shell("keys", "rotate", "--config", tmp_path / "shuffler")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "keys" / "outer-1.key").exists()


# The witness.


def test_a_witness_is_begun_anew_for_a_ledger_that_has_charges(rig):
    """What is spent is an exact fraction, and is shown as a share."""
    with rig.opened() as parties:
        parties.endowed(epsilon="10/3")
        collection = parties.agreed(plan())
        parties.reported(collection, 0, 1, 2)
        parties.clock.now += WINDOW
        parties.batches.advance()
        assert parties.release(collection).status == 200
    done = shell("party", "witness", "--config", rig.folder / "analyser")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "people: 30% of its budget spent, and witnessed from now on\n"


# Gauges.


def figures(parties, role):
    parties.apps[role]._figures._until = -1.0
    page = parties.ask(role, "GET", "/metrics", role="monitor").body.decode()
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    return {name.replace(f'{{party="{role}"}}', ""): float(value) for name, value in lines if "_created" not in name}


def test_gauges_tell_how_far_a_batch_is_from_the_least_it_needs(parties):
    assert "headcount_least_share" not in figures(parties, "shuffler"), "nothing is open"
    parties.endowed()
    collection = parties.agreed(plan(least=4))
    series = 'headcount_open_batches{{party="shuffler",reports="{}"}}'.format

    def told():
        found = figures(parties, "shuffler")
        return found["headcount_least_share"], [found[series(kind)] for kind in ("enough", "short", "late")]

    assert told() == (0, [0, 1, 0])
    parties.reported(collection, 0, 1)
    assert told() == (0.5, [0, 1, 0])
    parties.clock.now += 0.95 * WINDOW
    assert told() == (0.5, [0, 0, 1])
    parties.reported(collection, 2, 3)
    assert told() == (1, [1, 0, 0])
    assert figures(parties, "shuffler")["headcount_key_expiry_seconds"] == START + LIFETIME


def test_gauges_tell_what_is_left_of_a_budget_and_what_is_promised(parties):
    assert "headcount_budget_left" not in figures(parties, "analyser"), "no population has a budget"
    parties.endowed("others", epsilon=40)
    parties.endowed(epsilon=4)
    collection = parties.agreed(plan(), batches=2)
    found = figures(parties, "analyser")
    assert found["headcount_budget_left"] == 1
    assert found["headcount_budget_free"] == pytest.approx(0.5)
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.advance()
    assert parties.release(collection).status == 200
    found = figures(parties, "analyser")
    assert found["headcount_budget_left"] == pytest.approx(0.75)
    assert found["headcount_budget_free"] == pytest.approx(0.5)


def test_figures_are_not_computed_for_everybody_who_asks():
    computed, now = [], [0.0]

    def compute():
        computed.append(1)
        return {"n": len(computed)}

    figured = CachedGauges(compute, lambda: now[0])
    assert [figured(), figured()] == [{"n": 1}, {"n": 1}]
    now[0] = KEPT
    assert figured() == {"n": 2}
