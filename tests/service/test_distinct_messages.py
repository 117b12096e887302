"""Each message of a batch counts once, and the analyser needs little memory for that, however many there are."""

import os
import tracemalloc
from collections import Counter
from tempfile import TemporaryFile

import pytest
from rig import WINDOW, counted, made, plan

from headcount.protocols.base.report_size import IDENTITY
from headcount_service.analyser import distinct_messages
from headcount_service.analyser.distinct_messages import PILES, _pile, distinct
from headcount_service.store.encryption import Encrypted
from stress import lengths

PART = 2_000
TWICE = 40_000


def messages(number, part=PART):
    """In parts, as they come; from some number on, each was there before."""
    names = [at.to_bytes(IDENTITY, "big") for at in range(TWICE)]
    for start in range(0, number, part):
        yield [names[at % TWICE] + b"\x01" + (at % 7).to_bytes(4, "big") for at in range(start, start + part)]


def found(number, **given):
    return Counter(content for part in distinct(messages(number, **given), number, TemporaryFile) for content in part)


@pytest.mark.parametrize("number", [2_000, 60_000])
def test_each_counts_once_with_piles_as_without(number, monkeypatch):
    without = found(number)
    assert without.total() == min(number, TWICE)
    monkeypatch.setattr(distinct_messages, "AT_ONCE", 0)
    assert found(number) == without


def most_memory(number):
    """Bytes that Python had at once."""
    fresh = ([os.urandom(IDENTITY) + bytes(5) for _ in range(PART)] for _ in range(number // PART))
    tracemalloc.start()
    try:
        assert sum(map(len, distinct(fresh, number, TemporaryFile))) == number
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@lengths("number", 200_000, 2_000_000)
def test_numbers_of_many_messages_are_not_all_in_memory(number, monkeypatch):
    with_all = most_memory(number)  # the twin
    monkeypatch.setattr(distinct_messages, "AT_ONCE", 0)
    assert 3 * most_memory(number) < with_all


def test_no_sender_decides_which_numbers_meet_in_memory(monkeypatch):
    """They may all begin alike, or be the piles' own first guess."""
    chosen = [bytes(8) + at.to_bytes(8, "big") for at in range(256 * 40)]
    secret = os.urandom(32)
    assert max(Counter(_pile(each, secret) for each in chosen).values()) < 100  # of 40; 1e-6 for all piles together
    assert len({_pile(each, secret) for each in chosen}) == PILES
    assert sum(_pile(each, secret) == _pile(each, os.urandom(32)) for each in chosen) < 120  # of 40 by chance


def test_a_pile_cannot_be_read_by_whoever_has_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(distinct_messages, "AT_ONCE", 0)
    monkeypatch.setattr(distinct_messages, "PILES", 1)
    content, path = [[at.to_bytes(IDENTITY, "big") + b"unmistakable" for at in range(1_000)]], tmp_path / "pile"
    for _ in distinct(content, 1_000, lambda: path.open("w+b")):
        assert len(path.read_bytes()) > 1_000 * (IDENTITY + 12)
        assert b"unmistakable" not in path.read_bytes()
    monkeypatch.setattr(Encrypted, "sealed", lambda _, content, __: content)  # the twin
    monkeypatch.setattr(Encrypted, "opened", lambda _, content, __: content)
    for _ in distinct(content, 1_000, lambda: path.open("w+b")):
        assert b"unmistakable" in path.read_bytes()


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_batch_of_many_messages_is_counted_as_others_are(rig, monkeypatch):
    monkeypatch.setattr(distinct_messages, "AT_ONCE", 3)
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
        reports = parties.reported(collection, 0, 1, 1, 2, 5)
        again = made(collection, parties.offer(collection), 1, messages=reports[1].messages)  # copies, as from another
        parties.report(collection, again.batch, again.body)
        parties.clock.now += WINDOW
        assert parties.batches.advance() == []
        told = parties.release(collection).json
        assert told["unreadable"] == 2
        assert counted(collection, told)[:6] == [1, 2, 1, 0, 0, 1]
        assert [*parties.analyser.keys.folder.glob("tmp*")] == []
