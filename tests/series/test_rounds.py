"""Budgets for many rounds: figures of the notes, composition in the worse order, proofs and their broken twins."""

from dataclasses import replace
from fractions import Fraction

import pytest

import headcount as hc
from headcount.common.canonical import fingerprint
from headcount.planner.calibrate import calibrate, calibrations
from headcount.proof.composition import RoundLosses
from headcount.proof.divergence import Bounds
from headcount.protocols import named
from headcount.protocols.base.plan import Plan
from headcount.questions import Count, Histogram

N = 10_000


def error(name: str, epsilon: float, rounds: int, **options) -> float:
    budget = hc.Budget(epsilon, 1e-6, rounds=rounds)
    return min(each.rmse() for each in calibrations(named(name), Count(), hc.Crowd(N), budget, **options))


@pytest.mark.parametrize(
    ("name", "epsilon", "rounds", "low", "high"),
    [
        ("geometric", 1, 4, 5.60, 5.65),
        ("poisson-count", 1, 52, 30.6, 30.8),
        ("discrete-gaussian", 1, 52, 30.17, 30.77),
        ("discrete-gaussian", 1, 365, 80.0, 81.6),
        ("poisson-count", 1, 365, 80.0, 81.6),
        ("geometric", 4, 12, 4.18, 4.26),
    ],
)
def test_errors_are_those_of_exact_composition(name, epsilon, rounds, low, high):
    assert low < error(name, epsilon, rounds) < high


def test_correlated_noise_is_as_good_as_central_noise_over_few_rounds():
    assert 5.64 < error("correlated-count", 1, 4, overhead=0.01) < 5.76


def test_own_noise_with_lighter_tails_is_better_over_twelve_rounds():
    assert error("correlated-count", 4, 12, overhead=0.01) < 3.95 < error("geometric", 4, 12)


def test_one_panel_a_round_is_better_than_everybody_every_round():
    option = hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=52, models="local").feasible[0]
    assert 770 < option.rmse < 780
    plan = option.plan
    assert (plan.panels, plan.rounds, plan.budget.rounds, plan.protocol.crowd.size) == (52, 52, 1, N // 52)
    assert plan.loss.epsilon(0.0) <= 1.0
    assert hc.plan_from_json(plan.to_json()) == plan


def test_a_plan_knows_its_rounds_and_is_read_back(tmp_path):
    plan = hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=52, protocols="poisson-count").best
    assert plan.rounds == 52
    assert 0.99e-6 < plan.loss.delta(1) <= 1e-6
    assert plan.protocol.loss.delta(1) < 1e-12
    assert hc.load_plan(plan.save(tmp_path / "plan.json")) == plan


def test_a_ledger_charges_all_rounds_once_and_reads_them_back(tmp_path):
    plan = hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=52, protocols="poisson-count").best
    with_one = hc.Ledger.open(tmp_path / "ledger", epsilon=1, delta=1e-6)
    with_one.charge(plan)
    assert with_one.questions == 1
    with pytest.raises(hc.errors.OverBudget):
        with_one.charge(plan)
    again = hc.Ledger.open(tmp_path / "ledger")
    assert again.spent == with_one.spent == 1.0


def test_a_plan_of_many_rounds_is_not_run_as_one():
    plan = hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=4, protocols="geometric").best
    with pytest.raises(hc.errors.BadArgument, match="4 rounds"):
        hc.run(plan, [1] * N)


def certificate(name, rounds, task=None, people=2_000) -> dict:
    budget = hc.Budget(1, 1e-6, rounds=rounds)
    return hc.certify(hc.Plan(calibrate(named(name), task or Count(), hc.Crowd(people), budget), budget)).content


def changed(content: dict, **parts) -> dict:
    content = {**content, **parts}
    hashed = {key: value for key, value in content.items() if key not in ("hash", "versions")}
    return {**content, "hash": fingerprint(hashed)}


