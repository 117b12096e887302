"""Tables: margins that agree, exact intervals, sums and rates, in every place where data may lie."""

import json
import math
import subprocess
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.answers.rate import Rate
from headcount.answers.table import margin_law
from headcount.errors import BadArgument, BadData, Unsupported
from headcount.programme.coins import SeededCoins
from headcount.protocols.base.saved import plan_from_json
from headcount.questions.strategies.margins import Margins

PEOPLE = 6_000
COINS = SeededCoins(5)
FRAME = pd.DataFrame({
    "sex": np.array(["f", "m"])[COINS.below(2, PEOPLE).astype(int)],
    "age": COINS.below(100, PEOPLE).astype(int),
    "vote": np.array(["yes", "no", "who?"])[COINS.below(3, PEOPLE).astype(int)],
})  # fmt: skip
COLUMNS = {
    "sex": ["f", "m"],
    "age": {"bounds": (0, 100), "bins": 4},
    "vote": {"categories": ["yes", "no"], "other": True},
}
EXACT = {"columns": COLUMNS, "epsilon": 50, "model": "central"}  # so large that nobody is miscounted by one
AGES = pd.cut(FRAME["age"], [0, 25, 50, 75, 101], right=False).cat.codes
ADULT = (2, 5, 6, 7, 9, 16)
PAIRS = tuple(combinations(range(6), 2))


def truth(mask) -> int:
    return int(np.count_nonzero(mask))


def exactly(answer) -> None:
    assert answer["sex", "age"]["m", "[25, 50)"].value == pytest.approx(
        truth((FRAME["sex"] == "m") & (AGES == 1)), abs=0.4
    )
    assert answer["vote"]["(other)"].value == pytest.approx(truth(FRAME["vote"] == "who?"), abs=0.6)


@pytest.mark.parametrize(
    ("measured", "variance", "rms"),
    [
        ((tuple(range(6)),), 7.84, 173),
        ((tuple(range(6)),), 42.65, 403),
        (PAIRS, 956.0, 26.9),
        (PAIRS, 536.4, 20.16),
        ((*((each,) for each in range(6)), *PAIRS), 749.5, 21.3),
    ],
)
def test_published_errors_of_margins(measured, variance: float, rms: float) -> None:
    """Six attributes of a census with all margins of one and two, at variances that cost (1, 1e-6)."""
    strategy = Margins(ADULT, PAIRS, measured)
    assert math.sqrt(variance * strategy.mean_variance) == pytest.approx(rms, rel=5e-3)


def test_the_advisor_reaches_the_best_central_gaussian_in_the_shuffle_model() -> None:
    task = hc.Table({f"c{at}": many for at, many in enumerate(ADULT)})
    protocol = hc.protocol("poisson-histogram", task, n=48_842, epsilon=1, delta=1e-6)
    assert protocol.task.measured == protocol.task.margins
    assert protocol.rmse() * protocol.spread == pytest.approx(20.16, rel=2e-3)
    assert protocol.messages_per_person == pytest.approx(23.6, abs=0.1)


def test_a_small_table_is_measured_whole() -> None:
    task = hc.Table({"a": 4, "b": 4, "c": 4})
    protocol = hc.protocol("geometric", task, n=1_000, epsilon=1)
    assert protocol.task.measured == (("a", "b", "c"),)
    large = hc.Table({"a": 64, "b": 64, "c": 64})
    assert len(hc.protocol("geometric", large, n=1_000, epsilon=1).task.measured) == 3


def test_in_memory() -> None:
    exactly(hc.table(FRAME, **EXACT))
    exactly(hc.table({name: FRAME[name].tolist() for name in FRAME}, **EXACT))


def test_in_files(tmp_path) -> None:
    FRAME.to_parquet(tmp_path / "x.parquet")
    exactly(hc.table(tmp_path / "x.parquet", **EXACT))
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    exactly(hc.table(tmp_path / "x.csv", **EXACT))
    categories = {"sex": ["f", "m"], "vote": ["yes", "no", "who?"]}
    grouped = hc.table(tmp_path / "x.parquet", columns=categories, epsilon=50, model="central")
    assert grouped["sex", "vote"]["f", "no"].value == pytest.approx(
        truth((FRAME["sex"] == "f") & (FRAME["vote"] == "no")), abs=0.4
    )


def test_on_spark(spark) -> None:
    exactly(hc.table(spark.createDataFrame(FRAME), **EXACT))


@pytest.mark.parametrize("protocol", ["poisson-histogram", "correlated-histogram"])
def test_by_shuffled_reports(protocol: str) -> None:
    answer = hc.table(FRAME, columns=COLUMNS, epsilon=8, delta=1e-6, protocol=protocol)
    assert answer["sex"]["f"].value == pytest.approx(truth(FRAME["sex"] == "f"), abs=6 * answer["sex"].std_error)


def test_a_person_may_have_several_rows() -> None:
    twice = pd.concat([FRAME.assign(who=FRAME.index)] * 2)
    exactly(hc.table(twice, unit="who", **EXACT))


