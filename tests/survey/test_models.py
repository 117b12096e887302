"""What the studies of the three models found, held against short calculations of its own."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from headcount.errors import BadArgument
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.protocols import CATALOGUE, named
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from headcount_survey.catalogue import study
from headcount_survey.papers.sampled import fewer_clones
from headcount_survey.studies import (
    a_billion,
    amplification,
    composition,
    local_oracles,
    local_sums,
    lower_bounds,
    meaning,
    one_data_set,
    separation,
    smallest_crowds,
    survey_counts,
    survey_histograms,
    survey_sums,
    survey_table,
)
from headcount_survey.study import Verdict

TABLES = {"count": survey_counts.BOUNDS, "sum": survey_sums.BOUNDS, "histogram": survey_histograms.BOUNDS}


@pytest.mark.parametrize("task", TABLES)
def test_the_survey_is_about_protocols_that_there_are(task):
    assert set(TABLES[task]) <= {kind.name for kind in CATALOGUE if task in kind.question_names()}


def test_counts_err_as_predicted_and_grow_as_stated():
    for row in survey_counts.SurveyCounts().run(quick=True).rows:
        assert abs(row["growth"] - row["stated_growth"]) < 0.03, row["protocol"]
        # Of Laplace noise, the heaviest tails here, 1,000 runs give the deviation to 3.5%.
        assert row["measured"] == pytest.approx(row["predicted"], rel=5 * 0.035), row["protocol"]
        assert row["measured_mean"] == pytest.approx(row["measured"] / row["people"])


def test_the_blanket_has_one_message_and_the_sixth_root():
    for name, power in (("blanket-sum", 1 / 6), ("split-and-mix", 0.0)):
        found = [one_data_set.among(named(name), Sum((0, 1)), (1,), 1, people) for people in (10**4, 10**6)]
        assert math.log(found[1][1] / found[0][1], 100) == pytest.approx(power, abs=0.02)
        assert (found[0][0].messages_per_person == 1) is (name == "blanket-sum")


def test_the_completed_table_has_no_empty_row():
    assert {entry.protocol for entry in survey_table.ENTRIES} <= {*survey_counts.BOUNDS, *survey_sums.BOUNDS}
    assert any(not entry.error for entry in survey_table.ENTRIES)  # where the notes have one


def test_the_worst_of_many_bins_is_the_quantile_of_a_power():
    geometric = calibrate(named("geometric"), Histogram(10**6), Crowd(1_000), Budget(1.0, 1e-6))
    inside = 1.0 - 2.0 * np.exp(-0.5 * np.arange(1, 60)) / (1.0 + math.exp(-0.5))  # P[|Z| < t], t = 1, 2, ...
    assert separation.worst(geometric) == int(np.argmax(inside**1_000_000 >= 0.95))


def test_untouched_bins_cost_nothing():
    few, many = (
        separation.worst(calibrate(named("stability-histogram"), Histogram(bins), Crowd(1_000), Budget(1.0, 1e-6)))
        for bins in (10**3, 10**6)
    )
    assert few == many


def test_stronger_clones_for_several_answers_claim_less_than_crowds_lose():
    few = amplification.shuffled(10, 2.0, 15)
    assert few["stronger"] < 0.86 * few["exact"] < few["exact"] <= few["cover"]
    assert fewer_clones().verdict is Verdict.FALSE


def test_a_study_takes_parameters_and_says_them():
    changed = study("amplification", {"people": 1_000.0, "local": 4.0})
    assert (changed.people, changed.local, changed.delta) == (1_000, 4.0, 1e-6)
    assert changed.command == "headcount study run amplification --param people=1000 --param local=4"
    assert study("meaning").command == "headcount study run meaning"
    for name, parameters in (("amplification", {"peeple": 1.0}), ("meaning", {"people": 1.0})):
        with pytest.raises(BadArgument, match="parameters have"):
            study(name, parameters)
    with pytest.raises(BadArgument, match="whole"):
        study("amplification", {"people": 2.5})
    with pytest.raises(BadArgument, match="out of their ranges"):
        study("amplification", {"delta": 2.0})


def test_bounds_on_shuffled_reports_keep_their_order():
    found = amplification.shuffled(10, 2.0, 10_000)
    assert found["exact"] <= found["cover"] <= found["clones"] <= found["clones_formula"] <= found["none"]
    assert found["clones_formula"] == pytest.approx(0.501, abs=5e-4)
    assert amplification.erlingsson(0.6, 10_000) is None


def test_no_local_count_is_better_than_the_least_error():
    flip, people = 1 / (1 + math.e), 3
    joint = Counter()
    for bits in itertools.product((0, 1), repeat=people):
        for sent in itertools.product((0, 1), repeat=people):
            wrong = sum(a != b for a, b in zip(bits, sent, strict=True))
            chance = flip**wrong * (1 - flip) ** (people - wrong) / math.comb(people, sum(bits)) / (people + 1)
            joint[sum(bits), sum(sent)] += chance
    risk = 0.0
    for total in range(people + 1):
        mass = [joint[ones, total] for ones in range(people + 1)]
        mean = sum(m * ones for ones, m in enumerate(mass)) / sum(mass)
        risk += sum(m * (ones - mean) ** 2 for ones, m in enumerate(mass))
    assert lower_bounds.least_local(people, 1.0) == pytest.approx(math.sqrt(risk), rel=1e-9)
    exact = math.sqrt(100 * math.e) / (math.e - 1)  # of randomised response
    assert lower_bounds.least_local(100, 1.0) < exact
    assert lower_bounds.least_local(100, 1.0) > exact / 1.1
    assert lower_bounds.least_local(100, 1.0) > math.sqrt(100 * math.exp(2)) / (
        math.exp(2) - 1
    )  # which spends too much


def test_the_geometric_count_is_the_best_pure_one():
    least, geometric = lower_bounds.least_central(16, 1.0, 0.0), lower_bounds.geometric(1.0, 16)
    assert least <= geometric <= lower_bounds.geometric(1.0)
    assert geometric < 1.02 * least
    assert lower_bounds.least_central(16, 1.0, 0.05) < 0.85 * least  # and no bound where delta may be spent


def test_nothing_is_drawn_below_what_is_proved():
    rows = lower_bounds.LowerBounds().run(quick=True).rows
    assert {row["model"] for row in rows} == {"local", "shuffle", "central"}
    for row in rows:
        assert 0.0 < row["bound"] <= row["error"] * (1 + 1e-9), row
    central = [row for row in rows if row["model"] == "shuffle" and row["protocol"] == "geometric"]
    assert all(row["error"] < 1.03 * row["bound"] for row in central)  # the optimum, and the bound is nearly tight
    assert all(math.sqrt(math.log(row["people"])) > row["error"] for row in central)  # as a mere shape is not


def test_reports_tell_no_more_of_a_bin_than_the_local_bound_allows():
    """Mixtures of random private laws against their blank, and what Fano makes of it."""
    epsilon, share = 1.0, 0.3
    most = (2.0 * share * math.sinh(epsilon / 2.0)) ** 2
    seen = []
    for weights in SeededCoins(5).uniform(1_200).reshape(200, 6):
        blank = weights / weights.sum()
        low, high = blank * math.exp(-epsilon), blank * math.exp(epsilon)
        held, left = low.copy(), 1.0 - low.sum()
        for place in np.argsort(weights[::-1]):  # as far from the blank as privacy allows
            added = min(left, high[place] - low[place])
            held[place], left = held[place] + added, left - added
        mixed = (1.0 - share) * blank + share * held
        seen.append(float((mixed * np.log(mixed / blank)).sum()))
    assert max(seen) <= most
    assert max(seen) > 0.3 * most
    bounds = [lower_bounds.least_local_histogram(2_000, bins, 1.0) for bins in (10, 10**3, 10**6)]
    assert bounds == sorted(bounds)
    assert bounds[0] > 15.0
    assert lower_bounds.least_local_histogram(8_000, 1_000, 1.0) == pytest.approx(2.0 * bounds[1], rel=0.08)
    assert lower_bounds.least_local_histogram(2_000, 1_000, 0.5) > 1.8 * bounds[1]


def test_oracles_cross_where_the_paper_says():
    assert local_oracles.crossing(1.0) == math.floor(3 * math.e + 2) + 1
    unary, rappor = 4 * math.e / (math.e - 1) ** 2, math.exp(0.5) / (math.exp(0.5) - 1) ** 2
    assert local_oracles.turning(1.0) == pytest.approx(rappor - unary, rel=0.01)  # a holder's bit is a fair coin


def test_sums_cross_where_the_papers_say():
    root = math.sqrt(241)
    inner = sum((6353 + sign * 405 * root) ** (1 / 3) for sign in (-1, 1))
    assert local_sums.begins() == pytest.approx(math.log((2 * inner - 5) / 27), abs=1e-6)
    assert local_sums.overtaken() == pytest.approx(1.29, abs=0.005)
    assert local_sums.hybrid(2.0, 0.0) == pytest.approx(local_sums.hybrid(2.0, 1.0))


def test_exact_accounting_never_costs_more_than_the_budget_allows():
    for counts in (2, 20):
        allowed = composition.together("optimal", counts)
        assert composition.together("zsum", counts) < 0.6 * allowed
        assert composition.together("geometric", counts) <= allowed * (1 + 1e-3)
        assert allowed <= composition.together("basic", counts) * (1 + 1e-3)


def test_an_observer_of_a_geometric_count_gets_all_that_epsilon_allows():
    assert meaning.guessed("geometric", 1.0) == pytest.approx(math.e / (1 + math.e), rel=1e-4)
    alarms = np.linspace(0.0, 1.0, 21)
    curve = np.minimum(math.e * alarms, 1.0 - (1.0 - alarms) / math.e)
    assert meaning.caught("geometric", 1.0, alarms) == pytest.approx(curve, abs=1e-3)
    assert meaning.guessed("zsum", 1.0) < 0.54
    assert meaning.moved("zsum", 1.0, math.e) > 5 * meaning.DELTA  # delta is not the chance of that


def test_zsum_needs_a_crowd_and_the_correlated_count_does_not():
    assert smallest_crowds.fewest("zsum", 1.0) == 80
    assert smallest_crowds.fewest("correlated-count", 1.0) < 10


def test_a_thousand_million_people_err_as_predicted_and_are_covered():
    rows = a_billion.ABillion().run(quick=True).rows
    assert {row["people"] for row in rows} == {10**9}
    for row in rows:
        assert abs(row["z"]) < 5.0, row["protocol"]
        assert row["coverage"] > 0.95 - 5.0 * row["coverage_error"], row["protocol"]
        assert row["standard_error"] < 0.02 * row["simulated"]


def test_an_error_that_was_predicted_a_twentieth_too_small_is_noticed(monkeypatch):
    held = a_billion.expected
    monkeypatch.setattr(a_billion, "expected", lambda *given: [each / 1.05**2 for each in held(*given)])
    assert a_billion.judged("zsum", Count(), a_billion.FEWER)["z"] > 5.0