@pytest.mark.parametrize("name", ["geometric", "discrete-gaussian", "poisson-count", "randomised-response"])
def test_claims_about_many_rounds_are_proved_from_the_file_alone_and_broken_ones_refuted(name):
    content = certificate(name, 6)
    assert hc.verify(content).answer == "proved"
    assert hc.verify(changed(content, rounds=12)).answer == "refuted"
    assert hc.verify(changed(content, format="headcount certificate 2")).answer == "cannot prove"
    if delta := Fraction(content["claim"]["delta"]):
        assert hc.verify(changed(content, claim={**content["claim"], "delta": str(delta / 2)})).answer != "proved"


def test_a_round_that_is_known_from_above_alone_refutes_nothing():
    """Of noise of one's own with lighter tails only what geometric noise hides as well is proved."""
    protocol = named("correlated-count")(crowd=hc.Crowd(10_000), inner=0.199, shape=8.0, decay=0.97704, own=4)
    assert hc.verify(hc.certify(Plan(protocol, hc.Budget(1, 1e-6, rounds=12)))).answer == "cannot prove"


def test_an_event_is_evidence_only_where_it_is_likelier():
    """The twin takes an event that may come at any chance for one that never comes among the first."""
    unknown = Bounds(Fraction(0), Fraction(1, 8), (Fraction(0), Fraction(1)))
    losses = RoundLosses(lambda _: unknown, 12, Fraction(1, 10**6))
    assert losses._below(Fraction(1), unknown).low == 0
    known = Bounds(Fraction(1, 4), Fraction(1, 4), (Fraction(1, 2), Fraction(1, 4)))
    assert losses._below(Fraction(0), known).low > Fraction(1, 2)
    assert losses._below(Fraction(0), replace(known, chances=known.chances[::-1])).low == 0


def test_histograms_of_many_rounds_are_proved():
    assert hc.verify(certificate("poisson-histogram", 3, Histogram(3))).answer == "proved"


def test_what_takes_minutes_to_account_for_is_left_out_and_that_is_said():
    wishes = {"n": N, "epsilon": 1, "delta": 1e-6, "models": ["shuffle-threshold"]}
    options = hc.advise(Histogram(3), rounds=12, **wishes).options
    [reason] = [each.reason for each in options if each.name == "sample-threshold"]
    assert "is ranked if it is named" in reason
    assert hc.advise("count", rounds=12, **wishes).feasible
    assert hc.advise(Histogram(3), **wishes).feasible


@pytest.mark.parametrize("question", [Histogram(3), hc.Distribution((0, 10), 64)], ids=lambda question: question.name)
def test_correlated_noise_with_lighter_tails_is_ranked_for_some_rounds_of_several_cells(question):
    """Its view has two dimensions, and millions of cells."""
    for rounds in (4, 12):
        names = ["correlated-histogram", "poisson-histogram"]
        advice = hc.advise(question, n=N, epsilon=1, delta=1e-6, rounds=rounds, models="shuffle", protocols=names)
        option = advice["correlated-histogram"]
        assert option.plan.protocol.own > 1
        budget = hc.Budget(1, 1e-6, rounds=rounds)
        assert 0.98e-6 < budget.together(option.protocol.loss).delta(1) <= 1e-6
        assert option.rmse < 3.0 * advice["poisson-histogram"].rmse


def test_bounds_take_half_as_many_points_and_cost_next_to_nothing():
    budget = hc.Budget(1, 1e-6, rounds=52)
    loss = calibrate(named("one-sided-count"), Count(), hc.Crowd(N), budget).loss
    assert loss.kind == "bound"
    finer, coarse = (budget.together(loss, points).delta(1) for points in (400, 100))
    assert finer <= coarse <= 1.02 * finer


def test_how_many_rounds_fit():
    most = hc.most_rounds("count", n=N, epsilon=1, delta=1e-6, within=60, protocols="discrete-gaussian")
    widths = [
        hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=rounds, protocols="discrete-gaussian").feasible[0]
        for rounds in (most, most + 1)
    ]
    assert widths[0].half_width <= 60 < widths[1].half_width


def test_which_epsilon_fits_a_year():
    advice = hc.advise("count", n=N, delta=1e-6, rounds=52, within=60, protocols="discrete-gaussian")
    assert 0.95 < advice.best.budget.epsilon < 1.05
    assert advice.best.rounds == 52
