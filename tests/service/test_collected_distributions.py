"""Distributions and tables in the service: devices send a message for each of several cells, and what is released can
be asked as any other answer."""

import math
import time
from copy import deepcopy
from io import StringIO

import node
import numpy as np
import pytest
from rich.console import Console
from rig import WINDOW
from serving import Served

import headcount as hc
from headcount.errors import BadArgument, Forged
from headcount.privacy.budget import Budget
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.report_size import X25519, Wire
from headcount_service.cli.collection import read_answer
from headcount_service.cli.releases import release_table
from headcount_service.client.device import Client
from headcount_service.client.simulated import ANYTHING, report_all
from headcount_service.wire.signed_release import Released

PEOPLE = 60
BUDGET = Budget(3.0, 1e-6)
CROWD = {"n": PEOPLE, "least": PEOPLE - 10, "corrupt": 5, "epsilon": 3, "delta": 0.9e-6}
pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)

AGES = hc.Distribution((0, 100), 16, radices=(4, 4))
MIDDLE = hc.Quantile((0, 100), 16, at=0.5, radices=(4, 4))
TABLE = hc.Table(
    {"sex": ["f", "m"], "age": {"bins": [0, 18, 65]}, "vote": ["yes", "no"]},
    measured=[("sex", "age"), ("sex", "vote"), ("age", "vote")],
)
HELD = np.linspace(0, 100, PEOPLE).tolist()
ROWS = [{"sex": "fm"[each % 2], "age": 17 + each % 3, "vote": "yes" if each < 40 else "no"} for each in range(PEOPLE)]
PROTOCOLS = ("poisson-histogram", "padded-histogram")


def agreed(parties, name, task, **terms):
    protocol = hc.protocol(name, task, **CROWD)
    parties.endowed(task.name, epsilon=50, delta=1e-3)
    return parties.agreed(Plan(protocol, BUDGET, Wire.of(protocol, BUDGET, X25519)), population=task.name, **terms)


def released(parties, collection):
    """What the batch that is open comes to."""
    parties.clock.now += WINDOW
    parties.batches.advance()
    return Released(parties.release(collection).json)


def reported(parties, tmp_path, collection, answers):
    """The receipts of devices that hold these."""
    offer, receipts = parties.offer(collection), []
    for person, answer in enumerate(answers):
        device = Client(tmp_path / str(person), ANYTHING, clock=parties.clock)
        path = device.prepare(offer, collection.id, answer)
        assert parties.report(collection, 1, device.upload(path)).status == 200
        receipts.append(device.receipt(path))
    return receipts


def printed(told):
    console = Console(width=120, record=True, file=StringIO())
    console.print(release_table(told))
    return console.export_text()


def covered(part, truth):
    low, high = part.interval(0.99999999)
    return low <= truth <= high


def within(part, truth):
    low, high = part.interval(0.99999999)
    return low <= truth <= high


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_distribution_is_collected(parties, tmp_path, name):
    collection = agreed(parties, name, AGES)
    receipts = reported(parties, tmp_path, collection, HELD)
    assert {receipt.messages for receipt in receipts} == {collection.wire.messages}
    told = released(parties, collection)
    assert (told.content["people"], told.content["unreadable"]) == (PEOPLE, 0)
    answer = told.answer
    assert all(within(answer.below(value), sum(held < value for held in HELD)) for value in (25, 50, 75))
    assert within(answer.quantile(0.5), 50)
    assert answer.to_json()["counts"] == told.estimate["counts"]
    assert answer.band().shape == (17, 4)
    verdict = told.verify()
    assert verdict.answer == "proved", str(verdict)


def test_the_quantile_that_was_asked_for_is_printed(parties, tmp_path):
    collection = agreed(parties, "padded-histogram", MIDDLE)
    reported(parties, tmp_path, collection, [10] * 8 + [90] * 52)
    told = released(parties, collection)
    [(name, _, span)] = told.answer.rows()
    assert name == "50%"
    assert span in printed(told)
    assert within(told.answer.median, 90)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_table_is_collected(parties, tmp_path, name):
    collection = agreed(parties, name, TABLE)
    reported(parties, tmp_path, collection, ROWS)
    told = released(parties, collection)
    answer = told.answer
    assert within(answer.sum(vote="yes"), 40)
    assert answer["sex"].values.sum() == pytest.approx(PEOPLE)
    assert np.allclose(answer["sex", "vote"].values.sum(axis=1), answer["sex"].values)
    assert "sex by age, each ±" in printed(told)
    assert "{" not in printed(told)
    assert told.verify().answer == "proved"


