"""When a batch takes reports: in its window and never again; and what becomes of it if too few have come."""

import os
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rig import START, WINDOW, Clock, counted, made, plan

import headcount as hc
from headcount.errors import BadArgument, Unavailable
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import Wire
from headcount_service.shuffler.batches import Batches
from headcount_service.store.database import many
from headcount_service.wire.collection import Collection
from stress import lengths

COUNT = Plan(hc.protocol("randomised-response", n=20, least=6, epsilon=1), Budget(1), Wire(1))


@pytest.fixture
def agreed(parties):
    parties.endowed()
    return lambda the_plan=None, **terms: parties.agreed(the_plan or plan(), **terms)


def came(parties, collection):
    """The reports of each batch, as its operator is told."""
    told = parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")
    return {batch["batch"]: batch["reports"] for batch in told["batches"]}


def at(parties, seconds):
    parties.clock.now = START + seconds
    parties.batches.advance()


# Too few.


def test_a_batch_is_held_for_as_many_windows_as_was_agreed(parties, agreed):
    collection = agreed(holds=2, batches=2)
    parties.reported(collection, 0)
    for window in (1, 2):
        at(parties, window * WINDOW)
        assert parties.states(collection) == {1: "open"}
        assert parties.offer(collection)["closes"] == START + (window + 1) * WINDOW
    parties.reported(collection, 1)
    assert came(parties, collection) == {1: 2}
    at(parties, 3 * WINDOW)
    assert parties.states(collection) == {1: "purged", 2: "open"}
    assert parties.states(collection, "analyser") == {1: "purged"}


def test_those_who_come_while_it_is_held_are_counted_with_those_before(parties, agreed):
    collection = agreed(holds=1)
    parties.reported(collection, 0, 1)
    at(parties, WINDOW)
    parties.reported(collection, 7)
    at(parties, 2 * WINDOW)
    assert counted(collection, parties.release(collection).json) == [1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]


def test_between_the_end_of_a_window_and_the_next_nobody_is_taken(parties, agreed):
    collection = agreed(holds=1)
    parties.reported(collection, 0)
    late = made(collection, parties.offer(collection), 1)
    parties.clock.now = START + WINDOW
    assert parties.report(collection, 1, late.body).status == 409
    parties.batches.advance()
    assert parties.report(collection, 1, late.body).status == 200


def test_a_batch_that_is_short_is_purged_where_that_was_agreed_and_its_reports_with_it(parties, agreed):
    collection = agreed(shortfall="purge", batches=2)
    parties.reported(collection, 0, 1)
    at(parties, WINDOW)
    assert parties.states(collection) == {1: "purged", 2: "open"}
    with parties.shuffler.database.reading() as connection:
        [row] = many(connection, "SELECT * FROM batches WHERE number = 1")
    assert (bytes(row["salt"]), row["manifest"]) == (b"", None)
    assert not parties.shuffler.keys.has(f"reports-{row['tag']}")


@pytest.mark.parametrize("number", [0, 2, 5, 6, 9])
def test_a_batch_is_topped_up_to_what_the_guarantee_needs_and_no_further(parties, agreed, number):
    collection = agreed(COUNT, shortfall="top-up")
    offer = parties.offer(collection)
    for _ in range(number):
        assert parties.report(collection, 1, made(collection, offer, 1).body).status == 200
    at(parties, WINDOW)
    told = parties.release(collection).json
    assert (told["people"], told["added"]) == (number, max(0, 6 - number))


def test_reports_of_nobody_cannot_be_told_from_others(parties, agreed):
    """By their number, their length, or where they are: the analyser is sent one mixed heap."""
    collection = agreed(COUNT, shortfall="top-up")
    offer = parties.offer(collection)
    real = {made(collection, offer, 1).messages for _ in range(3)}
    for messages in real:
        assert parties.report(collection, 1, made(collection, offer, 1, messages=messages).body).status == 200
    at(parties, WINDOW)
    with parties.analyser.database.reading() as connection:
        [row] = many(connection, "SELECT content FROM parts")
    heap, size = bytes(row["content"]), collection.report_format(1).message_bytes
    found = [heap[place : place + size] for place in range(0, len(heap), size)]
    assert len(found) == 6
    assert {message for (message,) in real} < {*found}


