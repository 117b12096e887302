"""The one-line calls, on everything people keep their answers in."""

import json
import pickle
import subprocess
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headcount as hc
from headcount.public import SHADOWING

BITS = (np.arange(5_000) % 4 == 0).astype(int)
TRUTH = int(BITS.sum())
BUDGET = {"epsilon": 1, "delta": 1e-6}

CONTAINERS = {
    "list": BITS.tolist(),
    "list of bool": [bool(bit) for bit in BITS],
    "tuple": tuple(BITS.tolist()),
    "numpy int": BITS,
    "numpy bool": BITS.astype(bool),
    "numpy float": BITS.astype(float),
    "numpy uint8": BITS.astype(np.uint8),
    "pandas": pd.Series(BITS),
    "pandas bool": pd.Series(BITS.astype(bool)),
    "pandas nullable": pd.Series(BITS, dtype="Int64"),
    "pandas nullable bool": pd.Series(BITS.astype(bool), dtype="boolean"),
    "polars": pl.Series(BITS),
    "polars bool": pl.Series(BITS.astype(bool)),
    "arrow": pa.array(BITS),
    "arrow bool": pa.array(BITS.astype(bool)),
    "arrow chunked": pa.chunked_array([BITS[:100], BITS[100:]]),
    "objects": np.array(BITS.tolist(), dtype=object),
}


