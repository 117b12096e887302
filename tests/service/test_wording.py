"""What people are told: a device in the words of its question, operators in words or in JSON."""

import json
import math

import pytest
from rig import START, plan
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.errors import BadArgument
from headcount.questions.count import Count
from headcount.questions.sum_and_mean import Mean, Sum
from headcount_service import party
from headcount_service.client.device import Client, Limits, encoded
from headcount_service.shuffler.outer_keys import GRACE

ANSWERS = {
    "1 for yes or 0 for no": (Count(), 1, "perhaps-secret", 7),
    "a number from 0 to 2.5": (Mean((0, 2.5)), 1.25, "secret", 7),
    "a whole number from 0 to 10": (Sum.whole((0, 10)), 3, 2.5, 77),
    "a number": (Sum((0, 1), clip=True), 7, "secret", None),
    "a whole number from 0 to 2": (hc.Histogram(3), 2, 7, "secret"),
    "one of: red, green": (hc.Histogram(["red", "green"]), "red", "secret", 7),
    "a number from 0 to 65": (hc.Histogram.binned([0, 18, 65]), 20, "secret", 77),
}


@pytest.mark.parametrize("words", ANSWERS)
def test_a_wrong_answer_is_refused_in_the_words_of_the_question(words):
    task, right, *wrong = ANSWERS[words]
    assert encoded(task, right).size == 1
    for answer in wrong:
        with pytest.raises(BadArgument) as refusal:
            encoded(task, answer)
        assert str(refusal.value) == f"answer is not one that the question takes; answer with {words}"


def test_many_categories_are_not_all_named():
    with pytest.raises(BadArgument, match=r"c0, .*, c19 or one of 5 others$"):
        encoded(hc.Histogram([f"c{n}" for n in range(25)]), "secret")


def test_an_invitation_that_nobody_needs_is_refused(parties, tmp_path):
    parties.endowed()
    collection = parties.agreed(plan())
    device = Client(tmp_path / "device", Limits(least=1, colluding=math.inf), lambda: START)
    with pytest.raises(BadArgument, match="anybody may report"):
        device.prepare(parties.offer(collection), collection.id, 1, invitation="00" * 32)


def test_keys_say_what_they_are_good_for(parties):
    parties.endowed()
    suite = parties.agreed(plan()).wire.suite
    outer = parties.shuffler.outer
    outer.rotate(suite)
    assert [row["state"] for row in outer.table()] == ["replaced", "active"]
    parties.clock.now += GRACE + 1
    assert [row["state"] for row in outer.table()] == ["over", "active"]
    for number, words in ((9, "is no key of this shuffler"), (0, "is no key"), (2, "is announced now")):
        with pytest.raises(BadArgument, match=words):
            outer.retire(number)
    assert outer.retire(1) == [1]
    assert outer.retire(1) == [], "again is not an error: a crash may have left its file behind"
    assert [row["state"] for row in outer.table()] == ["deleted", "active"]


def test_operators_are_told_in_json(tmp_path):
    party.create(tmp_path / "analyser", "analyser")
    party.create(tmp_path / "shuffler", "shuffler")
    run, file = CliRunner(), tmp_path / "ann.token"

    def told(role, *words):
        done = run.invoke(app, [*words, "--config", str(tmp_path / role), "--format", "json"], catch_exceptions=False)
        return json.loads(done.output)

    issue = ("tokens", "issue", "--role", "analyst", "--name")
    assert told("analyser", *issue, "bob")["token"].startswith("hc-")
    assert told("analyser", *issue, "ann", "--out", str(file)) == {"name": "ann", "role": "analyst", "out": str(file)}
    assert told("analyser", "tokens", "revoke", "--name", "ann") == {"revoked": "ann"}
    assert told("shuffler", "keys", "rotate") == {"number": 1}
    assert told("shuffler", "keys", "retire") == {"deleted": []}


def test_a_population_is_told_its_delta(tmp_path):
    """A budget is for ever: one without delta could pay for hardly any plan of the shuffle model."""
    with pytest.raises(BadArgument, match="--delta is missing for a population"):
        CliRunner().invoke(
            app, ["ledger", "create", "people", "--data", str(tmp_path), "--epsilon", "1"], catch_exceptions=False
        )
