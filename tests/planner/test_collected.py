"""Noise that cancels, collected over a network: floods that are calibrated under a cap, not cut to it afterwards."""

import math

import pytest

import headcount as hc
from headcount.proof import verify
from headcount.protocols.base.certificate import certify
from headcount.protocols.base.report_size import CUT, MOST, wire_messages

BUDGET = {"epsilon": 1, "delta": 1e-6}
LEFT = {"epsilon": 1, "delta": (1 - CUT) * 1e-6}


def charged(protocol, messages):
    """The delta of the protocol whose reports are all cut to so many messages."""
    beyond = float(protocol.programme.sends({"value": 1}, 4 * MOST)[messages + 1 :].sum())
    return protocol.loss.delta(1) + (1 + math.e) * protocol.crowd.size * beyond


def ratio(protocol, task=None):
    return protocol.rmse() / hc.protocol("geometric", task, n=protocol.crowd.size, **BUDGET).rmse()


@pytest.mark.parametrize(
    ("n", "most", "times"),
    [(10**4, 64, 1.1), (10**4, 64, 1.03), (10**6, 24, 1.06), (10**6, 24, 1.02), (10**3, MOST, 1.03), (10**5, 24, 1.03)],
)
def test_nearly_the_central_error_for_a_few_messages_from_everybody(n, most, times):
    option = hc.advise("count", n=n, **BUDGET, models="shuffle", collected=True, max_messages=most)["correlated-count"]
    messages = option.figures()["wire_messages"]
    assert messages <= most
    assert ratio(option.protocol) <= times
    assert charged(option.protocol, messages) <= 1e-6


def test_a_heavy_flood_cut_to_the_same_number_would_not_do():
    even = hc.protocol("correlated-count", n=10_000, **LEFT, overhead=0.02, even=True)
    heavy = hc.protocol("correlated-count", n=10_000, **LEFT, overhead=0.02)
    messages = wire_messages(even, hc.Budget(1, 1e-6))
    assert charged(even, messages) <= 1e-6 < 1e-3 < charged(heavy, messages)
    assert heavy.messages_per_person < even.messages_per_person  # which is why it is the usual one
    assert heavy.rmse() == even.rmse()


def test_it_comes_first_in_a_collection_whose_shuffler_only_mixes():
    advice = hc.advise("count", n=10_000, **BUDGET, models=["shuffle", "local"], collected=True)
    assert advice.feasible[0].name == "correlated-count"
    assert advice.feasible[0].figures()["wire_messages"] <= MOST
    assert 4 * advice.feasible[0].rmse < advice.feasible[1].rmse


def test_of_plans_that_are_nearly_as_good_the_one_with_fewer_messages_comes_first():
    advice = hc.advise("count", n=10_000, **BUDGET, collected=True)
    first, second, *others = advice.feasible
    assert (first.name, second.name) == ("padded-count", "correlated-count")
    assert second.rmse < first.rmse <= 1.5 * second.rmse
    assert [option.rmse for option in others] == sorted(option.rmse for option in others)
    assert all(option.rmse > 1.5 * second.rmse for option in others)  # some of which send as few
    elsewhere = hc.advise("count", n=10_000, **BUDGET, models=["shuffle-dummies", "shuffle"])
    assert elsewhere.feasible[0].name == "correlated-count"  # where messages are not sealed, error alone counts


@pytest.mark.parametrize(("bins", "n", "times"), [(10, 10**4, 1.03), (100, 10**4, 1.11), (10, 10**6, 1.01)])
def test_histograms_too(bins, n, times):
    task = hc.Histogram(bins)
    advice = hc.advise(task, n=n, **BUDGET, models="shuffle", collected=True, max_messages=MOST)
    assert advice.feasible[0].name == "correlated-histogram"
    assert ratio(advice.feasible[0].protocol, task) <= times
    assert 2 * advice.feasible[0].rmse < advice["poisson-histogram"].rmse


def test_fewer_messages_cost_accuracy():
    def capped(most):
        advice = hc.advise("count", n=1_000, **BUDGET, models="shuffle", collected=True, max_messages=most)
        return advice["correlated-count"].rmse

    assert capped(128) < capped(64) < capped(32)


def test_a_cap_that_cannot_be_met_says_the_fewest_that_would_do():
    advice = hc.advise("count", n=1_000, **BUDGET, models="shuffle", collected=True, max_messages=20)
    reason = next(option.reason for option in advice.options if option.name == "correlated-count")
    assert reason == "sends 25 messages a person where 20 are allowed; use max_messages=25"


def test_with_little_epsilon_the_noise_that_is_not_cancelled_takes_too_many():
    advice = hc.advise("count", n=10_000, epsilon=0.1, delta=1e-6, collected=True)
    reason = next(option.reason for option in advice.options if option.name == "correlated-count")
    assert "more than 128 messages" in reason


def test_a_collected_plan_is_proved_from_its_programme():
    advice = hc.advise("count", n=10_000, **BUDGET, models="shuffle", collected=True, max_messages=24)
    assert advice.feasible[0].name == "correlated-count"
    assert verify(certify(advice.best).to_json()).answer == "proved"
