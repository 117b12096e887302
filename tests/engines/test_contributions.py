"""People with several rows: what counts of them, by lot, and what stays private."""

import json
import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from visitors import CENTRAL, NUMBERS, PEOPLE, plan

import headcount as hc
from headcount.engines.duckdb_connection import database
from headcount.engines.engine import Rows, engine_for
from headcount.engines.file_codes import LOTS
from headcount.engines.files import FileEngine
from headcount.engines.memory import MemoryEngine
from headcount.errors import BadArgument, BadData, Unsupported


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("visits") / "people.parquet"
    pq.write_table(PEOPLE, path)
    return path


def test_a_person_contributes_what_the_plan_says(file):
    once = hc.histogram(file, column="colour", categories=["red", "green", "blue", "grey"], unit="person",
                        max_contributions=1, **CENTRAL)  # fmt: skip
    assert once.n == 1_000
    assert abs(once.values.sum() - 1_000) < 60
    private = {**CENTRAL, "neighbours": "add-remove", "unit": "person"}
    one, two = (
        hc.histogram(file, column="shop", categories=7, max_contributions=most, **private) for most in (1, 2)
    )  # fmt: skip
    assert abs(two.values.sum() - 2_000) < 100
    assert two.std_error == pytest.approx(2 * one.std_error, rel=0.05)  # half of epsilon for each row
    assert "exact" in two.promises()
    many = hc.count(file, column="clicked", max_contributions=50, **{**private, "epsilon": 50})
    assert abs(many.value - 600) < 20  # nobody has more than three
    with pytest.raises(BadData, match="different categories"):
        hc.histogram(file, column="shop", categories=7, unit="person", **CENTRAL)


def test_an_answer_says_how_many_rows_of_a_person_count(file, tmp_path):
    """Its interval is of these rows alone: the file has more of them."""
    asked = {"column": "clicked", "unit": "person", "neighbours": "add-remove", **CENTRAL}
    two, one = (hc.count(file, max_contributions=most, **asked) for most in (2, 1))
    merged = hc.count(file, **asked)
    assert "at most 2 rows of each person count, drawn by lot" in str(two)
    assert "at most 1 row of each person counts" in str(one)
    assert "rows" not in str(merged)
    assert [each.in_its_words("people") for each in (two, one, merged)] == ["rows", "people", "people"]
    two.plot().save(tmp_path / "two.svg")
    merged.plot().save(tmp_path / "merged.svg")
    shown, plain = ((tmp_path / name).read_text() for name in ("two.svg", "merged.svg"))
    assert "at most 2 rows of each person" in shown
    assert "rows" not in plain
    (tmp_path / "two.json").write_text(json.dumps(two.to_json()))
    assert str(hc.load_answer(tmp_path / "two.json")).splitlines()[-1] == two.told
    made = plan(hc.Count(), models=["central"], max_contributions=2, neighbours="add-remove")
    run = hc.run(made, file, column="clicked", unit="person", max_contributions=2)
    assert run.told == two.told
    assert "at most 2 rows of each person count" in str(two - run)
    (two - run).plot().save(tmp_path / "difference.svg")
    assert "difference, in rows" in (tmp_path / "difference.svg").read_text()
    with pytest.raises(Unsupported, match="equally many rows"):
        two - one


@pytest.mark.parametrize("most", [2, 1_000])
def test_how_many_rows_a_person_has_is_private(file, most):
    """Where the number of all rows is told, it would tell that: whoever knows the others' could subtract."""
    asked = {"column": "clicked", "unit": "person", "max_contributions": most}
    for call in (hc.count, hc.fraction, hc.compare):
        with pytest.raises(BadArgument, match="how many a person has"):
            call(file, epsilon=1, **asked)
    with pytest.raises(BadArgument, match="how many a person has"):
        hc.advise(hc.Count(), n=100, epsilon=1, max_contributions=most)
    told = hc.count(file, neighbours="add-remove", **asked, **CENTRAL)
    assert told.n is None
    assert "3,000" not in str(told)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_persons_rows_have_the_same_chance_each(kind, tmp_path):
    """Of ten rows one is a one; people differ in which of them they keep."""
    people, each = 4_000, 10
    table = pa.table({"person": np.arange(people * each) % people, "bit": np.arange(people * each) < people})
    if kind == "file":
        pq.write_table(table, tmp_path / "rows.parquet")
    data = table if kind == "memory" else tmp_path / "rows.parquet"
    engine = engine_for(data)
    for most, task in ((1, hc.Count()), (3, hc.Count())):
        answers = engine.answers(task, Rows(data, column="bit", unit="person", most=most, key=bytes([most])))
        assert answers.size == most * people
        ones = engine.tally(plan(task, models=["central"]), answers, hc.SecretCoins()).totals[0]
        share = most / each
        assert abs(ones - people * share) < 5 * np.sqrt(people * share * (1 - share))


PEOPLE_DRAWN, KEYS = 20, 200
XORED = (  # DuckDB's own hash of several columns, as lots were drawn by once
    "SELECT arg_min(code, lot) AS code FROM (SELECT code, "
    "-ln(((hash(person, code, $key) >> 11) + 1) / 9007199254740992e0) / count(*) AS lot FROM visits "
    "GROUP BY person, code) GROUP BY person"
)


def ones_kept(query, keys):
    """Of people who have the rows 1, 1, 1 and 0 each, who keeps a one, for every key."""
    with database(os.getpid()).cursor() as cursor:
        persons = np.repeat(np.arange(PEOPLE_DRAWN), 4)
        cursor.register("visits", pa.table({"person": persons, "code": np.tile([1, 1, 1, 0], PEOPLE_DRAWN)}))
        told = query.replace("AS code FROM (SELECT", "AS code, person FROM (SELECT person,", 1)
        kept = [
            sorted((person, code) for code, person in cursor.execute(told, {"key": key}).fetchall()) for key in keys
        ]
    return np.array([[code for _, code in each] for each in kept])


