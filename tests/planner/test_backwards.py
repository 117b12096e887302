"""How much budget, or how many people, an answer this close takes."""

import math
from dataclasses import replace

import pytest

import headcount as hc
from headcount.figures.canvas import number as drawing_number
from headcount.planner import advise, limits, solve
from headcount.planner.option import best_option
from headcount.planner.solve import fewest_people
from stress import STRESS

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


def asked(monkeypatch, **wish):
    """For which budgets and crowds the best setting was computed."""
    seen = []

    def watched(kind, given):
        seen.append((given.budget.epsilon, given.crowd.size))
        return best_option(kind, given)

    monkeypatch.setattr(solve, "best_option", watched)
    hc.advise(**wish)
    return seen


def test_what_the_largest_epsilon_does_not_reach_is_not_sought(monkeypatch):
    wish = {"task": "count", "n": 1_000, "delta": 1e-6, "protocols": "zsum"}
    assert asked(monkeypatch, **wish, within=0.001) == [(solve.LARGEST_EPSILON, 1_000)]
    assert len(asked(monkeypatch, **wish, within=20)) > 3


def test_the_fewest_people_of_all_are_sought_only_where_they_may_do_better(monkeypatch):
    """A recursive sum is first better than a guess for 103 people, at an error that is seven times the best."""
    wish = {"task": hc.Sum((0, 120)), "epsilon": 1, "delta": 1e-6, "within": 1, "protocols": "recursive-sum"}
    few = asked(monkeypatch, **wish)
    monkeypatch.setattr(solve, "_first", lambda search, tried: replace(search, within=math.inf).edge(*tried[2:4]))
    assert len(few) < len(asked(monkeypatch, **wish)) - 3


@pytest.mark.parametrize("people", [2, 10**9])
def test_extreme_budgets_are_met_or_refused_in_words(people):
    for epsilon, delta in ((34, 1e-11), (48.7, 5e-18)):
        advice = hc.advise(hc.Sum((0, 120)), n=people, epsilon=epsilon, delta=delta, protocols="shuffled-duchi")
        assert advice.feasible or "cannot meet" in str(advice)


def test_other_wishes_are_solved_for_too():
    advice = hc.advise("count", n=10_000, delta=1e-6, within=30, objective="detectable", protocols=["poisson-count"])
    assert advice.feasible[0].objective <= 30


def test_the_fewest_people_in_one_line():
    assert hc.smallest_n("count", epsilon=1, delta=1e-6, protocols=["zsum"]) == 80
    assert hc.smallest_n("count", epsilon=1, delta=1e-6) <= 3
    assert hc.smallest_n("fraction", epsilon=1, delta=1e-6, within=0.01, protocols=["geometric"]) == 300
    with pytest.raises(hc.Refused):
        hc.smallest_n("count", epsilon=1, delta=0, models=["shuffle"])


def test_the_fewest_people_for_a_mean_are_not_sought_for_every_protocol(monkeypatch):
    """Among 10,000 people none is as close, among a million most are, of which the best is solved for."""
    wish = {"epsilon": 1, "delta": 1e-6, "within": 0.00001, "protocols": CHEAP}
    solved = []

    def watched(kind, *given):
        solved.append(kind)
        return fewest_people(kind, *given)

    monkeypatch.setattr(advise, "fewest_people", watched)
    assert hc.smallest_n("fraction", **wish) == 300_200
    assert {kind.name for kind in solved} == {"geometric"}
    monkeypatch.setattr(limits, "MORE", math.inf)
    assert hc.smallest_n("fraction", **wish) == 300_200
    assert len(solved) == 1 + len(CHEAP)


def test_a_protocol_that_is_not_close_in_every_crowd_leaves_the_fewest_people_to_the_others():
    """Of few people, and better at that, and of 10,000 it comes as close, but not of 11,201."""
    wish = {"epsilon": 1, "delta": 1e-6, "within": 200}
    with pytest.raises(hc.Refused, match="up to 11,200 people only"):
        hc.smallest_n("count", protocols="randomised-response", **wish)
    assert hc.smallest_n("count", protocols=["zsum", "randomised-response"], **wish) == 80


def test_the_fewest_ones_that_show_in_one_line():
    assert hc.smallest_detectable("count", n=10_000, epsilon=1, delta=1e-6, models=["shuffle"]) == 5
    local = hc.smallest_detectable("count", n=10_000, epsilon=1, models=["local"])
    assert local == pytest.approx(2 * 1.645 * hc.protocol("randomised-response", n=10_000, epsilon=1).rmse(), rel=0.02)


