"""What the page asks and is told, without a browser: the same as Python says."""

import json
import shlex

import pytest
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.common.short_decimals import compared
from headcount.errors import BadArgument, Occupied
from headcount.questions import QUESTIONS
from headcount.questions.argument import Argument, Told
from headcount_service.web import advisor
from headcount_service.web.form import Form, Offered
from headcount_service.web.static_files import PAGE, POLICY, contents
from headcount_service.web.workers import MOST, Workers

COUNT = {"task": "count", "n": 500, "epsilon": 1.0, "delta": 1e-4, "models": ["shuffle", "local"]}
ASKED = [
    COUNT,
    {**COUNT, "honest": 0.8, "ones": 20, "cap": 3},
    {**COUNT, "task": "fraction", "models": ["central", "shuffle-threshold", "shuffle", "local"]},
    {**COUNT, "task": "histogram", "categories": 4, "models": ["local", "shuffle"], "ones": 10},
    {**COUNT, "task": "mean", "low": -1, "high": 2.5, "models": ["local"]},
    {**COUNT, "task": "sum", "low": 0, "high": 9, "models": ["central", "local"]},
    {**COUNT, "task": "mean", "low": -1e-7, "high": 1234567.25, "models": ["local"]},
]


def ranked(told):
    return [row["protocol"] for row in told["ranking"]]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["task"])
def test_python_and_command_give_the_ranking_that_is_shown(asked):
    told = advisor.whole(asked)
    scope = {}
    exec(told["python"].replace("print(advice)", ""), scope)  # noqa: S102
    advice = scope["advice"]
    assert ranked(told) == [option.name for option in advice.feasible]
    errors = [row["rmse"] for row in told["ranking"]]
    assert errors == [option.rmse for option in advice.feasible]
    words = shlex.split(told["command"])
    assert words[0] == "headcount"
    printed = json.loads(CliRunner().invoke(app, [*words[1:], "--format", "json"]).output)
    feasible = [option for option in printed["options"] if option["feasible"]]
    assert [option["protocol"] for option in feasible] == ranked(told)
    assert [option["rmse"] for option in feasible] == [compared(error) for error in errors]


def test_a_quick_answer_is_the_whole_one_without_those_who_wait():
    asked = {**COUNT, "models": ["shuffle-threshold", "shuffle", "local"]}
    soon, told = advisor.quick(asked), advisor.whole(asked)
    assert soon["waiting"] == ["sample-threshold"]
    assert not told["waiting"]
    assert ranked(soon) == [name for name in ranked(told) if name not in soon["waiting"]]
    alone = {**COUNT, "models": ["shuffle-threshold"]}
    assert advisor.quick(alone) == {"ranking": [], "waiting": ["sample-threshold"]}


def test_slow_protocols_are_known():
    assert {kind.name for kind in hc.CATALOGUE} >= advisor.SLOW


def test_a_plan_can_be_carried_out(tmp_path):
    file = tmp_path / "zsum.plan.json"
    file.write_text(advisor.plan({**COUNT, "protocol": "zsum"})["file"])
    plan = hc.load_plan(file)
    assert (plan.protocol.name, plan.budget.epsilon) == ("zsum", 1.0)


def test_pictures_are_what_python_computes():
    given = {**COUNT, "honest": 0.9, "protocols": ["zsum", "randomised-response"]}
    errors = advisor.errors(given)["rmse"]
    advice = hc.advise("count", n=500, epsilon=1.0, delta=1e-4, honest=0.9, models=["shuffle", "local"])
    assert errors == {name: advice[name].rmse for name in ("zsum", "randomised-response")}
    points = advisor.costs(given)["points"]
    assert min(point["rmse"] for point in points if point["protocol"] == "zsum") == pytest.approx(errors["zsum"])
    cells = advisor.column({**COUNT, "truths": [1, 50, 5_000]})["cells"]
    assert [cell["ones"] for cell in cells] == [1, 50]
    exact = hc.map(epsilon=1.0, delta=1e-4, n=(500, 501), ones=(1, 50), points=2, models=["shuffle", "local"])
    panel = next(panel for panel in exact.panels if panel.constants == "exact")
    assert [cell["winner"] for cell in cells] == panel.winners[:, 0].tolist()


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"n": 0}, "n is 0"), ({"n": 10.5}, "whole"), ({"n": "many"}, "not a number"), ({"epsilon": None}, "missing"),
     ({"task": "median"}, "task"), ({"models": []}, "trust"), ({"models": ["god"]}, "trust"), ({"low": 1}, "belong"),
     ({"n": 10**9}, "n is"), ({"cap": float("nan")}, "cap is not"), ({"frobnication": 1}, "belong"),
     ({"n": True}, "not a number"), ({"ones": 501}, "ones is 501; use at most the number of people, 500"),
     ({"epsilon": 10**400}, "epsilon is not a number"),
     ({"task": "mean", "low": 9, "high": 1}, "low is 9; use less than the upper bound, 1")],
)  # fmt: skip
def test_whatever_is_wrong_is_told_in_words(changes, words):
    assert words in advisor.whole({**COUNT, **changes})["error"]


