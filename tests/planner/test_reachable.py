"""What no protocol reaches with any crowd is refused before anything is calibrated."""

import time

import pytest

import headcount as hc
from headcount.planner.objective import Objective
from headcount.planner.reachable import least_half_width, require_reachable

LARGE = 10**6


@pytest.mark.parametrize(
    ("question", "within"),
    [(hc.Sum((0, 1)), 1e-6), (hc.Sum((0, 100)), 90), ("count", 0.9), (hc.Mean((0, 1)), 1e-11), ("fraction", 9e-11),
     (hc.Histogram(10), 0.9)],
)  # fmt: skip
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_it_is_refused_at_once(question, within, neighbours):
    times = 1.0 if neighbours == "replace" else 0.5
    if neighbours == "add-remove" and getattr(question, "name", question) in ("mean", "fraction"):
        pytest.skip("a ratio of two private numbers has no such bound")
    began = time.process_time()
    with pytest.raises(hc.errors.Infeasible, match="however many people"):
        hc.smallest_n(question, within=times * within, epsilon=1, delta=1e-6, neighbours=neighbours)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("question", [hc.Count(), hc.Histogram(3), hc.Sum((0, 7))], ids=str)
def test_no_protocol_is_better_than_the_bound(epsilon, neighbours, question):
    wishes = {"epsilon": epsilon, "delta": 1e-3, "objective": "interval", "neighbours": neighbours, "models": "central"}
    best = hc.advise(question, n=LARGE, **wishes).best.protocol
    half = Objective.INTERVAL.of(best, hc.advise(question, n=LARGE, **wishes).situation.expected, LARGE, 0.95)
    bound = least_half_width(hc.Budget(epsilon, 1e-3, hc.Neighbours(neighbours)), 0.95)
    assert bound <= half


def test_the_bound_is_that_of_the_formula():
    # e**2 * 0.05 < 0.95 <= e**3 * 0.05: truths two people apart can be told apart, three need not
    assert least_half_width(hc.Budget(1), 0.95) == 1.0
    assert least_half_width(hc.Budget(1, neighbours=hc.Neighbours.ADD_REMOVE), 0.95) == 0.5
    assert least_half_width(hc.Budget(3), 0.95) == 0.0
    require_reachable(hc.Count(), hc.Budget(1), Objective.INTERVAL, 0.95, 1.0)
    with pytest.raises(hc.errors.Infeasible):
        require_reachable(hc.Count(), hc.Budget(1), Objective.INTERVAL, 0.95, 0.99)
