"""A shuffler that adds messages of its own, as the service has it: bare answers in, nothing of the dummies out."""

import gc
import json
import math
import re
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest
from rig import WINDOW, made
from serving import HOST, Served
from test_crash_points import DIED, Story, nothing_is_left

import headcount as hc
from headcount.errors import AnswerExposed, BadArgument, Unsupported
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import HYBRID, TOKEN, X25519, Wire
from headcount.protocols.shuffle.padded_histogram import PaddedHistogram
from headcount_service.analyser.releases import Releases
from headcount_service.client.device import Client
from headcount_service.client.limits import Limits
from headcount_service.client.simulated import report_all
from headcount_service.lake.shuffling import LakeShuffler
from headcount_service.runtime.crash_points import POINTS
from headcount_service.shuffler.batches import Batches
from headcount_service.store.database import one
from headcount_service.wire.collection import require_collectable
from headcount_service.wire.signed_release import Released
from stress import lengths, some

BUDGET = hc.Budget(1, 1e-6)
LEFT = {"epsilon": 1, "delta": 0.99e-6}  # beside what reports that are cut short cost
COUNT, MANY = "padded-count", "padded-histogram"
SAMPLED = "sampled-padded-histogram"
only_sqlite = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


def planned(name=COUNT, n=1_000, least=3, categories=12, suite=X25519, **given):
    task = None if name == COUNT else hc.Histogram(categories)
    protocol = hc.protocol(name, task, n=n, least=least, **LEFT, **given)
    return Plan(protocol, BUDGET, Wire.of(protocol, BUDGET, suite))


def agreed(parties, plan, **terms):
    parties.endowed(delta=1e-3)
    return parties.agreed(plan, **terms)


def mixed(parties, collection, *codes):
    parties.reported(collection, *codes)
    parties.clock.now += WINDOW
    return parties.batches.advance()


def manifest_of(parties, collection, of="analyser"):
    with parties.opened[of].database.reading() as connection:
        row = one(connection, "SELECT manifest FROM batches WHERE collection = :name", name=collection.id)
    return json.loads(row["manifest"])


# What is told.


@pytest.mark.parametrize("name", [COUNT, MANY, SAMPLED])
def test_an_answer_is_released_once_and_proved(parties, name):
    collection = agreed(parties, planned(name))
    assert mixed(parties, collection, 1, 1, 0, 1) == []
    told = parties.release(collection)
    assert parties.release(collection).body == told.body
    release = told.json
    assert (release["people"], release["added"], release["unreadable"]) == (4, 0, 0)
    assert Released(release).verify().answer == "proved"
    cell = release["estimate"] if name == COUNT else release["estimate"]["cells"][1]
    assert abs(cell["value"] - 3) < 60  # thirty times the typical error


def test_a_count_is_filled_up_and_of_a_histogram_nobody_is_told_how_many_were_added(parties):
    count, histogram = planned(COUNT), planned(MANY)
    for plan in (count, histogram):
        collection = agreed(parties, plan) if plan is count else parties.agreed(plan)
        mixed(parties, collection, 1, 0, 1)
        manifest, protocol = manifest_of(parties, collection), plan.protocol
        low, high = protocol.padded_by(3)
        assert low <= manifest["messages"] - 3 <= high
        assert (low == high == 2 * protocol.shift) == (plan is count)
        told = json.dumps(
            [parties.release(collection).json, parties.told("analyser", "GET", f"/v1/collections/{collection.id}")]
        )
        told += json.dumps(parties.told("shuffler", "GET", f"/v1/collections/{collection.id}/state"))
        assert set(re.findall(r'"messages": ?([0-9]+)', told)) == {"1"}


@only_sqlite
def test_everybody_may_send_several_messages(parties):
    """One for each family of cells; what the shuffler adds is one message each all the same."""
    task = hc.Distribution((0.0, 2.0), 2, radices=(2, 1))
    protocol = hc.protocol(MANY, task, n=1_000, least=3, **LEFT)
    collection = agreed(parties, Plan(protocol, BUDGET, Wire.of(protocol, BUDGET, X25519)))
    assert collection.wire.messages > 1
    assert mixed(parties, collection, 0, 1, 1) == []
    low, high = protocol.padded_by(3)
    assert low <= manifest_of(parties, collection)["messages"] - 3 * collection.wire.messages <= high
    assert parties.release(collection).json["unreadable"] == 0