def test_the_field_that_is_wrong_is_named():
    assert advisor.quick({**COUNT, "n": -5})["field"] == "n"
    assert advisor.quick({**COUNT, "ones": 501})["field"] == "ones"


def test_a_question_is_read_again_as_it_was_meant():
    assert Form.read(ASKED[1]).wishes == {
        "n": 500, "epsilon": 1.0, "delta": 1e-4, "honest": 0.8, "ones": 20, "models": ["shuffle", "local"],
        "max_messages": 3.0,
    }  # fmt: skip


@pytest.mark.parametrize("kind", QUESTIONS.values(), ids=lambda kind: kind.name)
def test_what_a_form_begins_with_is_taken_by_the_class_too(kind):
    """Which is how the page writes it in Python."""
    first = {argument.name: argument.first for argument in kind.arguments if argument.first is not None}
    if first or not any(argument.needed for argument in kind.arguments):
        assert kind(**first) == kind.posed(**first)


class Above(hc.Count):
    """How many are above a threshold?"""

    name = "above"
    asks = "How many people are above a threshold"
    arguments = (Argument("threshold", Told.NUMBER, "Above this a person counts.", needed=True, first=5),)

    @classmethod
    def posed(cls, *, threshold):
        return cls()


def test_a_question_that_declares_its_arguments_has_a_form():
    offered = Offered.of(Above)
    assert [field.name for field in offered.own] == ["threshold"]
    assert offered.told({"threshold": 7.0}) == {"threshold": 7.0}
    assert offered.to_json()["fields"] == ["n", "threshold", "epsilon", "delta", "honest", "ones", "cap"]
    with pytest.raises(BadArgument, match="threshold is not a number"):
        offered.own[0].read("many")


def test_refusals_are_in_the_words_of_the_labels():
    told = advisor.quick({**COUNT, "n": 0})
    assert (told["field"], told["problem"]) == ("n", "is 0")
    assert told["remedy"].startswith("use a whole number from 1")
    lacking = advisor.whole({**COUNT, "cap": 1})["lacking"]
    assert any("use “Messages, at most” 1." in reason["reason"] for reason in lacking)
    assert not any("max_messages" in reason["reason"] for reason in lacking)
    assert "least" not in advisor.whole(COUNT)["why"]  # for which the page has no field


def test_few_wait_for_what_takes_seconds():
    workers = Workers()
    workers._waiting[False] = MOST[False]
    with pytest.raises(Occupied):
        workers.ask(advisor.whole, COUNT, "").send(None)  # refused before anything is waited for
    assert MOST[False] < MOST[True]


def test_everything_is_small_and_from_here():
    files = contents()
    assert sum(len(file.body) for file in files.values()) < 300_000
    page = files[PAGE].body.decode()
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count('<script type="module" src="page/') == 1
    for name, file in files.items():
        if name.startswith("client.") or name == "icon.svg":
            continue
        text = file.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text, name
        assert "https://" not in text, name
        assert "innerHTML" not in text, name
    assert POLICY.startswith("default-src 'self'")


def test_every_protocol_has_its_colour_in_both_themes():
    style = contents()["colours.css"].body.decode()
    for kind in hc.CATALOGUE:
        assert style.count(f".of-{kind.name} {{ --own:") == 2
