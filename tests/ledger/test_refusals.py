"""What a refusal advises is accepted, and hardly more would be: over random ledgers and questions of every kind."""

import re
from random import Random  # noqa: TID251
from time import process_time

import pytest

import headcount as hc
from headcount.ledger import words
from headcount.ledger.refusals import GRID
from headcount.ledger.spending import Spending
from stress import lengths

PEOPLE = 300
WHO = [n // 3 for n in range(3 * PEOPLE)]
ROWS = {
    "who": WHO,
    "plan": ["abc"[n % 3] for n in WHO],
    "left": ["yes" if n % 2 else "no" for n in WHO],
    "spend": [n % 30 for n in WHO],
    "day": [f"2026-01-{5 + n % 20:02}" for n in range(len(WHO))],
}
LEFT = {"column": "left", "spelled": True}
SPEND = {"column": "spend", "bounds": (0, 100)}
PLANS = {"categories": ["a", "b", "c"]}
KINDS = {
    "count": (hc.count, LEFT),
    "rates": (hc.fraction, LEFT | PLANS | {"by": "plan"}),
    "histogram": (hc.histogram, PLANS | {"column": "plan"}),
    "unlisted": (hc.histogram, {"column": "plan"}),
    "sum": (hc.sum, SPEND),
    "mean": (hc.mean, SPEND),
    "distribution": (hc.distribution, SPEND),
    "median": (hc.median, SPEND),
    "table": (hc.table, {"columns": {"plan": ["a", "b", "c"], "left": ["yes", "no"]}}),
    "shuffled": (hc.count, LEFT | {"model": "shuffle"}),
    "local": (hc.histogram, PLANS | {"column": "plan", "model": "local"}),
    "several": (hc.count, LEFT | {"max_contributions": 3}),
    "several unlisted": (hc.histogram, {"column": "plan", "max_contributions": 3}),
    "series": (hc.series, {"column": "left", "where": "yes", "time": "day", "first": "2026-01-05", "rounds": 3}),
}
SAID = re.compile(r"Ask with epsilon=(?P<epsilon>[\d.e-]+)(?: and delta=(?P<delta>[\d.e-]+?))?,? or less")
NEAR = 3  # steps of two digits that the advice may lie below what is accepted: dots of a curve, a factor of 1.001
LONG = 1.0  # seconds of a processor: a refusal takes no longer


class Asked(Exception):
    """A question has come as far as its ledger."""


class Listening(hc.Ledger):
    """A ledger that keeps what it is asked, and lets nothing be drawn."""

    plans: tuple[hc.Plan, ...] = ()

    def require(self, *questions):
        self.plans = questions
        raise Asked

    def refusal(self, plans):
        try:
            super().require(*plans)
        except hc.errors.OverBudget as refusal:
            return refusal
        return None


def question(ledger, kind, relation, epsilon, delta):
    """Its plans, or None where nothing can be planned so."""
    ask, told = KINDS[kind]
    told = told | {"unit": "who"} | ({} if kind == "series" else {"neighbours": relation})
    try:
        ask(ROWS, epsilon=epsilon, delta=delta, ledger=ledger, **told)
    except Asked:
        return ledger.plans
    except (hc.errors.BadArgument, hc.errors.Infeasible, hc.errors.Unsupported, hc.errors.BadData):
        return None
    raise AssertionError(kind)


def advised(refusal, delta):
    found = SAID.search(str(refusal))
    return None if found is None else (float(found["epsilon"]), float(found["delta"] or delta))


def drawn_ledger(chance):
    budget = chance.choice([0.3, 1, 3, 10, 34]), chance.choice([0, 1e-11, 1e-6, 1e-5, 1e-3])
    return Listening(epsilon=budget[0], delta=budget[1], neighbours=chance.choice(["replace", "add-remove"]))


def drawn_question(chance, ledger):
    """Of any kind and budget; of persons, where the ledger is of answers, one in three."""
    epsilon, delta, relation = ledger.budget.epsilon, ledger.budget.delta, str(ledger.budget.neighbours)
    kind = chance.choice(list(KINDS))
    if relation == "replace" and kind not in ("shuffled", "local"):
        relation = chance.choice(["replace", "replace", "add-remove"])
    parts = chance.choice([0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 1.2]), chance.choice([0, 0, 1e-3, 0.01, 0.1, 0.3, 0.6])
    return kind, relation, epsilon * parts[0], delta * parts[1]


def walk(seed):
    """Asks at random until a ledger refuses, takes its advice, and goes on; how often advice was taken."""
    chance, taken = Random(seed), 0  # noqa: S311
    ledger = drawn_ledger(chance)
    for _ in range(6):
        kind, relation, epsilon, delta = drawn_question(chance, ledger)
        if (plans := question(ledger, kind, relation, epsilon, delta)) is None:
            continue
        before = process_time()
        refusal = ledger.refusal(plans)
        assert process_time() - before < LONG, (kind, relation, epsilon, delta)
        if refusal is None:
            ledger.charge(*plans)
            check_outlook(ledger)
        elif (works := advised(refusal, delta)) and (plans := question(ledger, kind, relation, *works)):
            assert ledger.refusal(plans) is None, refusal
            check_is_most(ledger, kind, relation, *works, epsilon)
            taken += 1
            if chance.random() < 0.5:
                ledger.charge(*plans)
    return taken


def check_is_most(ledger, kind, relation, epsilon, delta, asked):
    """The next epsilons are refused, but for those that the advice cannot vouch for."""
    larger = [each for each in GRID if epsilon < each < asked][NEAR - 1 : NEAR]
    for each in larger:
        plans = question(ledger, kind, relation, each, delta)
        assert plans is None or relation != ledger.budget.neighbours or ledger.refusal(plans) is not None


def check_outlook(ledger):
    """It is never full while something can be asked, unless by its delta alone."""
    outlook = ledger.outlook()
    if "100%" in repr(ledger):
        assert "Still possible" not in outlook or "(with delta 0)" in outlook


@lengths("seeds", range(4), range(4, 80))
def test_what_is_advised_is_accepted_and_hardly_more(seeds):
    assert sum(map(walk, seeds)) >= len(seeds) / 4


def test_advice_without_regard_to_the_question_is_refused(monkeypatch):
    """The twin: what is left, as if the question were of the ledger's adjacency."""
    monkeypatch.setattr(Spending, "admits", lambda self, asked: asked[0].budget.epsilon <= 3 - self.plain.divergence)
    ledger = Listening(epsilon=3, delta=1e-5)
    ledger.charge(*question(ledger, "count", "replace", 1.5, 0.0))
    refusal = ledger.refusal(question(ledger, "several unlisted", "add-remove", 1.5, 1e-6))
    works = advised(refusal, 1e-6)
    assert ledger.refusal(question(ledger, "several unlisted", "add-remove", *works)) is not None


@pytest.mark.parametrize("budget", [(34, 1e-11), (48.7, 5e-18)])
@pytest.mark.parametrize("kind", ["count", "shuffled", "several unlisted", "series"])
def test_refusals_at_extreme_budgets_take_at_most_a_second(budget, kind):
    epsilon, delta = budget
    ledger = Listening(epsilon=epsilon, delta=delta)
    relation = "add-remove" if kind in ("several unlisted", "series") else "replace"
    ledger.charge(*question(ledger, "count", "replace", epsilon / 2, 0.0))
    plans = question(ledger, kind, relation, min(49.0, 0.9 * epsilon), 0.4 * delta)
    if plans is None:
        pytest.skip("nothing can be planned so")
    before = process_time()
    refusal = ledger.refusal(plans)
    assert process_time() - before < LONG
    if (works := advised(refusal, 0.4 * delta)) and (plans := question(ledger, kind, relation, *works)):
        assert ledger.refusal(plans) is None


OUTLOOK = re.compile(r"another (?:([\d,]+) counts|count) at epsilon ([\d.]+)")


@lengths("seeds", range(6), range(6, 200))
def test_what_the_outlook_says_can_be_asked(seeds):
    """As often as it says and no more, apart from what the Rényi rule has left."""
    for seed in seeds:
        chance = Random(seed)  # noqa: S311
        ledger = drawn_ledger(chance)
        for _ in range(chance.randrange(4)):
            plans = question(ledger, *drawn_question(chance, ledger))
            if plans and ledger.refusal(plans) is None:
                ledger.charge(*plans)
        check_outlook(ledger)
        told = [(int((each[0] or "1").replace(",", "")), float(each[1])) for each in OUTLOOK.findall(ledger.outlook())]
        for times, epsilon in told[:1]:
            (plan,) = question(ledger, "count", str(ledger.budget.neighbours), epsilon, 0.0)
            for _ in range(times):
                ledger.charge(plan)
            assert ledger.refusal([plan]) is not None  # the twin: once more is too often


def test_nearly_all_is_not_all(monkeypatch):
    """99.8% of a large budget is not said to be 100% while something is possible; the twin rounds to whole percents."""
    ledger = Listening(epsilon=50)
    ledger.charge(hc.advise("count", n=100, epsilon=49.9, models="central").best)
    assert "99.8% of" in repr(ledger)
    assert "another 2 counts at epsilon 0.05" in ledger.outlook()
    check_outlook(ledger)
    monkeypatch.setattr(words, "percent", lambda share, **_: f"{round(100 * share)}%")
    with pytest.raises(AssertionError):
        check_outlook(ledger)


def test_a_question_of_persons_costs_a_ledger_of_answers_what_its_delta_is():
    """46% at 1e-6 of the 5e-6 for sums, where a coarser search took all of it; half of that at half of it."""
    spent = []
    for delta in (1e-6, 5e-7, 1e-8):
        ledger = Listening(epsilon=3, delta=1e-5)
        ledger.charge(*question(ledger, "several unlisted", "add-remove", 0.3, delta))
        spent.append(ledger.spent)
    assert spent[0] <= 0.48
    assert spent[1] <= 0.24
    assert spent[2] <= 0.21


def test_a_refusal_says_that_the_ledger_is_of_another_adjacency():
    ledger = Listening(epsilon=1)
    ledger.charge(*question(ledger, "count", "replace", 0.9985, 0.0))
    refusal = ledger.refusal(question(ledger, "count", "add-remove", 0.5, 0.0))
    assert "No smaller epsilon fits: this ledger hides a changed answer (replace)" in str(refusal)
    assert "begin a ledger with neighbours='add-remove'" in str(refusal)
    ledger.charge(*question(ledger, "count", "replace", 0.001, 0.0))
    refusal = ledger.refusal(question(ledger, "count", "add-remove", 0.5, 0.0))
    assert str(refusal).endswith("Nothing more can be asked")  # nor of its own adjacency


def test_several_questions_are_advised_together():
    ledger = hc.Ledger(epsilon=1)
    plan = hc.advise("count", n=100, epsilon=0.4, models="central").best
    ledger.charge(plan)
    with pytest.raises(hc.errors.OverBudget, match=r"Ask with epsilon=0\.3 or less each") as refusal:
        ledger.charge(plan, plan)
    epsilon, _ = advised(refusal.value, 0.0)
    ledger.charge(*[hc.advise("count", n=100, epsilon=epsilon, models="central").best] * 2)


def test_what_is_left_of_epsilon_is_told_where_delta_is_what_is_short():
    ledger = Listening(epsilon=3, delta=1e-5)
    ledger.charge(*question(ledger, "unlisted", "replace", 0.3, 4e-6))
    refusal = str(ledger.refusal(question(ledger, "unlisted", "replace", 2.9, 4e-6)))
    assert "is left, 90% of its epsilon" in refusal


def test_a_refusal_has_no_word_of_how_it_is_computed():
    ledger = Listening(epsilon=3, delta=1e-5)
    ledger.charge(*question(ledger, "count", "replace", 2.5, 1e-7))
    refusal = str(ledger.refusal(question(ledger, "count", "replace", 1, 1e-7)))
    assert refusal == "this question would need 34% of the budget and 16% is left. Ask with epsilon=0.5 or less"
    assert "divergence" not in repr(ledger)
    assert "order" not in repr(ledger)


def test_the_outlook_says_what_delta_is_left():
    ledger = Listening(epsilon=3, delta=1e-5)
    assert "delta" not in ledger.outlook()
    ledger.charge(*question(ledger, "several unlisted", "add-remove", 0.3, 1e-6))
    assert "(with delta 0). Left of delta: 2.7e-06 of 5e-06, the half that is added up" in ledger.outlook()


def test_the_lines_name_columns(tmp_path):
    path = tmp_path / "crowd.ledger"
    ledger = hc.Ledger.create(path, epsilon=3, delta=1e-5)
    hc.histogram(ROWS, column="plan", categories=["a", "b", "c"], unit="who", epsilon=0.3, ledger=ledger)
    hc.count(ROWS, **LEFT, **PLANS, by="plan", unit="who", epsilon=0.1, ledger=ledger)
    hc.count([1] * 100, epsilon=0.1, ledger=ledger)
    read = hc.Ledger.verify(path)
    assert [charge.column for charge in read.charges] == ["plan", "left by plan", None]
    assert read.charges[0].asks == "histogram of plan"
    assert read.records()[0]["column"] == "plan"
    assert "histogram of plan" in read._repr_html_()
    path.write_text(path.read_text().replace('"column":"plan"', '"column":"paln"'))  # the twin: somebody edits it
    with pytest.raises(hc.errors.Damaged):
        hc.Ledger.verify(path)
