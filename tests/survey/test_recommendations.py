"""Is the recommendation the best? A quick form of `make recommendations`, and an advisor that must be caught."""

import math
from dataclasses import replace

import numpy as np
import pytest

import headcount.planner.selection as planner
import headcount_survey.pages.recommendations as recommendations
from headcount.privacy.model import Model
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Noise
from headcount.protocols import CATALOGUE
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from headcount_survey.pages.measures import contradiction, detectable, predicted, simulated
from headcount_survey.pages.questions import NOT_CENTRAL, Asked, grid
from headcount_survey.pages.recommendations import Examined, examine, summary
from headcount_survey.pages.situations import EASY, USUAL

COUNT = Asked(Count(), 1_000, USUAL, NOT_CENTRAL, (300,))
BINS = Asked(Histogram(3), 200, EASY, (Model.CENTRAL, Model.LOCAL), (150, 40, 10), "worst-bin")
TOTAL = Asked(Sum.whole((0, 3)), 100, EASY, NOT_CENTRAL)
RUNS = 3_000


@pytest.mark.parametrize(
    "asked",
    [COUNT, replace(COUNT, objective="interval"), replace(COUNT, objective="detectable"), BINS, TOTAL],
    ids=["count", "interval", "detectable", "worst-bin", "sum"],
)
def test_the_recommendation_is_the_best(asked):
    found = examine(asked, RUNS)
    assert found.fine
    assert found.plans >= len(found.rivals) >= 3
    if asked.objective != "detectable":
        assert found.simulated == pytest.approx(found.predicted, rel=0.1)
    assert found.row().endswith("| holds |")


def by_messages(asked):
    advice = asked.advice()
    return replace(advice, options=tuple(sorted(advice.feasible, key=lambda o: o.protocol.messages_per_person)))


@pytest.mark.parametrize("objective", ["rmse", "interval", "detectable"])
def test_an_advisor_that_ranks_by_messages_is_caught_in_both_ways(objective):
    asked = replace(COUNT, objective=objective)
    found = examine(asked, RUNS, advice=by_messages(asked))
    assert not found.smallest
    assert found.worst_z > recommendations.LIMIT
    assert not found.fine


def test_a_protocol_that_understates_its_error_is_caught_by_the_simulation(monkeypatch):
    class Boastful(Zsum):
        def noise(self, truth, reports):
            exact = super().noise(truth, reports)
            return Noise(exact.values / 10.0, exact.masses, exact.dropped)

        def size_of_error(self, truth, reports):
            return super().size_of_error(truth, reports) / 10.0

    for module in (planner, recommendations):
        monkeypatch.setattr(module, "CATALOGUE", tuple(Boastful if cls is Zsum else cls for cls in CATALOGUE))
    found = examine(COUNT, RUNS)
    assert found.name == "zsum"
    assert found.smallest
    assert found.worst_z > recommendations.LIMIT


@pytest.mark.parametrize(
    ("asked", "objective"),
    [
        pytest.param(asked, objective, id=f"{asked.task.name}-{objective}")
        for asked in (COUNT, BINS, TOTAL)
        for objective in ("rmse", "interval", "worst-bin", "detectable")
        if asked.held or objective != "detectable"  # a sum has no ones
    ],
)
def test_both_ways_to_measure_an_objective_agree(asked, objective):
    asked = replace(asked, objective=objective)
    unit = asked.task.unit(asked.people)
    for option in asked.advice().feasible:
        again = predicted(option.protocol, objective, asked.held or (asked.people,), asked.people)
        assert again * unit == pytest.approx(option.objective, rel=1e-9), option.name


def test_the_smallest_detectable_number_is_just_so():
    protocol = COUNT.advice()["zsum"].protocol
    least = detectable(protocol, 1_000)
    limit = np.quantile(COUNT.errors(protocol, 20_000, 1, (0,)), 0.95)
    seen = [
        float(np.mean(COUNT.errors(protocol, 20_000, 2, (ones,)) + ones > limit)) for ones in (least - 3, least + 3)
    ]
    assert seen[0] < 0.95 < seen[1]


@pytest.mark.parametrize("objective", ["rmse", "interval", "worst-bin"])
def test_larger_errors_contradict_and_equal_ones_do_not(objective):
    coins = SeededCoins(1)
    first, second = (coins.uniform(8_000).reshape(4_000, 2) - 0.5 for _ in range(2))
    assert abs(contradiction(first, second, objective)) < 4.0
    assert contradiction(1.2 * first, second, objective) > 5.0
    assert contradiction(first, 1.2 * second, objective) < -5.0
    assert contradiction(first, first, objective) == 0.0
    assert simulated(2.0 * first, objective) == pytest.approx(2.0 * simulated(first, objective))


def test_a_quantile_between_two_steps_of_a_lattice_is_no_contradiction():
    """The same law, of which some 95% lie within the last step but one: which of the two it is, is left to chance."""
    coins = SeededCoins(2)
    first, second = (np.where(coins.uniform(20_000) < 0.9501, 1.0, 2.0)[:, None] for _ in range(2))
    assert abs(contradiction(first, second, "interval")) < 4.0


def test_a_rival_whose_messages_would_fill_the_memory_is_not_run(monkeypatch):
    monkeypatch.setattr(recommendations, "HEAVY", 1.0)
    found = examine(TOTAL, 200)
    assert not found.rivals  # nobody here draws a sum from its law
    assert found.smallest
    assert found.plans > 5


def test_the_grid_asks_enough():
    asked = list(grid())
    assert len(asked) >= 40
    assert {each.objective for each in asked} == {"rmse", "interval", "worst-bin", "detectable"}
    assert {each.task.name for each in asked} == {"count", "fraction", "histogram", "sum", "mean"}
    assert all(sum(each.held) == each.people for each in asked if isinstance(each.task, Histogram))


def test_the_summary_counts_what_does_not_hold():
    good = Examined(COUNT, "zsum", 1.0, 1.0, 1.0, 5, 100, ())
    assert summary([good]).endswith("every recommendation holds.")
    assert summary([good, replace(good, least=0.5)]).endswith("1 do not hold.")
    assert not math.isnan(good.worst_z)
