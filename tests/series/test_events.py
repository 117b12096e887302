"""A series about rows with a time: rounds, bounded contributions, levels, and the same from frames and files."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount import events
from headcount.planner.levels import Levels, best_levels
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.pair import Pair

FIRST, WEEKS = "2026-01-05", 8


def table(people: int = 400) -> dict:
    """Everybody is in each of three weeks, twice in the first, and one row lies before all weeks."""
    rows = [(f"p{who}", week * 7 + day) for who in range(people) for week, day in ((0, 0), (0, 1), (1, 3), (2, 5))]
    days = [str(np.datetime64(FIRST) + np.timedelta64(day, "D")) for _, day in rows]
    return {
        "who": [*(who for who, _ in rows), "early"],
        "when": [*days, "2025-12-01"],
        "new": [1] * (len(rows) + 1),
    }


def asked(data, **given):
    named = {"column": "new", "time": "when", "unit": "who", "first": FIRST, "rounds": WEEKS}
    return hc.series(data, **{**named, "epsilon": 2, "delta": 1e-6, "coins": hc.SeededCoins(3), **given})


def test_everybody_counts_in_as_many_rounds_as_are_paid_for():
    all_three, one = asked(table(), contributes=3), asked(table(), contributes=1)
    for week in (1, 2, 3):
        assert all_three.round(week).value == pytest.approx(400, abs=40)
        assert one.round(week).value == pytest.approx(400 / 3, abs=60)  # each round with the same chance
    assert one.cumulative(3).value == pytest.approx(400, abs=40)
    assert one.cumulative(8, first=4).value == pytest.approx(0, abs=40)


def test_the_lots_keep_no_more_rounds_than_that_and_never_part_of_one():
    person = np.repeat(np.arange(50), 6)
    number = np.tile(np.array([1, 1, 2, 3, 4, 0]), 50)
    for most in (1, 2, 4):
        kept = events._drawn(person, number, most, b"0" * 16)
        for who in range(50):
            rounds = set(number[kept & (person == who)].tolist())
            assert len(rounds) == most
            assert 0 not in rounds
            assert all((kept[(person == who) & (number == at)]).all() for at in rounds)


def test_a_ledger_is_charged_once():
    ledger = hc.Ledger(epsilon=2, delta=1e-6, neighbours="add-remove")
    asked(table(50), ledger=ledger)
    assert ledger.questions == 1


def test_frames_and_files_give_the_same(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(table(60))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.assign(when=pd.to_datetime(frame["when"])).to_parquet(tmp_path / "rows.parquet")
    told = [asked(each).to_json() for each in (table(60), frame, tmp_path / "rows.csv", tmp_path / "rows.parquet")]
    assert told[0] == told[1] == told[2] == told[3]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"first": "soon"}, "first"),
        ({"every": "fortnight"}, "every"),
        ({"contributes": 0}, "contributes"),
        ({"contributes": 2, "cumulative": True}, "cumulative"),
        ({"time": "who"}, "time"),
    ],
)
def test_refusals_name_the_argument_and_no_value(given, problem):
    with pytest.raises(hc.Refused, match=problem) as refused:
        asked(table(20), **given)
    assert "p1" not in str(refused.value)


def node_error(rounds: int):
    """That of geometric noise on nodes, of which one person changes as many as there are levels."""

    def error(levels: int) -> float:
        budget = Budget(1, 1e-6, Neighbours.ADD_REMOVE, levels)
        return hc.protocol("geometric", n=1, neighbours="add-remove", scale=levels / budget.epsilon).rmse()

    del rounds
    return error


def test_two_levels_are_better_for_a_year_of_days():
    levels = best_levels(365, node_error(365))
    assert len(levels.widths) == 2
    assert levels.worst <= 17.5
    assert Levels((1,), 365, node_error(365)(1)).worst == pytest.approx(25.9, abs=0.05)


def test_one_event_changes_one_node_of_each_level():
    levels = Levels((1, 4, 16), 50, 1.0)
    for at in range(1, 49):  # the last two rounds are in no whole block
        touched = [width for begin, width in levels if begin <= at < begin + width]
        assert len(touched) <= 3
        assert len(set(touched)) == len(touched)
    for first in (1, 5, 17):
        for last in range(first, 51):
            covered = [at for begin, width in levels.nodes(last, first) for at in range(begin, begin + width)]
            assert covered == [*range(first, last + 1)]


def test_all_levels_of_one_person_cost_no_more_than_the_budget():
    series = asked(table(50), cumulative=True, rounds=365, every="day", epsilon=1)
    plan, levels = series.plan, len(series.levels.widths)
    assert (levels, plan.budget.rounds) == (2, 2)
    law = series.plan.protocol.noise(0, 1)
    pair = Pair(np.append(law.masses, 0.0), np.append(0.0, law.masses))
    both = hc.compose([pair] * levels)
    assert both.delta(1) <= 1e-6 * (1 + 1e-6)
    assert series.cumulative(365).std_error < math.sqrt(365) * series.round(1).std_error / 3


def test_rows_of_a_person_that_differ_are_refused_before_anything_is_charged():
    days = ["2026-01-05", "2026-01-06", "2026-01-13"]
    rows = {"day": days, "who": [1, 1, 2], "plan": ["a", "b", "a"]}
    ledger = hc.Ledger(epsilon=2, delta=1e-5, neighbours="add-remove")
    asked = {"column": "plan", "time": "day", "unit": "who", "first": "2026-01-05", "rounds": 2}
    with pytest.raises(hc.errors.BadData, match="different categories"):
        hc.series(rows, hc.Histogram(["a", "b"]), **asked, epsilon=1, delta=1e-6, ledger=ledger)
    assert not ledger.charges
