"""The loss of a person who is behind several reports: never below what their reports together give away."""

import numpy as np
import pytest
from scipy import stats

import headcount as hc
from headcount.core.budget import Neighbours
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument
from headcount.core.loss import Together
from headcount.privacy.calibrate import calibrate
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift

EPSILONS = (0.05, 0.3, 1.0, 2.5)


def shifted(masses, by, epsilon):
    """The divergence of a law of integers from itself moved by so many, in the worse order."""
    wide = np.concatenate([np.zeros(by), masses, np.zeros(by)])
    moved = np.roll(wide, by)
    return max(np.maximum(a - np.exp(epsilon) * b, 0.0).sum() for a, b in ((wide, moved), (moved, wide)))


@pytest.mark.parametrize("reports", [2, 3, 7])
def test_it_is_never_below_the_truth(reports):
    for epsilon in EPSILONS:
        rate = 0.4
        exact = DiscreteLaplaceShift(rate, reports).delta(epsilon)
        assert Together(DiscreteLaplaceShift(rate, 1), reports).delta(epsilon) >= exact * (1 - 1e-9)
    flood = hc.protocol("poisson-count", n=1_000, epsilon=0.5, delta=1e-5).among(Crowd(1_000, each=reports))
    mean = flood.parameters["mean"]
    masses = stats.poisson.pmf(np.arange(int(mean + 20 * np.sqrt(mean))), mean)
    for epsilon in EPSILONS:
        assert flood.loss.delta(epsilon) >= shifted(masses, reports, epsilon) * (1 - 1e-9)


def test_without_delta_it_is_exact():
    several = Together(DiscreteLaplaceShift(0.25, 1), 4)
    assert several.delta(1.0) == 0.0
    assert several.delta(0.99) >= DiscreteLaplaceShift(0.25, 4).delta(0.99) > 0.0


def test_a_plan_for_several_rows_keeps_the_budget_for_all_of_them():
    for kind, delta in (("geometric", 0.0), ("zsum", 1e-6), ("randomised-response", 0.0)):
        one = hc.protocol(kind, n=5_000, epsilon=1, delta=delta)
        cls = type(one)
        budget = hc.Budget(1.0, delta)
        three = calibrate(cls, hc.Count(), Crowd(5_000, each=3), budget)
        budget.require(three.loss)
        assert three.loss.kind == "bound"
        assert three.rmse() > 2 * one.rmse()
        weaker = cls(task=hc.Count(), crowd=Crowd(5_000, each=3), neighbours=Neighbours.REPLACE, **one.parameters)
        assert weaker.loss.delta(1.0) > delta  # what suffices for one report does not for three


def test_a_local_report_costs_as_often_as_it_is_sent():
    flipped = hc.protocol("randomised-response", n=100, epsilon=1)
    several = flipped.among(Crowd(100, each=3))
    assert several.left_alone == pytest.approx(3 * flipped.local_epsilon)
    assert several.loss.epsilon(0.0) == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("each", [0, 1.5, 1_001])
def test_how_many_must_make_sense(each):
    with pytest.raises(BadArgument, match="max_contributions"):
        Crowd(100, each=each)