def is_by_lot(kept):
    """Whether everybody keeps a one in three of four draws, and people do so independently (each misses 1e-6)."""
    each, together = kept.mean(axis=0), kept.sum(axis=1)
    spread = np.sqrt(0.75 * 0.25 / len(kept))
    return bool(np.abs(each - 0.75).max() < 5.5 * spread and 0.5 < together.var() / (PEOPLE_DRAWN * 0.1875) < 1.7)


def test_lots_hang_on_the_whole_key():
    assert is_by_lot(ones_kept(LOTS.kept("visits", ["code"], 1, "$key"), [f"{key:032x}" for key in range(KEYS)]))
    assert is_by_lot(ones_kept(LOTS.kept("visits", ["code"], 1, "$key"), [f"{key << 96:032x}" for key in range(KEYS)]))
    assert not is_by_lot(ones_kept(XORED, range(KEYS)))
    assert len(Rows([1]).key) == 16
    assert Rows([1]).key != Rows([1]).key


def test_rows_are_kept_by_lot(file):
    task = hc.Histogram(7)
    made = plan(task, models=["central"])
    tallies = {}
    for key in (1, 1, 2):
        for engine, data in ((FileEngine(), file), (MemoryEngine(), PEOPLE)):
            rows = Rows(data, column="shop", unit="person", most=1, key=bytes([key]))
            answers = engine.answers(task, rows)
            assert answers.size == 1_000
            tally = engine.tally(made, answers, hc.SecretCoins())
            assert tallies.setdefault((type(engine), key), tally) == tally  # the same key keeps the same rows
    assert tallies[FileEngine, 1] != tallies[FileEngine, 2]
    assert tallies[MemoryEngine, 1] != tallies[MemoryEngine, 2]


def test_people_are_merged_as_in_memory(file):
    for engine, data in ((FileEngine(), file), (MemoryEngine(), PEOPLE)):
        ones = engine.answers(hc.Count(), Rows(data, column="flag", unit="person"))
        assert ones.size == 1_000
        held = engine.tally(plan(hc.Count(), models=["central"]), ones, hc.SecretCoins()).totals
        assert held.tolist() == [len(set((NUMBERS[NUMBERS % 5 == 0] // 3).tolist()))]
    for task in (hc.Sum((0, 300)), hc.Mean((0, 100))):
        made = plan(task, models=["central"])
        tallies = [
            engine.tally(made, engine.answers(task, Rows(data, column="age", unit="person")), hc.SecretCoins())
            for engine, data in ((FileEngine(), file), (MemoryEngine(), PEOPLE))
        ]
        assert tallies[0] == tallies[1]


def test_a_plan_for_fewer_rows_a_person_is_not_run_on_more(file):
    made = plan(hc.Count(), models=["central"])
    with pytest.raises(BadArgument, match="plan with max_contributions=3"):
        hc.run(made, file, column="clicked", unit="person", max_contributions=3)
    three = plan(hc.Count(), models=["central"], max_contributions=3, neighbours="add-remove")
    asked = {"column": "clicked", "unit": "person", "max_contributions": 3}
    assert abs(hc.run(three, file, **asked).value - 600) < 60
    assert hc.plan_from_json(three.to_json()) == three
    with pytest.raises(Unsupported, match="one report each"):
        hc.certify(three)


@pytest.mark.parametrize("categories", [None, ["a", "b", "c"]])
@pytest.mark.parametrize(("epsilon", "delta"), [(50.0, 0.1), (1.0, 1e-6), (0.1, 1e-9)])
@pytest.mark.parametrize("most", [2, 5])
def test_a_histogram_of_several_rows_has_the_noise_that_so_many_need(categories, epsilon, delta, most):
    rows, ids = ["a", "a", "b"] * 400, [person for person in range(400) for _ in range(3)]
    answer = hc.histogram(
        rows, unit=ids, max_contributions=most, neighbours="add-remove", protocol="stability-histogram",
        categories=categories, epsilon=epsilon, delta=delta,
    )  # fmt: skip
    protocol = answer.protocol
    scale, threshold = (protocol.parameters[name] for name in ("scale", "threshold"))
    assert protocol.loss.kind == "exact"
    assert scale == pytest.approx(most / epsilon)
    lower = replace(protocol, threshold=threshold - 1)
    assert protocol.loss.delta(epsilon) <= delta < lower.loss.delta(epsilon)
    # The usual rule counts every row as a new key with all rows in it, which is no way to spread them.
    assert threshold <= 1.0 + most + scale * np.log(most / delta)


def test_no_reason_is_given_that_was_made_up():
    """The number of people is private, and hides nobody in the central model: it is no reason for anything."""
    answer = hc.histogram(
        ["a", "b"] * 50, unit=[*range(50)] * 2, max_contributions=2, neighbours="add-remove", model="central",
        epsilon=50, delta=0.1,
    )  # fmt: skip
    assert answer.protocol.name == "stability-histogram"
    with pytest.raises(hc.Refused) as refusal:
        hc.histogram(
            ["a", "b"] * 50, unit=[*range(50)] * 2, max_contributions=2, neighbours="add-remove", model="central",
            protocol="stability-histogram", epsilon=1e-7, delta=1e-12,
        )  # fmt: skip
    assert "people" not in str(refusal.value)
