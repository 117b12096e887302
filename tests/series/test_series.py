"""A series: charged once, rounds that are skipped or thin, and sums whose intervals cover."""

import numpy as np
import pytest

import headcount as hc

N, ROUNDS = 500, 6
TRUTH = [100, 130, 90, 200, 240, 150]


def plan(rounds=ROUNDS, **wishes) -> hc.Plan:
    return hc.advise("count", n=N, epsilon=1, delta=1e-6, rounds=rounds, **{"protocols": "geometric", **wishes}).best


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
