"""A series in the service: one charge for all rounds, devices that know the whole promise, and nothing twice."""

from contextlib import suppress
from dataclasses import replace

import pytest
from rig import WINDOW, counted, made

import headcount as hc
from headcount.errors import BadArgument
from headcount.privacy.budget import Budget
from headcount.proof import verify
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service.analyser import releases
from headcount_service.analyser.duties import Duties
from headcount_service.client.device import Client
from headcount_service.client.limits import Limits
from headcount_service.runtime.crash_points import POINTS

ROUNDS = 12
BUCKETS = 5
pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


def plan(rounds: int = ROUNDS, people: int = 20) -> Plan:
    """Everybody answers in every round; all of them together cost epsilon 1.5."""
    protocol = hc.protocol("generalised-response", hc.Histogram(BUCKETS), n=people, least=3, epsilon=0.12)
    return Plan(protocol, Budget(1.5, rounds=rounds), Wire(2, X25519))


class Killed(BaseException):
    """A party that dies."""


def killed_at(place: str):
    def point(name: str) -> None:
        if name == place:
            raise Killed

    return point


def told(parties):
    [budget] = parties.told("analyser", "GET", "/v1/populations")["populations"]
    return budget


@pytest.mark.parametrize("devices", [4, pytest.param(300, marks=pytest.mark.stress)])
def test_twelve_rounds_with_parties_killed_and_late_devices(rig, monkeypatch, devices):
    """Nothing is lost or doubled: one charge, and an answer for each round that had enough people."""
    thin, places = 5, [name for name in POINTS if name.endswith(("claiming", "releasing"))]
    with rig.opened() as parties:
        parties.endowed(epsilon=2)
        collection = parties.agreed(
            plan(people=16 + devices), batches=ROUNDS, automatic=True, fixed=True, shortfall="purge"
        )
        assert told(parties)["promised"] == 0.75
    truths, late = {}, None
    for number in range(1, ROUNDS + 1):
        with rig.opened() as parties:
            if late is not None:
                assert parties.report(collection, late.batch, late.body).status == 409
            buckets = [0, 1] if number == thin else [(number + each) % BUCKETS for each in range(devices + number % 3)]
            [*_, late] = [made(collection, parties.offer(collection), bucket) for bucket in [*buckets, 0]]
            taken = parties.reported(collection, *buckets)
            assert {each.batch for each in taken} == {number}
            truths[number] = [buckets.count(bucket) for bucket in range(BUCKETS)]
            parties.clock.now += WINDOW
            parties.batches.advance()
        with rig.opened() as parties, monkeypatch.context() as dying, suppress(Killed):
            dying.setattr(releases, "point", killed_at(places[number % len(places)]))
            Duties(parties.analyser, parties.apps["analyser"].releases).advance()
        with rig.opened() as parties:
            Duties(parties.analyser, parties.apps["analyser"].releases).advance()
    with rig.opened() as parties:
        states = parties.states(collection)
        answered = [number for number in range(1, ROUNDS + 1) if number != thin]
        assert states[thin] == "purged"
        found = {number: parties.release(collection, number).json for number in answered}
        for number, release in found.items():
            assert counted(collection, release) == truths[number]
            assert (release["charge"], release["certificate"]["rounds"]) == (1, ROUNDS)
        assert parties.analyser.ledger("people").questions == 1
        assert (told(parties)["spent"], told(parties)["reserved"], told(parties)["promised"]) == (0.75, 0, 0.0)
    assert verify(found[1]["certificate"]).answer == "proved"


def test_more_batches_than_rounds_are_refused(parties):
    with pytest.raises(BadArgument, match="12 rounds"):
        parties.agreed(plan(), batches=ROUNDS + 1)


def test_batches_of_a_plan_for_one_round_are_paid_for_one_by_one(parties):
    parties.endowed(epsilon=2)
    single = Plan(plan().protocol, Budget(0.5), Wire(2, X25519))
    collection = parties.agreed(single, batches=3)
    assert collection.paid_for == [single] * 3
    assert told(parties)["promised"] == 0.75


def test_a_device_counts_a_series_once_and_tells_all_of_its_promise(parties, tmp_path):
    parties.endowed(epsilon=4)
    collection = parties.agreed(plan(), batches=ROUNDS, fixed=True)
    limits = Limits(least=1, epsilon=1.5, lifetime_epsilon=1.5)
    client = Client(tmp_path / "device", limits, clock=parties.clock)
    own = []  # the batches that it reports to: it stays away from the second
    for number in (1, 2, 3):
        if number != 2:
            path = client.prepare(parties.offer(collection), collection.id, 1)
            receipt = client.receipt(path)
            own.append(number)
            assert (receipt.batch, receipt.number, receipt.rounds, receipt.epsilon) == (number, len(own), ROUNDS, 1.5)
            assert receipt.lifetime_epsilon == 1.5
            assert f"this is report {len(own)} of at most 12, which come to epsilon 1.5" in str(receipt)
        parties.reported(collection, 0, 1, 2)
        parties.clock.now += WINDOW
        parties.batches.advance()
    assert [(receipt.number, receipt.batch) for receipt in client.receipts()] == [(1, 1), (2, 3)]
    for number in (0, ROUNDS + 1):  # not paid for
        with pytest.raises(BadArgument, match="no round of the series"):
            client.prepare({**parties.offer(collection), "batch": number}, collection.id, 1)
    assert limits.foreseen(collection) == ""
    assert "at all" in replace(limits, lifetime_epsilon=1.4).foreseen(collection)
    other = parties.agreed(plan(), batches=2, question="Another?")
    with pytest.raises(hc.errors.OverBudget):
        client.prepare(parties.offer(other), other.id, 1)
