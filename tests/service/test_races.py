"""Many at once, for one budget or one answer: nobody spends what another has spent, and all see the same."""

import asyncio
import json
from contextlib import closing, suppress
from fractions import Fraction

import pytest
from processes import CONTEXT, Child
from rig import WINDOW, asked, plan

import headcount as hc
from headcount.errors import OverBudget
from headcount.ledger.allowance import Allowance
from headcount.ledger.ledger import Ledger
from headcount_service.store.account import Account
from headcount_service.store.database import Database, do, one
from stress import lengths

QUESTION = hc.protocol("randomised-response", n=10, keep=0.51)
COST = Fraction(QUESTION.loss.epsilon(0.0))


@pytest.fixture
def address(rig):
    """Of a database with the analyser's tables."""
    with rig.opened() as parties:
        return parties.opened["analyser"].party.database


def begun(database, spends, witness):
    """A ledger for so many, and its witness."""
    Account.create(database, "people", Allowance.of(spends * COST, 0.0, "replace"))
    Account(database, "people", witness, anew=True)


def raced(work, *given, processes):
    """What so many processes say that all do this."""
    gate = CONTEXT.Barrier(processes)
    children = [Child(together, gate, work, given) for _ in range(processes)]
    said = [words for child in children for words in child.said()]
    assert [child.code for child in children] == [0] * processes
    return said


def together(say, gate, work, given):
    """Not before all are there."""
    gate.wait()
    work(say, *given)


def spend(say, address, witness):
    ledger = Ledger.of(Account(Database.open(address), "people", witness))
    while True:
        try:
            ledger.charge(QUESTION)
        except OverBudget:
            return
        say(b"spent")


@lengths(("processes", "spends"), (4, 20), (16, 1_000))
def test_processes_spend_exactly_the_budget_together(address, folder, processes, spends):
    with closing(Database.open(address)) as database:
        begun(database, spends, folder / "witness")
    assert len(raced(spend, address, folder / "witness", processes=processes)) == spends
    with closing(Database.open(address)) as database:
        ledger = Ledger.of(Account(database, "people", folder / "witness"))
        assert ledger.questions == spends
        assert ledger.spent_exactly == 1
    assert json.loads((folder / "witness").read_text().splitlines()[-1])["number"] == spends


def look_and_then_spend(say, address, looked):
    database = Database.open(address)
    while True:
        with database.reading() as connection:
            spent = one(connection, "SELECT count(*) AS spends FROM spends")["spends"]
        looked.wait()  # all have, before anybody spends
        if spent >= 5:
            return
        with database.writing() as connection:
            do(connection, "INSERT INTO spends VALUES (1)")
        say(b"spent")
        looked.wait()


def test_to_look_and_then_to_spend_overspends(address):
    """The twin: two find four of five places taken."""
    with closing(Database.open(address)) as database, database.writing() as connection:
        do(connection, "CREATE TABLE spends (number INTEGER)")
    assert len(raced(look_and_then_spend, address, CONTEXT.Barrier(2, timeout=300), processes=2)) == 6


def look_while_others_spend(say, address, witness, spends):
    ledger = Ledger.of(Account(Database.open(address), "people", witness))
    while (spent := ledger.spent_exactly) < 1:
        if spends:
            with suppress(OverBudget):
                ledger.charge(QUESTION)
                say(b"spent")
        assert spent <= ledger.spent_exactly


@lengths("spends", 6, 100)
def test_whoever_looks_while_others_spend_finds_the_ledger_in_order(address, folder, spends):
    """Its end, its lines and its witness are written one after the other, and read together."""
    with closing(Database.open(address)) as database:
        begun(database, spends, folder / "witness")
    looking = [Child(look_while_others_spend, address, folder / "witness", too) for too in (1, 0, 1, 0)]
    assert sum(len(child.said()) for child in looking) == spends
    assert [child.code for child in looking] == [0] * 4


def test_thirty_two_who_ask_for_one_release_get_the_same_and_it_is_paid_for_once(rig):
    with rig.opened() as one, rig.opened() as other:
        one.endowed()
        collection = one.agreed(plan())
        one.reported(collection, *range(12))
        rig.clock.now += WINDOW
        one.batches.advance()
        path = f"/v1/collections/{collection.id}/batches/1/release"

        async def ask_at_once():
            apps = [parties.apps["analyser"] for parties in (one, other)] * 16
            return await asyncio.gather(
                *(asked(app, "POST", path, token=rig.tokens["analyser"]["analyst"]) for app in apps)
            )

        answers = one.loop.run_until_complete(ask_at_once())
        assert {answer.status for answer in answers} == {200}
        assert len({answer.body for answer in answers}) == 1
        assert one.analyser.ledger("people").questions == other.analyser.ledger("people").questions == 1
