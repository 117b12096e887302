"""The ledger's file: what is in it, and that it is on the disk before anything is drawn."""

import json
import os
import stat
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from ledgers import PLAN, QUESTIONS, filled, lines

import headcount as hc
from headcount.errors import AlreadyThere, BadArgument, OverBudget, Unsupported
from headcount.ledger.chain import sealed
from headcount.protocols.local.randomised_response import RandomisedResponse


@pytest.fixture
def path(tmp_path):
    return filled(tmp_path / "crowd.ledger")


def test_the_file_says_the_budget_and_then_each_charge(path):
    first, *charges = map(json.loads, lines(path))
    assert first["format"] == "headcount-ledger/2"
    assert (Fraction(first["epsilon"]), Fraction(first["delta"]), first["neighbours"]) == (5, Fraction(1e-6), "replace")
    assert len(first["id"]) == 32
    assert [charge["number"] for charge in charges] == [1, 2, 3, 4]
    assert {*charges[1]} == {"number", "day", "plan", "question", "epsilon", "delta", "spent", "once", "hash"}
    assert {*charges[0]} - {*charges[1]} == {"order"}
    assert [Fraction(charge["spent"]) for charge in charges] == [c.spent for c in hc.Ledger.open(path).charges]
    assert charges[3]["plan"] == PLAN.hash
    assert charges[3]["epsilon"] == "1/4"
    assert charges[2]["question"] == QUESTIONS[2].to_json()
    assert all(len(charge["day"]) == len("2026-01-31") for charge in charges)  # nothing finer


def test_the_hashes_are_what_the_documentation_says(path):
    before = ""
    for line in map(json.loads, lines(path)):
        seal = line.pop("hash")
        text = json.dumps(line, sort_keys=True, separators=(",", ":"))
        assert seal == sha256((before + text).encode()).hexdigest()
        before = seal


def test_only_the_owner_may_read_it(path):
    hc.Ledger.open(path, witness=path.with_name("witness"))
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(list(path.parent.iterdir())) == 2  # and nothing is left of its making


def test_a_ledger_opened_again_has_spent_the_same(path):
    again = hc.Ledger.open(path)
    assert again.questions == 4
    assert again.spent_exactly == again.charges[-1].spent
    memory = hc.Ledger(epsilon=5, delta=1e-6)
    for question in (*QUESTIONS, PLAN):
        memory.charge(question)
    assert memory.spent_exactly == again.spent_exactly
    assert [(c.plan, c.question, c.spent) for c in memory.charges] == [
        (c.plan, c.question, c.spent) for c in again.charges
    ]


def test_two_that_are_open_see_each_others_charges(path):
    one, other = hc.Ledger.open(path), hc.Ledger.open(path)
    one.charge(QUESTIONS[0])
    other.charge(QUESTIONS[1])
    assert one.questions == other.questions == 6
    assert one.spent == other.spent


def test_the_budget_may_be_left_out_but_not_changed(path):
    assert hc.Ledger.open(path, epsilon=5, delta=1e-6, neighbours="replace").questions == 4
    for given_again in ({"epsilon": 6}, {"delta": 1e-5}, {"neighbours": "add-remove"}):
        with pytest.raises(BadArgument, match="and the ledger has"):
            hc.Ledger.open(path, **given_again)


def test_a_ledger_begins_once(path, tmp_path):
    with pytest.raises(BadArgument, match="exists already"):
        hc.Ledger.create(path, epsilon=5)
    with pytest.raises(BadArgument, match="does not exist; give epsilon="):
        hc.Ledger.open(tmp_path / "new")
    with pytest.raises(BadArgument, match="folder that does not exist"):
        hc.Ledger.open(tmp_path / "none" / "new", epsilon=1)
    assert not (tmp_path / "new").exists()


def test_an_exact_budget_stays_exact(tmp_path):
    hc.Ledger.open(tmp_path / "third", epsilon=Fraction(1, 3), delta=Fraction(1, 7**8))
    allowance = hc.Ledger.open(tmp_path / "third", epsilon=Fraction(1, 3)).allowance
    assert (allowance.epsilon, allowance.delta) == (Fraction(1, 3), Fraction(1, 7**8))


def test_a_refusal_writes_nothing(tmp_path):
    ledger = hc.Ledger.open(tmp_path / "small", epsilon=0.05)
    ledger.charge(QUESTIONS[0])
    before = (tmp_path / "small").read_bytes()
    with pytest.raises(OverBudget):
        ledger.charge(QUESTIONS[0])
    assert (tmp_path / "small").read_bytes() == before


def test_a_question_that_cannot_be_read_back_is_not_charged(path):
    class Stranger(RandomisedResponse):
        """Has the name of another protocol, and perhaps another loss."""

    class Unknown(RandomisedResponse):
        name = "unknown"

    before = path.read_bytes()
    for kind in (Stranger, Unknown):
        with pytest.raises(Unsupported, match="not as in the catalogue"):
            hc.Ledger.open(path).charge(kind(crowd=hc.Crowd(10), keep=0.51))
    assert path.read_bytes() == before


# Files of format 1, whose rule held only for questions that were not chosen because of answers.


