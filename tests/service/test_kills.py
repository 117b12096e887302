"""Servers that are killed under load, again and again: what was acknowledged is counted, once."""

import asyncio
import http.client
import secrets
import threading
import time
from collections import defaultdict

from rig import counted, made, plan
from serving import Served

from headcount_service.shuffler.intake import Intake
from headcount_service.shuffler.shuffler import Answer
from headcount_service.wire.collection import Shortfall
from stress import lengths

BUCKETS, PEOPLE = 2_000, 3
LONGEST = 0.3  # seconds until the next kill
MANY = 50  # reports
PATIENCE = 300.0  # seconds that the last batches may take on a busy machine


class Load:
    """A few people who report as fast as they can, each time as somebody else, and remember what they were told."""

    def __init__(self, served, collection):
        self.served, self.collection = served, collection
        self.acknowledged, self.sent, self.uncertain = set(), set(), []
        self._next, self._lock = defaultdict(int), threading.Lock()
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(PEOPLE)]
        for thread in self._threads:
            thread.start()

    def wait(self):
        """Until many were acknowledged: on a busy machine few are between two kills."""
        until = time.monotonic() + PATIENCE
        while len(self.acknowledged) <= MANY and time.monotonic() < until:
            time.sleep(0.02)

    def stop(self):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _run(self):
        caller = self.served.caller("shuffler")
        while not self._ended.is_set():
            try:
                self._report(caller)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
        caller.close()

    def _report(self, caller):
        offer = caller.told("GET", f"/v1/collections/{self.collection.id}")
        for _ in range(20):
            with self._lock:
                again = bool(self.uncertain) and secrets.randbelow(2)
                report = self.uncertain.pop() if again else self._new(offer)
            if report is None:
                return
            self.sent.add((report.batch, report.bucket))
            path = f"/v1/collections/{self.collection.id}/batches/{report.batch}/reports"
            try:
                status = caller.ask("POST", path, report.body).status
            except (OSError, http.client.HTTPException):
                self.uncertain.append(report)
                raise
            assert status in (200, 409)
            if status == 409:
                return
            self.acknowledged.add((report.batch, report.bucket))

    def _new(self, offer):
        batch = offer["batch"]
        self._next[batch] += 1
        return made(self.collection, offer, self._next[batch] - 1) if self._next[batch] <= BUCKETS else None


def killed(rig, times, prepare=None):
    """A collection of short batches whose server is killed so many times; what was acknowledged, and the results."""
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed()
        terms = {"opens": int(rig.clock.now), "window": 2, "batches": 400, "shortfall": Shortfall.PURGE}
        collection = parties.agreed(plan(BUCKETS, epsilon=0.125, least=1), **terms)
    served = Served(rig, prepare)
    load = Load(served, collection)
    try:
        for _ in range(times):
            served.start()
            time.sleep(0.005 + LONGEST * secrets.randbelow(1_000) / 1_000)
            served.kill()
        served.start()
        load.wait()
    finally:
        load.stop()
    results = finished(served, collection)
    assert served.stop() == 0
    return load, results


def finished(served, collection):
    """The count of each batch that was delivered, when nothing is under way any more."""
    shuffler, analyser = served.caller("shuffler", "operator"), served.caller("analyser", "operator")
    path = f"/v1/collections/{collection.id}"
    shuffler.told("POST", f"{path}/close")
    until = time.monotonic() + PATIENCE
    while any(batch["state"] != "purged" for batch in shuffler.told("GET", f"{path}/state")["batches"]):
        assert time.monotonic() < until, "a batch is stuck"
        time.sleep(0.05)
    delivered = [each["batch"] for each in analyser.told("GET", path)["batches"] if each["state"] != "purged"]
    results = {batch: analyser.told("POST", f"{path}/batches/{batch}/release") for batch in delivered}
    shuffler.close()
    analyser.close()
    return {batch: counted(collection, result) for batch, result in results.items()}


@lengths("kills", 3, 200)
def test_nobody_who_was_acknowledged_is_lost(rig, kills):
    load, results = killed(rig, kills)
    counts = {(batch, bucket): count for batch, cells in results.items() for bucket, count in enumerate(cells) if count}
    assert {*counts.values()} == {1}
    assert load.acknowledged <= {*counts} <= load.sent
    assert len(load.acknowledged) > MANY


def answers_first():
    """The twin keeps a report a moment after it said so."""
    put = Intake.put

    async def at_once(self, sent):
        async def later():
            await asyncio.sleep(0.1)
            await put(self, sent)

        self.tasks = [*getattr(self, "tasks", []), asyncio.create_task(later())]
        return Answer.TAKEN

    Intake.put = at_once


def test_an_acknowledgement_before_the_disk_is_found_out(rig):
    load, results = killed(rig, 2, answers_first)
    assert not load.acknowledged <= {
        (batch, bucket) for batch, cells in results.items() for bucket, count in enumerate(cells) if count
    }
