"""Ledgers that version 0.2.0 wrote: every question in them has the meaning and the price that it had."""

import json
from pathlib import Path

import pytest

import headcount as hc
from headcount.ledger.charge import Charge, described
from stress import STRESS

REPLACE, ADD_REMOVE = (Path(__file__).with_name(f"earlier-0.2.0{which}.ledger") for which in ("", "-add-remove"))


def charges(path):
    lines = map(json.loads, path.read_text().splitlines()[1:])
    return [Charge.from_json({name: part for name, part in line.items() if name != "hash"}) for line in lines]


@pytest.mark.parametrize("path", [REPLACE, ADD_REMOVE], ids=["replace", "add-remove"])
def test_every_question_still_means_the_same(path):
    for charge in charges(path):
        assert described(charge.question, charge.protocol) == charge.plan


@pytest.mark.parametrize(
    ("path", "questions"), [(ADD_REMOVE, 4), pytest.param(REPLACE, 46, marks=STRESS)], ids=["add-remove", "replace"]
)
def test_no_question_costs_more_than_it_did(path, questions):
    ledger = hc.Ledger.verify(path)
    assert ledger.questions == questions
    assert ledger.spent_exactly <= charges(path)[-1].spent * (1.0 + 1e-12)  # last bits are a machine's own


def test_another_question_is_noticed():
    charge = charges(ADD_REMOVE)[0]
    assert described({**charge.question, "budget": {"epsilon": 2.0, "delta": 0.0}}, charge.protocol) != charge.plan
