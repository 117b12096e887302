"""Histograms as a user asks for them."""

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import headcount as hc
from headcount.questions.domains.domain import Shape

BUDGET = {"epsilon": 1, "delta": 1e-6}
PEOPLE = 6_000
LABELS = np.array(list("abc"))[np.minimum(np.arange(PEOPLE) // 2_500, 2)]  # 2,500, 2,500 and 1,000
TRUTH = {"a": 2_500, "b": 2_500, "c": 1_000}


def near(estimate, truth, within=60):
    found = {cell.category: cell.value for cell in estimate.cells}
    assert found.keys() == truth.keys()
    assert all(abs(found[category] - count) < within for category, count in truth.items())


@pytest.mark.parametrize("model", ["central", "shuffle", "shuffle-threshold"])
def test_every_category_is_counted(model):
    near(hc.histogram(LABELS, categories=["a", "b", "c"], model=model, **BUDGET), TRUTH, within=400)


def test_the_local_model_answers_too():
    near(hc.histogram(LABELS, categories=["a", "b", "c"], model="local", epsilon=3), TRUTH, within=900)


@pytest.mark.parametrize("protocol", [p.name for p in hc.CATALOGUE if Shape.ONE_OF in p.shapes])
def test_every_protocol_for_histograms_runs(protocol):
    """Twenty standard errors: only a wrong estimator fails."""
    answer = hc.histogram(LABELS, categories=["a", "b", "c"], protocol=protocol, epsilon=2, delta=1e-6)
    error = max(answer.protocol.rmse(), 1.0)
    for cell in answer.cells:
        assert abs(cell.value - TRUTH[cell.category]) < 20 * error
        assert cell.interval95[0] <= cell.interval95[1]


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_a_frame(table):
    frame = table({"colour": LABELS, "person": np.arange(PEOPLE)})
    near(hc.histogram(frame, column="colour", unit="person", categories=["a", "b", "c"], **BUDGET), TRUTH)


def test_a_person_with_rows_of_several_categories_is_refused():
    with pytest.raises(hc.Refused, match="one row per person"):
        hc.histogram(["a", "b"] * 50, unit=np.arange(100) // 2, categories=["a", "b"], **BUDGET)


def test_unknown_labels_need_somebody_who_drops_the_rare_ones():
    with pytest.raises(hc.Refused, match="categories is missing"):
        hc.histogram(LABELS, model="shuffle", **BUDGET)
    with pytest.raises(hc.Refused, match="labels that nobody listed need more; use for example delta=1e-6"):
        hc.histogram(LABELS, epsilon=1)
    rare = np.append(LABELS, "only me")
    for model in ("central", "shuffle-threshold"):
        near(hc.histogram(rare, model=model, **BUDGET), TRUTH, within=400)


def test_integer_labels_need_no_list_either():
    found = hc.histogram(np.repeat([7, -3], [400, 300]), model="central", **BUDGET)
    assert found.categories == ["-3", "7"]


def test_an_other_bucket():
    with pytest.raises(hc.Refused, match="other=True"):
        hc.histogram(LABELS, categories=["a", "b"], **BUDGET)
    found = hc.histogram(LABELS, categories=["a", "b"], other=True, **BUDGET)
    near(found, {"a": 2_500, "b": 2_500})
    assert found.other is not None
    assert abs(found.other.value - 1_000) < 60
    assert found["a"].category == "a"


def test_numbers_are_binned():
    ages = np.arange(PEOPLE) % 100
    found = hc.histogram(ages, bins=[0, 18, 65, 99], **BUDGET)
    near(found, {"[0, 18)": 1_080, "[18, 65)": 2_820, "[65, 99]": 2_100})
    equal = hc.histogram(ages, bins=4, bounds=(0, 100), **BUDGET)
    near(equal, {"[0, 25)": 1_500, "[25, 50)": 1_500, "[50, 75)": 1_500, "[75, 100]": 1_500})
    with pytest.raises(hc.Refused, match="outside the edges"):
        hc.histogram(ages, bins=[0, 50], **BUDGET)


def test_fractions_and_consistent_counts():
    found = hc.histogram(LABELS, categories=["a", "b", "c"], fractions=True, **BUDGET)
    assert abs(found["a"].value - 2_500 / 6_000) < 0.01
    counts = hc.histogram(LABELS, categories=list("abcdefgh"), consistent=True, **BUDGET)
    assert counts.values.sum() == pytest.approx(PEOPLE)
    assert counts.values.min() >= 0.0


def test_counts_by_group():
    ones = np.arange(PEOPLE) % 2
    found = hc.count(ones, by=LABELS, categories=["a", "b", "c"], **BUDGET)
    near(found, {"a": 1_250, "b": 1_250, "c": 500})
    assert found.other is not None
    assert abs(found.other.value - 3_000) < 60
    near(hc.count(ones, by=LABELS, **BUDGET), {"a": 1_250, "b": 1_250, "c": 500}, within=60)
    with pytest.raises(hc.Refused, match="labels that nobody listed need more"):
        hc.count(ones, by=LABELS, epsilon=1)
    with pytest.raises(hc.Refused, match="groups outside"):
        hc.count(ones, by=LABELS, categories=["a", "b"], **BUDGET)
    with pytest.raises(hc.Refused, match="another length"):
        hc.count(ones[1:], by=LABELS, categories=["a", "b", "c"], **BUDGET)


def test_groups_from_a_frame_with_several_rows_a_person():
    frame = pd.DataFrame({"id": np.repeat(np.arange(3_000), 2), "g": np.repeat(LABELS[::2], 2), "x": [0, 1] * 3_000})
    found = hc.count(frame, column="x", by="g", unit="id", categories=["a", "b", "c"], **BUDGET)
    near(found, {"a": 1_250, "b": 1_250, "c": 500})


def test_intervals_for_all_cells_at_once_are_wider():
    found = hc.histogram(LABELS, categories=["a", "b", "c"], **BUDGET)
    single, together = found.intervals(), found.intervals(simultaneous=True)
    assert (together[:, 0] < single[:, 0]).all()
    assert (together[:, 1] > single[:, 1]).all()
    assert found.simultaneous95 >= (together[0, 1] - together[0, 0]) / 2 - 1


def test_the_json_is_complete():
    found = hc.histogram(LABELS, categories=["a", "b"], other=True, **BUDGET).to_json()
    assert json.loads(json.dumps(found)) == found
    assert [cell["category"] for cell in found["cells"]] == ["a", "b"]
    assert set(found["cells"][0]) == {"category", "value", "interval95"}
    assert set(found["other"]) == {"value", "interval95"}
    assert found["simultaneous95"] > 0


def test_add_remove_hides_the_number_of_people():
    found = hc.histogram(LABELS, model="central", neighbours="add-remove", **BUDGET)
    described = found.to_json()
    assert described["n"] is None
    assert described["simultaneous95"] is None
    assert "6,000" not in str(found)
    with pytest.raises(hc.Refused, match="how many people"):
        hc.histogram(
            LABELS, categories=["a", "b", "c"], fractions=True, model="central", neighbours="add-remove", **BUDGET
        )


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"categories": ["a", "a", "b"]}, "duplicates"),
        ({"categories": []}, "categories are 0"),
        ({"categories": "abc"}, "list the labels"),
        ({"categories": ["a", 1]}, "mix text"),
        ({"categories": ["a", "b"], "bins": 3}, "leave one of them out"),
        ({"bins": [0, 0, 1]}, "not increasing"),
        ({"bins": 0, "bounds": (0, 1)}, "from 1 to"),
        ({"bins": 4}, "bounds"),
        ({"categories": 10**9}, "from 1 to"),
        ({"categories": [1, 2]}, "outside the categories"),
        ({"other": True}, "needs categories"),
        ({"missing": "other"}, "nobody said which categories are not other"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_bad_categories_are_refused(given, problem):
    with pytest.raises(hc.Refused, match=problem) as refusal:
        hc.histogram(LABELS, **given, **BUDGET)
    assert "'a'" not in str(refusal.value) or "categories" in str(refusal.value)


def test_missing_labels_are_refused():
    with pytest.raises(hc.Refused, match="missing"):
        hc.histogram(pd.Series(["a", None, "b"] * 10), categories=["a", "b"], **BUDGET)


def test_too_many_categories_for_the_crowd():
    with pytest.raises(hc.Refused, match="thousands of dummies"):
        hc.protocol("poisson-histogram", hc.Histogram(10**6), n=10, **BUDGET)


def test_a_histogram_has_no_single_value():
    found = hc.histogram(LABELS, categories=["a", "b", "c"], **BUDGET)
    with pytest.raises(hc.Refused, match="several values"):
        _ = found.value
    with pytest.raises(KeyError):
        found["d"]


@pytest.mark.parametrize("model", ["central", "shuffle-threshold"])
def test_nothing_of_a_suppressed_label_is_left(model):
    found = hc.histogram(np.append(LABELS, "the longest label of all"), model=model, **BUDGET)
    assert found.tally.keys.tolist() == ["a", "b", "c"]
    assert b"longest" not in pickle.dumps(found.tally)


def test_a_tally_that_was_not_released_is_not_estimated():
    for name in ("geometric", "stability-histogram", "sample-threshold"):
        protocol = hc.protocol(name, hc.Histogram(["a", "b", "c"]), n=PEOPLE, **BUDGET)
        tally = protocol.tally(protocol.randomise(LABELS))
        with pytest.raises(hc.Refused, match="must release"):
            protocol.estimate(tally)
        protocol.estimate(protocol.release(tally))


def test_a_plan_is_for_one_relation():
    protocol = hc.protocol("geometric", hc.Histogram(3), n=100, neighbours="add-remove", epsilon=1)
    with pytest.raises(hc.Refused, match="one relation"):
        hc.Plan(protocol, hc.Budget(1.0, 0.0, "replace"))


def test_errors_are_stated_where_the_number_of_people_is_private():
    found = hc.histogram(LABELS, categories=["a", "b", "c"], model="central", neighbours="add-remove", **BUDGET)
    assert found.std_error > 1.0
    assert found.simultaneous95 > 3.0
    labels = hc.histogram(LABELS, model="central", neighbours="add-remove", **BUDGET)
    assert labels.std_error > 1.0
    assert labels.simultaneous95 is None
    each, together = (np.ptp(labels.intervals(simultaneous=both), axis=1) for both in (False, True))
    assert (together > 3 * each).all()  # of as many labels as there could ever be


@pytest.mark.parametrize("groups", [[2**53 - 2, 2**53 - 1], [1e15, 2e15], [0, 1], [-(2**40), 5]])
def test_groups_of_large_numbers_stay_apart(groups):
    by = np.array(groups * 1_000)
    found = hc.count(np.ones(2_000), by=by, categories=groups, **BUDGET)
    assert all(abs(cell.value - 1_000) < 60 for cell in found.cells)


def test_the_difference_of_two_histograms():
    first, second = (hc.histogram(LABELS[start:], categories=["a", "b", "c"], **BUDGET) for start in (0, 1_000))
    gaps = first - second
    assert abs(float(gaps["a"]) - 1_000) < 60
    assert set(gaps["a"].to_json()) == {"value", "interval95", "clipped_to", "std_error", "together"}
    with pytest.raises(hc.Refused, match="same question"):
        _ = first - hc.count(np.ones(100), **BUDGET)


def test_a_long_histogram_is_printed_in_a_moment():
    found = hc.histogram(np.zeros(1_000, dtype=int), categories=10**6, model="central", **BUDGET)
    assert "999,980 more" in str(found)


def test_the_simultaneous_width_covers_what_is_suppressed():
    """Ten people who are never shown are ten off, whatever the noise on the others."""
    labels = np.repeat(["a", "b", "c"], [1_000, 500, 10])
    found = hc.histogram(labels, categories=["a", "b", "c"], protocol="stability-histogram", **BUDGET)
    assert found.simultaneous95 > 20


def test_labels_that_nobody_named_are_text_whatever_one_person_holds():
    for extra in ([], [2], ["x"], [0.5]):
        found = hc.histogram([True] * 500 + [1.0] * 500 + extra, model="central", **BUDGET)
        assert found.categories == ["1", "true"]


def test_close_edges_have_names_of_their_own():
    found = hc.histogram([0.5] * 100, bins=[0, 0.12345671, 0.12345672, 1], model="central", **BUDGET)
    assert len(set(found.categories)) == 3


def test_labels_that_would_be_compared_as_one_are_refused():
    with pytest.raises(hc.Refused, match="doubles cannot tell"):
        hc.Histogram([2**53, 2**53 + 1, 5.5])
    with pytest.raises(hc.Refused, match="duplicates"):
        hc.Histogram([1, 1.0])


def test_dates_are_refused():
    with pytest.raises(hc.Refused, match="data"):
        hc.histogram(np.array(["2020-01-01"] * 5, dtype="datetime64[D]"), categories=[1, 2], **BUDGET)


def test_an_answer_has_no_difference_to_itself():
    found = hc.count(np.ones(100), **BUDGET)
    with pytest.raises(hc.Refused, match="itself"):
        _ = found - found


def test_empty_cells_and_hidden_labels_are_no_certainty():
    few = hc.histogram(
        ["a"] * 5 + ["b"] * 3, categories=["a", "b"], protocol="stability-histogram", epsilon=1, delta=1e-6
    )
    assert "small counts are dropped and read 0" in str(few)
    assert "small counts" in few._repr_html_()
    hidden = hc.histogram(["a"] * 5 + ["b"] * 3, model="central", epsilon=1, delta=1e-6)
    assert hidden.std_error == few.std_error > 7


def test_a_private_number_of_people_does_not_choose_a_protocol_for_nobody():
    """Where nobody may know how many people there are, the best protocol is still one for a crowd."""
    found = hc.histogram([i % 100 for i in range(5_000)], categories=100, epsilon=1, delta=1e-6, model="central",
                         neighbours="add-remove")  # fmt: skip
    assert found.protocol.name == "geometric"
    assert found.protocol.crowd.size == 1
    assert found.n is None


def test_cells_are_gone_through_with_other_and_have_intervals_at_any_confidence():
    answer = hc.histogram([*"aab"] * 100, categories=["a"], other=True, epsilon=1)
    assert [cell.category for cell in answer] == ["a", "(other)"]
    assert answer["a"].interval() == answer["a"].interval95
    low, high = answer["a"].interval(0.999)
    assert low < answer["a"].interval95[0] < answer["a"].interval95[1] < high
    with pytest.raises(hc.errors.Unsupported, match="one number"):
        list(hc.count([0, 1] * 50, epsilon=1))
