"""A desk, and what the command line makes of it: names that may be left out, and nobody who waits for another."""

import json

import pytest
from rig import WINDOW, plan

from headcount.cli.collection import _named
from headcount.cli.proof import _released
from headcount.core.errors import BadArgument
from headcount.service.desk import Desk
from headcount.service.keys import Announced
from headcount.service.released import FORMAT
from headcount.service.remote import Elsewhere

NAMES = ["ab" + "0" * 30, "ac" + "0" * 30]


class Told:
    """A party that says who it is, and how many collections it has."""

    def __init__(self, party, token=True):
        self.party, self.token = party, token

    def ask(self, _, path):
        if path == "/v1/identity":
            return {"party": self.party, "key": "0" * 64}
        if not self.token:
            raise Elsewhere("this token is not known", 401)
        return {"collections": NAMES}


def test_a_collection_is_known_by_its_beginning():
    desk = Desk(Told("shuffler"), Told("analyser"))
    assert _named(desk, "ab") == _named(desk, NAMES[0]) == _named(None, NAMES[0]) == NAMES[0]
    assert _named(None, "whatever somebody was told") == "whatever somebody was told"
    for name in (None, "a", "b"):
        with pytest.raises(BadArgument, match="collections could be meant"):
            _named(desk, name)
    with pytest.raises(BadArgument, match="is missing"):
        _named(None, None)


def test_a_desk_finds_out_at_once_that_something_is_wrong():
    assert Desk(Told("shuffler"), Told("analyser")).identities() == {"shuffler": "0" * 64, "analyser": "0" * 64}
    with pytest.raises(BadArgument, match="is the address of the analyser"):
        Desk(Told("analyser"), Told("shuffler")).identities()
    with pytest.raises(BadArgument, match=r"refused by the analyser.*not known"):
        Desk(Told("shuffler"), Told("analyser", token=False)).identities()


def test_a_batch_that_cannot_be_delivered_keeps_no_other_waiting(parties):
    parties.endowed()
    both = [parties.agreed(plan(), question=question) for question in ("One?", "Two?")]
    for collection in both:
        parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.receiver.losing = {0: "request"}
    with pytest.raises(Elsewhere):
        parties.batches.advance()
    assert sorted(parties.states(collection)[1] for collection in both) == ["purged", "shuffled"]
    parties.batches.advance()
    assert [parties.states(collection)[1] for collection in both] == ["purged", "purged"]


def test_a_batch_whose_end_is_fixed_is_not_closed_earlier(parties):
    parties.endowed()
    collections = [parties.agreed(plan(), fixed=fixed) for fixed in (True, False)]
    for collection in collections:
        parties.reported(collection, 0, 1, 2)
        parties.told("shuffler", "POST", f"/v1/collections/{collection.id}/close")
    parties.batches.advance()
    assert [parties.states(collection)[1] for collection in collections] == ["open", "purged"]
    parties.clock.now += WINDOW
    parties.batches.advance()
    assert parties.states(collections[0]) == {1: "purged"}


def test_the_last_key_lives_as_long_as_all_batches_may_be_held(parties):
    """Two batches, each held twice: the second may be open until the sixth window ends."""
    parties.endowed()
    collection = parties.agreed(plan(least=5), batches=2, holds=2)
    for _ in range(5):
        parties.clock.now += WINDOW
        parties.batches.advance()
    offer = parties.offer(collection)
    assert offer["batch"] == 2
    key = Announced.from_json(offer["analyser"], collection.analyser, "analyser")
    assert key.expires >= offer["closes"] == collection.opens + 6 * WINDOW


def test_a_release_is_told_by_its_format_however_long_it_is(tmp_path):
    path = tmp_path / "told.json"
    path.write_text(json.dumps({"certificate": "x" * 200_000, "format": FORMAT}))
    with pytest.raises(BadArgument, match="signature"):
        _released(path)
    for other in ('{"format": "headcount certificate 1"}', "[]", "no JSON", "[" * 100_000):
        path.write_text(other)
        assert _released(path) is None