def test_reports_of_nobody_are_padded_as_well(parties):
    collection = agreed(parties, planned(least=6), shortfall="top-up")
    assert mixed(parties, collection, 1, 0, 1) == []
    assert manifest_of(parties, collection)["messages"] == 6 + 2 * collection.plan.protocol.shift
    assert parties.release(collection).json["added"] == 3


def test_messages_that_nobody_can_open_count_for_nothing(parties):
    collection = agreed(parties, planned())
    offer = parties.offer(collection)
    size = collection.report_format(1).message_bytes
    body = made(collection, offer, 0, messages=(b"\1" * size,)).body
    assert parties.report(collection, 1, body).status == 200
    assert mixed(parties, collection, 1, 0, 1) == []
    release = parties.release(collection).json
    assert (release["unreadable"], release["plausible"], release["people"]) == (1, 3, 4)


# How wrong it is.


@only_sqlite
@pytest.mark.parametrize(("analyser", "error"), [(True, 3.959), (False, 2.799)])
@lengths(("people", "categories"), (60, 250), (10_000, 1_000))
def test_errors_through_http_are_those_that_were_predicted(rig, people, categories, analyser, error):
    """Of all categories of one release, which is what a collection of real devices gives."""
    plan = planned(MANY, n=10_000, least=people, categories=categories, analyser=analyser)
    answers = [person % 7 for person in range(people)]
    with rig.opened() as parties:
        collection = agreed(parties, plan, opens=int(time.time()), window=1 << 24)
    with Served(rig).running() as served:
        receipts = report_all(f"http://{HOST}:{served.ports['shuffler']}", collection.id, answers, hash=collection.hash)
        assert {(each.messages, each.bytes <= 170, each.padded, each.colluding) for each in receipts} == {
            (1, True, True, None)
        }
        with served.caller("shuffler", "operator") as shuffler:
            shuffler.told("POST", f"/v1/collections/{collection.id}/close")
        release = released(served, collection)
    truth = np.bincount(answers, minlength=categories)
    errors = np.array([cell["value"] for cell in release["estimate"]["cells"]]) - truth
    assert plan.protocol.rmse() == pytest.approx(error, rel=0.01)
    noise = plan.protocol.noise(0, people)
    spread = math.sqrt(float((noise.masses * noise.values**4).sum()) / noise.rmse**4 - 1) / 2 / math.sqrt(categories)
    assert abs(math.sqrt((errors**2).mean()) / noise.rmse - 1) < 6 * spread
    assert Released(release).verify().answer == "proved"


def released(served, collection):
    path, until = f"/v1/collections/{collection.id}/batches/1/release", time.monotonic() + 120
    with served.caller("analyser", "analyst", 60) as analyst:
        while (answer := analyst.ask("POST", path)).status != 200:
            assert time.monotonic() < until, answer
            time.sleep(0.05)
    return answer.json


@only_sqlite
@pytest.mark.parametrize(("analyser", "error"), [(True, 1.919), (False, 1.357)])
@lengths("populations", 3, 30)
def test_errors_of_counts_are_those_that_were_predicted(parties, populations, analyser, error):
    """The error is the same in every crowd, so that small ones show it."""
    plan, errors = planned(analyser=analyser), []
    for population in map(str, range(populations)):
        parties.endowed(population, delta=1e-3)
        collection = parties.agreed(plan, batches=20, population=population, opens=int(parties.clock.now))
        for batch in range(1, 21):
            mixed(parties, collection, 1, 1, 0)
            errors.append(parties.release(collection, batch).json["estimate"]["value"] - 2)
    noise = plan.protocol.noise(0, 3)
    assert noise.rmse == pytest.approx(error, rel=0.01)
    spread = math.sqrt(float((noise.masses * noise.values**4).sum()) / noise.rmse**4 - 1) / 2 / math.sqrt(len(errors))
    assert abs(math.sqrt(np.mean(np.square(errors))) / noise.rmse - 1) < 6 * spread


