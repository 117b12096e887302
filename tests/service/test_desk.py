"""A desk, and what the command line makes of it: names that may be left out, and nobody who waits for another."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from rig import WINDOW, plan
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.cli.proof import _released
from headcount.errors import BadArgument, Refused, RemoteRefusal
from headcount.protocols.base.report_size import Wire
from headcount_service.cli.collection import _named
from headcount_service.client.limits import Limits
from headcount_service.operator.operator import AbsentParty, Operator
from headcount_service.runtime import logs
from headcount_service.shuffler.batches import kind_of
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import Announced
from headcount_service.wire.signed_release import FORMATS

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
            raise RemoteRefusal("this token is not known", 401)
        if path == "/v1/collections":
            return {"collections": NAMES}
        name = path.split("/")[3]
        if path.endswith("/release"):
            raise RemoteRefusal("batch 1 has not been delivered; close the collection, or wait", 409)
        batch = {"batch": 1, "state": self.states[name], "reports": 3, "added": 0}
        if self.party == "shuffler":
            return {"collection": name, "least": 3, "batches": [{**batch, "closes": None}]}
        come = [batch] if self.states[name] in ("delivered", "claimed", "released") else []
        asked = {"question": "Which?", "task": "count", "population": "people", "least": 3, "last": 1}
        return {"collection": name, **asked, "batches": come}


def test_a_collection_is_known_by_its_beginning():
    desk = Operator(Told("shuffler"), Told("analyser"))
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
    desk = Operator(Told("shuffler", states=("purged", "open")), Told("analyser", states=("released", "open")))
    assert _named(desk, None) == NAMES[1]
    with pytest.raises(BadArgument, match="2 collections could be meant"):
        _named(desk, None, under_way=False)
    over = Operator(Told("shuffler", states=("purged", "purged")), Told("analyser", states=("released", "open")))
    with pytest.raises(BadArgument, match="2 collections could be meant"):
        _named(over, None)


def test_a_batch_that_was_destroyed_is_not_waited_for():
    desk = Operator(Told("shuffler", states=("purged", "open")), Told("analyser"))
    with pytest.raises(Refused, match=r"destroyed unread.*nothing was charged"):
        desk.release(NAMES[0])
    for waiting in (desk, Operator(AbsentParty("shuffler"), Told("analyser"))):
        with pytest.raises(RemoteRefusal, match="has not been delivered"):
            waiting.release(NAMES[1])


def test_who_has_a_token_of_one_party_does_what_that_allows(tmp_path):
    analyst = Operator(AbsentParty("shuffler"), Told("analyser", states=("released", "open")))
    assert list(analyst.identities()) == ["analyser"]
    assert analyst.names() == NAMES
    states = [analyst.state(name)["batches"][0] for name in NAMES]
    assert [(batch["state"], batch["reports"]) for batch in states] == [("released", 3), ("awaited", None)]
    assert analyst.asked(NAMES[0]) == {"question": "Which?", "task": "count", "population": "people"}
    assert analyst.under_way() == [NAMES[1]]
    operator = Operator(Told("shuffler"), AbsentParty("analyser"))
    assert operator.state(NAMES[0])["batches"][0]["state"] == "open"
    for desk, absent in ((analyst, "shuffler"), (operator, "analyser")):
        with pytest.raises(Refused, match=f"needs the {absent}, of which this folder has no token"):
            desk.destroy(NAMES[0])
    Operator.write(tmp_path, analyser=("http://127.0.0.1:1", "hc-token"))
    kept = Operator.open(tmp_path)
    assert kept.analyser.address == "http://127.0.0.1:1"
    for ask in (lambda: kept.offer(NAMES[0]), lambda: kept.close(NAMES[0]), lambda: kept.shuffler.address):
        with pytest.raises(Refused, match="needs the shuffler"):
            ask()


class Down:
    """A party that does not answer."""

    address = "http://127.0.0.1:2"

    def ask(self, *_):
        raise RemoteRefusal("http://127.0.0.1:2 cannot be reached; is it running?")


def test_a_desk_shows_what_the_party_that_answers_knows_and_which_does_not():
    without = Operator(Told("shuffler", states=("shuffled", "open")), Down())
    told = without.state(NAMES[0])
    assert told["batches"][0]["state"] == "shuffled"
    assert list(told["silent"]) == ["analyser"]
    other = Operator(Down(), Told("analyser", states=("released", "open")))
    assert other.names() == NAMES
    assert other.asked(NAMES[0])["question"] == "Which?"
    assert [other.state(name)["batches"][0]["state"] for name in NAMES] == ["released", "awaited"]
    assert list(other.state(NAMES[0])["silent"]) == ["shuffler"]
    assert Operator(Told("shuffler"), Told("analyser")).state(NAMES[0])["silent"] == {}
    with pytest.raises(RemoteRefusal, match="cannot be reached"):
        Operator(Down(), Down()).state(NAMES[0])
    with pytest.raises(RemoteRefusal, match="not known"):
        Operator(Told("shuffler"), Told("analyser", token=False)).state(NAMES[0])


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_closing_says_what_was_done_while_the_analyser_is_down(parties, monkeypatch):
    parties.endowed()
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 1, 2)
    desk = Operator(Within(parties, "shuffler"), Within(parties, "analyser"))
    silent = Operator(desk.shuffler, Down())
    parties.receiver.losing = dict.fromkeys(range(100), "request")
    monkeypatch.setattr("headcount_service.cli.collection._operator", lambda _: silent)
    done = CliRunner().invoke(app, ["collection", "close", collection.id, "--data", "anywhere"])
    assert done.exit_code == 0
    assert "batch 1: shuffled, 3 reports" in done.output
    assert "the analyser does not answer" in done.output
    assert "is closed; what is mixed will be delivered as soon as" in done.output
    shown = CliRunner().invoke(app, ["collection", "show", collection.id, "--data", "anywhere"])
    assert (shown.exit_code, "shuffled" in shown.output, "does not answer" in shown.output) == (0, True, True)
    parties.receiver.losing = {}
    assert desk.close(collection.id)["batches"][0]["state"] == "delivered"


class Within:
    """A party in this process, as a desk asks it; whoever looks at a batch finds it moved on as far as it goes."""

    address = "http://127.0.0.1:1"

    def __init__(self, parties, party):
        self.parties, self.party = parties, party

    def ask(self, method, path, content=None):
        with suppress(RemoteRefusal):
            self.parties.batches.advance()
        return self.parties.told(self.party, method, path, content)


@pytest.mark.parametrize("databases", ["sqlite"], indirect=True)
def test_strangers_and_trust_in_everybody_have_to_be_written_out(parties, folder, monkeypatch):
    desk = Operator(Within(parties, "shuffler"), Within(parties, "analyser"))
    monkeypatch.setattr("headcount_service.cli.collection._operator", lambda _: desk)
    parties.endowed(delta=1e-3)
    trusting, careful = folder / "trusting.json", folder / "careful.json"
    for path, corrupt in ((trusting, 0), (careful, 20)):
        protocol = hc.protocol("zsum", n=2_000, corrupt=corrupt, epsilon=0.5, delta=1e-6)
        budget = hc.Budget(0.5, 1e-6)
        hc.Plan(protocol, budget, Wire.of(protocol, budget)).save(path)

    def created(path, *options):
        command = ["collection", "create", str(path), "--data", "x", "--question", "Yes?", "--format", "json", *options]
        return json.loads(CliRunner().invoke(app, command, catch_exceptions=False).stdout)

    with pytest.raises(BadArgument, match=r"counts on each of 2,000 people.*trust_all"):
        created(trusting)
    told = created(careful)
    assert (told["admission"], told["fixed"], told["corrupt"]) == ("invited", True, 20)
    assert "will not report at all: if the shuffler and the analyser work together" in told["foreseen"]
    agreed = desk.collection(
        created(trusting, "--trust-all", "--anyone", "--closable", "--release-at-close")["collection"]
    )
    assert (agreed.admission, agreed.fixed, agreed.automatic) == ("anyone", False, True)


def test_a_year_that_devices_would_not_go_along_with_is_foreseen():
    """52 weeks at epsilon 1 with a lifetime limit of 10."""
    keys = {"shuffler": "ab" * 32, "analyser": "ab" * 32}
    terms = {"batches": 52, "admission": "anyone"}
    weekly = Collection(plan(least=200, buckets=300), "Weekly?", "people", 0, 7 * 86_400, **keys, **terms)
    assert "will not report from batch 11 of 52 on" in Limits().foreseen(weekly)
    assert "(lifetime_epsilon)" in Limits().foreseen(weekly)
    assert "will not report at all" in Limits(epsilon=0.5).foreseen(weekly)
    assert Limits().foreseen(replace(weekly, batches=10)) == ""


def test_a_desk_finds_out_at_once_that_something_is_wrong():
    assert Operator(Told("shuffler"), Told("analyser")).identities() == {"shuffler": "0" * 64, "analyser": "0" * 64}
    with pytest.raises(BadArgument, match="is the address of the analyser"):
        Operator(Told("analyser"), Told("shuffler")).identities()
    with pytest.raises(BadArgument, match=r"refused by the analyser.*not known"):
        Operator(Told("shuffler"), Told("analyser", token=False)).identities()


def test_a_batch_that_cannot_be_delivered_keeps_no_other_waiting(parties):
    parties.endowed()
    both = [parties.agreed(plan(), question=question) for question in ("One?", "Two?")]
    for collection in both:
        parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.receiver.losing = {0: "request"}
    assert [type(problem) for problem in parties.batches.advance()] == [RemoteRefusal]
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
    path.write_text(json.dumps({"certificate": "x" * 200_000, "format": FORMATS[1]}))
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
    assert [kind_of(problem) for problem in (RemoteRefusal("no"), RemoteRefusal("no", 403), OSError("secret"))] == [
        "unreachable",
        "refused with 403",
        "OSError",
    ]
