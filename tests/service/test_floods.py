"""Too many reports to one batch: it is full, it is mixed in little memory, and no other batch notices."""

import asyncio
import json
import resource
from dataclasses import replace

import pytest
from processes import Child
from rig import START, WINDOW, asked, counted, made, plan

from headcount.common.canonical import canonical
from headcount.errors import BadArgument
from headcount.programme.coins import SecretCoins
from headcount_service.shuffler import batches, shuffler
from headcount_service.shuffler import external_shuffle as scatter
from headcount_service.shuffler.batch_tables import BatchTables
from headcount_service.shuffler.batches import Batches
from headcount_service.shuffler.shuffler import Answer
from headcount_service.wire.collection import MOST, Collection
from headcount_service.wire.keys import Keys
from headcount_service.wire.report import Upload
from stress import lengths


@pytest.fixture
def agreed(parties):
    parties.endowed()
    return lambda **terms: parties.agreed(plan(), **terms)


def state(parties, collection):
    return parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state")["batches"][0]


# How many are taken.


def test_a_full_batch_says_so_and_is_counted(parties, agreed):
    collection = agreed(most=5)
    reports = parties.reported(collection, *range(5))
    late = made(collection, parties.offer(collection), 7)
    answer = parties.report(collection, 1, late.body)
    assert (answer.status, answer.json) == (409, {"report": "full"})
    assert parties.report(collection, 1, reports[2].body).status == 200  # who is in already is told so again
    assert state(parties, collection)["reports"] == 5
    parties.clock.now += WINDOW
    parties.batches.advance()
    assert counted(collection, parties.release(collection).json) == [1] * 5 + [0] * 7


@lengths("groups", 12, 200)
def test_places_are_given_out_once_however_many_take_reports(rig, groups, monkeypatch):
    """Two processes, each with several uploads at a time, some of them twice; up to a few places nobody waits."""
    monkeypatch.setattr(shuffler, "AT_ONCE", 12)
    with rig.opened() as one, rig.opened() as other:
        one.endowed()
        most = 3 * groups + 1
        collection = one.agreed(plan(), most=most)
        offer, taken = one.offer(collection), 0
        for group in range(2 * groups):
            uploads = [Upload(collection.id, 1, made(collection, offer, 0).body) for _ in range(3)]
            answers = (one, other)[group % 2].shuffler.accept([*uploads, uploads[0]])
            assert answers[3] is answers[0]
            assert {*answers} <= {Answer.TAKEN, Answer.FULL}
            taken += answers[:3].count(Answer.TAKEN)
        assert taken == most == state(other, collection)["reports"]


def take_all(say, rig, agreed, offer, number):
    shuffler.AT_ONCE = 64
    collection = Collection.from_json(agreed)
    with rig.opened() as parties:
        for _ in range(number):
            uploads = [Upload(collection.id, 1, made(collection, offer, 0).body) for _ in range(8)]
            answers = parties.shuffler.accept(uploads)
            say(b"%d" % answers.count(Answer.TAKEN))


@lengths("number", 6, 60)
def test_processes_that_race_for_the_last_places_take_no_more_than_there_are(rig, number):
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), most=8 * number)
        offer = parties.offer(collection)
    children = [Child(take_all, rig, collection.to_json(), offer, number) for _ in range(3)]
    taken = sum(int(words) for child in children for words in child.said())
    assert [child.code for child in children] == [0] * 3
    with rig.opened() as parties:
        assert taken == 8 * number == state(parties, collection)["reports"]


def test_what_was_agreed_before_there_was_a_greatest_size_has_the_same_hash():
    terms = {"question": "Which?", "population": "people", "opens": START, "window": WINDOW, "nonce": "ab" * 16}
    terms |= {"shuffler": "ab" * 32, "analyser": "cd" * 32, "admission": "anyone"}
    earlier = Collection(plan(), **terms, version=1)
    assert "most" not in earlier.to_json()
    assert Collection.from_json(json.loads(canonical(earlier.to_json()))).hash == earlier.hash
    before = Collection(plan(), **terms)
    told = before.to_json()
    assert before.room == earlier.room == MOST
    small = replace(before, most=100)
    assert small.to_json() == {**told, "most": 100}
    assert small.hash != before.hash
    assert Collection.from_json(small.to_json()).room == 100
    with pytest.raises(BadArgument, match="most is 2; use a whole number from 3"):
        replace(before, most=2)


def test_the_analyser_refuses_a_batch_that_is_larger_than_was_agreed(parties, agreed):
    collection = agreed(most=5)
    content = {"collection": collection.hash, "batch": 1, "reports": 6, "added": 0, "messages": 12, "parts": []}
    content["early"] = False
    signed = parties.shuffler.signer.signed("manifest", content)
    assert parties.ask("analyser", "POST", "/v1/batches", signed, "shuffler").status == 400
    signed = parties.shuffler.signer.signed("manifest", {**content, "reports": 5, "messages": 10})
    assert parties.ask("analyser", "POST", "/v1/batches", signed, "shuffler").status == 200


# One batch and the others.


