"""What the network sees of a report: one length there and one back, whatever is in it."""

import http.client
import json
import math
import os
import time

import pytest
from rig import Truthful, made, plan
from serving import Served, spoken

from headcount.programme.coins import SecretCoins
from headcount.protocols.base.report_size import HYBRID, P256, X25519
from headcount_service.client.device import Client, Limits

BUCKETS = 6
ANYTHING = Limits(epsilon=50, colluding=math.inf, least=1, lifetime_epsilon=1_000)
pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


@pytest.fixture
def served(rig):
    with Served(rig).running() as running:
        yield running


@pytest.fixture(params=[HYBRID, X25519, P256])
def collection(request, rig):
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed()
        wanted = plan(BUCKETS, messages=3, suite=request.param)
        return parties.agreed(wanted, opens=int(rig.clock.now), window=86_400)


def test_every_value_makes_requests_and_answers_of_one_length(collection, served, folder, monkeypatch):
    """Of a client as it is, with its noise and without."""
    sent, send = [], http.client.HTTPConnection.send

    def heard(self, data):
        sent[-1].append(len(data))
        send(self, data)

    monkeypatch.setattr(http.client.HTTPConnection, "send", heard)
    receipts = set()
    for number, value in enumerate([*range(BUCKETS)] * 2):
        sent.append([])
        client = Client(folder / f"device{number}", ANYTHING)
        receipt = client.report(f"http://127.0.0.1:{served.ports['shuffler']}", collection.id, value)
        receipts.add(json.dumps(receipt.to_json()))
    assert len({*map(tuple, sent)}) == 1
    assert len(receipts) == 1


def test_taken_retried_and_unreadable_reports_get_the_same_answer(collection, served, folder):
    """To the byte, but for the time of day."""
    answers = set()
    size = collection.report_format(1).message_bytes
    offer = json.loads(spoken(served.ports["shuffler"], request(f"/v1/collections/{collection.id}")).body)
    for value in range(BUCKETS):
        for coins in (Truthful(), SecretCoins()):
            client = Client(folder / f"device{value}{coins.secret}", ANYTHING)
            path = client.prepare(offer, collection.id, value, coins=coins)
            body = bytes.fromhex(json.loads(path.read_text())["body"])
            unreadable = made(collection, offer, 0, messages=tuple(os.urandom(size) for _ in range(3))).body
            for each in (body, body, unreadable):
                asked = request(f"/v1/collections/{collection.id}/batches/1/reports", "POST", each)
                answers.add(spoken(served.ports["shuffler"], asked))
    assert {(answer.status, answer.body) for answer in answers} == {(200, b'{"report":"taken"}')}
    assert len({answer.size for answer in answers}) == 1


def request(path, method="GET", body=b""):
    return f"{method} {path} HTTP/1.1\r\nhost: here\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