def lacking(advice):
    return {option.name: option for option in advice.options if option not in advice.feasible}


def test_where_more_people_make_it_worse_it_says_up_to_how_many():
    advice = hc.advise("count", epsilon=1, delta=1e-6, within=20, protocols=CHEAP)
    reason = lacking(advice)["randomised-response"].reason
    assert reason.startswith("comes within 20 for up to 107 people only")
    alone = {"epsilon": 1, "protocols": "randomised-response"}
    few, many = (hc.advise("count", n=n, **alone).feasible[0].half_width for n in (107, 108))
    assert few <= 20 < many
    assert [option.name for option in advice.feasible] == ["geometric", "poisson-count", "zsum"]
    for option in advice.feasible:
        assert (
            hc.advise("count", n=1_000_000, epsilon=1, delta=1e-6, protocols=option.name).feasible[0].half_width <= 20
        )
    with pytest.raises(hc.Refused, match="up to 107 people only"):
        hc.smallest_n("count", epsilon=1, within=20, models="local")


def test_a_window_of_few_people_is_found_even_where_it_is_narrow():
    reason = lacking(hc.advise("count", epsilon=1, delta=1e-6, within=9, protocols="zsum"))["zsum"].reason
    assert reason.startswith("comes within 9 for up to 84 people only")
    widths = [hc.advise("count", n=n, epsilon=1, delta=1e-6, protocols="zsum").feasible[0].half_width for n in (84, 85)]
    assert widths[0] <= 9 < widths[1]


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        ("poisson-count", "comes within 11.07 at best; allow more"),
        pytest.param("sample-threshold", "at best", marks=STRESS),
    ],
)
def test_where_errors_neither_fall_nor_come_near_the_search_ends(protocol, reason):
    advice = hc.advise("count", epsilon=1, delta=1e-6, within=10, protocols=[protocol])
    assert reason in lacking(advice)[protocol].reason


def test_no_more_people_are_asked_for_than_there_are():
    advice = hc.advise("fraction", epsilon=1, delta=1e-6, within=1e-12, protocols=["geometric", "poisson-count"])
    assert not advice.feasible
    assert "at best" in advice.table()


@pytest.mark.parametrize("given", [{"n": 50}, {"epsilon": 1, "honest": 0.5}])
def test_what_was_not_solved_names_no_number_of_people(given):
    """It would be at a budget, or with so many liars, that nobody asked for."""
    advice = hc.advise("count", **given, delta=1e-6, within=0.01, models="shuffle", protocols=CHEAP)
    assert not advice.feasible
    assert {option["smallest_n"] for option in advice.to_json()["options"]} == {None}
    solved = hc.advise("count", n=2_000, delta=1e-6, within=20, protocols="zsum").feasible[0]
    assert solved.smallest_n == hc.smallest_n(
        "count", epsilon=solved.situation.budget.epsilon, delta=1e-6, protocols="zsum"
    )


@pytest.mark.parametrize("task", [hc.Sum((0, 10)), hc.Mean((0, 10))])
def test_a_sum_has_no_smallest_number_of_ones(task):
    with pytest.raises(hc.Refused, match=f"'detectable', which a {task.name} has not; use 'interval'"):
        hc.advise(task, n=1_000, epsilon=1, objective="detectable")


def test_what_cannot_be_detected_is_refused_rather_than_infinite():
    with pytest.raises(hc.Refused, match="no number of ones can be told from none"):
        hc.smallest_detectable("count", n=5, epsilon=0.1, models="local")
    text = hc.advise("count", n=5, epsilon=0.1, objective="detectable", models="local").table()
    assert "inf" not in text


@pytest.mark.parametrize(
    ("given", "words", "log"),
    [
        ({"n": 10_000, "epsilon": 1}, "are off by no more than the bar, in people", True),
        ({"n": 10_000, "epsilon": 1, "protocols": "geometric,zsum"}, "are off by no more than the bar", False),
        ({"n": 10_000, "within": 20}, "How much epsilon it takes to tell the count within 20 people", True),
        ({"epsilon": 1, "within": 20}, "How many people it takes to tell the count within 20 people", False),
    ],
)
def test_the_figure_draws_what_was_asked(given, words, log, tmp_path):
    advice = hc.advise("count", delta=1e-6, **{"protocols": CHEAP, **given})
    text = advice.plot().save(tmp_path / "options.svg").read_text()
    assert words in text
    assert ("(logarithmic scale)" in text) is log
    assert "recommended" in text
    if "within" in given:
        solved = advice.feasible[-1]
        size = solved.situation.budget.epsilon if "n" in given else solved.situation.crowd.size
        assert drawing_number(size) in text
