"""A whole collection by people whose every trait is easy to recognise, and a search for it in all that anybody kept."""

import base64
import json
import math
import os
import socket
import time

import pytest
from processes import Child
from rig import Truthful
from serving import HOST, Served, _serving, as_it_is, heard

import headcount as hc
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import Wire
from headcount_service.client.device import Client, Limits
from headcount_service.runtime import http, logs

HOME = "127.0.0.77"  # where they call from
AGENT = "CanaryBrowser/77.7"
HELD, OTHERS = "WOMBAT-7Q", ["FJORD-3X", "GLYPH-5Z", "SPHINX-9K"]
PAGE, LONG_HEAD = 8_192, 2  # of PostgreSQL's log: bytes, and the mark of a page that begins a file
ANYTHING = Limits(epsilon=50, colluding=math.inf, least=1, lifetime_epsilon=1_000)


class Person:
    """Somebody who holds the canary, and all that could tell them apart."""

    def __init__(self, number, folder, collection, offer, invitation, issuer):
        self.invitation = invitation
        self.client = Client(folder / f"device{number}", ANYTHING)
        self.client.obtain(offer, collection.id, invitation=invitation, remote=issuer)
        [(_, self.asked)] = issuer.asked
        kept = json.loads(next(self.client.folder.glob("*.token")).read_text())
        self.token = bytes.fromhex(kept["prefix"]), bytes.fromhex(kept["signature"])
        self.path = self.client.prepare(offer, collection.id, HELD, invitation=invitation, coins=Truthful())
        kept = json.loads(self.path.read_text())
        self.identity, self.body = bytes.fromhex(kept["identity"]), bytes.fromhex(kept["body"])

    def call(self, port, path):
        """From an address of their own, with a browser of their own."""
        head = f"POST {path} HTTP/1.1\r\nHost: here\r\nUser-Agent: {AGENT}\r\nContent-Length: {len(self.body)}\r\n\r\n"
        with socket.socket() as connection:
            connection.bind((HOME, 0))
            connection.connect((HOST, port))
            connection.sendall(head.encode() + self.body)
            return heard(connection).status


def forms(secret):
    """As it might have been written down."""
    return {
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        base64.b64encode(secret).rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
        repr(secret)[2:-1].encode(),
    }


def rejoined(log):
    """PostgreSQL's log without the heads of its pages, which cut in two whatever lies across."""
    heads = {at: 40 if log[at + 2] & LONG_HEAD else 24 for at in range(0, len(log), PAGE)}
    return b"".join(log[at + head : at + PAGE] for at, head in heads.items())


class Search:
    """Everything that a run has written, anywhere."""

    def __init__(self, *places):
        self.places = places

    @property
    def content(self):
        found = {}
        for place in self.places:
            for path in [place] if place.is_file() else sorted(place.rglob("*")):
                if path.is_file():
                    content = path.read_bytes()
                    found[path] = rejoined(content) if path.parent.name == "pg_wal" else content
        return found

    def hits(self, *secrets):
        return {
            (path.name, secret)
            for path, content in self.content.items()
            for secret in secrets
            if any(form in content for form in forms(secret))
        }


def talkative():
    """The twin writes down what came, and from where."""
    logs.FIELDS = logs.FIELDS | {"body", "client"}
    logs._plain = lambda _: True
    body = http._body

    async def told(route, scope, receive):
        found = await body(route, scope, receive)
        logs.log("came", body=found.hex(), client=str(scope.get("client")))
        return found

    http._body = told


