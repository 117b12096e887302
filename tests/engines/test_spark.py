"""What only Spark has: partitions, files that the cluster reads, and exact sums of any size."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import headcount as hc
from headcount.engines.engine import Rows, engine_for
from headcount.engines.spark import SparkEngine
from headcount.errors import BadArgument, BadData, Refused
from headcount.planner.calibrate import calibrate
from headcount.planner.planning import plan_for
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SecretCoins, SeededCoins
from headcount.protocols import named
from headcount.protocols.base.plan import Plan
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum

PEOPLE = 900


def plan_of(name: str, task: Question, people: int = PEOPLE) -> Plan:
    budget = Budget(2.0, 1e-6)
    return Plan(calibrate(named(name), task, Crowd(people), budget), budget)


@pytest.mark.parametrize("most", [1, 3])
def test_a_persons_rows_have_the_same_chance_each(spark, most):
    people, each = 2_000, 10
    frame = spark.range(people * each).selectExpr(f"id % {people} AS person", f"id < {people} AS bit")
    answers = SparkEngine().answers(Count(), Rows(frame, column="bit", unit="person", most=most, key=b"7"))
    assert answers.size == most * people
    share = most / each
    values, holders = answers.held
    assert abs(holders[values == 1].sum() - people * share) < 5 * np.sqrt(people * share * (1 - share))


def test_what_spark_says_does_not_travel_along(spark):
    """It quotes what it cannot read, and so would a tool that walks along causes."""
    frame = spark.sql("SELECT CAST(word AS INT) AS x FROM VALUES ('Anna-Magdalena') AS t(word)")
    with pytest.raises(Refused) as refused:
        hc.count(frame, column="x", epsilon=1, model="central")
    assert refused.value.__context__ is None
    assert "Anna" not in str(refused.value)


def test_frames_of_spark_are_counted_on_spark(spark):
    frame = spark.range(PEOPLE).selectExpr("id % 3 = 0 AS yes")
    assert isinstance(engine_for(frame), SparkEngine)
    low, high = hc.count(frame, column="yes", epsilon=1, model="central").interval(1 - 1e-6)
    assert low <= 300 <= high


def test_exact_sums_are_not_too_large_for_spark(spark):
    """Of 2**24 people at 2**40 steps each: a step more than 64 bits hold."""
    people, task = 1 << 24, Sum((0, 1))
    frame = spark.range(people).selectExpr("CAST(1 AS DOUBLE) AS share")
    answers = SparkEngine().answers(task, Rows(frame, column="share"))
    assert (answers.size, answers.total) == (people, 1 << 64)
    plan = plan_for(task, Crowd(people), Budget(1.0), "central")
    assert int(SparkEngine().tally(plan, answers, SecretCoins()).totals[0]) == 1 << 64


def test_the_same_rows_in_another_order_are_drawn_for_alike(spark):
    """A task that is run again may be handed its rows in another order."""
    plan, engine = plan_of("randomised-response", Count()), SparkEngine()
    frames = [
        spark.range(0, PEOPLE, 1, 1).selectExpr("id % 3 = 0 AS yes", f"{sign}id AS place").sortWithinPartitions("place")
        for sign in ("", "-")
    ]
    first, second = (
        engine.tally(plan, engine.answers(Count(), Rows(frame, column="yes")), SeededCoins(1)) for frame in frames
    )
    assert first == second


def test_partitions_have_coins_of_their_own(spark):
    """Two partitions that hold the same are not drawn for alike."""
    plan, engine = plan_of("randomised-response", Count(), 2 * PEOPLE), SparkEngine()
    once, twice = (
        engine.tally(
            plan, engine.answers(Count(), Rows(spark.range(0, n, 1, parts).selectExpr("true AS yes"), column="yes")),
            SeededCoins(1),
        )
        for n, parts in ((PEOPLE, 1), (2 * PEOPLE, 2))
    )  # fmt: skip
    assert not np.array_equal(2 * once.totals, twice.totals)


@pytest.mark.parametrize("kind", ["csv", "parquet", "tsv"])
def test_files_are_read_by_the_cluster(spark, tmp_path, kind):
    file, labels = tmp_path / f"people.{kind}", [f"0{i % 3}" for i in range(PEOPLE)]
    if kind == "parquet":
        pa.parquet.write_table(pa.table({"label": labels, "age": [i % 50 for i in range(PEOPLE)]}), file)
    else:
        between = "," if kind == "csv" else "\t"
        lines = [f"{label}{between}{i % 50}" for i, label in enumerate(labels)]
        file.write_text("\n".join([f"label{between}age", *lines]))
    engine = SparkEngine(spark)
    rows = engine.answers(Histogram(["00", "01", "02"]), Rows(file, column="label"))
    assert rows.held[1].sum() == PEOPLE
    assert sorted(rows.held[1].tolist()) == [300, 300, 300]
    assert engine.answers(Sum.whole((0, 49)), Rows(str(file), column="age")).total == sum(i % 50 for i in range(PEOPLE))


def test_files_that_cannot_be_read_are_refused(spark, tmp_path):
    with pytest.raises(BadArgument, match="cannot be read"):
        SparkEngine(spark).answers(Count(), Rows(tmp_path / "none.parquet", column="yes"))
    with pytest.raises(BadArgument, match="Arrow file"):
        SparkEngine(spark).answers(Count(), Rows("people.arrow", column="yes"))


def test_what_spark_says_is_not_passed_on(spark):
    """Its messages quote values; ours do not, and it is not a traceback either."""
    frame = spark.range(PEOPLE).selectExpr("CAST(concat('secret', id) AS INT) AS yes")
    with pytest.raises(BadData) as refusal:
        hc.count(frame, column="yes", epsilon=1, model="central")
    assert "secret" not in str(refusal.value)
    assert refusal.value.__suppress_context__


def test_columns_of_the_same_name_are_refused(spark):
    frame = spark.range(PEOPLE).selectExpr("true AS yes", "false AS yes")
    with pytest.raises(Refused, match="occurs twice"):
        hc.count(frame, column="yes", epsilon=1, model="central")


def test_days_are_text_and_lists_are_refused(spark):
    frame = spark.sql("SELECT DATE '2026-11-16' AS day, array(1) AS list FROM range(50)")
    told = hc.histogram(frame, column="day", categories=["2026-11-16", "2026-11-17"], epsilon=50, model="central")
    assert np.round(told.values).tolist() == [50, 0]
    with pytest.raises(Refused, match="neither numbers nor text"):
        hc.histogram(frame, column="list", epsilon=1, delta=1e-6, model="central")


def test_a_kept_row_is_the_same_however_often_it_is_drawn(spark):
    frame = spark.range(3 * PEOPLE).selectExpr("id % 7 AS label", "id % 900 AS person")
    task, rows = Histogram(7), {"column": "label", "unit": "person", "most": 1}
    twice = [SparkEngine().answers(task, Rows(frame.repartition(parts), **rows, key=b"5")).held for parts in (1, 3)]
    first, second = (dict(zip(*map(np.ndarray.tolist, held), strict=True)) for held in twice)
    assert first == second
    assert sum(first.values()) == PEOPLE
    other = SparkEngine().answers(task, Rows(frame, **rows, key=b"6")).held
    assert dict(zip(*map(np.ndarray.tolist, other), strict=True)) != first


def test_secret_coins_go_to_executors_as_a_key(spark):
    """The same question twice has different noise, and what is shown says that it is secret."""
    plan, engine = plan_of("randomised-response", Count()), SparkEngine()
    answers = engine.answers(Count(), Rows(spark.range(PEOPLE).selectExpr("id % 3 = 0 AS yes"), column="yes"))
    tallies = {tuple(engine.tally(plan, answers, SecretCoins()).totals.tolist()) for _ in range(6)}
    assert len(tallies) > 1  # six equal ones have a chance below 1e-6
    assert (
        pickle.loads(pickle.dumps(SeededCoins(3).part(1))).words(4).tolist() == SeededCoins(3).part(1).words(4).tolist()
    )