@pytest.mark.parametrize("data", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_every_container_is_counted(data):
    assert abs(hc.count(data, **BUDGET).value - TRUTH) < 40


FRAMES = {
    "pandas": pd.DataFrame({"id": np.arange(5_000), "yes": BITS}),
    "polars": pl.DataFrame({"id": np.arange(5_000), "yes": BITS}),
    "arrow": pa.table({"id": np.arange(5_000), "yes": BITS}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_column_of_every_frame_is_counted(frame):
    assert abs(hc.count(frame, column="yes", **BUDGET).value - TRUTH) < 40


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_frame_without_a_column_is_refused(frame):
    with pytest.raises(hc.Refused, match="column"):
        hc.count(frame, **BUDGET)


def test_a_person_with_several_rows_counts_once():
    frame = pd.DataFrame({"who": ["a", "b", "c", "d"] * 1_000, "yes": [1, 0, 0, 0] * 500 + [0, 1, 0, 0] * 500})
    estimate = hc.count(frame, column="yes", unit="who", epsilon=40, model="central")
    assert (estimate.n, estimate.value) == (4, 2)


def test_ids_may_come_beside_the_data():
    estimate = hc.count([1, 1, 0], unit=["a", "a", "b"], epsilon=40, model="central")
    assert (estimate.n, estimate.value) == (2, 1)


def test_where_says_which_value_counts():
    assert hc.count(["red", "blue", "red"], where="red", epsilon=40, model="central").value == 2
    assert hc.count([1, 0, "a"], where=1, epsilon=40, model="central").value == 1
    assert hc.count((bit for bit in [1, 0, 1]), epsilon=40, model="central").value == 2
    assert hc.count([3, 4, 3], where=3, epsilon=40, model="central").value == 2
    assert hc.count(np.array(["red", None], dtype=object), where="red", epsilon=40, model="central").value == 1


@pytest.mark.parametrize("model", list(hc.Model))
def test_every_model_answers_and_says_so(model):
    estimate = hc.count(BITS, model=model, **BUDGET)
    assert estimate.protocol.model is model
    simulated = "" if model is hc.Model.CENTRAL else " (simulated devices)"
    assert f"{model}{simulated}, {estimate.protocol.name}, n=5,000, exact" in str(estimate)
    assert estimate.simulated is estimate.to_json()["simulated"] is bool(simulated)
    assert "(ε=1, δ=1e-06), replace-one" in str(estimate)


def test_data_in_one_place_are_answered_by_whoever_holds_them():
    estimate = hc.count(BITS, epsilon=1)
    assert (estimate.protocol.model, estimate.delta) == (hc.Model.CENTRAL, 0.0)


def test_what_devices_sent_is_not_called_simulated():
    protocol = hc.protocol("zsum", n=5_000, **BUDGET)
    estimate = protocol.estimate(protocol.release(protocol.tally(protocol.randomise(BITS))))
    assert "simulated" not in str(estimate)


def test_a_fraction_is_the_count_over_the_reports():
    estimate = hc.fraction(BITS, **BUDGET)
    assert abs(estimate.value - 0.25) < 0.01
    low, high = estimate.interval()
    assert low < estimate.value < high
    assert high - low < 0.01
    assert estimate.to_json()["task"] == "fraction"


def test_the_json_is_the_documented_one():
    described = json.loads(json.dumps(hc.count(BITS, **BUDGET).to_json(), allow_nan=False))
    assert list(described) == [
        "task", "value", "interval95", "clipped_to", "std_error", "protocol", "model", "simulated", "rules",
        "parameters", "epsilon", "delta", "delta_slack", "neighbours", "accounting", "n", "messages_per_person",
        "local_epsilon", "released",
    ]  # fmt: skip
    assert described["delta"] <= 1e-6
    assert described["interval95"][0] < described["value"] < described["interval95"][1]


def test_under_add_remove_the_number_of_people_stays_private():
    estimate = hc.count(BITS, neighbours="add-remove", model="central", epsilon=1)
    assert estimate.n is None
    assert estimate.to_json()["n"] is None
    assert "5,000" not in str(estimate)
    assert "5000" not in repr(estimate) + repr(estimate.protocol) + repr(estimate.tally)
    with pytest.raises(hc.Refused, match="central"):
        hc.count(BITS, neighbours="add-remove", model="shuffle-threshold", **BUDGET)
    rate = hc.fraction(BITS, neighbours="add-remove", epsilon=1)
    assert rate.n is None
    assert abs(rate.value - 0.25) < 0.01
    with pytest.raises(hc.Refused, match="ask for the numbers of people instead"):
        hc.histogram(BITS, categories=2, fractions=True, neighbours="add-remove", epsilon=1)


def test_shuffle_protocols_refuse_add_remove():
    with pytest.raises(hc.Refused, match="neighbours='replace'"):
        hc.protocol("zsum", n=5_000, neighbours="add-remove", **BUDGET)


def test_clamping_is_opt_in():
    values = [hc.count([0] * 20, epsilon=0.2, model="central").value for _ in range(40)]
    assert min(values) < 0
    clamped = hc.count([0] * 20, epsilon=0.2, model="central", clamp=True)
    assert min(clamped.value, clamped.interval()[0]) >= 0


def test_a_named_protocol_takes_its_parameters():
    estimate = hc.count(BITS, protocol="sample-threshold", parameters={"threshold": 30}, **BUDGET)
    assert estimate.protocol.parameters["threshold"] == 30


def test_parameters_of_their_own_are_checked_against_the_budget():
    with pytest.raises(hc.Refused, match="over the budget"):
        hc.count(BITS, protocol="zsum", parameters={"gamma": 1e-4}, **BUDGET)


BAD = {
    "values other than 0 and 1": (([0, 1, 2],), BUDGET, "where"),
    "missing values": (([0, 1, float("nan")],), BUDGET, "missing"),
    "none": (([0, 1, None],), BUDGET, "missing"),
    "empty": (([],), BUDGET, "empty"),
    "text": ((["yes", "no"],), BUDGET, "where"),
    "a string": (("yes",), BUDGET, "does not exist"),
    "two dimensions": ((np.zeros((3, 3)),), BUDGET, "one value per person"),
    "nothing": ((None,), BUDGET, "one value per person"),
    "a number": ((3,), BUDGET, "one value per person"),
    "a set": (({0, 1},), BUDGET, "one value per person"),
    "masked": ((np.ma.masked_array([0, 1], mask=[0, 1]),), BUDGET, "missing"),
    "where is a table": (([0, 1],), {**BUDGET, "where": {1: 1}}, "where"),
    "where is empty": (([0, 1],), {**BUDGET, "where": []}, "where"),
    "tiny epsilon": ((BITS,), {"epsilon": 1e-9, "model": "central"}, "0.001"),
    "tiny delta": ((BITS,), {"epsilon": 1, "delta": 1e-300}, "1e-18"),
    "epsilon zero": ((BITS,), {"epsilon": 0, "delta": 1e-6}, "epsilon"),
    "epsilon negative": ((BITS,), {"epsilon": -1, "delta": 1e-6}, "epsilon"),
    "epsilon text": ((BITS,), {"epsilon": "one", "delta": 1e-6}, "epsilon"),
    "epsilon nan": ((BITS,), {"epsilon": float("nan"), "delta": 1e-6}, "epsilon"),
    "delta one": ((BITS,), {"epsilon": 1, "delta": 1}, "delta"),
    "delta negative": ((BITS,), {"epsilon": 1, "delta": -1e-6}, "delta"),
    "delta zero in the shuffle model": ((BITS,), {"epsilon": 1, "model": "shuffle"}, "delta=1e-6"),
    "unknown model": ((BITS,), {**BUDGET, "model": "cloud"}, "central"),
    "unknown protocol": ((BITS,), {**BUDGET, "protocol": "zzz"}, "zsum"),
    "unknown parameter": ((BITS,), {**BUDGET, "protocol": "zsum", "parameters": {"beta": 1}}, "gamma"),
    "parameter without a protocol": ((BITS,), {**BUDGET, "parameters": {"gamma": 0.1}}, "parameters needs protocol"),
    "too few people": (([1] * 30,), {**BUDGET, "protocol": "zsum"}, "more people"),
    "unknown relation": ((BITS,), {**BUDGET, "neighbours": "swap"}, "add-remove"),
    "ids of another length": (([1, 0],), {**BUDGET, "unit": [1]}, "unit"),
}


@pytest.mark.parametrize(("arguments", "options", "hint"), BAD.values(), ids=BAD.keys())
def test_bad_input_gets_a_helpful_error(arguments, options, hint):
    with pytest.raises(hc.Refused, match=hint):
        hc.count(*arguments, **options)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1, 95, "a"])
def test_a_confidence_lies_between_0_and_1(confidence):
    with pytest.raises(hc.Refused, match="confidence"):
        hc.count([1, 0], epsilon=1, model="central").interval(confidence)


def test_no_error_quotes_a_value():
    with pytest.raises(hc.Refused) as caught:
        hc.count([0, 1, 987_654], **BUDGET)
    assert "987" not in str(caught.value)


def test_randomise_here_analyse_there():
    protocol = hc.protocol("zsum", hc.Count(), n=5_000, **BUDGET)
    batch = pickle.loads(pickle.dumps(protocol.randomise(BITS)))
    assert abs(protocol.estimate(protocol.tally(batch)).value - TRUTH) < 60


def test_messages_are_handed_on_in_sorted_order():
    batch = hc.protocol("correlated-count", n=5_000, **BUDGET).randomise(BITS)
    assert np.all(np.diff(batch.messages["kind"].astype(int)) >= 0)


def test_a_paper_s_parameter_is_priced():
    protocol = hc.protocol("zsum", hc.Count(), n=10_000, gamma=0.0725)
    assert protocol.loss.delta(1.0) < 1e-30
    assert protocol.loss.epsilon(1e-6) < 0.16


def test_the_loss_grows_as_people_drop_out():
    protocol = hc.protocol("correlated-count", n=1_000, **BUDGET)
    deltas = [protocol.loss_if(people).delta(1.0) for people in (1_000, 900, 500)]
    assert deltas[0] <= 1e-6 < deltas[1] < deltas[2]


def test_a_plan_for_dropouts_and_liars_needs_more_noise():
    plain = hc.protocol("poisson-count", n=1_000, **BUDGET)
    careful = hc.protocol("poisson-count", n=1_000, least=800, corrupt=100, **BUDGET)
    assert careful.expected == pytest.approx(plain.expected * 1000 / 700, rel=1e-5)
    assert careful.error().variance > plain.error().variance


def test_seeded_answers_say_that_they_are_not_private():
    advice = hc.advise(hc.Count(), n=5_000, **BUDGET)
    assert str(hc.run(advice.best, BITS, coins=hc.SeededCoins(1))).endswith("seeded: not private")
    assert "not private" in repr(advice.best.protocol.simulate(BITS, runs=10, seed=1))


def test_no_seed_is_reachable_from_the_calls():
    with pytest.raises(TypeError, match="seed"):
        hc.count(BITS, seed=1, **BUDGET)


def test_the_public_names_are_the_exported_ones():
    modules = {name for name, value in vars(hc).items() if isinstance(value, ModuleType)}
    public = {name for name in vars(hc) if not name.startswith("_")}
    assert public - set(hc.__all__) - modules == {"annotations", "TYPE_CHECKING", *SHADOWING}


def test_nothing_heavy_is_imported():
    heavy = "scipy", "pandas", "pyarrow", "matplotlib", "dp_accounting", "rich", "typer"
    loaded = f"print([name for name in {('numpy', *heavy)!r} if name in sys.modules])"
    script = f"import sys, headcount; {loaded}; headcount.count; {loaded}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['numpy']"]


