"""Several processes of one shuffler on PostgreSQL, each at an address of its own, as behind a proxy."""

import http.client
import secrets
import threading
import time
from contextlib import ExitStack

import pytest
from rig import counted, made, plan
from serving import Served

from headcount_service.wire.deduplication import Deduplication
from stress import lengths

pytestmark = pytest.mark.parametrize("databases", ["postgresql"], indirect=True)
PEOPLE = 3


@pytest.fixture
def collection(rig):
    rig.clock.now = time.time()
    with rig.opened() as parties:
        parties.endowed()
        return parties.agreed(plan(400, epsilon=0.125, least=1), opens=int(rig.clock.now), window=86_400)


class Crowd:
    """People who send every report to one of the processes, and again to another, until it was taken."""

    def __init__(self, served, collection, offer, number):
        self.served, self.path = served, f"/v1/collections/{collection.id}/batches/1/reports"
        self._left = [made(collection, offer, bucket) for bucket in range(number)]
        self._threads = [threading.Thread(target=self._run) for _ in range(PEOPLE)]
        for thread in self._threads:
            thread.start()

    def join(self):
        for thread in self._threads:
            thread.join()

    def _run(self):
        while self._left:
            try:
                report = self._left.pop()
            except IndexError:
                return
            for _ in range(2):  # taken twice, by whomever
                while not self._sent(report):
                    time.sleep(0.01)

    def _sent(self, report):
        try:
            with secrets.choice(self.served).caller("shuffler") as caller:
                return caller.ask("POST", self.path, report.body).status == 200
        except (OSError, http.client.HTTPException):
            return False


def collected(rig, collection, number, disturbed=None, prepare=None):
    """What is released when two processes have taken reports of so many people, and how often each step was taken."""
    with rig.opened() as parties:
        offer = parties.offer(collection)
    served = [Served(rig, prepare) for _ in range(2)]
    with ExitStack() as running:
        for each in served:
            running.enter_context(each.running())
        crowd = Crowd(served, collection, offer, number)
        if disturbed is not None:
            disturbed(served)
        crowd.join()
        path = f"/v1/collections/{collection.id}"
        with served[0].caller("shuffler", "operator") as operator:
            operator.told("POST", f"{path}/close")
            until = time.monotonic() + 120
            while operator.told("GET", f"{path}/state")["batches"][0]["state"] != "purged":
                assert time.monotonic() < until
                time.sleep(0.05)
    with rig.opened() as parties:
        return counted(collection, parties.release(collection).json)


@lengths("number", 40, 400)
def test_nobody_is_counted_twice_whichever_process_took_them(rig, collection, capfd, number):
    assert collected(rig, collection, number) == [1] * number + [0] * (400 - number)
    lines = [line for line in capfd.readouterr().err.splitlines() if '"batch"' in line and '"shuffler"' in line]
    for state in ("sealed", "shuffled", "delivered", "purged"):
        taken = [line for line in lines if f'"state": "{state}"' in line]
        assert len(taken) <= 1, state  # two processes write the log, and lines that meet may be lost
    assert not [line for line in lines if "step failed" in line]


@lengths("kills", 3, 40)
def test_any_of_them_may_be_killed(rig, collection, kills):
    number = 60 if kills < 10 else 400

    def disturbed(served):
        for _ in range(kills):
            time.sleep(0.02 + 0.2 * secrets.randbelow(100) / 100)
            one = secrets.choice(served)
            one.kill()
            time.sleep(0.05)
            one.start()

    assert collected(rig, collection, number, disturbed) == [1] * number + [0] * (400 - number)


def each_with_a_salt_of_its_own():
    """The twin: a process knows only what came to itself."""
    own = secrets.token_bytes(8)
    Deduplication.keyed_hash = lambda *given: own + given[-1][:8]


def test_processes_that_do_not_share_the_key_of_the_hashes_are_found_out(rig, collection):
    found = collected(rig, collection, 12, prepare=each_with_a_salt_of_its_own)
    assert max(found) <= 1  # the analyser takes each message once all the same
    with rig.opened() as parties:
        assert parties.release(collection).json["people"] > 12
