"""What an analyser does by itself: it releases where that was agreed on, and tells an address of an answer."""

import json
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from rig import WINDOW, plan

from headcount.errors import BadArgument, RemoteRefusal
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service.analyser.duties import Duties
from headcount_service.analyser.releases import Releases
from headcount_service.analyser.webhook import Webhook
from headcount_service.party import Party
from headcount_service.store.database import one
from headcount_service.wire.keys import verified

pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


@contextmanager
def listening(*statuses):
    """An address that answers like this, one after the other, and what it was told."""
    left, told = list(statuses), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            told.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(left.pop(0))
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/told?by=headcount", told
        finally:
            server.shutdown()
            thread.join()


def delivered(parties, **terms):
    parties.endowed()
    collection = parties.agreed(plan(), **terms)
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.advance()
    return collection


def duties(parties, address=""):
    parties.analyser.webhook = address
    return Duties(parties.analyser, parties.apps["analyser"].releases)


def test_a_batch_is_released_by_itself_where_that_was_agreed_on(parties):
    collection = delivered(parties, automatic=True)
    duties(parties).advance()
    assert parties.states(collection, "analyser") == {1: "released"}
    asked = parties.agreed(plan(), question="On request?")
    parties.reported(asked, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.advance()
    duties(parties).advance()
    assert parties.states(asked, "analyser") == {1: "delivered"}


def test_an_address_is_told_of_an_answer_until_it_has_taken_it(parties):
    with listening(500, 302, 200) as (address, told):
        collection = delivered(parties, automatic=True)
        working = duties(parties, address)
        for _ in range(2):
            assert len(working.advance()) == 1
            assert working.advance() == []  # too soon: nobody is asked again at once
            parties.clock.now += 10
        working.advance()
        parties.clock.now += 10_000
        working.advance()
    assert len(told) == 3
    assert {path for path, _ in told} == {"/told?by=headcount"}
    content = verified(json.loads(told[-1][1]), parties.analyser.signer.public, "webhook")
    release = parties.release(collection)
    assert content == {
        "collection": collection.hash,
        "batch": 1,
        "state": "released",
        "hash": sha256(release.body).hexdigest(),
        "analyser": parties.analyser.signer.public,
    }


def test_an_address_is_told_of_every_round_of_a_series_once(parties):
    parties.endowed()
    protocol = plan(epsilon=0.3).protocol
    collection = parties.agreed(Plan(protocol, Budget(1, rounds=3), Wire(2, X25519)), batches=3, automatic=True)
    with listening(200, 200, 200) as (address, told):
        working = duties(parties, address)
        for _ in range(3):
            parties.reported(collection, 0, 1, 2)
            parties.clock.now += WINDOW
            parties.batches.advance()
            assert working.advance() == []
            assert working.advance() == []
    heard = [verified(json.loads(body), parties.analyser.signer.public, "webhook") for _, body in told]
    assert [each["batch"] for each in heard] == [1, 2, 3]
    assert [each["hash"] for each in heard] == [
        sha256(parties.release(collection, number).body).hexdigest() for number in (1, 2, 3)
    ]


def test_without_an_address_nothing_is_left_to_tell(parties):
    collection = delivered(parties)
    assert parties.release(collection).status == 200
    with parties.analyser.database.reading() as connection:
        assert one(connection, "SELECT notified FROM batches")["notified"]


def test_what_cannot_be_released_is_not_tried_all_the_time(parties, monkeypatch):
    delivered(parties, automatic=True)
    tries = []

    def fails(*where):
        tries.append(where)
        raise RemoteRefusal("not now")

    monkeypatch.setattr(Releases, "release", fails)
    working = duties(parties)
    assert len(working.advance()) == 1
    for _ in range(100):
        assert working.advance() == []
    assert len(tries) == 1
    for _ in range(100):
        parties.clock.now += 3_600
        assert len(working.advance()) == 1
    assert len(tries) == 101


@pytest.mark.parametrize("address", ["", "ftp://host/", "https://", "https://name:word@host/"])
def test_what_is_no_address_is_refused(address, databases):
    with pytest.raises(BadArgument, match="webhook"):
        Webhook(address)


def test_the_address_is_a_setting(rig):
    settings = rig.folder / "analyser" / "party.toml"
    settings.write_text(settings.read_text() + 'webhook = "https://host/told"\n')
    assert Party.read(settings).webhook == "https://host/told"
    assert replace(Party.read(settings), webhook="").webhook == ""
    settings.write_text(settings.read_text().replace('"https://host/told"', "7"))
    with pytest.raises(BadArgument, match="webhook"):
        Party.read(settings)