def test_one_message_is_short():
    """With classical seals; one that is sealed against quantum computers as well carries two keys of a kilobyte."""
    sizes = {
        suite: [
            planned(name, suite=suite, categories=1_000).wire.upload_bytes(planned(name, categories=1_000).protocol)
            for name in (COUNT, MANY)
        ]
        for suite in (X25519, HYBRID)
    }
    assert sizes == {X25519: [164, 165], HYBRID: [2_340, 2_341]}
    assert planned().wire.upload_bytes(planned().protocol, TOKEN) == 164 + TOKEN - 32


# Crashes.

AROUND = (
    *POINTS[POINTS.index("before mixing") : POINTS.index("before purging")],
    "before a part",
    "after completing",
    *POINTS[POINTS.index("before claiming") : POINTS.index("while retiring")],
)
DECIDED = POINTS.index("when it is mixed")
QUICK = ("before it is mixed", "when it is mixed", "while delivering", "after claiming", "after releasing")


class Noting:
    """Notes in a file whenever dummies are drawn: only a test may know."""

    def __init__(self, path):
        self.path = path

    def __call__(self):
        drawn, path = PaddedHistogram.padding, self.path

        def padding(protocol, coins):
            with path.open("a") as notes:
                notes.write("drawn\n")
            return drawn(protocol, coins)

        PaddedHistogram.padding = padding


@pytest.mark.parametrize("point", some(AROUND, lambda point: point in QUICK))
def test_a_crash_leads_to_no_second_mixture(point, rig):
    """Dummies are drawn again only where nobody can have seen those before; and an answer is told in one way."""
    noting = Noting(rig.folder / "notes")
    story = Story(rig, planned(MANY))
    assert story.lived(die_at=point, prepare=noting) == (DIED, [])
    before = noting.path.read_text().count("drawn") if noting.path.exists() else 0
    with rig.opened() as parties:
        signed = manifest_of(parties, story.collection, "shuffler") if POINTS.index(point) >= DECIDED else None
    code, answers = story.lived(prepare=noting)
    assert code == 0
    with rig.opened() as parties:
        again = parties.release(story.collection)
        assert answers == [again.body]
        assert parties.analyser.ledger("people").questions == 1
        nothing_is_left(parties, story.collection)
        delivered = manifest_of(parties, story.collection)
    drawn = noting.path.read_text().count("drawn")
    if POINTS.index(point) < DECIDED:
        assert drawn == before + 1
    else:
        assert (drawn, delivered) == (1, signed)


class MixesAgain(Noting):
    """The twin draws its dummies whenever it delivers, so that the analyser could take one mixture off the other."""

    def __call__(self):
        super().__call__()
        deliver = Batches._deliver

        def delivered_anew(batches, batch):
            batches.shuffler.collection(batch["collection"]).plan.protocol.padding(hc.SeededCoins(1))
            deliver(batches, batch)

        Batches._deliver = delivered_anew


def test_a_shuffler_that_draws_again_is_found_out(rig):
    mixing = MixesAgain(rig.folder / "notes")
    story = Story(rig, planned(MANY))
    story.lived(die_at="while delivering", prepare=mixing)
    story.lived(prepare=mixing)
    assert mixing.path.read_text().count("drawn") == 3


def test_an_analyser_that_draws_its_noise_for_everybody_who_asks_is_found_out(parties, monkeypatch):
    collection = agreed(parties, planned(MANY))
    mixed(parties, collection, 1, 1, 0)
    monkeypatch.setattr(Releases, "_commit", lambda *given: {"state": "released", "result": json.dumps(given[-1])})
    monkeypatch.setattr(Releases, "_forget", lambda *_: None)
    assert parties.release(collection).body != parties.release(collection).body
    monkeypatch.undo()
    assert parties.release(collection).body == parties.release(collection).body


# A shuffler that does otherwise.


@pytest.mark.parametrize("name", [COUNT, MANY, SAMPLED])
def test_a_shuffler_that_adds_nothing_is_refused(parties, monkeypatch, name):
    plan = planned(name, categories=200)
    monkeypatch.setattr(type(plan.protocol), "padding", Protocol.padding)
    collection = agreed(parties, plan)
    [problem] = mixed(parties, collection, 1, 0, 1)
    assert "another number of messages than what devices send and the plan lets the shuffler add" in str(problem)
    assert parties.release(collection).status == 409
    assert parties.analyser.ledger("people").questions == 0


