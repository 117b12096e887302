"""What is expected, and what an answer is judged by: against definitions written out at length."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount.common.short_decimals import compared
from headcount.planner.expected import UNKNOWN, Expected
from headcount.planner.objective import Objective, _together
from headcount.planner.option import CalibratedOption

BUDGET = {"epsilon": 1, "delta": 1e-4}
SAMPLED = hc.protocol("sample-threshold", n=300, **BUDGET)
STEADY = hc.protocol("poisson-count", n=300, **BUDGET)
LOCAL = hc.protocol("randomised-response", n=300, epsilon=1)


def at(objective, protocol, ones=None, people=300, confidence=0.95):
    return Objective.parse(objective).of(protocol, Expected.parse(ones, people), people, confidence)


@pytest.mark.parametrize("unknown", [None, "unknown"])
def test_nothing_known(unknown):
    assert Expected.parse(unknown, 10) == UNKNOWN
    assert not UNKNOWN.known


@pytest.mark.parametrize(
    ("ones", "truths", "weights"),
    [
        (7, (7,), (1.0,)),
        ([3, 3, 5, 0], (0, 3, 5), (0.25, 0.5, 0.25)),
        ({0: 9, 4: 1}, (0, 4), (0.9, 0.1)),
        (np.array([2, 2]), (2,), (1.0,)),
        (np.int64(4), (4,), (1.0,)),
        ("uniform", tuple(range(11)), (0.05, *[0.1] * 9, 0.05)),
    ],
)
def test_the_ways_to_say_what_is_expected(ones, truths, weights):
    found = Expected.parse(ones, 10)
    assert found.truths == truths
    assert found.weights == pytest.approx(weights)


@pytest.mark.parametrize("ones", [11, -1, 2.5, "many", [1, 11], {}, {3: -1}, {3: 0}, True, math.nan])
def test_what_cannot_be_expected_is_refused(ones):
    with pytest.raises(hc.Refused, match="ones"):
        Expected.parse(ones, 10)


@pytest.mark.parametrize("protocol", [SAMPLED, STEADY, LOCAL], ids=lambda protocol: protocol.name)
def test_the_mean_square_over_a_profile(protocol):
    profile = {0: 3, 40: 1, 250: 1}
    laws = [(weight / 5, protocol.noise(truth, 300)) for truth, weight in profile.items()]
    square = sum(weight * (law.variance + law.bias**2) for weight, law in laws)
    assert at("rmse", protocol, profile) == pytest.approx(math.sqrt(square), rel=1e-9)


@pytest.mark.parametrize("protocol", [SAMPLED, STEADY, LOCAL], ids=lambda protocol: protocol.name)
def test_the_interval_over_a_profile_holds_as_often_as_it_says(protocol):
    profile = {0: 3, 40: 1, 250: 1}
    width = at("interval", protocol, profile)
    laws = [(weight / 5, protocol.noise(truth, 300)) for truth, weight in profile.items()]

    def held(within):
        return sum(weight * law.masses[np.abs(law.values) <= within].sum() for weight, law in laws)

    assert held(width + 1e-9) >= 0.95 - 1e-12
    assert held(width - 1e-9) < 0.95


def test_with_nothing_known_the_worst_truth_counts():
    worst = max(SAMPLED.size_of_error(truth, 300) for truth in range(301))
    assert at("rmse", SAMPLED) <= worst
    assert at("rmse", SAMPLED) > 0.97 * worst
    widths = [SAMPLED.noise(truth, 300).half_width() for truth in range(301)]
    assert 0.85 * max(widths) < at("interval", SAMPLED) <= max(widths)


@pytest.mark.parametrize("protocol", [SAMPLED, STEADY, LOCAL], ids=lambda protocol: protocol.name)
def test_the_smallest_detectable_count_is_the_smallest(protocol):
    none = protocol.noise(0, 300)
    limit = min(value for value in none.values if none.masses[none.values > value + 1e-6].sum() <= 0.05)

    def seen(truth):
        law = protocol.noise(truth, 300)
        return law.masses[law.values + truth > limit + 1e-6].sum() >= 0.95

    assert at("detectable", protocol) == next(truth for truth in range(301) if seen(truth))


def test_what_nobody_could_detect():
    assert at("detectable", LOCAL, people=5) == math.inf


def test_the_relative_error_of_a_profile():
    squares = [(SAMPLED.size_of_error(truth, 300) / truth) ** 2 for truth in (100, 200)]
    assert at("relative", SAMPLED, [100, 200]) == pytest.approx(math.sqrt(sum(squares) / 2))
    assert at("relative", STEADY, 0) == pytest.approx(STEADY.rmse(0))


@pytest.mark.parametrize("name", ["geometric", "generalised-response"])
def test_all_bins_lie_within_the_worst_bin_at_once(name):
    protocol = hc.protocol(name, hc.Histogram(5), n=200, epsilon=1, delta=1e-6 * (name == "geometric"))
    held = [120, 40, 40, 0, 0]
    width = at("worst-bin", protocol, held, people=200)
    data = np.repeat(np.arange(5), held)
    errors = np.abs(protocol.simulate(data, runs=20_000, seed=1).errors).max(axis=1)
    assert np.mean(errors <= width + 1e-9) > 0.95 - 5 * math.sqrt(0.05 * 0.95 / 20_000)
    if protocol.independent:  # otherwise it may be wider than it must be
        assert np.mean(errors <= width - 1e-9) < 0.95 + 5 * math.sqrt(0.05 * 0.95 / 20_000)


def test_independent_bins_need_less_than_any_bins():
    laws = [SAMPLED.noise(truth, 300) for truth in (0, 100)]
    bins = np.array([50.0, 50.0])
    assert _together(laws, bins, True, 0.95) <= _together(laws, bins, False, 0.95)


def test_of_one_bin_the_worst_is_the_only_one():
    assert at("worst-bin", STEADY) == at("interval", STEADY)


@pytest.mark.parametrize("people", [60, 500, 2_000])
def test_the_worst_truth_is_found_at_the_edge_of_a_threshold(people):
    for protocol in hc.advise("count", n=people, epsilon=1, delta=1e-4, models="shuffle-threshold").feasible:
        plan = protocol.protocol
        truths = range(people + 1)
        assert protocol.rmse == pytest.approx(max(plan.size_of_error(truth, people) for truth in truths), rel=0.003)
        widths = max(plan.noise(truth, people).half_width() for truth in truths)
        assert protocol.half_width == pytest.approx(widths, rel=0.02)


PROFILES = ([500, *[0] * 9], [50] * 10, [1, 2, 4, 8, 16, 32, 64, 128, 245, 0], [250, 250, *[0] * 8])


def over(protocol, profile):
    """The mean square over the categories, from the exact law of each one's error, for a crowd of this profile."""
    laws = [protocol.noise(truth, 500) for truth in profile]
    return sum(law.variance + law.bias**2 for law in laws) / len(laws)