def test_a_row_of_a_table_is_written_as_json_on_the_command_line(databases):
    assert read_answer('{"sex": "f", "age": 20}') == {"sex": "f", "age": 20}
    assert [read_answer(text) for text in ("20", "[1]", "yes", "", '"yes"')] == ["20", "[1]", "yes", "", '"yes"']


def test_answers_that_do_not_fit_are_refused_without_being_quoted(parties, tmp_path):
    collection = agreed(parties, "padded-histogram", TABLE)
    device, offer = Client(tmp_path / "device", ANYTHING, clock=parties.clock), parties.offer(collection)
    for wrong in ({"sex": "f", "age": 20}, {**ROWS[0], "sex": "secret"}, {**ROWS[0], "more": 1}, "f", 3, [ROWS[0]]):
        with pytest.raises(BadArgument, match="with sex: one of: f, m, and age") as refusal:
            device.prepare(offer, collection.id, wrong)
        assert "secret" not in str(refusal.value)
    ages = agreed(parties, "padded-histogram", AGES)
    offer = parties.offer(ages)
    with pytest.raises(BadArgument, match="a number from 0 to 100"):
        device.prepare(offer, ages.id, 101)


def test_what_was_signed_is_what_can_be_asked(parties, tmp_path):
    collection = agreed(parties, "padded-histogram", AGES)
    reported(parties, tmp_path, collection, HELD)
    told = released(parties, collection)
    changed = deepcopy(told.content)
    changed["estimate"]["released"]["totals"][0] += 5
    with pytest.raises(Forged):
        Released(changed)
    del changed["estimate"]["released"]
    older = object.__new__(Released)  # of a version that told less
    object.__setattr__(older, "content", changed)
    with pytest.raises(BadArgument, match="cannot be asked further"):
        _ = older.answer


@pytest.mark.parametrize("task", [AGES, TABLE], ids=lambda task: task.name)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_browsers_and_devices_report_over_a_network(rig, name, task):
    """Half of the people by the client for browsers, half by Python's: all cells are those of what they hold."""
    node.built()
    rig.clock.now = time.time()
    with rig.opened() as parties:
        collection = agreed(parties, name, task, opens=math.floor(time.time()) - 5, window=3_600)
    held = HELD if task is AGES else ROWS
    limits = {"top_up": True, "colluding": math.inf, "padded": True, "epsilon": 3, "least": 1, "lifetime_epsilon": 50}
    with Served(rig).running() as served:
        address = f"http://127.0.0.1:{served.ports['shuffler']}"
        told = node.reported(
            address=address, name=collection.id, hash=collection.hash, answers=held[::2], limits=limits
        )
        receipts = [each["receipt"] for each in told]
        receipts += [each.to_json() for each in report_all(address, collection.id, held[1::2], hash=collection.hash)]
        with served.caller("shuffler", "operator") as shuffler:
            shuffler.told("POST", f"/v1/collections/{collection.id}/close")
            until = time.monotonic() + 120
            while shuffler.told("GET", f"/v1/collections/{collection.id}/state")["batches"][0]["state"] != "purged":
                assert time.monotonic() < until
                time.sleep(0.05)
        with served.caller("analyser", "operator") as analyser:
            release = Released(analyser.told("POST", f"/v1/collections/{collection.id}/batches/1/release"))
    assert {(each["state"], each["messages"]) for each in receipts} == {("taken", collection.wire.messages)}
    assert len({each["bytes"] for each in receipts}) == 1
    assert (release.content["people"], release.content["unreadable"]) == (PEOPLE, 0)
    if task is AGES:
        assert all(within(release.answer.below(value), sum(each < value for each in HELD)) for value in (25, 50, 75))
    else:
        assert within(release.answer.sum(vote="yes"), 40)
        assert within(release.answer.sum(sex="f", age=(18, 65)), sum(r["sex"] == "f" and r["age"] >= 18 for r in ROWS))