def test_a_billion_people_are_simulated_in_a_moment():
    protocol = hc.protocol("zsum", n=10**9, **BUDGET)
    totals = protocol.sample(np.array([876_543_211, 123_456_789]), hc.SeededCoins(1), 100)
    points = [protocol.point(hc.Tally(10**9, row)).item() for row in totals]
    assert abs(np.mean(points) - 123_456_789) < 5


@pytest.mark.parametrize(
    "given", [{"model": "shuffle-threshold"}, {"protocol": "zsum", "parameters": {"thresholded": True}}], ids=str
)
def test_a_zero_that_stands_for_a_small_count_says_so(given):
    """Nobody's count is certain because it was dropped."""
    dropped = hc.count([1] * 3 + [0] * 997, **given, **BUDGET)
    assert dropped.value == 0.0
    low, high = dropped.interval()
    assert low == 0.0 < 3 < high
    assert "small counts are dropped and read 0" in str(dropped)
    worst = max(dropped.protocol.rmse(truth) for truth in range(int(high) + 1))
    assert dropped.std_error == dropped.to_json()["std_error"] == pytest.approx(worst, rel=0.02)
    gap = dropped - hc.count([1] * 3 + [0] * 997, **given, **BUDGET)
    assert gap.interval()[1] > 3
    shown = hc.count([1] * 900 + [0] * 100, **given, **BUDGET)
    assert "dropped" not in str(shown)
    assert 0.0 < shown.std_error < 80
    assert not hc.count([1] * 3 + [0] * 997, model="central", **BUDGET).note