@pytest.fixture(scope="module")
def histograms():
    return hc.advise(hc.Histogram(10), n=500, epsilon=1, delta=1e-4).feasible


def test_no_profile_of_a_histogram_has_a_larger_error_over_its_categories(histograms):
    """And with all but those that drop small counts, every profile has the same."""
    found = {option.name: [over(option.protocol, profile) for profile in PROFILES] for option in histograms}
    assert len(found) > 12
    for option in histograms:
        square = option.rmse**2
        assert max(found[option.name]) <= square * (1.0 + 1e-3), option.name
        if option.name not in {"sample-threshold", "stability-histogram"}:
            assert found[option.name] == pytest.approx([square] * len(PROFILES), rel=1e-3), option.name
            assert option.rmse <= option.rmse_worst * (1.0 + 1e-9)


def test_the_error_over_the_categories_is_that_of_simulated_crowds(histograms):
    """Two crowds that could not be less alike have the same."""
    option = next(one for one in histograms if one.name == "optimised-unary")
    for profile in ([500, *[0] * 9], [50] * 10):
        held = np.repeat(np.arange(10), profile)
        values = option.protocol.simulate(held, runs=4_000, seed=1).values
        assert math.sqrt(np.mean((values - np.array(profile)) ** 2)) == pytest.approx(option.rmse, rel=0.02)


@pytest.mark.parametrize(("categories", "epsilon"), [(20, 1.0), (50, 2.0), (100, 0.5)])
def test_a_histogram_of_unknown_profile_is_not_judged_by_its_worst_category(categories, epsilon):
    advice = hc.advise(hc.Histogram(categories), n=10_000, epsilon=epsilon, models=["local"])
    names = [option.name for option in advice.feasible]
    assert names.index("subset-selection") < names.index("optimised-unary") < names.index("basic-rappor")
    by_worst = min(advice.feasible, key=lambda option: option.rmse_worst)
    assert by_worst.name == "basic-rappor"  # the broken twin, which is worse on average
    assert by_worst.rmse > 1.01 * advice.feasible[0].rmse


def test_the_worst_category_is_shown_beside_the_error_over_all():
    advice = hc.advise(hc.Histogram(20), n=10_000, epsilon=1, models=["local"])
    first = advice.feasible[0]
    assert first.rmse < first.rmse_worst
    assert "worst category" in str(advice)
    assert "on average" not in str(advice)
    assert "over the categories (" in advice.why()
    assert advice.to_json()["options"][0]["rmse_worst"] == compared(first.rmse_worst)
    known = hc.advise(hc.Histogram(20), n=10_000, epsilon=1, models=["local"], ones=500)
    assert "worst category" not in str(known)
    assert known.to_json()["options"][0]["rmse_worst"] is None
    assert known["subset-selection"].rmse == pytest.approx(first.rmse, rel=1e-9)


def test_a_frontier_and_a_comparison_go_by_the_same_error():
    asked = {"n": 2_000, "epsilon": 1, "delta": 1e-6, "models": ["local"]}
    advice = hc.advise(hc.Histogram(8), **asked)
    for point in hc.frontier(hc.Histogram(8), "epsilon", over=(0.5, 1), points=2, **asked).points:
        if point.x == 1:
            assert point.rmse == pytest.approx(advice[point.protocol].rmse)
    compared = hc.compare(np.arange(2_000) % 8, epsilon=1, delta=1e-6, categories=list(range(8)))
    told = next(side for side in compared.sides if side.model == "local")
    assert told.answer.protocol.name == advice.best.protocol.name
    assert told.error == pytest.approx(advice.feasible[0].rmse)


def test_of_unknown_labels_the_worst_counts():
    """Nobody knows how many there are."""
    advice = hc.advise(hc.Histogram(), n=2_000, epsilon=1, delta=1e-6)
    for option in advice.feasible:
        assert isinstance(option, CalibratedOption)
        assert option.rmse == pytest.approx(option.protocol.rmse())
