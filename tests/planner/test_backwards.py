"""How much budget, or how many people, an answer this close takes."""

import pytest

import headcount as hc

CHEAP = ["geometric", "zsum", "poisson-count", "randomised-response"]


def test_the_smallest_epsilon_for_a_width():
    advice = hc.advise("count", n=10_000, delta=1e-6, within=20, protocols=CHEAP)
    assert advice.feasible[0].name == "geometric"
    spent = [option.situation.budget.epsilon for option in advice.feasible]
    assert spent == sorted(spent)
    for option in advice.feasible:
        assert option.half_width <= 20
        less = hc.protocol(option.name, n=10_000, epsilon=option.situation.budget.epsilon / 1.02, delta=1e-6)
        assert max(less.noise(truth, 10_000).half_width() for truth in (0, 100, 5_000)) > 20 - 1e-9
    assert advice.best.budget.epsilon == spent[0]
    assert advice.to_json()["budget"]["epsilon"] is None
    assert advice.to_json()["options"][0]["epsilon"] == spent[0]


def test_the_fewest_people_for_a_width():
    advice = hc.advise("fraction", epsilon=1, delta=1e-6, within=0.01, protocols=["geometric", "zsum", "poisson-count"])
    for option in advice.feasible:
        people = option.situation.crowd.size
        assert option.half_width <= 0.01
        fewer = hc.advise("fraction", n=people - 1, epsilon=1, delta=1e-6, protocols=[option.name]).feasible
        assert not fewer or fewer[0].half_width > 0.01
    assert advice.to_json()["crowd"]["n"] is None


def test_what_can_never_be_met_says_how_near_it_comes():
    advice = hc.advise("count", n=1_000, delta=1e-6, within=0.001, protocols=["zsum"])
    assert not advice.feasible
    assert "at best" in advice.table()


def test_other_wishes_are_solved_for_too():
    advice = hc.advise("count", n=10_000, delta=1e-6, within=30, objective="detectable", protocols=["poisson-count"])
    assert advice.feasible[0].objective <= 30


def test_the_fewest_people_in_one_line():
    assert hc.smallest_n("count", epsilon=1, delta=1e-6, protocols=["zsum"]) == 80
    assert hc.smallest_n("count", epsilon=1, delta=1e-6) <= 3
    assert hc.smallest_n("fraction", epsilon=1, delta=1e-6, within=0.01, protocols=["geometric"]) == 300
    with pytest.raises(hc.Refused):
        hc.smallest_n("count", epsilon=1, delta=0, models=["shuffle"])


def test_the_fewest_ones_that_show_in_one_line():
    assert hc.smallest_detectable("count", n=10_000, epsilon=1, delta=1e-6, models=["shuffle"]) == 5
    local = hc.smallest_detectable("count", n=10_000, epsilon=1, models=["local"])
    assert local == pytest.approx(2 * 1.645 * hc.protocol("randomised-response", n=10_000, epsilon=1).rmse(), rel=0.02)
