"""The keys that tokens are signed with: made a few at a time, while somebody watches, and each for one batch only."""

from dataclasses import replace

import pytest
from rig import ISSUER, START, WINDOW, plan

from headcount.errors import BadArgument
from headcount_service.issuer.app import ISSUING
from headcount_service.operator import operator as desk
from headcount_service.operator.operator import Operator
from headcount_service.wire.admission import Issuing
from headcount_service.wire.collection import Collection
from headcount_service.wire.keys import signed_format

KEYS = "/v1/issuing/keys"
pytestmark = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


class Reached:
    """A party's interface in this process, as a desk asks it."""

    address = ISSUER

    def __init__(self, parties, to):
        self.parties, self.to, self.asked = parties, to, []

    def ask(self, method, path, content=None):
        self.asked.append((path, content))
        return self.parties.told(self.to, method, path, content)


@pytest.fixture
def reached(parties):
    return {to: Reached(parties, to) for to in ("shuffler", "analyser")}


def created(reached, batches, told):
    held = Operator(**reached, issuer=reached["analyser"])
    agreed = {"question": "Which?", "population": "people", "opens": START, "window": WINDOW}
    return held.create(plan(epsilon=0.1), **agreed, batches=batches, trust_all=True, told=told)


def test_a_year_of_keys_is_made_a_few_at_a_time_and_whoever_waits_is_told(parties, reached, monkeypatch):
    monkeypatch.setattr(desk, "KEYS_AT_ONCE", 2)
    parties.endowed()
    heard = []
    made = created(reached, 5, heard.append)
    assert heard == [2, 4, 5]
    assert [content["batches"] for path, content in reached["analyser"].asked if path == KEYS] == [2, 4, 5]
    assert made.issuer is not None
    assert len({*made.issuer.tokens}) == 5
    assert parties.token(made, parties.invitations(made, 1)[0], 5)


@pytest.mark.parametrize("made", [["00"], ["../identity"], [7], [[]], "text", {}, None])
def test_keys_that_the_issuer_has_not_made_are_not_announced(parties, made):
    answer = parties.ask("analyser", "POST", KEYS, {"batches": 3, "made": made}, "operator")
    assert answer.status == 400


def test_a_key_is_announced_once_and_no_more_than_were_asked_for(parties):
    tokens = parties.told("analyser", "POST", KEYS, {"batches": 1})["tokens"]
    for batches, made in ((3, tokens * 2), (1, [tokens[0], "00"])):
        assert parties.ask("analyser", "POST", KEYS, {"batches": batches, "made": made}, "operator").status == 400
    assert parties.told("analyser", "POST", KEYS, {"batches": 1, "made": tokens})["tokens"] == tokens


def test_one_key_for_two_batches_is_refused_whoever_signed_that(parties):
    """With it, both tokens of a person could be spent on one batch."""
    told = parties.told("analyser", "POST", KEYS, {"batches": 1})
    content = {"role": "issuer", "tokens": told["tokens"] * 2}
    signed = parties.issuer.signer.signed("announcement", content)
    assert signed["format"] == signed_format("announcement")
    with pytest.raises(BadArgument, match="one key for several batches"):
        Issuing(told["key"], ISSUER, tuple(signed["tokens"]), signed["signature"])


def test_keys_of_one_collection_are_not_those_of_another(parties):
    """A token that somebody got for the one could be spent in the other."""
    parties.endowed()
    first = parties.agreed(plan(), admission="invited")
    second = replace(first, question="Which now?")
    assert isinstance(second, Collection)
    answer = parties.ask("analyser", "POST", ISSUING, {"collection": second.to_json()}, "operator")
    assert answer.status == 400
    assert "another collection" in answer.json["error"]
    assert parties.told("analyser", "POST", ISSUING, {"collection": first.to_json()})  # again is not an error
