"""Tasks, protocols and plans: what is written down is read back exactly, and nothing else is read."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headcount as hc
from headcount.errors import Infeasible
from headcount.planner.calibrate import calibrate
from headcount.protocols.base.saved import plan_from_json, protocol_from_json, task_from_json
from headcount.questions.reading_options import ReadingOptions

BUDGET = hc.Budget(3, 1e-3)
EARLIER = json.loads((Path(__file__).parent / "earlier" / "0.2.0.json").read_text())  # plans that version 0.2.0 saved
TASKS = [
    hc.Count(),
    hc.Fraction(),
    hc.Sum((0, 120)),
    hc.Sum((-0.1, 1 / 3), clip=True),
    hc.Sum.whole((-3, 1_000)),
    hc.Mean((1e-300, 1e300)),
    hc.Mean.whole((0, 10), clip=True),
    hc.Histogram(3),
    hc.Histogram(range(3, 6)),
    hc.Histogram(["a", "b"]),
    hc.Histogram(["_", "é", "日本", "\ud800", '"\\\n\0'], other=True),
    hc.Histogram([1, 5, -(2**52)]),
    hc.Histogram([0.1, 2.5, -0.0]),
    hc.Histogram([True, False]),
    hc.Histogram(np.array([4, 2])),
    hc.Histogram(np.array(["x", "y"]), fractions=True),
    hc.Histogram.binned([0, 0.1, 65]),
    hc.Histogram.binned(7, (0, 1), other=True, fractions=True),
    hc.Histogram(),
]


def written(thing):
    return json.loads(json.dumps(thing.to_json()))


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_tasks_come_back(task):
    again = task_from_json(written(task))
    assert again == task
    assert type(again) is type(task)
    assert again.to_json() == task.to_json()


@pytest.mark.parametrize("cls", hc.CATALOGUE, ids=lambda cls: cls.name)
def test_every_small_protocol_comes_back(cls):
    for protocol in cls.tinies():
        again = protocol_from_json(written(protocol))
        assert again == protocol
        assert hash(again) == hash(protocol)
        assert {name: type(part) for name, part in vars(again).items()} == {
            name: type(part) for name, part in vars(replace(protocol)).items()
        }
        assert again.programme.encode() == protocol.programme.encode()
        assert [again.loss.delta(e) for e in (0.0, 1.0)] == [protocol.loss.delta(e) for e in (0.0, 1.0)]


def plans(cls):
    """A calibrated plan for every kind of task and relation that it answers."""
    tasks = [hc.Count(), hc.Fraction(), hc.Sum((-1, 3)), hc.Mean.whole((0, 10)), hc.Histogram(["é", "b", "c"]),
             hc.Histogram.binned([0, 0.3, 1], other=True, fractions=True), hc.Histogram()]  # fmt: skip
    tasks += [hc.Mean.posed(bounds=(0, 10), categories=["é", "b"]).declared(ReadingOptions(missing=3, by=("group",)))]
    if not any(map(cls.answers, tasks)):  # as what answers for several families of cells alone
        tasks = [hc.Distribution((0, 10), 256)]
    for task in tasks:
        if cls.answers(task):
            try:
                yield hc.Plan(calibrate(cls, task, hc.Crowd(2_000, 1_900, 50), BUDGET), BUDGET)
            except Infeasible:
                continue


@pytest.mark.parametrize("cls", hc.CATALOGUE, ids=lambda cls: cls.name)
def test_every_calibrated_plan_comes_back_with_its_hash(cls):
    made = list(plans(cls))
    assert made
    for plan in made:
        again = plan_from_json(written(plan), hash=plan.hash)
        assert again == plan
        assert again.hash == plan.hash


def test_a_plan_between_other_neighbours_comes_back():
    budget = hc.Budget(0.3, 0.0, hc.Neighbours.ADD_REMOVE)
    plan = hc.Plan(hc.protocol("geometric", n=1, epsilon=0.3, neighbours="add-remove"), budget)
    assert plan_from_json(written(plan), hash=plan.hash) == plan


PLAN = hc.advise(hc.Histogram(["a", "b"]), n=1_000, epsilon=1, delta=1e-6, models="shuffle").best


def changed(path, value):
    """The plan with one part replaced, or with one taken out."""
    data = written(PLAN)
    *way, last = path.split(".")
    here = data
    for step in way:
        here = here[step]
    if value is None:
        del here[last]
    else:
        here[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("protocol", "zsum2", "protocol is 'zsum2'"),
        ("protocol", ["zsum"], "protocol is"),
        ("protocol", None, "can read, near 'protocol'"),
        ("task", None, "near 'task'"),
        ("task.name", "median", "near 'median'"),
        ("task.other", None, "would not mean the same"),
        ("task.weights", [1, 2], "not one that this version can read"),
        ("task.categories", ["b", "a"], "another plan"),
        ("task.categories", 2, "another plan"),
        ("task.categories", ["a", "a"], "duplicates"),
        ("crowd.size", 1_001, "another plan"),
        ("crowd.size", 1_000.0, "would not mean the same"),
        ("crowd.least", None, "would not mean the same"),
        ("crowd.fakes", 3, "not one that this version can read"),
        ("neighbours", "removal", "neighbours is 'removal'"),
        ("parameters.decay", 0.5, "no longer runs"),
        ("parameters.extra", 0.5, "not one that this version can read"),
        ("parameters.shape", None, "not one that this version can read"),
        ("budget.epsilon", 0.5, "over the budget"),
        ("budget.epsilon", "1", "epsilon is '1'"),
        ("budget.delta", None, "over the budget"),
        ("programme", {"emit": []}, "no longer runs"),
        ("programme", None, "near 'programme'"),
        ("comment", "hello", "would not mean the same"),
    ],
)
def test_a_plan_that_would_mean_something_else_is_refused(path, value, words):
    with pytest.raises(hc.Refused, match=words):
        plan_from_json(changed(path, value), hash=PLAN.hash)


@pytest.mark.parametrize("data", [None, [], "plan", 3, {}, {"protocol": None}])
def test_what_is_no_plan_is_refused(data):
    for read in (task_from_json, protocol_from_json, plan_from_json):
        with pytest.raises(hc.Refused):
            read(data)


def test_the_hash_of_another_plan_is_refused():
    with pytest.raises(hc.Refused, match="hash is that of another plan"):
        plan_from_json(written(PLAN), hash="0" * 64)


def test_a_reader_that_fills_in_would_have_taken_them():
    """The twin: it reads what it knows, and so a plan that says more, or less, than it will do."""
    data = {**written(PLAN.protocol), "comment": "with twice the noise"}
    del data["crowd"]["least"]
    twin = hc.protocol(data["protocol"], PLAN.protocol.task, n=data["crowd"]["size"], **data["parameters"])
    assert twin == PLAN.protocol
    with pytest.raises(hc.Refused):
        protocol_from_json(data)


@pytest.mark.parametrize("name", EARLIER)
def test_a_plan_of_0_2_0_is_the_same_plan(name, tmp_path):
    saved = tmp_path / "plan.json"
    saved.write_text(json.dumps(EARLIER[name]))
    assert hc.load_plan(saved).hash == EARLIER[name]["hash"]


def test_what_a_later_version_added_is_left_out_of_json_only_at_its_default():
    plan = hc.plan_from_json(EARLIER["poisson-histogram-histogram"]["plan"])
    assert "keep" not in plan.protocol.to_json()["parameters"]
    sparse = replace(plan.protocol, keep=0.5)
    assert protocol_from_json(written(sparse)).keep == sparse.to_json()["parameters"]["keep"] == sparse.keep < 1
