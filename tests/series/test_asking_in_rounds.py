"""A series about rows with a time: rounds, bounded contributions, levels, and the same from frames and files."""

import math

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.engines import memory
from headcount.engines.engine import Rows
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.engines.rounds import InRounds
from headcount.engines.spark import SparkEngine
from headcount.planner.blocks_of_rounds import BlockWidths, best_levels
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.pair import Pair
from headcount.questions.count import Count
from headcount.questions.domains.rounds import Rounds

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
    number = np.tile(np.array([0, 0, 1, 2, 3, 4]), 50)
    for most in (1, 2, 4):
        places, who_when = memory._in_rounds(person, number, 4, most, b"0" * 16)
        kept = np.isin(np.arange(number.size), places)
        for who in range(50):
            rounds = set(number[kept & (person == who)].tolist())
            assert len(rounds) == most
            assert 4 not in rounds
            assert all((kept[(person == who) & (number == at)]).all() for at in rounds)
        assert sorted(set(who_when.tolist())) == [*range(50 * most)]


def test_a_ledger_is_charged_once():
    ledger = hc.Ledger(epsilon=2, delta=1e-6, neighbours="add-remove")
    asked(table(50), ledger=ledger)
    assert ledger.questions == 1


def test_frames_and_files_give_the_same(tmp_path):
    frame = pd.DataFrame(table(60))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.assign(when=pd.to_datetime(frame["when"])).to_parquet(tmp_path / "rows.parquet")
    every = (table(60), frame, tmp_path / "rows.csv", tmp_path / "rows.parquet")
    told = [asked(each, contributes=3).to_json() for each in every]
    assert told[0] == told[1] == told[2] == told[3]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"first": "soon"}, "first"),
        ({"every": "fortnight"}, "every"),
        ({"contributes": 0}, "contributes"),
        ({"contributes": 2, "cumulative": True, "question": hc.Histogram(["0", "1"])}, "cumulative"),
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
    assert BlockWidths((1,), 365, node_error(365)(1)).worst == pytest.approx(25.9, abs=0.05)


def test_one_event_changes_one_node_of_each_level():
    levels = BlockWidths((1, 4, 16), 50, 1.0)
    for at in range(1, 49):  # the last two rounds are in no whole block
        touched = [width for begin, width in levels if begin <= at < begin + width]
        assert len(touched) <= 3
        assert len(set(touched)) == len(touched)
    for first in (1, 5, 17):
        for last in range(first, 51):
            covered = [at for begin, width in levels.nodes(last, first) for at in range(begin, begin + width)]
            assert covered == [*range(first, last + 1)]


def test_sums_over_a_year_of_days_are_told_by_weighted_sums_of_the_past():
    series = asked(table(50), cumulative=True, rounds=365, every="day", epsilon=1)
    plan = series.plan
    assert (plan.protocol.name, plan.budget.rounds) == ("discrete-gaussian", 1)
    assert plan.protocol.loss.delta(1) <= 1e-6
    assert series.cumulative(365).std_error == pytest.approx(12.4, rel=0.01)
    assert series.cumulative().value == series.distinct().value == pytest.approx(50, abs=80)
    assert series.promise.endswith("each person in one round")
    assert [each["round"] for each in series.records()] == [*range(1, 366)]
    assert "people" in series.table()
    with pytest.raises(hc.errors.BadArgument, match="round"):
        series.round(366)


def test_sums_of_a_histogram_take_blocks_of_rounds():
    rows = {**table(50), "plan": ["a"] * len(table(50)["who"])}
    more = {"column": "plan", "cumulative": True, "rounds": 365, "every": "day", "epsilon": 1}
    series = asked(rows, question=hc.Histogram(["a", "b"]), **more)
    assert len(series.levels.widths) == series.plan.budget.rounds == 2
    law = series.plan.protocol.noise(0, 1)
    pair = Pair(np.append(law.masses, 0.0), np.append(0.0, law.masses))
    assert hc.compose([pair] * 2).delta(1) <= 1e-6 * (1 + 1e-6)
    last, first = series.cumulative(365, cell="a"), series.round(1, cell="a")
    assert last.std_error < math.sqrt(365) * first.std_error / 3


def test_people_in_several_rounds_have_sums_too():
    once, often = (asked(table(50), cumulative=True, contributes=many, epsilon=1) for many in (1, 3))
    assert often.cumulative().std_error > once.cumulative().std_error
    assert often.plan.protocol.crowd.each == 3
    assert often.plan.protocol.loss.delta(1) <= 1e-6
    assert often.promise.endswith("at most 3 rounds")
    with pytest.raises(hc.errors.Unsupported, match="monthly"):
        often.distinct()


def test_rows_of_a_person_that_differ_are_refused_before_anything_is_charged():
    days = ["2026-01-05", "2026-01-06", "2026-01-13"]
    rows = {"day": days, "who": [1, 1, 2], "plan": ["a", "b", "a"]}
    ledger = hc.Ledger(epsilon=2, delta=1e-5, neighbours="add-remove")
    asked = {"column": "plan", "time": "day", "unit": "who", "first": "2026-01-05", "rounds": 2}
    with pytest.raises(hc.errors.BadData, match="different categories"):
        hc.series(rows, hc.Histogram(["a", "b"]), **asked, epsilon=1, delta=1e-6, ledger=ledger)
    assert not ledger.charges