def earlier(path, questions, epsilon=5):
    """A file as it was written then: no order, and what was spent is an epsilon."""
    ledger = hc.Ledger.open(path, epsilon=epsilon, delta=1e-6)
    for question in questions:
        ledger.charge(question)
    seal, texts = "", []
    for text in lines(path):
        line = json.loads(text)
        for name in ("hash", "order"):
            line.pop(name, None)
        line |= {"format": "headcount-ledger/1"} if "format" in line else {"spent": "1/3"}
        sealed_line, seal = sealed(line, seal)
        texts.append(sealed_line)
    path.write_bytes(b"".join(texts))
    return path


def test_a_file_of_format_1_is_read_with_the_prices_of_today(path, tmp_path):
    before, old = hc.Ledger.open(path), hc.Ledger.open(earlier(tmp_path / "old", (*QUESTIONS, PLAN)))
    assert (old.spent_exactly, old.order) == (before.spent_exactly, before.order)
    assert [charge.spent for charge in old.charges] == [charge.spent for charge in before.charges]
    assert (old.inherited, before.inherited) == (4, 0)
    assert "4 questions charged under format 1: holds if questions were not chosen from earlier answers" in str(old)
    assert "format 1" not in str(before)


def test_the_next_charge_fixes_the_order_of_a_file_of_format_1(tmp_path):
    old = hc.Ledger.open(earlier(tmp_path / "old", QUESTIONS))
    old.charge(PLAN)
    old.charge(PLAN)
    written = [json.loads(line).get("order") for line in lines(tmp_path / "old")]
    assert written == [None] * 4 + [f"{old.order.numerator}/{old.order.denominator}", None]
    again = hc.Ledger.verify(tmp_path / "old")
    assert (again.inherited, again.spent_exactly, again.order) == (3, old.spent_exactly, old.order)


def test_an_order_that_is_written_counts_before_one_that_is_found(tmp_path, monkeypatch):
    """Another version might choose another one; then the rule would be two rules."""
    old = hc.Ledger.open(earlier(tmp_path / "old", QUESTIONS))
    old.charge(PLAN)
    monkeypatch.setattr("headcount.ledger.spending.best_order", lambda *_: Fraction(2))
    again = hc.Ledger.verify(tmp_path / "old")
    assert (again.order, again.spent_exactly) == (old.order, old.spent_exactly)


def test_a_file_that_is_over_full_by_the_prices_of_today_is_readable_and_refuses(tmp_path, monkeypatch):
    with monkeypatch.context() as unlimited:
        unlimited.setattr("headcount.ledger.spending.fit_together", lambda *_: True)
        ledger = hc.Ledger.open(tmp_path / "old", epsilon=0.5, delta=1e-6)
        ledger.charge(*[PLAN] * 3)
    old = hc.Ledger.open(tmp_path / "old")
    assert (old.questions, old.spent, old.remaining, old.affords(PLAN)) == (3, 1, 0, 0)
    with pytest.raises(OverBudget, match="0% is left"):
        old.charge(PLAN)


# Durable before anything is drawn.


class Durable(hc.SecretCoins):
    """Coins for charges that are on the disk."""

    def __init__(self, events):
        self.events = events

    def stream(self, size):
        assert self.events[-1:] == ["flushed"], "something was drawn before the charge was on the disk"
        return super().stream(size)


def test_nothing_is_drawn_before_the_charge_is_on_the_disk(path, monkeypatch):
    events, write, fsync = [], os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda *a: (write(*a), events.append("written"))[0])
    monkeypatch.setattr(os, "fsync", lambda file: (fsync(file), events.append("flushed"))[0])
    ledger, data = hc.Ledger.open(path), np.arange(100)
    hc.run(PLAN, data, coins=Durable(events), ledger=ledger)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the twin: written, but not flushed
    with pytest.raises(AssertionError, match="on the disk"):
        hc.run(PLAN, data, coins=Durable(events), ledger=ledger)


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_disk_that_fails_means_no(path, monkeypatch, call):
    def fails(*_):
        raise OSError(28, "No space left on device")

    before, ledger = path.read_bytes(), hc.Ledger.open(path)
    with monkeypatch.context() as broken:
        broken.setattr(os, call, fails)
        with pytest.raises(BadArgument, match="No space left"):
            ledger.charge(QUESTIONS[0])
    if call == "write":
        assert path.read_bytes() == before
    assert ledger.questions in (4, 5)  # what may be on the disk counts
    ledger.charge(QUESTIONS[0])
    assert hc.Ledger.open(path).questions == ledger.questions


def test_half_a_line_that_the_disk_took_is_taken_back(path, monkeypatch):
    write, before = os.write, path.read_bytes()

    def takes_ten(file, data):
        if len(data) <= 10:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) - 10])

    monkeypatch.setattr(os, "write", takes_ten)
    with pytest.raises(BadArgument, match="nothing was drawn"):
        hc.Ledger.open(path).charge(QUESTIONS[0])
    assert path.read_bytes() == before


def test_whoever_comes_second_finds_the_first_ones_ledger(path, monkeypatch):
    """Two processes begin the same ledger; neither sees the other's file when it looks."""
    monkeypatch.setattr("pathlib.Path.exists", lambda _: False)
    assert hc.Ledger.open(path, epsilon=5, delta=1e-6).questions == 4
    with pytest.raises(AlreadyThere):
        hc.Ledger.create(path, epsilon=5)
