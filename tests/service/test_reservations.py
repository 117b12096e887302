"""What a batch costs: promised once, reserved when it comes, charged when it is told, and never twice."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from rig import WINDOW, Rig, plan

from headcount.errors import Damaged, OverBudget
from headcount.ledger.chain import sealed
from headcount.ledger.lines import Copied
from headcount_service.analyser.reservations import Reservations
from headcount_service.store.database import do, many
from headcount_service.wire.collection import Collection


def delivered(parties, **terms):
    collection = parties.agreed(plan(), **terms)
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.advance()
    return collection


def budget(parties):
    [told] = parties.told("analyser", "GET", "/v1/populations")["populations"]
    return told


def test_an_analyser_that_never_releases_has_paid(parties):
    parties.endowed(epsilon=2)
    collection = delivered(parties)
    before = budget(parties)
    assert (before["spent"], before["reserved"], before["promised"]) == (0.5, 1, 0.0)
    assert parties.release(collection).json["charge"] == 1
    after = budget(parties)
    assert (after["spent"], after["reserved"]) == (0.5, 0)
    assert parties.analyser.ledger("people").questions == 1


def test_what_was_reserved_stays_spent_when_a_collection_is_destroyed(parties):
    parties.endowed(epsilon=2)
    collection = delivered(parties)
    other = parties.agreed(plan(), question="Not delivered?")
    assert budget(parties)["promised"] == 0.5
    for destroyed in (collection, other):
        for party in ("shuffler", "analyser"):
            parties.told(party, "DELETE", f"/v1/collections/{destroyed.id}")
    assert (budget(parties)["spent"], budget(parties)["promised"]) == (0.5, 0.0)


def test_a_delivery_that_is_repeated_reserves_once(parties):
    parties.endowed()
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    for lost in range(3):
        parties.receiver.losing = {lost: "answer"}
        [problem] = parties.batches.advance()
        assert "lost" in str(problem)
    parties.receiver.losing = {}
    parties.batches.advance()
    assert parties.analyser.ledger("people").questions == 1


def test_the_budget_shows_what_is_promised(parties):
    parties.endowed(epsilon=10)
    parties.agreed(plan(), batches=4)
    told = budget(parties)
    assert (told["spent"], told["promised"], told["remaining"]) == (0.0, 0.4, 1.0)


def at_once(parties, number):
    """So many who create a collection each, all at the same moment; what each was told."""
    keys = {role: parties.told(role, "GET", "/v1/identity", role="")["key"] for role in ("shuffler", "analyser")}
    start = threading.Barrier(number)

    def create(at):
        collection = Collection(plan(), f"{at}?", "people", int(parties.clock()), WINDOW, **keys, admission="anyone")
        start.wait()
        try:
            return bool(parties.analyser.create(collection.to_json()))
        except OverBudget:
            return False

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(create, range(number)))


def test_many_who_create_at_once_are_promised_no_more_than_the_budget(parties):
    parties.endowed(epsilon=2.5)
    assert sum(at_once(parties, 6)) == 2
    kept = {key.rsplit("-", 1)[0] for key in parties.analyser.keys.names() if key.startswith("inner-")}
    assert len(kept) == len(parties.analyser.names()) == 2


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_a_check_outside_of_the_transaction_is_found_out(parties, monkeypatch):
    """The twin looks at the budget, and only then promises."""
    monkeypatch.setattr(Reservations, "require_within", lambda *_: None)
    looked, waited, make = threading.Barrier(6), threading.local(), parties.analyser.keys.make

    def together(names, suite):
        if not hasattr(waited, "once"):
            waited.once = looked.wait(20)
        return make(names, suite)

    monkeypatch.setattr(parties.analyser.keys, "make", together)
    parties.endowed(epsilon=2.5)
    assert sum(at_once(parties, 6)) == 6


def test_a_year_of_weeks_needs_one_look_at_the_folder(folder, monkeypatch):
    """A key for each of 52 batches is written to the disk once, and their folder once."""
    from headcount_service.wire import keys

    rig, synced = Rig.made(folder), []
    with rig.opened() as parties:
        parties.endowed(epsilon=50)
        fsync = keys.os.fsync
        monkeypatch.setattr(keys.os, "fsync", lambda file: (synced.append(file), fsync(file)))
        parties.analyser.create(_yearly(parties).to_json())
    assert 52 < len(synced) < 60


def _yearly(parties):
    keys = {role: parties.told(role, "GET", "/v1/identity", role="")["key"] for role in ("shuffler", "analyser")}
    terms = {"batches": 52, "admission": "anyone"}
    return Collection(plan(epsilon=0.5), "Weekly?", "people", int(parties.clock()), 7 * 86_400, **keys, **terms)


def test_a_line_that_settles_what_was_not_reserved_is_refused(parties):
    parties.endowed()
    collection = delivered(parties)
    lines = parties.told("analyser", "GET", "/v1/populations/people/ledger")["lines"]
    assert Copied([line.encode() for line in lines], "a copy").page().reserved == (1,)
    parties.release(collection)
    whole = [line.encode() for line in parties.told("analyser", "GET", "/v1/populations/people/ledger")["lines"]]
    read = Copied(whole, "a copy")
    assert (len(whole), read.page().reserved, len(read.page().charges)) == (3, (), 1)
    for number in (1, 2):
        more = sealed({"settles": number}, read._read.hashes[-1])[0].rstrip(b"\n")
        with pytest.raises(Damaged, match="settles what was not reserved"):
            Copied([*whole, more], "a copy")


def test_a_batch_that_was_delivered_before_reservations_is_charged_when_it_is_claimed(parties):
    """As version 0.2 left it: delivered, and nothing in the ledger."""
    parties.endowed()
    collection = delivered(parties)
    with parties.analyser.database.writing() as connection:
        do(connection, "UPDATE batches SET charge = NULL")
        first = many(connection, "SELECT line FROM charges WHERE number = 0")[0]["line"]
        do(connection, "DELETE FROM charges WHERE number > 0")
        head = json.loads(first)["hash"]
        do(connection, "UPDATE populations SET head = :head", head=head)
    for path in parties.analyser.witness.iterdir():
        path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    parties.analyser._accounts.clear()
    assert parties.release(collection).json["charge"] == 1
    ledger = parties.analyser.ledger("people")
    assert (ledger.questions, ledger.reserved) == (1, ())
