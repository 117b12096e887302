"""One mechanism has one entry in the catalogue: what was there twice is the same law, and old files still name it."""

import json
from fractions import Fraction

import numpy as np
import pytest

import headcount as hc
from headcount.errors import BadArgument
from headcount.privacy.crowd import Crowd
from headcount.programme.tally import Tally
from headcount.protocols import CATALOGUE, FORMER, named
from headcount.protocols.base.saved import plan_from_json
from headcount.protocols.shuffle.blanket_histogram import BlanketHistogram
from headcount.protocols.shuffle.cheu_count import CheuCount

PEOPLE, TWO, THREE = Crowd(100), hc.Histogram(2), hc.Histogram(3)
RESPONSE, CATEGORIES = FORMER
TWICE = [
    (RESPONSE(crowd=PEOPLE, keep=0.75), CheuCount(crowd=PEOPLE, lam=50.0)),
    (CATEGORIES(task=THREE, crowd=PEOPLE, keep=0.625), BlanketHistogram(task=THREE, crowd=PEOPLE, lie=0.5625)),
    (CATEGORIES(task=TWO, crowd=PEOPLE, keep=0.75), BlanketHistogram(task=TWO, crowd=PEOPLE, lie=0.5)),
]
twice = pytest.mark.parametrize(("former", "kept"), TWICE, ids=["count", "three categories", "two categories"])


def laws_of(protocol):
    """What a person sends, for each value they may hold."""
    for value in range(protocol.task.values):
        law = protocol.programme.law({"value": value})
        yield {sent: Fraction(mass, law.total) for sent, mass in law.masses.items()}


def check_one_law(former, kept):
    assert list(laws_of(former)) == list(laws_of(kept))


@twice
def test_both_send_the_same(former, kept):
    check_one_law(former, kept)


def test_the_check_of_one_law_catches_another_chance():
    with pytest.raises(AssertionError):
        check_one_law(TWICE[1][0], BlanketHistogram(task=THREE, crowd=PEOPLE, lie=0.5))


@twice
def test_both_estimate_the_same(former, kept):
    totals = np.arange(1, former.kinds + 1) * 7
    tally = Tally(int(totals.sum()), totals, released=True)
    assert former.point(tally).tolist() == pytest.approx(kept.point(tally).tolist(), rel=1e-12)
    assert former.rmse(30) == pytest.approx(kept.rmse(30), rel=1e-12)
    assert former.local_epsilon == pytest.approx(kept.local_epsilon, rel=1e-12)


@twice
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.6])
def test_the_one_that_is_kept_claims_no_more(former, kept, epsilon):
    assert kept.loss.delta(epsilon) <= former.loss.delta(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("former", FORMER, ids=lambda cls: cls.name)
def test_a_former_name_is_answered_with_the_present_one(former):
    assert former not in CATALOGUE
    with pytest.raises(BadArgument, match=f"use {FORMER[former].name}"):
        named(former.name)
    with pytest.raises(BadArgument, match=f"use {FORMER[former].name}"):
        hc.advise("count", n=100, epsilon=1, delta=1e-6, protocols=former.name)


WRITTEN = {
    "b34d79ee20779ee489e0f66bc9f07c2f32c278faa1681a2ff4321a0f570c6b5c": """{
        "protocol": "shuffled-generalised-response",
        "task": {"name": "histogram", "categories": 3, "other": false, "fractions": false},
        "crowd": {"size": 100, "least": 100, "corrupt": 0}, "neighbours": "replace", "parameters": {"keep": 0.625},
        "budget": {"epsilon": 1.0, "delta": 0.001, "neighbours": "replace"},
        "programme": {"maybe": "11529215046068469760", "then": {"emit": [{"name": "value"}]}, "else": {
            "let": "step", "be": {"below": 2},
            "in": {"emit": [["%", ["+", ["+", {"name": "value"}, 1], {"name": "step"}], 3]]}}}}""",
    "1237a4a81ffda21b4b01d9f3e610755c8e2ca6a29cccd6844ebf3ac0d535ae1a": """{
        "protocol": "shuffled-randomised-response", "task": {"name": "count"},
        "crowd": {"size": 100, "least": 100, "corrupt": 0}, "neighbours": "replace", "parameters": {"keep": 0.75},
        "budget": {"epsilon": 1.0, "delta": 0.001, "neighbours": "replace"},
        "programme": {"maybe": "4611686018427387904", "then": {"emit": [["-", 1, {"name": "value"}]]},
            "else": {"emit": [{"name": "value"}]}}}""",
}


@pytest.mark.parametrize("hash", WRITTEN)
def test_a_plan_from_before_is_read_and_carried_out_as_it_was_written(hash):
    plan = plan_from_json(json.loads(WRITTEN[hash]), hash=hash)
    assert plan.loss.delta(1.0) <= 1e-3
    assert plan.to_json() == json.loads(WRITTEN[hash])
    batch = plan.protocol.randomise(np.arange(100) % plan.protocol.task.values)
    assert plan.protocol.estimate(plan.protocol.release(plan.protocol.tally(batch))).n == 100