def counted(engine, data, question=None, most=WEEKS, **named):
    """What an engine finds in each round."""
    asked = {"column": "new", "unit": "who", "key": b"7" * 16, **named}
    in_rounds = InRounds("when", Rounds.beginning(FIRST, "week", WEEKS), most)
    rows = Rows.of(question or Count(), data, in_rounds=in_rounds, **asked)
    return [
        (int(each.people.sum()), each.total, {} if each.total is not None else _by_code(each))
        for each in engine.rounds(question or Count(), rows)
    ]


def _by_code(counts) -> dict:
    return dict(zip(counts.codes.tolist(), counts.people.tolist(), strict=True))


def rows_of_all_kinds() -> dict:
    spread = hc.SeededCoins(5).uniform(3_000)
    minutes = (-10_000 + spread * (WEEKS * 10_080 + 15_000)).astype(np.int64)
    return {
        "who": [f"p{who}" for who in minutes % 700],
        "when": (np.datetime64(f"{FIRST}T00:00:01") + minutes.astype("timedelta64[m]")).astype("datetime64[us]"),
        "new": (minutes % 3 == 0).astype(int),
        "plan": [("a", "b", "c")[who % 700 % 3] for who in minutes],
        "spent": (minutes % 11).astype(float),
    }


ASKED = {
    "people": (None, {"column": None}),
    "ones": (None, {}),
    "a word": (None, {"column": "plan", "where": "a"}),
    "categories": (hc.Histogram(["a", "b", "c"]), {"column": "plan"}),
    "labels that nobody listed": (hc.Histogram(), {"column": "plan"}),
    "amounts": (hc.Sum((0, 1_000)), {"column": "spent"}),
}


@pytest.mark.parametrize("asked_for", ASKED)
def test_files_and_frames_hold_the_same_in_every_round(tmp_path, asked_for):
    question, named = ASKED[asked_for]
    frame = pd.DataFrame(rows_of_all_kinds())
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    here = counted(MemoryEngine(), frame, question, **named)
    assert len(here) == WEEKS
    for file in ("rows.parquet", "rows.csv"):
        assert counted(FileEngine(), tmp_path / file, question, **named) == here


@pytest.mark.stress  # Spark takes half a minute
@pytest.mark.parametrize("asked_for", ["people", "categories", "amounts"])
def test_spark_holds_the_same_in_every_round(spark, asked_for):
    question, named = ASKED[asked_for]
    frame = pd.DataFrame(rows_of_all_kinds())[:500]
    here = counted(MemoryEngine(), frame, question, **named)
    assert counted(SparkEngine(), spark.createDataFrame(frame), question, **named) == here


@pytest.mark.parametrize("place", ["memory", "files", pytest.param("spark", marks=pytest.mark.stress)])
def test_lots_are_drawn_fairly_wherever_rows_are(tmp_path, place, request):
    """Two thousand people in four rounds each, of which one counts."""
    frame = pd.DataFrame({"who": np.arange(8_000) % 2_000, "when": FIRST, "new": 1})
    frame["when"] = pd.to_datetime(frame["when"]) + pd.to_timedelta(7 * (np.arange(8_000) // 2_000), "D")
    frame.to_parquet(tmp_path / "rows.parquet")
    engine, data = {
        "memory": lambda: (MemoryEngine(), frame),
        "files": lambda: (FileEngine(), tmp_path / "rows.parquet"),
        "spark": lambda: (SparkEngine(), request.getfixturevalue("spark").createDataFrame(frame)),
    }[place]()
    people = [found for found, *_ in counted(engine, data, most=1)]
    assert sum(people) == 2_000
    assert all(abs(each - 500) < 5 * math.sqrt(2_000 * 3 / 16) for each in people[:4])  # 1e-6


def test_months_are_as_long_as_they_are():
    months = Rounds.beginning("2026-01-01", "month", 14)
    assert months.labels[1:3] == ("2026-02-01", "2026-03-01")
    assert months.starts[-1] == "2027-03-01"
    days = np.array(["2025-12-31", "2026-02-28", "2026-03-01", "2027-02-28", "2027-03-01"], dtype="M8[D]")
    assert months.codes(days).tolist() == [14, 1, 2, 13, 14]
    with pytest.raises(hc.Refused, match="first day"):
        Rounds.beginning("2026-01-31", "month", 2)


def test_a_series_is_drawn_and_saved(tmp_path):
    series = asked(table(50), contributes=3)
    frame = series.to_pandas()
    assert list(frame["begins"][:2]) == [FIRST, "2026-01-12"]
    series.to_parquet(tmp_path / "weeks.parquet")
    assert pd.read_parquet(tmp_path / "weeks.parquet").equals(frame)
    assert len(series.to_csv().splitlines()) == WEEKS + 1
    assert series.plot().save(tmp_path / "weeks.png").stat().st_size > 10_000