def test_a_histogram_is_not_topped_up(parties):
    with pytest.raises(BadArgument, match="top-up"):
        Collection(plan(), "Which?", "people", START, WINDOW, "ab" * 32, "ab" * 32, shortfall="top-up")


def test_a_batch_that_another_has_destroyed_meanwhile_is_not_mixed(parties, agreed, monkeypatch):
    """Two instances: one mixes, while the other destroys the collection. Nothing is left of either's work."""
    collection = agreed(COUNT, shortfall="top-up")
    parties.clock.now += WINDOW
    parties.batches.seal(collection.id, 1)
    write = Batches._write

    def meanwhile(self, *given):
        found = write(self, *given)
        parties.shuffler.destroy(collection.id)
        return found

    with monkeypatch.context() as once:
        once.setattr(Batches, "_write", meanwhile)
        parties.batches.shuffle(collection.id, 1)
    assert parties.states(collection) == {1: "purged"}
    parties.batches.advance()
    assert not [name for name in parties.shuffler.keys.names() if name.startswith(("reports-", "mixed-"))]


def test_of_two_who_would_mix_a_batch_one_does(parties, agreed, monkeypatch):
    """The other does not wait; and where it has lost its turn, what it mixed does not count."""
    collection = agreed(COUNT, shortfall="top-up")
    parties.clock.now += WINDOW
    parties.batches.seal(collection.id, 1)
    write, inside = Batches._write, []

    def meanwhile(self, *given):
        inside.append(1)
        if len(inside) == 1:
            parties.batches.shuffle(collection.id, 1)  # refused: somebody has the turn
            assert len(inside) == 1
            parties.batches._mix(collection.id, 1)  # the twin does not ask
        return write(self, *given)

    monkeypatch.setattr(Batches, "_write", meanwhile)
    with pytest.raises((Unavailable, BadArgument)):  # its table, or the secret of the reports, is gone by then
        parties.batches.shuffle(collection.id, 1)
    assert len(inside) == 2
    assert parties.states(collection) == {1: "shuffled"}
    parties.batches.advance()
    assert parties.release(collection).json["added"] == 6


# Clocks.


def test_nothing_is_sealed_a_second_early(parties, agreed):
    collection = agreed()
    parties.reported(collection, 0, 1, 2)
    for seconds, state in ((0, "open"), (WINDOW - 1, "open"), (WINDOW - 0.001, "open"), (WINDOW, "purged")):
        at(parties, seconds)
        assert parties.states(collection) == {1: state}


@pytest.mark.parametrize("step", [-1, -WINDOW, -3_600, -86_400, 3_600, 86_400])
def test_a_clock_that_steps_opens_no_batch_again(parties, agreed, step):
    collection = agreed(batches=2)
    first = made(collection, parties.offer(collection), 5)
    parties.reported(collection, 0, 1, 2)
    at(parties, WINDOW)
    parties.clock.now += step
    parties.batches.advance()
    assert parties.report(collection, 1, first.body).status == 409
    assert parties.states(collection)[1] == "purged"
    assert counted(collection, parties.release(collection).json)[:6] == [1, 1, 1, 0, 0, 0]


def test_a_clock_that_steps_back_before_the_opening_takes_nobody(parties, agreed):
    collection = agreed()
    report = made(collection, parties.offer(collection), 0)
    parties.clock.now = START - 1
    assert parties.report(collection, 1, report.body).status == 409
    assert parties.offer(collection)["batch"] is None


