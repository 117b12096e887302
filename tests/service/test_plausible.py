"""Who counts toward the least: reports of rubbish do not, and what was chosen stands in the release."""

import os

import pytest
from rig import WINDOW, made, plan

import headcount as hc
from headcount.errors import Forged
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import Wire
from headcount_service.analyser.releases import Releases
from headcount_service.shuffler.shuffler import Answer
from headcount_service.wire.keys import Announced
from headcount_service.wire.report import DUMMY, INNER, Upload
from headcount_service.wire.signed_release import Released
from headcount_service.wire.suites import seal

LEAST = 150


def counting(corrupt=0, least=LEAST, delta=1e-6):
    """As in the guide: everybody says yes or no, and one in some adds a dummy."""
    protocol = hc.protocol("zsum", n=200, least=least, corrupt=corrupt, epsilon=1.0, delta=delta)
    budget = Budget(1.0, delta)
    return Plan(protocol, budget, Wire.of(protocol, budget))


def rubbish(collection, offer):
    size = collection.report_format(1).message_bytes
    return made(collection, offer, 0, messages=tuple(os.urandom(size) for _ in range(collection.wire.messages)))


def half_rubbish(collection, offer):
    """One message that nobody can open, beside dummies that look as they should."""
    report_format, key = (
        collection.report_format(1),
        Announced.from_json(offer["analyser"], collection.analyser, "analyser").public,
    )
    bound = report_format.info(INNER)
    dummy = DUMMY + bytes(collection.plan.protocol.message.itemsize)
    sealed = (
        seal(collection.wire.suite, os.urandom(16) + dummy, key, bound) for _ in range(collection.wire.messages - 1)
    )
    return made(collection, offer, 0, messages=(*sealed, os.urandom(report_format.message_bytes)))


def collected(parties, collection, honest, *others):
    """So many honest people, and these."""
    offer = parties.offer(collection)
    reports = [*(made(collection, offer, 1) for _ in range(honest)), *(other(collection, offer) for other in others)]
    answers = parties.shuffler.accept([Upload(collection.id, 1, report.body) for report in reports])
    assert {*answers} == {Answer.TAKEN}
    parties.clock.now += WINDOW
    parties.batches.advance()
    return parties.release(collection)


only_sqlite = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


@only_sqlite
@pytest.mark.parametrize("junk", [rubbish, half_rubbish])
def test_nobody_is_isolated_by_reports_that_nobody_can_open(parties, junk):
    """One honest device and 149 uploads of random bytes: as many reports as the guarantee needs, and no crowd."""
    parties.endowed(delta=1e-3)
    collection = parties.agreed(counting())
    answer = collected(parties, collection, 1, *[junk] * (LEAST - 1))
    assert answer.status == 409
    assert "the guarantee needs 150. Nothing is told" in answer.json["error"]
    assert parties.release(collection).body == answer.body
    assert parties.states(collection, "analyser") == {1: "refused"}
    assert parties.analyser.ledger("people").questions == 1
    assert [name for name in parties.analyser.keys.names() if name.startswith("inner")] == []


@only_sqlite
def test_as_many_as_the_plan_allows_for_may_send_rubbish_and_it_is_told(parties):
    """The least less the corrupt must be whole, and not one fewer."""
    parties.endowed(delta=0.9)
    collections = [
        parties.agreed(counting(corrupt=4, least=12, delta=0.1), question=question) for question in ("One?", "Two?")
    ]
    bad = 4 // collections[0].wire.messages
    for collection, worse in zip(collections, (0, 1), strict=True):
        offer = parties.offer(collection)
        reports = [made(collection, offer, 1) for _ in range(12 - bad - worse)]
        reports += [rubbish(collection, offer) for _ in range(bad + worse)]
        for report in reports:
            parties.report(collection, 1, report.body)
    parties.clock.now += WINDOW
    parties.batches.advance()
    whole, spoilt = (parties.release(collection) for collection in collections)
    assert (whole.status, spoilt.status) == (200, 409)
    told = whole.json
    assert told["unreadable"] == bad * collections[0].wire.messages
    assert told["plausible"] == 12 - told["unreadable"] >= 12 - 4
    assert (told["corrupt"], told["admission"], told["fixed"], told["early"]) == (4, "anyone", False, False)
    assert Released(told).content["people"] == 12


def test_one_message_may_spoil_one_report_each():
    """Whatever the analyser cannot see, of how the bad messages are spread over reports: it never counts too many."""
    messages = 3
    for reports in range(1, 5):
        for spread in range((messages + 1) ** reports):
            bad = [spread // (messages + 1) ** report % (messages + 1) for report in range(reports)]
            whole = bad.count(0)
            assert max(0, reports - sum(bad)) <= whole


def test_a_release_that_contradicts_itself_is_refused(parties):
    """The twins: an analyser that forgets what did not open, or says that fewer may lie than the certificate does."""
    parties.endowed()
    collection = parties.agreed(plan())
    parties.reported(collection, 0, 1, 2)
    parties.clock.now += WINDOW
    parties.batches.advance()
    told = {
        name: part for name, part in parties.release(collection).json.items() if name not in ("signature", "format")
    }
    sign = parties.analyser.signer.signed
    assert Released(sign("release", told))
    for wrong in (
        {"unreadable": 1},
        {"plausible": 2},
        {"corrupt": 1},
        {"people": 2},
        {"unreadable": -1, "plausible": 4},
    ):
        with pytest.raises(Forged, match="another guarantee"):
            Released(sign("release", {**told, **wrong}))


@only_sqlite
def test_an_analyser_that_counts_reports_instead_of_messages_is_found_out(parties, monkeypatch):
    """The twin believes the shuffler's number, and tells what one person holds."""
    counted = Releases._count

    def believing(self, collection, number, manifest):
        return counted(self, collection, number, manifest)[0], manifest["messages"]

    monkeypatch.setattr(Releases, "_count", believing)
    parties.endowed(delta=1e-3)
    assert collected(parties, parties.agreed(counting()), 1, *[rubbish] * (LEAST - 1)).status == 200


def test_an_early_close_is_told(parties):
    parties.endowed()
    found = []
    for early in (True, False):
        collection = parties.agreed(plan(), question=f"{early}?")
        parties.reported(collection, 0, 1, 2)
        if not early:
            parties.clock.now += WINDOW
        parties.told("shuffler", "POST", f"/v1/collections/{collection.id}/close")
        parties.batches.advance()
        found.append(parties.release(collection).json["early"])
    assert found == [True, False]