def test_an_honest_shuffler_is_hardly_ever_refused():
    """The range has all but a chance of 1e-9, and nothing much wider would do."""
    protocol = planned(MANY, categories=100).protocol
    total = protocol.added.power(100)
    low, high = protocol.padded_by(1_000)
    inside = float(total.masses[(total.values >= low) & (total.values <= high)].sum())
    assert inside + 1e-12 >= 1 - 1e-9
    narrower = float(total.masses[(total.values > low) & (total.values <= high)].sum())
    assert 1 - narrower > 5e-10
    assert (total.mean - low) / math.sqrt(total.variance) == pytest.approx(6, rel=0.1)


def test_what_is_drawn_is_nowhere_after_mixing(parties, rig, monkeypatch):
    """Neither in a file nor in memory: what could tell it is gone before the batch is delivered."""
    plan, drawn = planned(MANY, categories=3), []
    collection = agreed(parties, plan)
    padding = type(plan.protocol).padding

    def watched(self, coins):
        messages = padding(self, coins)
        drawn.append(weakref.ref(messages))
        return messages

    monkeypatch.setattr(type(plan.protocol), "padding", watched)
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    before = {path.name for path in (rig.folder / "shuffler").rglob("*")}
    assert parties.batches.mix() == []
    assert parties.states(collection) == {1: "shuffled"}
    gc.collect()
    assert [each() for each in drawn] == [None]
    new = {path.name.split("-")[0] for path in (rig.folder / "shuffler").rglob("*")} - before
    assert new <= {"mixed", "outer"}  # the secret of the mixed messages, until they are delivered, and a newer key


# Devices.


def refused(collection, **limits):
    limits = {"least": 1, "colluding": math.inf, "padded": True, **limits}
    Limits(**limits).require(collection, (0, 0))


def test_a_device_sends_its_bare_answer_only_where_its_owner_agreed(parties):
    collection = agreed(parties, planned())
    refused(collection)
    with pytest.raises(Unsupported, match="takes the answer as it is, without noise, for the shuffler to hide"):
        refused(collection, padded=False)
    with pytest.raises(AnswerExposed):
        refused(collection, colluding=8.0)
    with pytest.raises(AnswerExposed):
        Limits(least=1).require(collection, (0, 0))


def test_a_device_wants_to_be_hidden_from_the_shuffler_as_well(parties):
    without = agreed(parties, planned(analyser=False))
    with pytest.raises(Unsupported, match="lets the shuffler read totals off the result"):
        refused(without)
    less = planned()
    less = Plan(replace(less.protocol, analyser_scale=1.0), BUDGET, less.wire)
    refused(parties.agreed(less))


def test_a_receipt_says_what_trust_means(parties, folder):
    collection = agreed(parties, planned())
    client = Client(folder / "device", Limits(least=1, colluding=math.inf, padded=True), parties.clock)
    receipt = client.receipt(client.prepare(parties.offer(collection), collection.id, 1))
    assert "and messages that the shuffler adds, whatever is learnt is at most 2.72 times" in str(receipt)
    assert "Your answer is in it as it is, without noise: you trust the shuffler to add its messages" in str(receipt)
    assert "If the shuffler and the analyser work together, they learn the answer." in str(receipt)
    assert "honest" not in str(receipt)


# What is refused.


def test_a_plan_that_hides_how_many_report_is_not_collected():
    with pytest.raises(BadArgument, match="neighbours hides how many report, and a collection tells it"):
        hc.advise("count", n=100, epsilon=1, delta=1e-6, collected=True, neighbours="add-remove")
    protocol = hc.protocol(COUNT, n=100, neighbours="add-remove", **LEFT)
    budget = hc.Budget(1, 1e-6, "add-remove")
    with pytest.raises(BadArgument, match="hides how many report"):
        Wire.of(protocol, budget)
    with pytest.raises(Unsupported, match="hides how many report"):
        require_collectable(Plan(protocol, budget, Wire(1)))


def test_a_lake_is_refused_before_anything_is_read(parties):
    collection = agreed(parties, planned())
    with pytest.raises(Unsupported, match="needs messages of the shuffler's"):
        LakeShuffler(parties.shuffler).shuffle(collection.id, 1, None, None)
