"""A series: charged once, rounds that are skipped or thin, and sums whose intervals cover."""

import copy
import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import headcount as hc

N, ROUNDS = 500, 6
REFUSED = 7  # how a child ends
TRUTH = [100, 130, 90, 200, 240, 150]


def plan(rounds=ROUNDS, **wishes) -> hc.Plan:
    asked = {"epsilon": 1, "protocols": "geometric", **wishes}
    return hc.advise("count", n=N, delta=1e-6, rounds=rounds, **asked).best


def held(ones: int, n: int = N) -> list[int]:
    return [1] * ones + [0] * (n - ones)


def test_a_series_is_charged_once_and_beforehand():
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    series = hc.Series(plan(), ledger=ledger)
    assert ledger.questions == 1
    spent = ledger.spent
    for ones in TRUTH:
        series.run(held(ones))
    assert (ledger.questions, ledger.spent) == (1, spent)
    with pytest.raises(hc.errors.Unsupported, match="all 6 rounds"):
        series.run(held(1))
    with pytest.raises(hc.errors.OverBudget):
        hc.Series(plan(), ledger=ledger)


def test_a_plan_for_one_round_is_no_series():
    with pytest.raises(hc.errors.BadArgument, match="one round"):
        hc.Series(hc.advise("count", n=N, epsilon=1, models="central"))


def test_a_thin_round_publishes_nothing_and_a_skipped_one_lapses():
    series = hc.Series(plan())
    series.run(held(100))
    with pytest.raises(hc.errors.TooFewReports):
        series.run(held(10, N - 1))
    assert series.left == ROUNDS - 1
    series.skip()
    series.run(held(200))
    assert sorted(series.answers) == [1, 3]
    assert series.left == ROUNDS - 3
    with pytest.raises(hc.errors.BadArgument, match="2 has no answer"):
        series.difference(2, 1)
    assert "skipped" in series.table()
    assert series.to_json()[1] == {"round": 2, "skipped": True}


@pytest.mark.parametrize(
    "wishes",
    [{}, {"protocols": "poisson-count"}, {"protocols": "randomised-response"}],
    ids=["central", "shuffle", "local"],
)
def test_intervals_cover_as_often_as_they_say(wishes):
    made, runs = plan(**wishes), 120
    people, panels = made.protocol.crowd.size, made.panels
    lots, covered = hc.SeededCoins(1), dict.fromkeys(("sum", "change", "trend"), 0)
    for seed in range(runs):
        series, coins = hc.Series(made), hc.SeededCoins(seed)
        for ones in TRUTH:
            asked = np.array(held(ones, people * panels))[lots.uniform(people * panels).argsort()[:people]]
            series.run(asked, coins=coins)
        truths = {"sum": sum(TRUTH), "change": TRUTH[4] - TRUTH[0], "trend": np.polyfit(range(6), TRUTH, 1)[0]}
        found = {"sum": series.cumulative(), "change": series.difference(5, 1), "trend": series.trend()}
        for name, linear in found.items():
            low, high = linear.interval()
            covered[name] += low <= truths[name] <= high
    for name, often in covered.items():  # 95% of 120 is 114, and the chance of 100 or fewer is below 1e-6
        assert often > 100, (name, often)


def test_the_error_of_a_sum_is_that_of_independent_rounds():
    series = hc.Series(plan())
    for ones in TRUTH[:4]:
        series.run(held(ones))
    one = series.round(1).std_error
    assert series.cumulative().std_error == pytest.approx(2 * one, rel=1e-6)
    assert series.difference(2, 1).std_error == pytest.approx(2**0.5 * one, rel=1e-6)
    low, high = series.difference(2, 1).interval()
    two = series.answers[2] - series.answers[1]
    assert (low, high) == pytest.approx(two.interval(), abs=1.0)


def test_a_histogram_is_followed_category_by_category():
    made = hc.advise(hc.Histogram(["a", "b"]), n=N, epsilon=2, delta=1e-6, rounds=3, protocols="geometric").best
    series = hc.Series(made)
    for ones in (100, 300):
        series.run(["a"] * ones + ["b"] * (N - ones))
    assert 100 < series.difference(2, 1, cell="a").value < 300
    with pytest.raises(hc.errors.BadArgument, match="category"):
        series.round(1)


def test_a_round_counts_each_person_once_whatever_is_said_of_the_rows():
    """A plan for one row of each person is not run on more, and a question without groups has none."""
    series = hc.Series(plan(neighbours="add-remove", epsilon=20))
    rows = {"x": [1] * 400, "u": ["the same"] * 400}
    for more in ({"most": 400}, {"max_contributions": 400}, {"by": "x"}, {"in_rounds": None}):
        with pytest.raises(TypeError, match="unexpected keyword"):
            series.run(rows, column="x", unit="u", **more)
    assert abs(series.run(rows, column="x", unit="u").value) < 100


def test_rounds_that_were_paid_for_once_are_run_once():
    series = hc.Series(plan())
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(hc.errors.Unsupported, match="paid for once"):
            copied(series)
    with warnings.catch_warnings(action="ignore"):  # of threads, where there are any
        child = os.fork()
    if not child:
        try:
            series.run(held(100))
        except hc.errors.Unsupported:
            os._exit(REFUSED)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == REFUSED
    for _ in range(ROUNDS):
        series.skip()
    assert copy.deepcopy(series).left == 0


def test_threads_run_no_more_rounds_than_were_paid_for():
    series = hc.Series(plan())

    def run(_):
        try:
            return series.run(held(100))
        except hc.errors.Unsupported:
            return None

    with ThreadPoolExecutor(8) as pool:
        answers = [each for each in pool.map(run, range(2 * ROUNDS)) if each is not None]
    assert len(answers) == ROUNDS == len(series.answers)


def test_a_budget_that_is_given_anew_promises_less_to_whoever_stays():
    month = hc.advise("count", n=10_000, epsilon=1, delta=1e-6, rounds=4, protocols="discrete-gaussian").best
    told = month.refreshed(13)
    assert [row[1] for row in told.rows] == ["4", "8", "52"]
    within, two, year = (float(row[2]) for row in told.rows)
    assert (within, two, year) == (1.0, pytest.approx(1.45, rel=0.01), pytest.approx(4.08, rel=0.01))
    assert hc.compose([month.protocol.loss] * 52).epsilon(1e-6) <= year
    pure = hc.advise("count", n=10_000, epsilon=1, rounds=4, protocols="geometric").best
    assert [row[2] for row in pure.refreshed(13).rows] == ["1", "2", "13"]
    for windows in (1, 2_501, 2.5):
        with pytest.raises(hc.errors.BadArgument, match="windows"):
            month.refreshed(windows)


def test_people_are_added_up_only_if_nobody_is_in_two_rounds():
    rows = {"day": ["2026-01-05", "2026-01-13"] * 50, "who": range(100)}
    asked = {"time": "day", "unit": "who", "first": "2026-01-05", "rounds": 2, "epsilon": 1, "delta": 1e-6}
    once = hc.series(rows, **asked)
    assert once.distinct().value == once.cumulative().value
    often = hc.series(rows, **asked, contributes=2)
    assert often.distinct(1).value == often.round(1).value
    with pytest.raises(hc.errors.Unsupported, match="monthly people are not the sum of weekly ones"):
        often.distinct()
