"""What accuracy costs: every point is a calibration that can be had by name, and the front is what nothing beats."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import headcount as hc
from headcount.errors import BadArgument, Infeasible
from headcount.figures.text_table import comma_separated
from headcount.planner.expected import Expected
from headcount.planner.frontier import TRUST, FrontierPoint
from headcount.planner.frontier_points import with_front_marked
from headcount.planner.objective import Objective
from headcount.planner.option import number
from headcount.privacy.model import Model

BUDGET = {"n": 2_000, "epsilon": 1.0, "delta": 1e-6}
FEW = ["geometric", "zsum", "correlated-count", "sample-threshold", "randomised-response"]


@pytest.fixture(scope="module")
def messages():
    return hc.frontier("count", **BUDGET, protocols=FEW, points=4)


@pytest.fixture(scope="module")
def dropouts():
    return hc.frontier("count", "dropouts", **BUDGET, protocols=FEW[:3], points=3)


def same(point: FrontierPoint, protocol: hc.Protocol, ones: int | None = None) -> bool:
    people = protocol.crowd.size
    unit, expected = protocol.task.unit(people), Expected.parse(ones, people)
    width = Objective.INTERVAL.of(protocol, expected, people, 0.95)
    return (
        point.protocol == protocol.name
        and point.parameters == protocol.to_json()["parameters"]
        and point.rmse == pytest.approx(protocol.rmse(ones) * unit, rel=1e-12)
        and point.half_width == pytest.approx(width * unit, rel=1e-12)
        and point.messages == protocol.messages_per_person
        and point.bits == protocol.bits_per_person
    )


@pytest.mark.parametrize(("against", "name"), [("epsilon", "epsilon"), ("n", "n")])
@pytest.mark.parametrize("task", [hc.Count(), hc.Fraction()])
def test_a_curve_is_the_calibrations_that_one_would_get_by_name(against, name, task):
    found = hc.frontier(task, against, **BUDGET, ones=12, protocols=["zsum", "laplace"], points=3)
    assert {point.protocol for point in found.points} == {"zsum", "laplace"}
    for point in found.points:
        given = {**BUDGET, name: int(point.x) if name == "n" else point.x}
        assert same(point, hc.protocol(point.protocol, task, **given), 12)
    wrong = replace(found.points[0], rmse=found.points[0].rmse * 1.001)
    assert not same(wrong, hc.protocol(wrong.protocol, task, **{**BUDGET, name: wrong.x}), 12)


@pytest.mark.parametrize(("task", "ones"), [("count", None), ("fraction", 300), (hc.Histogram(5), {0: 1, 80: 3})])
def test_it_says_to_the_digit_what_the_advisor_says(task, ones):
    given = {**BUDGET, "ones": ones, "models": ["central", "shuffle-threshold", "local"]}
    advice = hc.advise(task, **given)
    curves = hc.frontier(task, "epsilon", **given, over=(0.5, 2.0), points=3)
    planned = hc.frontier(task, "dropouts", **given, over=(0.0, 0.5), points=2)
    choices = hc.frontier(task, **given, points=2)
    for option in advice.feasible:
        figures = option.rmse, option.half_width, option.protocol.to_json()["parameters"]
        for found in (curves, planned, choices):
            places = [(p.rmse, p.half_width, p.parameters) for p in found.of(option.name)]
            assert figures in places
        assert f"± {number(option.half_width)}" in advice.table()
        if any(p.front and p.half_width == option.half_width for p in choices.of(option.name)):
            assert f"± {number(option.half_width)}" in choices.text()


def test_what_is_left_of_no_promise_is_not_called_infinite():
    found = hc.frontier("count", "dropouts", **BUDGET, protocols="negative-binomial-count", points=2)
    assert found.points[-1].epsilon_left == math.inf
    assert "(nothing)" in found.text()
    assert not {"inf", "∞"} & set(found.text().split())
    assert found.to_json()["points"][-1]["epsilon_left"] is None


def test_ranges_end_where_they_are_told_and_hold_the_question_itself():
    epsilons = [point.x for point in hc.frontier("count", "epsilon", **BUDGET, protocols="laplace", points=3).points]
    assert epsilons == pytest.approx([0.1, 1.0, 10.0])
    people = hc.frontier("count", "n", **BUDGET, protocols="zsum", over=(150, 9_000), points=4).points
    assert people[0].x == 150
    assert people[-1].x == 9_000


def test_every_choice_is_there_and_overheads_are_swept_where_there_are_any(messages):
    assert len(messages.of("sample-threshold")) > 5
    assert len(messages.of("zsum")) == 1
    swept = messages.of("correlated-count")
    assert len(swept) == 5  # its own choice and four overheads
    assert any(same(point, hc.protocol("correlated-count", **BUDGET)) for point in swept)
    assert any(same(point, hc.protocol("correlated-count", **BUDGET, overhead=4.0)) for point in swept)
    assert [point.x for point in swept] == sorted(point.messages for point in swept)


def clean(points: list[FrontierPoint]) -> bool:
    """Whether no point of the front is beaten, and every other one is, said without the library's own comparison."""
    for point in points:
        beaten = any(
            TRUST[other.model] <= TRUST[point.model]
            and (other.rmse, other.messages) != (point.rmse, point.messages)
            and other.rmse <= point.rmse
            and other.messages <= point.messages
            for other in points
        )
        if point.front is beaten:
            return False
    return True


