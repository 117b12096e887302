"""A series about rows with a time: rounds, bounded contributions, levels, and the same from frames and files."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

import headcount as hc
from headcount.engines import memory
from headcount.engines.counts_by_round import InRounds
from headcount.engines.engine import Rows
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.engines.spark import SparkEngine
from headcount.planner.blocks_of_rounds import BlockWidths, best_levels
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.pair import Pair
from headcount.questions.count import Count
from headcount.questions.domains.calendar_rounds import Rounds

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


def test_nobody_is_drawn_more_often_than_that():
    owner = np.repeat(np.arange(50), 4)
    for most in (1, 2, 4, 9):
        drawn = memory._drawn(owner, most, b"0" * 16)
        assert np.bincount(owner[drawn]).tolist() == [min(most, 4)] * 50


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
    assert often.promise.endswith("at most 3 rounds, further ones are not counted")
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


PLACES = ("memory", "files", pytest.param("spark", marks=pytest.mark.stress))


def engine_and_rows(place, frame, folder, request):
    """An engine, and the rows where it reads them."""
    if place == "spark":
        return SparkEngine(), request.getfixturevalue("spark").createDataFrame(frame)
    frame.to_parquet(folder / "rows.parquet")
    return (MemoryEngine(), frame) if place == "memory" else (FileEngine(), folder / "rows.parquet")


PEOPLE, IN, COUNTED = 2_000, 4, 2  # of four rounds that each of them is in, two count
PAIRS = [*combinations(range(IN), COUNTED)]


def visits():
    """Everybody is in four rounds, with what they hold changing; people with an odd number come ten times at first."""
    who, week = np.divmod(np.arange(PEOPLE * IN), IN)
    often = np.flatnonzero((who % 2 == 1) & (week == 0))
    every = np.concatenate([np.arange(who.size), *[often] * 9])
    when = pd.Timestamp(FIRST) + pd.to_timedelta(7 * week[every], "D")
    return pd.DataFrame(
        {
            "who": who[every],
            "when": when,
            "held": [f"{w} {r % 2}" for w, r in zip(who[every], week[every], strict=True)],
        }
    )


def fairness(rounds_of):
    """Chi-square of the pairs of rounds that were drawn, each with the same chance, of both kinds of people."""
    found = np.zeros((2, len(PAIRS)))
    for who, rounds in rounds_of.items():
        found[who % 2, PAIRS.index(tuple(sorted(rounds)))] += 1
    expected = PEOPLE / 2 / len(PAIRS)
    return float(((found - expected) ** 2 / expected).sum())


FAIR = float(chi2.isf(1e-6, 2 * (len(PAIRS) - 1)))


@pytest.mark.parametrize("place", PLACES)
def test_everybodys_rounds_are_drawn_with_the_same_chance_wherever_rows_are(tmp_path, place, request):
    """Whatever they hold, and however many rows they have in a round."""
    engine, rows = engine_and_rows(place, visits(), tmp_path, request)
    in_rounds = InRounds("when", Rounds.beginning(FIRST, "week", WEEKS), COUNTED)
    asked = Rows.of(hc.Histogram(), rows, column="held", unit="who", key=b"7" * 16, in_rounds=in_rounds)
    counts = engine.rounds(hc.Histogram(), asked)
    drawn: dict[int, list[int]] = {}
    for number, each in enumerate(counts):
        assert set(each.people.tolist()) <= {1}
        for held in each.codes:
            who, value = map(int, held.split())
            assert value == number % 2
            drawn.setdefault(who, []).append(number)
    assert len(drawn) == PEOPLE
    assert {len(set(rounds)) for rounds in drawn.values()} == {COUNTED}
    assert fairness(drawn) < FAIR


def test_lots_of_rows_are_not_fair_to_rounds():
    """The first round of people who come ten times at first would be drawn too often."""
    coins = hc.SeededCoins(5)
    rows = {who: [0] * (9 * (who % 2)) + [*range(IN)] for who in range(PEOPLE)}
    drawn = {}
    for who, each in rows.items():
        order = np.argsort(coins.uniform(len(each)))
        drawn[who] = [*dict.fromkeys(each[at] for at in order)][:COUNTED]
    assert fairness(drawn) > FAIR


@pytest.mark.parametrize("place", PLACES)
def test_whether_contradictions_are_refused_does_not_hang_on_lots(tmp_path, place, request):
    """One person is in eight rounds of which one counts, and holds two things in one of them."""
    days = pd.Timestamp(FIRST) + pd.to_timedelta([*range(0, 56, 7), 1], "D")
    frame = pd.DataFrame({"who": "p", "when": days, "plan": [*"aaaaaaaab"]})
    question = hc.Histogram(["a", "b"])
    engine, rows = engine_and_rows(place, frame, tmp_path, request)
    for key in range(3 if place == "spark" else 12):
        with pytest.raises(hc.errors.BadData, match="different categories"):
            counted(engine, rows, question, 1, column="plan", key=bytes([key]) * 16)
    by_lot = [memory._drawn(np.zeros(8, dtype=np.int64), 1, bytes([key]) * 16)[0] for key in range(12)]
    assert not all(by_lot)  # lots that are drawn first would have let some of them pass
    engine, rows = engine_and_rows(place, frame[:8], tmp_path, request)
    assert [found for found, *_ in counted(engine, rows, question, column="plan")] == [1] * WEEKS


def test_months_are_as_long_as_they_are():
    months = Rounds.beginning("2026-01-01", "month", 14)
    assert months.labels[1:3] == ("2026-02-01", "2026-03-01")
    assert months.starts[-1] == "2027-03-01"
    days = np.array(["2025-12-31", "2026-02-28", "2026-03-01", "2027-02-28", "2027-03-01"], dtype="M8[D]")
    assert months.codes(days).tolist() == [14, 1, 2, 13, 14]
    with pytest.raises(hc.Refused, match="first day"):
        Rounds.beginning("2026-01-31", "month", 2)


@pytest.mark.parametrize(
    "question", [hc.Fraction(), hc.Mean((0, 1)), hc.Distribution(bounds=(0, 1), bins=4), hc.Arrivals(3)]
)
def test_answers_that_do_not_add_up_are_refused_and_cost_nothing(question):
    ledger = hc.Ledger(epsilon=2, delta=1e-5, neighbours="add-remove")
    with pytest.raises(hc.errors.BadArgument, match=r"question is .* add up"):
        asked(table(20), question=question, ledger=ledger)
    assert not ledger.charges


def test_labels_that_nobody_listed_have_their_own_answers_and_no_sums():
    rows = {**table(60), "plan": ["a"] * len(table(60)["who"])}
    series = asked(rows, question=hc.Histogram(), column="plan", contributes=3, epsilon=6)
    answer = series.answers[1]
    ((low, high),) = answer.intervals()
    assert answer.categories == ["a"]
    assert low <= 60 <= high
    nobody = answer.protocol.error(None, 1)  # as if one person were there, whom the threshold hides
    assert nobody.masses[nobody.values == -1].sum() > 0.99
    for told in (series.round, series.cumulative, series.distinct):
        with pytest.raises(hc.errors.Unsupported, match="list the categories"):
            told(1, cell="a")


def test_a_sum_is_no_number_of_people():
    rows = {**table(50), "spent": [1.0] * len(table(50)["who"])}
    series = asked(rows, question=hc.Sum((0, 2)), column="spent")
    assert series.cumulative(3).value == pytest.approx(50, abs=30)
    with pytest.raises(hc.errors.Unsupported, match="no number of people"):
        series.distinct(1)


def test_distinct_people_of_one_round_are_those_of_the_round():
    several = asked(table(50), contributes=3)
    assert several.distinct(2, first=2).value == several.round(2).value
    with pytest.raises(hc.errors.Unsupported, match="monthly"):
        several.distinct(3)
    one = asked(table(50))
    assert one.distinct(3).value == one.cumulative(3).value


@pytest.mark.parametrize("cumulative", [False, True])
def test_sums_are_of_rounds_that_there_are(cumulative):
    series = asked(table(50), cumulative=cumulative)
    for last, first in ((9, 1), (3, 0), (3, -7), (2, 3), (0, 1), (1.5, 1), (True, 1), ("2", 1), (3, 1.0j)):
        for told in (series.cumulative, series.distinct, series.trend):
            with pytest.raises(hc.errors.BadArgument, match=r"last|first"):
                told(last, first=first)
    for number in (0, -1, 1.0, True, "1", None, 9):
        with pytest.raises(hc.errors.BadArgument, match="round"):
            series.round(number)
    with pytest.raises(hc.errors.BadArgument, match="weights"):
        series.linear({})


def test_a_series_is_drawn_and_saved(tmp_path):
    series = asked(table(50), contributes=3)
    frame = series.to_pandas()
    assert list(frame["begins"][:2]) == [FIRST, "2026-01-12"]
    series.to_parquet(tmp_path / "weeks.parquet")
    assert pd.read_parquet(tmp_path / "weeks.parquet").equals(frame)
    assert len(series.to_csv().splitlines()) == WEEKS + 1
    assert series.plot().save(tmp_path / "weeks.png").stat().st_size > 10_000