def test_margins_agree_with_each_other_and_with_the_number_of_people() -> None:
    answer = hc.table(FRAME, columns=COLUMNS, epsilon=0.5, model="central")
    for large in (each for each in answer.margins if len(each.names) == 2):
        for axis, name in enumerate(large.names):
            assert large.values.sum(axis=1 - axis) == pytest.approx(answer[name].values)
    assert answer["age"].values.sum() == pytest.approx(PEOPLE)
    assert answer["vote", "sex"].values == pytest.approx(answer["sex", "vote"].values.T)
    total = answer.sum()
    assert (total.value, *total.interval()) == pytest.approx((PEOPLE,) * 3)


def test_sums_of_cells() -> None:
    answer = hc.table(FRAME, **EXACT)
    young = answer.sum(sex="m", age=(0, 50))
    assert young.value == pytest.approx(truth((FRAME["sex"] == "m") & (FRAME["age"] < 50)), abs=0.9)
    assert answer.sum(vote=["yes", "no"]).value == pytest.approx(truth(FRAME["vote"] != "who?"), abs=0.9)
    within = answer.sum(sex="m", age=(0, 60))
    low, high = within.interval()
    assert low < young.value < within.value < high
    cell = answer["sex", "age"]["m", "[0, 25)"]
    assert answer.sum(sex="m", age="[0, 25)").interval() == pytest.approx(cell.interval95, abs=1e-9)


def test_rates() -> None:
    answer = hc.table(FRAME, columns=COLUMNS, epsilon=1, delta=1e-6, model="shuffle")
    rates = answer.rate(of={"vote": "yes"}, by="sex")
    for group, rate in rates.items():
        people = FRAME[FRAME["sex"] == group]
        low, high = rate.interval(1 - 1e-8)
        assert low < (people["vote"] == "yes").mean() < high
        assert rate.interval()[0] < rate.value < rate.interval()[1]
        assert str(rate).endswith("rounded") or "exact" in str(rate)
    assert answer.rate(of={"vote": "yes"}).value == pytest.approx((FRAME["vote"] == "yes").mean(), abs=0.05)


def test_rates_of_hardly_anybody_may_be_anything() -> None:
    few = FRAME.head(12)
    answer = hc.table(few, columns=COLUMNS, epsilon=0.1, model="central")
    spans = [rate.interval() for rate in answer.rate(of={"vote": "yes"}, by="sex").values()]
    assert all(0.0 <= low < high <= 1.0 for low, high in spans)
    assert max(high - low for low, high in spans) > 0.5


def test_a_rate_beyond_all_rates_is_any_rate_where_there_seems_to_be_nobody() -> None:
    law = hc.table(FRAME.head(12), columns=COLUMNS, epsilon=0.1, model="central").rate(of={"vote": "yes"}).law
    far = 2.0 * law(0.0).tails(0.001)[1]
    assert Rate(-far, -1.0, law).interval() == (0.0, 1.0)
    assert Rate(-far, 40.0 * far, law).interval() == (0.0, 0.0)


@pytest.mark.parametrize("protocol", ["geometric", "poisson-histogram"])
def test_as_many_intervals_cover_as_promised(protocol: str) -> None:
    """Cells, sums and rates, of 150 answers with seeded coins."""
    task = hc.Table({"a": 3, "b": 4, "c": 2})
    calibrated = hc.protocol(protocol, task, n=400, epsilon=1, delta=1e-6)
    held = np.arange(24) * 400 // 276
    held[-1] += 400 - held.sum()
    table = held.reshape(3, 4, 2)
    covered = []
    for totals in calibrated.sample(held, SeededCoins(3), 150):
        answer = calibrated.estimate(hc.Tally(400, totals, released=True))
        low, high = answer["a", "b"].intervals()[1, 2]
        cell = low <= table[1, 2].sum() <= high
        low, high = answer.sum(a=[0, 2], c=1).interval()
        summed = low <= table[[0, 2], :, 1].sum() <= high
        low, high = answer.rate(of={"c": 1}, by="b")[3].interval()
        covered.append([cell, summed, low <= table[:, 3, 1].sum() / table[:, 3].sum() <= high])
    for share in np.mean(covered, axis=0):
        assert 0.88 < share < 1.0  # 95% but for 3.9 standard errors; intervals that are too wide miss nobody


def test_the_law_of_a_cell_is_that_of_its_coefficients() -> None:
    protocol = hc.protocol("geometric", hc.Table({"a": 3, "b": 4, "c": 2}), n=100, epsilon=1)
    strategy = protocol.task.strategy
    for margin in strategy.margins:
        law = margin_law(protocol, 100, margin)
        cell = math.sqrt(strategy.variance(margin)) * protocol.rmse()
        assert law.std_error == pytest.approx(cell)


def test_the_number_of_people_may_be_private() -> None:
    answer = hc.table(FRAME, columns=COLUMNS, epsilon=1, model="central", neighbours="add-remove")
    assert answer.n is None
    low, high = answer.sum().interval(1 - 1e-8)
    assert low < PEOPLE < high
    assert answer.sum().std_error > 0.0
    assert answer["sex"].values.sum() == pytest.approx(answer.sum().value)