def quietly(say, log, temporary, prepare, rig, ports):
    """The server, with what it says in a file and what it puts aside in a folder."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ |= {"TMPDIR": str(temporary), "SQLITE_TMPDIR": str(temporary)}
    _serving(say, rig, ports, prepare)


class Run:
    """A server whose every word is kept, a collection, and the people."""

    def __init__(self, rig, folder, prepare=as_it_is):
        self.rig, self.folder, rig.clock.now = rig, folder, time.time()
        self.log, self.temporary = folder / "log", folder / "temporary"
        self.temporary.mkdir()
        with rig.opened() as parties:
            parties.endowed(delta=1e-6)
            protocol = hc.protocol("generalised-response", hc.Histogram([*OTHERS, HELD]), n=12, least=3, epsilon=1)
            terms = {"opens": int(rig.clock.now), "window": 86_400, "admission": "invited"}
            self.collection = parties.agreed(Plan(protocol, Budget(1), Wire(2)), **terms)
            invitations = parties.invitations(self.collection, 4)
            offer = parties.offer(self.collection)
            self.invitations = [bytes.fromhex(each) for each in invitations]
            self.people = [
                Person(n, folder, self.collection, offer, each, parties.calling("analyser"))
                for n, each in enumerate(invitations)
            ]
        self.served = Served(rig)
        self.child = Child(quietly, self.log, self.temporary, prepare, rig, self.served.ports)
        assert self.child.next() == b"ready"

    def report(self):
        path = f"/v1/collections/{self.collection.id}/batches/1/reports"
        assert [person.call(self.served.ports["shuffler"], path) for person in self.people] == [200] * 4

    def finish(self):
        path = f"/v1/collections/{self.collection.id}"
        with self.served.caller("shuffler", "operator") as shuffler:
            shuffler.told("POST", f"{path}/close")
            until = time.monotonic() + 120
            while shuffler.told("GET", f"{path}/state")["batches"][0]["state"] != "purged":
                assert time.monotonic() < until
                time.sleep(0.05)
            metrics = shuffler.ask("GET", "/metrics").body
        with self.served.caller("analyser", "operator") as analyser:
            analyser.told("POST", f"{path}/batches/1/release")
            metrics += analyser.ask("GET", "/metrics").body
        (self.folder / "metrics").write_bytes(metrics)

    def stop(self):
        self.child.tell(15)
        assert self.child.code == 0


@pytest.fixture
def places(rig, folder, databases, request):
    """Where to look: what the parties have, what they said and put aside, and the database's own files."""
    found = [folder / name for name in ("shuffler", "analyser", "log", "temporary", "metrics")]
    return found + ([request.getfixturevalue("postgres").folder] if databases else [])


def test_nothing_of_anybody_is_found_outside_their_device(rig, folder, places):
    run, search = Run(rig, folder), Search(*[place for place in places if place.name != "metrics"])
    secrets = [
        *(person.identity for person in run.people),
        *run.invitations,
        HOME.encode(),
        AGENT.encode(),
        *(person.body[:64] for person in run.people),
        *(person.asked[32:] for person in run.people),
        *(part for person in run.people for part in person.token),
    ]
    try:
        run.report()
        assert search.hits(*secrets) == set()
        run.finish()
    finally:
        run.stop()
    search = Search(*places)
    assert search.hits(*secrets) == set()
    assert len(search.content[run.log]) > 100
    assert b"headcount_answers_total" in search.content[folder / "metrics"]
    talk = {path: content for path, content in search.content.items() if path in (run.log, folder / "metrics")}
    assert not [path for path, content in talk.items() for name in (HELD, *OTHERS) if name.encode() in content]


def test_what_was_answered_is_written_nowhere_while_it_is_collected(rig, folder, places):
    """All categories are in what was agreed, which is public: the one that was held is there no more often than others.

    A name that happens to lie across two pages of PostgreSQL's log is not found there.
    """
    run = Run(rig, folder)
    try:
        run.report()
        found = b"".join(Search(*[place for place in places if place.name != "metrics"]).content.values())
    finally:
        run.stop()
    counts = {name: found.count(name.encode()) for name in (HELD, *OTHERS)}
    assert 0 < counts[HELD] <= max(counts[name] for name in OTHERS)


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_server_that_talks_is_found_out(rig, folder, places):
    run = Run(rig, folder, talkative)
    try:
        run.report()
    finally:
        run.stop()
    hits = Search(*[place for place in places if place.name != "metrics"]).hits(
        HOME.encode(), *(person.body[:64] for person in run.people)
    )
    assert len(hits) == 5
    assert {name for name, _ in hits} == {"log"}


def test_what_lies_across_two_pages_is_found(tmp_path):
    """The twin is the log as it is, in which it cannot be seen."""
    first, second = bytes([0, 0, LONG_HEAD]) + bytes(37), bytes(24)
    log = first + bytes(PAGE - 40 - 4) + HELD[:4].encode() + second + HELD[4:].encode()
    assert HELD.encode() not in log
    (tmp_path / "pg_wal").mkdir()
    (tmp_path / "pg_wal" / "1").write_bytes(log)
    assert Search(tmp_path).hits(HELD.encode()) == {("1", HELD.encode())}
