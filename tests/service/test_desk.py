"""A desk, and what the command line makes of it: names that may be left out, and nobody who waits for another."""

import json

import pytest
from rig import WINDOW, plan
from typer.testing import CliRunner

from headcount.cli.collection import _named
from headcount.cli.main import app
from headcount.cli.proof import _released
from headcount.core.errors import BadArgument, Refused
from headcount.service import logs
from headcount.service.desk import Absent, Desk
from headcount.service.keys import Announced
from headcount.service.released import FORMAT
from headcount.service.remote import Elsewhere
from headcount.service.server import _kind

NAMES = ["ab" + "0" * 30, "ac" + "0" * 30]


class Told:
    """A party that says who it is, which collections it has, and how far their only batch is."""

    address = "http://127.0.0.1:1"

    def __init__(self, party, token=True, states=("open", "open")):
        self.party, self.token, self.states = party, token, dict(zip(NAMES, states, strict=True))

    def ask(self, _, path):
        if path == "/v1/identity":
            return {"party": self.party, "key": "0" * 64}
        if not self.token:
            raise Elsewhere("this token is not known", 401)
        if path == "/v1/collections":
            return {"collections": NAMES}
        name = path.split("/")[3]
        if path.endswith("/release"):
            raise Elsewhere("batch 1 has not been delivered; close the collection, or wait", 409)
        batch = {"batch": 1, "state": self.states[name], "reports": 3, "added": 0}
        if self.party == "shuffler":
            return {"collection": name, "least": 3, "batches": [{**batch, "closes": None}]}
        come = [batch] if self.states[name] in ("delivered", "claimed", "released") else []
        asked = {"question": "Which?", "task": "count", "population": "people", "least": 3, "last": 1}
        return {"collection": name, **asked, "batches": come}


def test_a_collection_is_known_by_its_beginning():
    desk = Desk(Told("shuffler"), Told("analyser"))
    assert _named(desk, "ab") == _named(desk, NAMES[0]) == _named(None, NAMES[0]) == NAMES[0]
    assert _named(None, "whatever somebody was told") == "whatever somebody was told"
    for name in (None, "a"):
        with pytest.raises(BadArgument, match="2 collections could be meant"):
            _named(desk, name)
    with pytest.raises(BadArgument, match="is 'b'; there is no such collection"):
        _named(desk, "b")
    with pytest.raises(BadArgument, match="is missing; without a folder, give the collection's name"):
        _named(None, None)


def test_a_name_may_be_left_out_if_one_collection_is_under_way():
    desk = Desk(Told("shuffler", states=("purged", "open")), Told("analyser", states=("released", "open")))
    assert _named(desk, None) == NAMES[1]
    with pytest.raises(BadArgument, match="2 collections could be meant"):
        _named(desk, None, under_way=False)
    over = Desk(Told("shuffler", states=("purged", "purged")), Told("analyser", states=("released", "open")))
    with pytest.raises(BadArgument, match="2 collections could be meant"):
        _named(over, None)


def test_a_batch_that_was_destroyed_is_not_waited_for():
    desk = Desk(Told("shuffler", states=("purged", "open")), Told("analyser"))
    with pytest.raises(Refused, match=r"destroyed unread.*nothing was charged"):
        desk.release(NAMES[0])
    for waiting in (desk, Desk(Absent("shuffler"), Told("analyser"))):
        with pytest.raises(Elsewhere, match="has not been delivered"):
            waiting.release(NAMES[1])


def test_who_has_a_token_of_one_party_does_what_that_allows(tmp_path):
    analyst = Desk(Absent("shuffler"), Told("analyser", states=("released", "open")))
    assert list(analyst.identities()) == ["analyser"]
    assert analyst.names() == NAMES
    states = [analyst.state(name)["batches"][0] for name in NAMES]
    assert [(batch["state"], batch["reports"]) for batch in states] == [("released", 3), ("awaited", None)]
    assert analyst.asked(NAMES[0]) == {"question": "Which?", "task": "count", "population": "people"}
    assert analyst.under_way() == [NAMES[1]]
    operator = Desk(Told("shuffler"), Absent("analyser"))
    assert operator.state(NAMES[0])["batches"][0]["state"] == "open"
    for desk, absent in ((analyst, "shuffler"), (operator, "analyser")):
        with pytest.raises(Refused, match=f"needs the {absent}, of which the desk has no token"):
            desk.destroy(NAMES[0])
    Desk.write(tmp_path, analyser=("http://127.0.0.1:1", "hc-token"))
    kept = Desk.open(tmp_path)
    assert kept.analyser.address == "http://127.0.0.1:1"
    for ask in (lambda: kept.offer(NAMES[0]), lambda: kept.close(NAMES[0]), lambda: kept.shuffler.address):
        with pytest.raises(Refused, match="needs the shuffler"):
            ask()


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


def test_a_refusal_tells_what_is_spent_and_what_is_promised(parties):
    parties.endowed(epsilon=2.5)
    for question in ("One?", "Two?"):
        parties.agreed(plan(), question=question)
    words = r"need 40% of the budget and 20% is left beside the 80% promised to .*, or destroy"
    with pytest.raises(AssertionError, match=words):
        parties.agreed(plan(), question="Three?")


def verified(path, *options):
    done = CliRunner().invoke(app, ["verify", str(path), *options])
    return done.exit_code, done.output


def test_a_forged_release_is_told_from_one_that_cannot_be_proved(parties, tmp_path):
    parties.endowed()
    collection, path = parties.agreed(plan()), tmp_path / "release.json"
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.advance()
    release = parties.release(collection).json
    path.write_text(json.dumps(release))
    key, other = release["analyser"], "0" * 64
    for options, said in (
        ([], "SIGNED: the release is as it was signed"),
        (["--signed-by", key], "whose key you gave"),
    ):
        code, output = verified(path, *options)
        assert code == 0
        assert said in output
        assert "PROVED" in output
    assert json.loads(verified(path, "--format", "json")[1])["signed_by"] == key
    code, output = verified(path, "--signed-by", other)
    assert (code, f"was signed by {key}, and not by {other}" in output) == (3, True)
    path.write_text(json.dumps({**release, "people": 4}))
    code, output = verified(path)
    assert (code, "does not bear the signature" in output) == (3, True)
    path.write_text(json.dumps({**release["certificate"], "model": "local", "programme": {}}))
    assert verified(path)[0] == 2
    with pytest.raises(BadArgument, match="the file is no release"):
        CliRunner().invoke(app, ["verify", str(path), "--signed-by", key], catch_exceptions=False)


def test_logs_say_how_bad_it_is(capsys):
    for event in ("serving", "step failed", "failed"):
        logs.log(event, problem="unreachable")
    levels = [json.loads(line)["level"] for line in capsys.readouterr().err.splitlines()]
    assert levels == ["info", "warning", "error"]
    assert [_kind(problem) for problem in (Elsewhere("no"), Elsewhere("no", 403), OSError("secret"))] == [
        "unreachable", "refused with 403", "OSError",
    ]  # fmt: skip