def test_frames_and_json() -> None:
    answer = hc.table(FRAME, **EXACT)
    frame = answer.to_pandas()
    assert list(frame) == ["sex", "age", "vote", "people", "low95", "high95"]
    assert len(frame) == answer.people.size == 2 + 4 + 3 + 8 + 6 + 12
    (cell,) = frame.query("sex == 'f' and vote == 'no'").to_dict("records")
    assert cell["people"] == pytest.approx(answer["sex", "vote"]["f", "no"].value)
    said = json.loads(json.dumps(answer.to_json()))
    assert said["cells"][0]["category"] == {"sex": "f", "age": None, "vote": None}
    assert "sex by age, each ± " in str(answer)
    assert "<table>" in answer._repr_html_()


def test_plans_are_read_back() -> None:
    task = hc.Table(COLUMNS, [("sex", "vote"), ("age",)])
    plan = hc.advise(task, n=PEOPLE, epsilon=1, delta=1e-6).best
    again = plan_from_json(json.loads(json.dumps(plan.to_json())), hash=plan.hash)
    assert again == plan
    assert hc.run(again, FRAME)["sex", "vote"].values.shape == (2, 3)


def test_on_the_command_line(tmp_path) -> None:
    FRAME.to_csv(tmp_path / "x.csv", index=False)
    columns = [word for each in ("sex=f,m", "age=0:100/4", "vote=yes,no+") for word in ("--columns", each)]
    command = [sys.executable, "-m", "headcount", "table", str(tmp_path / "x.csv"), *columns]
    budget = ["--epsilon", "50", "--model", "central"]
    done = subprocess.run([*command, *budget, "--format", "csv"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "sex,age,vote,value,low95,high95"
    assert len(lines) == 1 + 35
    assert float(lines[1].split(",")[3]) == pytest.approx(truth(FRAME["sex"] == "f"), abs=0.6)
    done = subprocess.run([*command, *budget], capture_output=True, text=True, check=True)
    assert "sex by vote, each ± " in done.stdout


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: hc.Table({}), "columns"),
        (lambda: hc.Table(["a", "b"]), "columns"),
        (lambda: hc.Table({"a": {"edges": [0, 1], "bounds": (0, 1)}}), "does not say what 'a' holds"),
        (lambda: hc.Table({"a": {"categories": [1], "clip": True}}), "says clip of"),
        (lambda: hc.Table({"a": 2, "b": 2}, 0), "margins"),
        (lambda: hc.Table({"a": 2, "b": 2}, [("a", "z")]), "has ('a', 'z')"),
        (lambda: hc.Table({"a": 2, "b": 2}, 2, measured=[("a",), ("b",)]), "does not tell a and b together"),
        (lambda: hc.Table({"a": 1 << 12, "b": 1 << 12}), "cells"),
        (lambda: hc.table(FRAME, **EXACT, column="sex"), "names its columns itself"),
        (lambda: hc.table(FRAME, **EXACT, by="sex"), "by"),
        (lambda: hc.table(FRAME, **EXACT, where=1), "where"),
        (lambda: hc.table(FRAME, **EXACT, margins=1)["sex", "age"], "ask with margins=2"),
        (lambda: hc.table(FRAME, **EXACT)["town"], "has 'town'"),
        (lambda: hc.table(FRAME, **EXACT).sum(sex="x"), "has no 'x'; use one of f, m"),
        (lambda: hc.table(FRAME, **EXACT).sum(age=(0, 200)), "age is 200"),
        (lambda: hc.table(FRAME, **EXACT).sum(town="x"), "is no column"),
        (lambda: hc.table(FRAME, **EXACT).rate(of={"age": (0, 30)}), "within a bin"),
        (lambda: hc.table(FRAME, **EXACT).rate(of={"vote": "yes"}, by="vote"), "also a condition"),
    ],
)
def test_refusals_say_what_would_work(ask, words: str) -> None:
    with pytest.raises(BadArgument, match=None) as refused:
        ask()
    assert words in str(refused.value)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(BadData, match="outside the categories"):
        hc.table(FRAME, columns={"sex": ["f"], "vote": 3}, epsilon=1, model="central")
    with pytest.raises(Unsupported, match="agree with each other"):
        hc.table(FRAME, **EXACT).consistent()


def test_cells_that_are_brought_into_a_range_keep_the_intervals_of_what_was_measured() -> None:
    frame = {"sex": ["f"] * 900 + ["m"] * 100, "vote": ["yes"] * 1_000}
    columns = {"sex": ["f", "m"], "vote": ["yes", "no", "perhaps"]}
    answer = hc.table(frame, columns=columns, epsilon=0.05, model="central")
    brought = answer.clamped()
    assert answer.people.min() < 0.0 <= brought.people.min()
    assert np.array_equal(brought.intervals(), np.clip(answer.intervals(), 0.0, 1_000.0))
    wide, cut = answer.sum(vote="no").interval(), brought.sum(vote="no").interval()
    assert cut == (max(wide[0], 0.0), min(max(wide[1], 0.0), 1_000.0))
