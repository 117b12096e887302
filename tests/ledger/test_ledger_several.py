"""Several charges at once: all of them or none, in memory and in a file."""

import pytest

import headcount as hc
from headcount.ledger import files

PLANS = [
    hc.advise(hc.Count(), n=100, epsilon=epsilon, delta=1e-6, models=[model]).best
    for epsilon, model in ((0.5, "central"), (0.25, "local"), (0.5, "central"))
]


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    if request.param == "memory":
        return hc.Ledger(epsilon=1, delta=1e-5)
    return hc.Ledger.create(tmp_path / "crowd.ledger", epsilon=1, delta=1e-5, witness=tmp_path / "witness")


def test_all_at_once_is_one_after_the_other(ledger):
    other = hc.Ledger(epsilon=1, delta=1e-5)
    ledger.charge(*PLANS[:2])
    for plan in PLANS[:2]:
        other.charge(plan)
    assert ledger.spent == pytest.approx(other.spent, rel=0.01)  # only the order may differ, which all had a say in
    assert [(c.number, c.plan) for c in ledger.charges] == [(c.number, c.plan) for c in other.charges]
    assert [c.order is None for c in ledger.charges] == [False, True]


def test_what_is_too_much_together_is_not_charged_at_all(ledger):
    ledger.charge(PLANS[0])
    before = ledger.spent
    with pytest.raises(hc.Refused, match="these 3 questions together would need"):
        ledger.charge(*PLANS)
    assert (ledger.spent, ledger.questions) == (before, 1)
    ledger.charge(PLANS[1])  # alone it fits
    with pytest.raises(hc.Refused, match="this question would need"):
        ledger.charge(PLANS[2])
    ledger.charge()
    assert ledger.questions == 2


# What is promised, and charged one after the other later on.

WEEKLY = hc.advise(hc.Count(), n=1_000, epsilon=0.05, models="central").best


def test_what_is_promised_can_be_paid_one_by_one():
    """The first charge fixes the order with a view to what is promised."""
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    large = hc.advise(hc.Count(), n=1_000, epsilon=0.5, models="central").best
    promised = [large, *[WEEKLY] * 8]
    ledger.require_later(WEEKLY, promised=promised[:-1])
    with pytest.raises(hc.Refused, match="promised to collections that are not paid for yet"):
        ledger.require_later(large, promised=promised)
    page = ledger._book.page()
    for at in reversed(range(len(promised))):
        page = ledger.charged(promised[at], promised=promised[:at])(page)
    assert len(page.charges) == 9


def test_a_promise_is_not_an_exact_composition():
    """The twin: 25 of these fit if they are declared together, and not if each is a charge of its own."""
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    ledger.require(*[WEEKLY] * 25)
    with pytest.raises(hc.Refused, match="these 25 questions together"):
        ledger.require_later(*[WEEKLY] * 25)
    ledger.require_later(*[WEEKLY] * 21)


def test_a_single_promise_may_be_the_whole_budget():
    whole = hc.Plan(hc.protocol("poisson-count", n=1_000, epsilon=1, delta=1e-6), hc.Budget(1, 1e-6))
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    ledger.require_later(whole)
    with pytest.raises(hc.Refused):
        ledger.require_later(WEEKLY, promised=[whole])
    ledger.charge(whole)
    assert (ledger.spent, ledger.affords(WEEKLY)) == (1, 0)


def test_a_file_reads_them_back_line_by_line(tmp_path):
    path, witness = tmp_path / "crowd.ledger", tmp_path / "witness"
    hc.Ledger.create(path, epsilon=1, delta=1e-5, witness=witness).charge(*PLANS[:2])
    again = hc.Ledger.verify(path, witness=witness)
    assert [charge.plan for charge in again.charges] == [plan.hash for plan in PLANS[:2]]
    again.charge(PLANS[1])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2] + lines[-1:]))  # the twin: a line from among them is missed
    with pytest.raises(hc.Refused):
        hc.Ledger.verify(path)


def test_they_are_written_at_once_or_taken_back(tmp_path, monkeypatch):
    path = tmp_path / "crowd.ledger"
    ledger, write = hc.Ledger.create(path, epsilon=1, delta=1e-5), files.os.write

    def half(file, line):
        if len(line) < 200:
            return write(file, line)
        write(file, line[: len(line) - 100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "write", half)
    with pytest.raises(hc.Refused, match="nothing was drawn"):
        ledger.charge(*PLANS[:2])
    monkeypatch.undo()
    assert hc.Ledger.verify(path).questions == 0
