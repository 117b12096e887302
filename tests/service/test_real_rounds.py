"""Twelve rounds of fifteen real seconds, with 300 devices over HTTP, while both parties are killed again and again."""

import asyncio
import contextlib
import http.client
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from processes import Child
from rig import made
from serving import BUSY, HOST, Served

import headcount as hc
from headcount.privacy.budget import Budget
from headcount.programme.coins import SecretCoins
from headcount.proof import verify
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service import server
from headcount_service.party import Party
from headcount_service.wire.collection import Shortfall
from headcount_service.wire.keys import Announced
from stress import STRESS

ROUNDS, WINDOW, DEVICES, BUCKETS, SENDERS = 12, 15, 300, 5, 4
MISSING, LATE = 0.1, 5  # of all devices in a round; and how many come too late in each
MISSED = 17  # of 60 intervals at 95%: as many or more have a chance of 2e-8
PATIENCE = 240.0  # seconds for the last releases, on a busy machine
pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


class Alone(Served):
    """One of the two parties, in a process of its own."""

    def __init__(self, rig, role, ports):
        super().__init__(rig)
        self.role, self.ports = role, ports

    def start(self):
        self._child = Child(_alone, self.rig, self.role, self.ports)
        assert self._child.next() == b"ready"

    def dies(self, seconds):
        """Is killed at whatever it is doing, and comes back."""
        self.kill()
        time.sleep(seconds)
        self.start()


def _alone(say, rig, role, ports):
    analyser = f"http://{HOST}:{ports['analyser']}"
    party = replace(Party.read(rig.folder / role), port=ports[role], analyser=analyser)
    asyncio.run(server.serve([party.open()], lambda: say(b"ready")))


@dataclass
class Devices:
    """People who report at a random moment of each round, with noise of their own, and try again until told."""

    served: Any
    collection: Any
    chance: Any  # a generator
    truths: dict[int, list[int]] = field(default_factory=dict)  # of those who were taken
    acknowledged: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    unknown: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    late: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    lock: Any = field(default_factory=threading.Lock)

    def round(self, number, ends):
        buckets = [int(self.chance.integers(BUCKETS)) for _ in range(DEVICES) if self.chance.random() > MISSING]
        due = sorted((self.chance.uniform(0.5, 0.8 * WINDOW), bucket) for bucket in buckets)
        shares = [due[at::SENDERS] for at in range(SENDERS)]
        threads = [threading.Thread(target=self._send, args=(number, ends, share)) for share in shares]
        late = threading.Thread(target=self._late, args=(number, ends))
        for each in (*threads, late):
            each.start()
        return threads, late

    def _report(self, caller, number, bucket):
        """Its body, which is sealed once."""
        offer = caller.told("GET", f"/v1/collections/{self.collection.id}")
        if offer["batch"] != number:
            return None
        keys = Announced.from_json(offer["analyser"], self.collection.analyser, "analyser")
        sent = self.collection.plan.protocol.reports(np.array([bucket]), SecretCoins())
        messages = tuple(self.collection.report_format(number).seal_messages(sent.messages, keys.public))
        return made(self.collection, offer, bucket, messages=messages).body

    def _send(self, number, ends, share):
        caller = self.served["shuffler"].caller("shuffler")
        for moment, bucket in share:
            time.sleep(max(0.0, ends - WINDOW + moment - time.time()))
            body, unsure = None, False
            while time.time() < ends + BUSY:
                try:
                    body = body or self._report(caller, number, bucket)
                    status = 409 if body is None else self._put(caller, number, body)
                except (OSError, http.client.HTTPException, AssertionError):
                    unsure = body is not None
                    time.sleep(0.05)
                    continue
                with self.lock:
                    if status == 200:
                        self.acknowledged[number] += 1
                        self.truths.setdefault(number, [0] * BUCKETS)[bucket] += 1
                    else:
                        assert status == 409
                        self.unknown[number] += unsure
                break
        caller.close()

    def _put(self, caller, number, body):
        return caller.ask("POST", f"/v1/collections/{self.collection.id}/batches/{number}/reports", body).status

    def _late(self, number, ends):
        """Prepared in time, and sent after the end."""
        caller, bodies = self.served["shuffler"].caller("shuffler"), []
        while len(bodies) < LATE and time.time() < ends - 1.0:
            with contextlib.suppress(OSError, http.client.HTTPException, AssertionError):
                bodies += [body for _ in range(LATE) if (body := self._report(caller, number, 0))]
            time.sleep(0.2)
        time.sleep(max(0.0, ends + 0.5 - time.time()))
        for body in bodies[:LATE]:
            while time.time() < ends + BUSY:
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.late[number].append(self._put(caller, number, body))
                    break
                time.sleep(0.05)
        caller.close()


