"""One order in every model: refuse, charge, draw, show; and what is left when it is interrupted."""

import csv

import numpy as np
import pytest

import headcount as hc
from headcount import running
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine

MODELS = ("central", "shuffle", "shuffle-threshold", "local")
PEOPLE = 2_000
PLANS = {model: hc.advise(hc.Count(), n=PEOPLE, epsilon=1, delta=1e-4, models=model).best for model in MODELS}


class Interrupted(Exception):
    pass


class Watched(hc.SecretCoins):
    """Coins that tell when they are first touched, or fail."""

    def __init__(self, events, fails=False):
        self.events, self.fails = events, fails

    def stream(self, size):
        if "drawn" not in self.events:
            self.events.append("drawn")
        if self.fails:
            raise Interrupted
        return super().stream(size)


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    if request.param == "file":
        return hc.Ledger.open(tmp_path / "crowd.ledger", epsilon=5, delta=1e-2)
    return hc.Ledger(epsilon=5, delta=1e-2)


@pytest.fixture(params=["array", "pieces", "csv"])
def data(request, tmp_path):
    """The data, how they are given, and how one person's answer is spoilt."""
    answers = np.arange(PEOPLE) % 2
    if request.param == "array":
        return answers, {}, np.append(answers[1:], 7)
    if request.param == "pieces":
        halves = [answers[: PEOPLE // 2], answers[PEOPLE // 2 :]]
        return halves, {}, [halves[0], np.append(halves[1][1:], 7)]
    for name, last in (("good", answers[-1]), ("spoilt", 7)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["clicked"], *([answer] for answer in [*answers[:-1], last])])
    return str(tmp_path / "good.csv"), {"column": "clicked"}, str(tmp_path / "spoilt.csv")


@pytest.fixture
def events(monkeypatch, ledger):
    """What happens, in order: looked at, charged, drawn, shown."""
    seen, charge, show = [], ledger.charge, running.release_answer
    for engine in (MemoryEngine, FileEngine):
        tally, require = engine.tally, engine.require

        def counts(self, plan, answers, coins, tally=tally):
            found = tally(self, plan, answers, coins)
            if "charged" not in seen:
                seen.append("looked at")
            return found

        def looks(self, task, answers, require=require):
            require(self, task, answers)
            seen.append("looked at")

        monkeypatch.setattr(engine, "tally", counts)
        monkeypatch.setattr(engine, "require", looks)
    monkeypatch.setattr(ledger, "charge", lambda *plans, **said: (charge(*plans, **said), seen.append("charged"))[0])
    monkeypatch.setattr(running, "release_answer", lambda *given: (show(*given), seen.append("shown"))[0])
    return seen


ORDER = ["looked at", "charged", "drawn", "shown"]


@pytest.mark.parametrize("model", MODELS)
def test_the_order_is_the_same_in_every_model(model, data, ledger, events):
    answers, given, _ = data
    hc.run(PLANS[model], answers, **given, coins=Watched(events), ledger=ledger)
    assert events == ORDER


def draws_first(plan, answers, engine, coins, ledger):
    """A twin that has everything ready when it pays."""
    tally = engine.tally(plan, answers, coins)
    ledger.charge(plan)
    return running.release_answer(plan, tally, coins)


@pytest.mark.parametrize("model", ["shuffle", "local"])
def test_whoever_draws_first_is_found_out(model, ledger, events):
    draws_first(PLANS[model], np.arange(PEOPLE) % 2, MemoryEngine(), Watched(events), ledger)
    assert events != ORDER
    assert events.index("drawn") < events.index("charged")


@pytest.mark.parametrize("model", MODELS)
def test_spoilt_data_are_refused_before_anything_is_charged_or_drawn(model, data, ledger):
    _, given, spoilt = data
    drawn = []
    with pytest.raises(hc.Refused):
        hc.run(PLANS[model], spoilt, **given, coins=Watched(drawn), ledger=ledger)
    assert (drawn, ledger.questions, ledger.spent) == ([], 0, 0)


@pytest.mark.parametrize("model", ["shuffle", "local"])
def test_what_can_be_read_only_once_is_charged_before_it_is_read(model, ledger):
    """And stays charged: the line says for what."""
    halves = iter([np.ones(PEOPLE // 2, dtype=int), np.full(PEOPLE // 2, 7)])
    with pytest.raises(hc.Refused):
        hc.run(PLANS[model], halves, ledger=ledger)
    assert [charge.plan for charge in ledger.charges] == [PLANS[model].hash]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("step", ORDER)
def test_an_interruption_neither_shows_anything_nor_loses_budget_silently(model, step, ledger, monkeypatch):
    """Before the charge nothing is spent; after it, the ledger says what was paid for."""
    seen = []

    def fails(*_, **__):
        raise Interrupted

    if step == "looked at":
        monkeypatch.setattr(MemoryEngine, "require", fails)
        if model == "central":
            monkeypatch.setattr(MemoryEngine, "tally", fails)
    if step == "charged":
        monkeypatch.setattr(ledger, "charge", fails)
    if step == "shown":
        monkeypatch.setattr(running, "release_answer", fails)
    coins = Watched(seen, fails=step == "drawn")
    with pytest.raises(Interrupted):
        hc.run(PLANS[model], np.arange(PEOPLE) % 2, coins=coins, ledger=ledger)
    paid = step in ("drawn", "shown")
    assert [charge.plan for charge in ledger.charges] == [PLANS[model].hash] * paid
    assert paid or not seen


@pytest.mark.parametrize("model", MODELS)
def test_questions_go_the_same_way(model, ledger, events):
    hc.count(np.arange(PEOPLE) % 2, epsilon=1, delta=1e-4, model=model, ledger=ledger)
    assert [event for event in events if event != "drawn"] == ["looked at", "charged", "shown"]


def test_comparisons_pay_for_all_before_the_first_is_drawn(ledger, events):
    found = hc.compare(np.arange(PEOPLE) % 2, epsilon=1, delta=1e-4, ledger=ledger)
    served = len(found.served)
    assert served == 5
    assert events == ["looked at"] * served + ["charged"] + ["shown"] * served