@pytest.mark.parametrize("problem", [MemoryError, RuntimeError, OSError])
@pytest.mark.parametrize("step", ["seal", "shuffle", "deliver", "purge"])
def test_a_batch_that_fails_touches_no_other(problem, step, parties, agreed, monkeypatch, capfd):
    """Whatever the error is. It is logged with the batch, and the step is tried again."""
    bad, good = sorted((agreed() for _ in range(2)), key=lambda collection: collection.id)
    for collection in (bad, good):
        parties.reported(collection, 0, 1, 2)
    work = getattr(Batches, step)

    def failing(self, name, number):
        if name == bad.id:
            raise problem("what it says is not logged")
        work(self, name, number)

    with monkeypatch.context() as once:
        once.setattr(Batches, step, failing)
        parties.clock.now += WINDOW
        assert {type(found) for found in parties.batches.advance()} == {problem}
    assert parties.states(good) == {1: "purged"}
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if "step failed" in line]
    told = {"event": "step failed", "level": "warning", "party": "shuffler", "collection": bad.id, "batch": 1}
    assert lines[0] == {**told, "problem": problem.__name__}
    assert parties.batches.advance() == []
    assert parties.states(bad) == {1: "purged"}
    assert counted(bad, parties.release(bad).json)[:4] == [1, 1, 1, 0]


def test_reports_to_others_are_taken_while_a_batch_is_mixed(parties, agreed, monkeypatch):
    """At every part that is written; and another batch comes to its end."""
    monkeypatch.setattr(batches, "PART", 200)
    large, small = agreed(), agreed(batches=2)
    parties.reported(large, *range(12))
    parties.reported(small, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.seal(large.id, 1)
    statuses, states = [], []

    def meanwhile(place):
        if place == "while mixing":
            states.append(parties.batches.close())
            offer = parties.offer(small)
            path = f"/v1/collections/{small.id}/batches/2/reports"
            body = made(small, offer, len(statuses)).body
            statuses.append(asyncio.run(asked(parties.apps["shuffler"], "POST", path, body)).status)

    with monkeypatch.context() as once:
        once.setattr(batches, "point", meanwhile)
        parties.batches.shuffle(large.id, 1)
    assert len(statuses) > 5
    assert {*statuses} == {200}
    assert parties.states(small)[1] == "sealed"
    assert parties.states(large) == {1: "shuffled"}


# Memory.


def mixed_in_memory(say, folder, messages, memory):
    """So many messages of 64 bytes through the scattering, by a process that may have no more than so much memory."""
    import numpy as np

    size, block, keys = 64, 10_000, Keys(folder)

    def blocks():
        for start in range(0, messages, block):
            content = np.zeros((block, size), dtype=np.uint8)
            content[:, :8] = np.arange(start, start + block, dtype="<u8").view(np.uint8).reshape(-1, 8)
            yield content.tobytes()

    found, total = 0, 0
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: PTH123, SIM115
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, used + memory))
    for mixed in scatter.mixed_blocks(blocks(), size, messages * size, SecretCoins(), keys.temporary_file):
        numbers = np.frombuffer(mixed, dtype="<u8")[:: size // 8]
        found, total = found + len(numbers), total + int(numbers.sum())
    assert (found, total) == (messages, messages * (messages - 1) // 2)
    say(b"mixed")


@lengths("messages", 700_000, 10_000_000)
def test_mixing_needs_little_memory_whatever_the_batch(folder, messages):
    child = Child(mixed_in_memory, folder / "keys", messages, 100 << 20)
    assert child.said() == [b"mixed"]
    assert child.code == 0


def test_mixing_in_memory_is_found_out(folder, monkeypatch):
    """The twin, which has no piles."""
    child = Child(in_one_pile, folder / "keys", 2_500_000, 100 << 20)
    assert child.said() == []
    assert child.code == 1


def in_one_pile(say, *given):
    scatter.MEMORY = 1 << 40
    mixed_in_memory(say, *given)


def test_what_is_put_aside_cannot_be_read_and_has_no_name(folder):
    keys, contents = Keys(folder / "keys"), []
    secret = b"a message of sixty-four bytes which must not be written anywhere"
    assert len(secret) == 64

    def aside():
        contents.append(keys.temporary_file())
        return contents[-1]

    pieces = scatter.mixed_blocks([secret * 600_000], 64, 64 * 600_000, SecretCoins(), aside)
    next(pieces)
    assert [path.name for path in keys.folder.iterdir()] == []
    on_disk = b"".join(file.read() for file in contents if not file.closed and not file.seek(0))
    assert len(on_disk) > 32 << 20
    assert secret[:16] not in on_disk
    pieces.close()  # as when it fails half way
    assert all(file.closed for file in contents)


def test_reports_are_read_in_blocks(parties, agreed, monkeypatch):
    """Never all at once."""
    monkeypatch.setattr("headcount_service.store.database.AT_A_TIME", 700)
    collection = agreed()
    parties.reported(collection, *range(12))
    parties.clock.now += WINDOW
    [batch] = parties.batches._due()
    with parties.shuffler.database.reading() as connection:
        assert [len(some) for some in BatchTables.messages(parties.shuffler.tables, connection, batch, 100)] == [7, 5]