@lengths("histories", 4, 500)
def test_batches_never_overlap_or_open_again(rig, histories):
    """However the clock moves, and if two instances differ about the time."""
    with rig.opened() as parties, replace(rig, clock=Clock()).opened() as other:
        parties.endowed()

        @settings(max_examples=histories, deadline=None, derandomize=True, suppress_health_check=[*HealthCheck])
        @given(
            moves=st.lists(st.sampled_from([-200, -100, -30, 0, 30, 70, 100, 130, 500]), min_size=3, max_size=12),
            people=st.lists(st.integers(0, 4), min_size=12, max_size=12),
            shortfall=st.sampled_from(["hold", "purge"]),
            skew=st.sampled_from([0, 0, 90, -90]),
        )
        def history(moves, people, shortfall, skew):
            parties.clock.now, other.clock.now = START, START + skew
            stay_apart(parties, other, moves, people, shortfall)

        history()


def stay_apart(parties, other, moves, people, shortfall):
    """One collection's history, which is destroyed then, so that later ones do not take longer and longer."""
    collection = parties.agreed(plan(epsilon=0.01), batches=3, shortfall=shortfall, holds=1)
    history = []
    for move, number in zip(moves, people, strict=False):
        send(parties, collection, number)
        for each in (parties, other):
            each.clock.now += move
            each.batches.advance()
            history.append(seen(each, collection))
    for party in ("shuffler", "analyser"):
        parties.told(party, "DELETE", f"/v1/collections/{collection.id}")
    for before, after in pairwise(history):
        assert sum(batch["state"] == "open" for batch in after.values()) <= 1
        for number, batch in before.items():
            assert batch["state"] == "open" or after[number]["state"] != "open"
    ends = [batch["closes"] for told in history for batch in told.values() if batch["closes"]]
    assert ends == sorted(ends)
    assert [*history[-1]] == [*range(1, len(history[-1]) + 1)]


def send(parties, collection, number):
    """So many reports to the open batch, where they are taken if its window is."""
    offer = parties.offer(collection)
    for bucket in range(number if offer["batch"] is not None else 0):
        answer = parties.report(collection, offer["batch"], made(collection, offer, bucket).body)
        inside = collection.opens <= parties.clock.now < offer["closes"]
        assert answer.status == (200 if inside else 409)


def seen(parties, collection):
    told = parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")
    return {batch["batch"]: batch for batch in told["batches"]}


# Invitations.


def test_an_invitation_is_for_one_report_to_each_batch(parties, agreed):
    collection = agreed(admission="invited", batches=2)
    invitations = parties.invitations(collection, 4)
    for batch, window in ((1, WINDOW), (2, 2 * WINDOW)):
        offer = parties.offer(collection)
        assert offer["batch"] == batch
        for bucket, invitation in enumerate(invitations):
            credential = parties.token(collection, invitation, batch)
            for other in (bucket, bucket + 6):
                answer = parties.report(collection, batch, made(collection, offer, other, credential=credential).body)
                assert (answer.status, answer.json) == (200, {"report": "taken"})
        at(parties, window)
        assert counted(collection, parties.release(collection, batch).json) == [1] * 4 + [0] * 8


def test_whoever_is_not_invited_is_not_counted(parties, agreed):
    """Neither with a token that was made up or changed, nor with one for another collection or batch."""
    mine, theirs = agreed(admission="invited", batches=2), agreed(admission="invited")
    [own], [elsewhere], [later] = (
        parties.tokens_of(mine, 1),
        parties.tokens_of(theirs, 1),
        parties.tokens_of(mine, 1, 2),
    )
    offer = parties.offer(mine)
    changed = [own[:-1] + bytes([own[-1] ^ 1]), bytes([own[0] ^ 1]) + own[1:], own[:32] + b"\xff" * 256]
    for credential in [bytes(288), os.urandom(288), elsewhere, later, *changed]:
        answer = parties.report(mine, 1, made(mine, offer, 0, credential=credential).body)
        assert answer.status == 400
    assert came(parties, mine) == {1: 0}
    assert parties.report(mine, 1, made(mine, offer, 0, credential=own).body).status == 200


def test_a_restarted_shuffler_knows_whom_to_let_in(rig):
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), admission="invited")
        [credential] = parties.tokens_of(collection, 1)
    with rig.opened() as parties:
        report = made(collection, parties.offer(collection), 0, credential=credential)
        assert parties.report(collection, 1, report.body).status == 200
