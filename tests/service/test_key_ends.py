"""The analyser's keys of batches that are never released: they die at a signed notice, and at their announced end."""

import pytest
from rig import WINDOW, plan

from headcount.errors import BadArgument
from headcount_service.analyser.analyser import Analyser
from headcount_service.analyser.duties import Duties
from headcount_service.store.database import Database
from headcount_service.wire.keys import Announced


def kept(parties):
    return sorted(int(name.rsplit("-", 1)[1]) for name in parties.analyser.keys.names() if name.startswith("inner-"))


def closed(parties):
    parties.clock.now += WINDOW
    return parties.batches.advance()


def test_the_key_of_a_batch_that_was_purged_dies(parties):
    """Too few came, and nobody will ever open what they sent: not even a thief of the analyser's disk."""
    parties.endowed(epsilon=3)
    collection = parties.agreed(plan(), shortfall="purge", batches=3)
    parties.reported(collection, 0)
    assert kept(parties) == [1, 2, 3]
    closed(parties)
    assert (parties.states(collection), kept(parties)) == ({1: "purged", 2: "open"}, [2, 3])
    assert "destroyed unread" in parties.release(collection).json["error"]
    parties.told("shuffler", "POST", f"/v1/collections/{collection.id}/close")
    parties.batches.advance()
    assert kept(parties) == []
    assert parties.told("analyser", "GET", "/v1/populations")["populations"][0]["promised"] == 0.0


def test_a_notice_that_is_lost_is_sent_again(rig):
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan(), shortfall="purge")
        for lost in ("request", "answer"):
            parties.receiver.losing = {0: lost}
            assert len(closed(parties)) == 1
            assert kept(parties) == ([1] if lost == "request" else [])
        parties.batches.advance()
    with rig.opened() as restarted:
        restarted.batches.advance()
        assert restarted.states(collection, "analyser") == {1: "purged"}


def reads_at_a_notice(parties, monkeypatch):
    """How often the analyser reads when it is told that a batch of a new collection will not come."""
    collection, reads, reading = parties.agreed(plan()), [], Database.reading
    notice = parties.shuffler.signer.signed("notice", {"collection": collection.hash, "purged": [1]})
    with monkeypatch.context() as counting:
        counting.setattr(Database, "reading", lambda self: reads.append(1) or reading(self))
        parties.apps["analyser"].deliveries.notify_purged(notice)
    return len(reads)


@pytest.mark.parametrize("twin", [False, True])
def test_a_notice_costs_the_same_however_many_collections_there_are(parties, monkeypatch, twin):
    """After a restart every notice is sent again: if each looked at all keys, that would be the square."""
    forget = Analyser.forget_keys
    if twin:
        monkeypatch.setattr(Analyser, "forget_keys", lambda self, *_: forget(self))
    parties.endowed()
    first = reads_at_a_notice(parties, monkeypatch)
    for _ in range(3):
        parties.agreed(plan())
    assert (reads_at_a_notice(parties, monkeypatch) > first) is twin


def test_only_the_shuffler_may_say_so_and_only_of_what_did_not_come(parties):
    parties.endowed()
    collection = parties.agreed(plan(), batches=2)
    parties.reported(collection, 0, 1, 2)
    closed(parties)
    content = {"collection": collection.hash, "purged": [1, 2]}
    signed = parties.shuffler.signer.signed
    for wrong in (
        parties.analyser.signer.signed("notice", content),
        signed("manifest", content),
        signed("notice", {**content, "purged": [3]}),
        signed("notice", {**content, "purged": ["1"]}),
        signed("notice", {"collection": collection.hash}),
    ):
        with pytest.raises(BadArgument):
            parties.apps["analyser"].deliveries.notify_purged(wrong)
    assert kept(parties) == [1, 2]
    parties.told("analyser", "POST", "/v1/notices", signed("notice", content), role="shuffler")
    assert parties.states(collection, "analyser") == {1: "delivered", 2: "purged"}
    assert kept(parties) == [1]
    assert parties.release(collection).status == 200


def test_a_batch_that_was_said_to_be_purged_does_not_come_after_all(parties):
    parties.endowed()
    collection = parties.agreed(plan())
    notice = parties.shuffler.signer.signed("notice", {"collection": collection.hash, "purged": [1]})
    parties.told("analyser", "POST", "/v1/notices", notice, role="shuffler")
    parties.reported(collection, 0, 1, 2)
    [problem] = closed(parties)
    assert "its key is gone" in str(problem)
    assert parties.analyser.ledger("people").questions == 0


def test_keys_die_at_their_announced_end_and_what_they_open_with_them(parties):
    """A batch that was delivered and never released has been paid for, and is not told any more."""
    parties.endowed()
    collection = parties.agreed(plan(), batches=2)
    parties.reported(collection, 0, 1, 2)
    expires = Announced.from_json(parties.offer(collection)["analyser"], collection.analyser, "analyser").expires
    closed(parties)
    duties = Duties(parties.analyser, parties.apps["analyser"].releases)
    parties.clock.now = expires
    duties.advance()
    assert kept(parties) == [1, 2]
    parties.clock.now += 100
    duties.advance()
    assert kept(parties) == []
    assert parties.states(collection, "analyser") == {1: "expired"}
    assert "has expired" in parties.release(collection).json["error"]
    told = parties.told("analyser", "GET", "/v1/populations")["populations"][0]
    assert (told["spent"], told["promised"]) == (0.02, 0.0)


def test_keys_of_a_collection_that_was_never_agreed_on_are_gone_after_a_start(parties):
    parties.analyser.keys.make([f"inner-{'0' * 32}-1"], "x25519-sha256-aes128gcm")
    parties.endowed()
    parties.agreed(plan())
    parties.analyser.tidy()
    assert kept(parties) == [1]
    assert not parties.analyser.keys.has(f"inner-{'0' * 32}-1")
