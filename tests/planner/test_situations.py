"""Ranges, honest fractions, caps, collections and trust."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount.protocols.base.report_size import wire_bytes, wire_messages

BUDGET = {"epsilon": 1, "delta": 1e-6}


def test_a_range_of_people_is_safe_at_the_few_and_judged_at_the_worse_end():
    advice = hc.advise("fraction", n=(1_000, 5_000), **BUDGET, models=["shuffle"])
    plan = advice.best.protocol
    assert (plan.crowd.size, plan.crowd.least, plan.crowd.honest) == (5_000, 1_000, 1_000)
    ends = [plan.size_of_error(people // 2, people) / people for people in (1_000, 5_000)]
    assert advice.feasible[0].rmse == pytest.approx(max(ends))
    assert "1,000 to 5,000 people" in advice.table()


@pytest.mark.parametrize(("honest", "left"), [(0.9, 900), (1.0, 1_000), (0.0001, 1), (0.29, 290)])
def test_the_honest_fraction_bears_the_noise(honest, left):
    advice = hc.advise("count", n=1_000, **BUDGET, honest=honest)
    assert advice.crowd.honest == left
    assert advice.crowd.least == 1_000


def test_fewer_honest_people_cost_accuracy():
    few, all_ = (hc.advise("count", n=1_000, **BUDGET, honest=part)["poisson-count"].rmse for part in (0.5, 1))
    assert few > 1.3 * all_


def test_under_a_cap_the_flood_is_traded_for_error():
    free = hc.advise("count", n=10_000, **BUDGET)["correlated-count"]
    capped = hc.advise("count", n=10_000, **BUDGET, max_messages=1.1)["correlated-count"]
    assert free.protocol.messages_per_person > 1.1 >= capped.protocol.messages_per_person
    assert free.rmse < capped.rmse < 3 * free.rmse


def test_a_cap_that_nothing_can_meet_says_what_would_do():
    advice = hc.advise("count", n=10_000, **BUDGET, models=["shuffle"], max_messages=0.5)
    assert not advice.feasible
    assert "sends 1 message a person where 0.5 are allowed; use max_messages=1" in advice.table()
    with pytest.raises(hc.Refused, match=r"0\.5 are allowed"):
        _ = advice.best
    assert "bytes" in hc.advise("count", n=10_000, **BUDGET, max_bytes=0.01).table()


def test_in_a_collection_everybody_sends_as_much_and_delta_pays_for_what_is_cut():
    advice = hc.advise("count", n=10_000, **BUDGET, collected=True)
    assert all(option.kind.model.from_devices for option in advice.feasible)
    option = advice["poisson-count"]
    budget, protocol = advice.budget, option.protocol
    messages = wire_messages(protocol, budget)
    beyond = float(protocol.programme.sends({"value": 1}, 100)[messages + 1 :].sum())
    assert protocol.loss.delta(1) + (1 + math.e) * 10_000 * beyond <= budget.delta
    assert option.figures()["wire_messages"] == messages
    assert option.figures()["wire_bytes"] == wire_bytes(protocol, messages)
    others = {option.name: option.reason for option in advice.options if option not in advice.feasible}
    assert "cannot be collected" in others["geometric"]


def test_caps_are_on_the_wire_in_a_collection():
    advice = hc.advise("count", n=10_000, **BUDGET, collected=True, max_messages=2)
    assert {"zsum", "cheu-count"} <= {option.name for option in advice.feasible}
    reason = next(option.reason for option in advice.options if option.name == "poisson-count")
    assert reason == "sends 5 messages a person where 2 are allowed; use max_messages=5"


def test_every_cap_and_objective_keeps_the_ranking_true():
    for objective in ("rmse", "interval", "relative", "detectable"):
        advice = hc.advise("count", n=300, **BUDGET, ones=50, objective=objective)
        measured = [option.objective for option in advice.feasible]
        assert measured == sorted(measured)
        assert advice.feasible[0].objective == min(measured)


def test_the_threshold_is_chosen_for_what_is_wanted():
    few, many = (hc.advise("count", n=10**5, **BUDGET, ones=ones)["sample-threshold"] for ones in (200, 50_000))
    assert few.protocol.threshold < many.protocol.threshold


def test_unknown_ones_come_with_the_average_too():
    option = hc.advise("count", n=2_000, **BUDGET)["sample-threshold"]
    truths = np.linspace(0, 2_000, 65).round().astype(int)
    squares = [option.protocol.size_of_error(int(truth), 2_000) ** 2 for truth in truths]
    mean = (sum(squares) - (squares[0] + squares[-1]) / 2) / 64
    assert option.rmse_average == pytest.approx(math.sqrt(mean), rel=1e-3)
    assert option.rmse_average < option.rmse


@pytest.mark.parametrize(
    ("wish", "hint"),
    [
        ({"honest": 0}, "honest"),
        ({"honest": 1.1}, "honest"),
        ({"honest": 0.5, "corrupt": 3}, "honest"),
        ({"n": (10, 5)}, "n is"),
        ({"n": (1, 2, 3)}, "n is"),
        ({"n": (100, 200), "least": 100}, "least"),
        ({"max_messages": 0}, "max_messages"),
        ({"max_bytes": -1}, "max_bytes"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 95}, "write 95% as 0.95"),
        ({"confidence": 0.05}, "confidence"),
        ({"honest": -1}, "honest"),
        ({"collected": "no"}, "collected"),
        ({"neighbours": 3}, "neighbours"),
        ({"models": 3}, "models"),
        ({"models": []}, "models is empty"),
        ({"protocols": []}, "protocols is empty"),
        ({"n": (0, 5)}, "n is"),
        ({"n": ("a", "b")}, "n is"),
        ({"epsilon": None, "within": 501}, "use less than 500"),
        ({"objective": "speed"}, "objective"),
        ({"objective": "relative"}, "ones"),
        ({"within": 3}, "within"),
        ({"within": 3, "epsilon": None, "n": None}, "within"),
        ({"epsilon": None}, "epsilon"),
        ({"n": None}, "n is"),
        ({"epsilon": None, "within": 0}, "within"),
        ({"n": None, "within": 5, "ones": 3}, "n is"),
    ],
)
def test_nonsense_gets_a_helpful_answer(wish, hint):
    with pytest.raises(hc.Refused, match=hint):
        hc.advise("count", **{"n": 1_000, **BUDGET, **wish})


def test_a_sum_has_no_ones():
    with pytest.raises(hc.Refused, match="ones"):
        hc.advise(hc.Sum((0, 1)), n=1_000, **BUDGET, ones=3)


def test_one_person_is_told_how_many_it_takes():
    why = hc.advise("count", n=1, **BUDGET).why()
    assert "of 1 person it tells" in why
    assert "no better than to guess half of the people without asking" in why
    assert "with 3 people or more, geometric would be better" in why  # and not the randomised-response it speaks of


@pytest.mark.parametrize(
    ("task", "guess"), [(hc.Mean((0, 9)), "the middle of the bounds"), (hc.Histogram(9), "for every category")]
)
def test_a_guess_is_one_of_the_answer(task, guess):
    assert guess in hc.advise(task, n=1, **BUDGET, models="central").why()


def test_among_equals_the_one_that_asks_for_least_trust_is_first():
    assert hc.advise("count", n=1, **BUDGET).feasible[0].name == "randomised-response"


def test_liars_are_spoken_of():
    assert "if nobody lies" in hc.advise("count", n=5_000, **BUDGET, honest=0.9, models="shuffle").why()


def test_a_mean_has_no_relative_error():
    with pytest.raises(hc.Refused, match="which a mean has not"):
        hc.advise(hc.Mean((0, 1)), n=1_000, **BUDGET, objective="relative")


def test_what_a_cap_asks_for_is_enough():
    for cap, wishes in (("max_messages", {"max_messages": 1.001}), ("max_bytes", {"max_bytes": 0.05})):
        for refused in hc.advise("count", n=1_000, **BUDGET, models="shuffle", **wishes).options:
            if f"use {cap}=" in refused.reason:
                most = float(refused.reason.rpartition("=")[2])
                assert hc.advise("count", n=1_000, **BUDGET, protocols=refused.name, **{cap: most}).feasible
    both = hc.advise("count", n=1_000, **BUDGET, protocols="zsum", max_messages=1, max_bytes=0.1).options[0].reason
    assert both == (
        "sends 1.966 messages and 0.2457 bytes a person where 1 and 0.1 are allowed; "
        "use max_messages=1.966 and max_bytes=0.2458"
    )


def test_models_may_stand_between_commas():
    both = hc.advise("count", n=1_000, **BUDGET, models="central, local")
    assert {option.kind.model for option in both.feasible} == {"central", "local"}
    assert both.table() == hc.advise("count", n=1_000, **BUDGET, models=["central", "local"]).table()