def disturbed(served, ends, chance):
    """Both parties die within the round, and both again while it is closed, mixed and released."""
    for role, moment in (
        ("shuffler", chance.uniform(1.0, 0.6 * WINDOW) - WINDOW),
        ("analyser", chance.uniform(0.6, 0.8) * WINDOW - WINDOW),
        ("shuffler", chance.uniform(0.0, 1.0)),
        ("analyser", chance.uniform(1.0, 2.0)),
    ):
        time.sleep(max(0.0, ends + moment - time.time()))
        served[role].dies(0.2)


def wanted() -> Plan:
    protocol = hc.protocol("generalised-response", hc.Histogram(BUCKETS), n=DEVICES, least=3, epsilon=0.12)
    return Plan(protocol, Budget(1.5, rounds=ROUNDS), Wire(2, X25519))


@STRESS
def test_twelve_real_rounds_with_both_parties_killed_in_the_middle(rig, capsys):
    chance = np.random.default_rng(25)  # noqa: TID251 - of moments, not of answers
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed(epsilon=2)
        opens = int(time.time()) + 10
        terms = {"opens": opens, "window": WINDOW, "batches": ROUNDS, "shortfall": Shortfall.PURGE}
        collection = parties.agreed(wanted(), automatic=True, fixed=True, **terms)
    ports = Served(rig).ports
    served = {role: Alone(rig, role, ports) for role in ("analyser", "shuffler")}
    devices, running, deaths = Devices(served, collection, chance), [], chance.spawn(1)[0]
    for each in served.values():
        each.start()
    try:
        for number in range(1, ROUNDS + 1):
            ends = opens + number * WINDOW
            time.sleep(max(0.0, ends - WINDOW - time.time()))
            threads, late = devices.round(number, ends)
            killer = threading.Thread(target=disturbed, args=(served, ends, deaths))
            killer.start()
            running += [*threads, late]
            killer.join()
        for thread in running:
            thread.join()
        releases = finished(served, collection)
    finally:
        for each in served.values():
            assert each.stop() == 0
    with rig.opened() as parties:
        [budget] = parties.told("analyser", "GET", "/v1/populations")["populations"]
        assert (budget["spent"], budget["reserved"], budget["promised"]) == (0.75, 0, 0.0)
        assert parties.analyser.ledger("people").questions == 1
    assert [*releases] == [*range(1, ROUNDS + 1)]
    missed = 0
    for number, release in releases.items():
        taken, unknown = devices.acknowledged[number], devices.unknown[number]
        assert taken <= release["people"] <= taken + unknown, number
        assert (release["charge"], release["certificate"]["rounds"]) == (1, ROUNDS)
        cells = release["estimate"]["cells"]
        if release["people"] == taken:
            within = [low <= truth <= high for truth, (low, high) in zip(
                devices.truths[number], (cell["interval95"] for cell in cells), strict=True)]  # fmt: skip
            missed += within.count(False)
    assert missed < MISSED
    assert verify(releases[1]["certificate"]).answer == "proved"
    assert {status for statuses in devices.late.values() for status in statuses} == {409}
    with capsys.disabled():
        print({number: release["people"] for number, release in releases.items()}, f"{missed} of 60 intervals missed")
        print("late and refused:", sum(map(len, devices.late.values())), "unknown:", dict(devices.unknown))


def finished(served, collection):
    """The releases, when every round has one."""
    path, found = f"/v1/collections/{collection.id}", {}
    until = time.monotonic() + PATIENCE
    with served["analyser"].caller("analyser", "operator") as analyser:
        while len(states := [each["state"] for each in analyser.told("GET", path)["batches"]]) < ROUNDS or {
            *states
        } != {"released"}:
            assert time.monotonic() < until, states
            time.sleep(0.5)
    with served["analyser"].caller("analyser", "analyst") as analyst:
        for number in range(1, ROUNDS + 1):
            found[number] = analyst.told("POST", f"{path}/batches/{number}/release")
    return found