def test_the_front_is_what_nothing_beats_at_no_more_trust(messages):
    assert clean(list(messages.points))
    assert 0 < len(messages.front) < len(messages.points)
    assert not clean([replace(point, front=True) for point in messages.points])  # a beaten one let in
    assert not clean([replace(point, front=point.front and i > 0) for i, point in enumerate(messages.points)])
    best = {model: min((p.rmse for p in messages.front if p.model is model), default=None) for model in Model}
    assert best[Model.SHUFFLE] > best[Model.CENTRAL]  # which asks for more trust, and does not count against it


def test_points_that_are_alike_are_both_on_the_front_and_one_that_is_worse_is_not():
    point = FrontierPoint("a", Model.SHUFFLE, 1.0, 5.0, 9.0, 1.0, 1.0, {})
    worse = replace(point, rmse=6.0)
    trusting = replace(point, model=Model.CENTRAL, rmse=1.0)
    front = [p.front for p in with_front_marked([point, point, worse, trusting])]
    assert front == [True, True, False, True]


def test_planning_for_dropouts_costs_error_and_not_planning_costs_privacy(dropouts):
    for name in ("zsum", "correlated-count"):
        curve = dropouts.of(name)
        errors, left = [p.rmse for p in curve], [p.epsilon_left for p in curve]
        assert errors == sorted(errors)
        assert left == sorted(left)
        assert errors[-1] > 1.2 * errors[0]
        assert left[-1] > 1.2
        assert same(curve[1], hc.protocol(name, **BUDGET, least=1_500))
        everybody = hc.protocol(name, **BUDGET)
        assert left[1] == pytest.approx(everybody.loss_if(1_500).epsilon(1e-6))
        assert left[0] <= 1.0 + 1e-9
    assert {p.epsilon_left for p in dropouts.of("geometric")} == {dropouts.of("geometric")[0].epsilon_left}


@pytest.mark.parametrize(
    ("task", "protocols"),
    [(hc.Histogram(4), "poisson-histogram,geometric"), (hc.Sum((0, 10)), "laplace"), (hc.Mean((0, 10)), "laplace")],
)
def test_other_tasks_are_in_their_own_unit(task, protocols):
    found = hc.frontier(task, **BUDGET, protocols=protocols, points=2)
    for name in protocols.split(","):
        assert any(same(point, hc.protocol(name, task, **BUDGET)) for point in found.of(name))


def test_it_prints_as_text_markdown_html_json_and_csv(messages, dropouts):
    assert "correlated-count" in messages.text()
    assert messages.text().startswith("Nothing is more accurate with fewer messages: count, 2,000 people")
    assert "|---|---|---:|---:|---:|---:|" in messages.markdown()
    assert messages._repr_html_().startswith("<table>")
    assert "(ε 1" in dropouts.text()
    assert "25%" in dropouts.text()
    read = json.loads(json.dumps(messages.to_json(), allow_nan=False))
    assert set(read) == {"task", "against", "budget", "crowd", "points"}
    rows = list(csv.DictReader(io.StringIO(comma_separated(messages.records()))))
    assert len(rows) == len(messages.points)
    assert float(rows[0]["rmse"]) == messages.points[0].rmse


def test_figures_are_drawn_and_the_title_is_a_finding(messages, dropouts, tmp_path):
    for name, found in (("messages", messages), ("dropouts", dropouts)):
        for theme in ("light", "dark"):
            svg = found.plot(theme=theme).save(tmp_path / theme / f"{name}.svg")
            assert ElementTree.parse(svg).getroot().tag.endswith("svg")  # noqa: S314
        assert found.plot().save(tmp_path / f"{name}.png").stat().st_size > 20_000
    text = (tmp_path / "light" / "messages.svg").read_text()
    assert "is nearly as close as a trusted analyser" in text
    assert "typical error (rmse) of the count, in people" in text
    assert "messages that each person sends" in text
    assert "Planning for 50% dropouts costs correlated-count" in (tmp_path / "light" / "dropouts.svg").read_text()
    curves = hc.frontier("count", "epsilon", **BUDGET, protocols=["zsum", "randomised-response"], points=3)
    assert "trusting a shuffler instead of nobody" in curves.plot().save(tmp_path / "e.svg").read_text()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"against": "money"}, "messages, epsilon, n, dropouts"),
        ({"task": "sum"}, r"hc\.Sum\(bounds\)"),
        ({"ones": 2_001}, "of 2,000 people"),
        ({"protocols": "abacus"}, "'abacus'"),
        ({"models": ["nowhere"]}, "'nowhere'"),
        ({"points": 1}, "2 to 1,000"),
        ({"against": "epsilon", "over": (2, 1)}, "the smaller first"),
        ({"against": "n", "over": 7}, "use two numbers"),
        ({"against": "dropouts", "over": (0.5, 1.0)}, "below 1"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(BadArgument, match=words):
        hc.frontier(**{"task": "count", **BUDGET, "protocols": "zsum", **given})


def test_nobody_left_is_refused():
    with pytest.raises(Infeasible, match="none of these protocols"):
        hc.frontier("count", **BUDGET, protocols="zsum", models="central")
    with pytest.raises(Infeasible, match="no protocol can serve"):
        hc.frontier("count", n=20, epsilon=0.1, delta=1e-6, protocols="zsum")
