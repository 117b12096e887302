"""Requests that nobody honest makes, over raw connections: they are refused, not waited for, and harm nobody."""

import os
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from rig import Rig, made, plan
from serving import HOST, Served, heard, spoken

from headcount_service import server
from headcount_service.runtime import http
from stress import lengths

PATIENCE = 1.0  # seconds, of the server in these tests
SLACK = 20.0  # seconds more, since the machine may be busy


def impatient():
    http.DEADLINE = PATIENCE
    server.HEADERS_WITHIN = int(1_000 * PATIENCE)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A server that waits for nobody, with a collection that is open."""
    rig = Rig.made(tmp_path_factory.mktemp("parties"))
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), opens=int(rig.clock.now), window=86_400)
        offer = parties.offer(collection)

    with Served(rig, impatient).running() as served:
        yield Place(served, collection, offer)


class Place:
    """Where reports are sent."""

    def __init__(self, served, collection, offer):
        self.served, self.collection, self.offer = served, collection, offer
        self.port, self.path = served.ports["shuffler"], f"/v1/collections/{collection.id}/batches/1/reports"
        self._bucket = 0

    @property
    def report(self):
        """One that nobody has sent."""
        self._bucket = (self._bucket + 1) % 12
        return made(self.collection, self.offer, self._bucket).body

    def post(self, body, *headers, told=None):
        lines = [f"POST {self.path} HTTP/1.1", "Host: here", *headers]
        lines += [f"Content-Length: {len(body) if told is None else told}"] if told != "" else []
        return "\r\n".join([*lines, "", ""]).encode() + body

    @property
    def memory(self):
        """Kilobytes of the server."""
        status = Path(f"/proc/{self.served.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    @property
    def connection(self):
        return socket.create_connection((HOST, self.port), SLACK)

    def serves(self):
        """An honest report is taken."""
        return spoken(self.port, self.post(self.report)).status == 200


def test_an_honest_report_is_taken(place):
    assert place.serves()


ODD = {
    "a byte too many": lambda p: (400, p.post(p.report + b"x")),
    "a byte too few": lambda p: (400, p.post(p.report[:-1])),
    "nothing": lambda p: (411, p.post(b"")),
    "no length": lambda p: (411, p.post(b"", told="")),
    "more than any report": lambda p: (413, p.post(b"", told=(1 << 18) + 1)),
    "ten gigabytes, it says": lambda p: (413, p.post(b"x" * 1_000, told=10_000_000_000)),
    "more digits than a number has": lambda p: (400, p.post(b"", told="9" * 30)),
    "a length that is no number": lambda p: (400, p.post(b"", told="ten")),
    "a length below nothing": lambda p: (400, p.post(b"", told="-1")),
    "a length with a sign": lambda p: (400, p.post(p.report, told=f"+{len(p.report)}")),
    "in pieces": lambda p: (415, p.post(b"3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked", told="")),
    "in pieces, twice": lambda p: (
        (400, 415), p.post(b"0\r\n\r\n", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", told="")
    ),
    "in pieces and with a length": lambda p: (
        (400, 415), p.post(b"0\r\n\r\n", "Transfer-Encoding: chunked", told=5)
    ),
    "compressed": lambda p: (415, p.post(p.report, "Content-Encoding: gzip")),
    "two lengths that differ": lambda p: (400, p.post(p.report, "Content-Length: 3")),
    "two lengths that agree": lambda p: ((400, 200), p.post(body := p.report, f"Content-Length: {len(body)}")),
    "two authorisations": lambda p: (200, p.post(p.report, "Authorization: Bearer a", "Authorization: Bearer b")),
    "a very long header": lambda p: ((400, 431), p.post(p.report, "X-Long: " + "x" * 1_000_000)),
    "very many headers": lambda p: ((400, 431), p.post(p.report, *(f"X-{n}: 1" for n in range(100_000)))),
    "a very long address": lambda _: (
        (400, 404, 414, 431), b"GET /" + b"x" * 500_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"
    ),
    "a header with a line in it": lambda p: (400, p.post(p.report, "X-Odd: a\rb: c")),
    "no request at all": lambda _: ((400, 0), os.urandom(4_000) + b"\r\n\r\n"),
    "another protocol": lambda _: ((400, 0), b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500)),
    "a later version": lambda _: ((400, 0, 505), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "an upgrade": lambda p: (
        (400, 405, 426),
        f"GET {p.path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode(),
    ),
    "an address with a way out": lambda _: (
        404, b"GET /v1/collections/../../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n"
    ),
    "an address that is encoded": lambda _: (404, b"GET /v1/collections/%00%2e%2e%2f HTTP/1.1\r\nHost: a\r\n\r\n"),
    "another method": lambda p: (405, f"BREW {p.path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()),
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_odd_requests_are_refused_and_do_no_harm(place, odd):
    before = place.memory
    statuses, request = ODD[odd](place)
    answer = spoken(place.port, request)
    assert answer.status in (statuses if isinstance(statuses, tuple) else (statuses,))
    assert place.memory - before < 20_000
    assert place.serves()


def test_a_replayed_request_is_answered_alike_and_kept_once(place):
    request = place.post(place.report)
    with place.served.caller("shuffler", "operator") as operator:
        path = f"/v1/collections/{place.collection.id}/state"
        first = spoken(place.port, request)
        before = operator.told("GET", path)["batches"][0]["reports"]
        assert [spoken(place.port, request) for _ in range(5)] == [first] * 5
        with place.connection as connection:
            connection.sendall(request * 3)
            content = b""
            while content.count(b"taken") < 3:
                content += connection.recv(1 << 16)
        assert operator.told("GET", path)["batches"][0]["reports"] == before


@lengths("many", 50, 1_000)
def test_slow_headers_are_not_waited_for(place, many):
    """Nor is anybody else kept waiting by them."""
    with ExitStack() as stack:
        slow = [stack.enter_context(place.connection) for _ in range(many)]
        for connection in slow:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
        assert place.serves()
        for connection in slow:
            answer = heard(connection)
            assert answer.closed
            assert answer.status in (0, 408)


@lengths("many", 50, 1_000)
def test_slow_bodies_are_not_waited_for(place, many):
    report = place.report
    with ExitStack() as stack:
        slow = [stack.enter_context(place.connection) for _ in range(many)]
        for connection in slow:
            connection.sendall(place.post(b"", told=len(report)) + report[:10])
        assert place.serves()
        for connection in slow:
            assert heard(connection).status == 408
            assert heard(connection).closed
    dripping = spoken(place.port, place.post(b"", told=len(report)), *(bytes([b]) for b in report[:20]), pause=0.2)
    assert dripping.status == 408


def test_a_body_that_ends_early_is_no_report(place):
    with place.connection as connection:
        report = place.report
        connection.sendall(place.post(b"", told=len(report)) + report[:-5])
        connection.shutdown(socket.SHUT_WR)
        assert heard(connection).status in (0, 400)
    assert place.serves()


def test_answers_may_not_be_kept_or_guessed_at(place):
    """By browsers and what is between."""
    with place.connection as connection:
        connection.sendall(b"GET /live HTTP/1.1\r\nHost: a\r\nOrigin: http://elsewhere\r\n\r\n")
        head = connection.recv(1 << 16).lower()
    for line in (b"cache-control: no-store", b"x-content-type-options: nosniff", b"default-src 'none'"):
        assert line in head
    for line in (b"set-cookie", b"access-control-allow", b"etag", b"last-modified"):
        assert line not in head


def test_a_page_from_elsewhere_may_read_what_a_device_asks_and_nothing_else(place):
    offer, told = f"/v1/collections/{place.collection.id}", {}
    asked = {
        path: f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n" for path in ("/live", "/v1/identity", "/v1/collections", offer)
    }
    for path, request in {**asked, "report": place.post(b"x").decode()}.items():
        with place.connection as connection:
            connection.sendall(request.encode())
            told[path] = b"access-control-allow-origin: *" in connection.recv(1 << 16).lower()
    assert [path for path, open_to_all in told.items() if open_to_all] == [offer, "report"]


def test_the_description_names_every_refusal(place):
    with place.served.caller("shuffler") as anybody:
        described = anybody.told("GET", "/openapi.json")
    answers = described["paths"]["/v1/collections/{collection}/batches/{batch}/reports"]["post"]["responses"]
    assert {*answers} == {"200", "400", "404", "405", "408", "409", "411", "413", "415", "503"}


@pytest.mark.parametrize("body", [b'{"a": 1, "a": 2}', b'{"a": NaN}', b"[]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_plain_object_of_json_is_refused(body):
    http._require_json(b'{"a": 1}')
    with pytest.raises(http.Refusal, match="not an object of JSON"):
        http._require_json(body)
