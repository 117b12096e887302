"""Counts and histograms of almost nobody: one-sided flips, and messages that are dropped."""

import math

import numpy as np
import pytest

import headcount as hc
from headcount.planner.calibrate import calibrate
from headcount.privacy import Budget, Crowd, laws
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.one_sided_count import OneSidedCount
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.questions import Count, Histogram

BUDGET = Budget(1.0, 1e-6)


@pytest.mark.parametrize(
    ("people", "empty", "twenty"), [(1_000, 3.21, 4.67), (10_000, 3.23, 4.70), (10**6, 3.23, 4.70)]
)
def test_one_sided_flips_err_by_half_where_there_are_hardly_any_ones(people, empty, twenty):
    plan = calibrate(OneSidedCount, Count(), Crowd(people), BUDGET)
    assert plan.rmse(0) == pytest.approx(empty, rel=0.025)
    assert plan.rmse(20) == pytest.approx(twenty, rel=0.02)
    symmetric = calibrate(CheuCount, Count(), Crowd(people), BUDGET).rmse()
    assert plan.rmse(38) < symmetric < plan.rmse(44)


def worst_of_all(plan, epsilon):
    """The divergence for every number of ones among the others, in both orders."""
    worst, factor, others = 0.0, math.exp(epsilon), plan.crowd.size - 1
    for ones in range(others + 1):
        rest = laws.binomial(ones, plan.supports_own) + laws.binomial(others - ones, plan.supports_other)
        views = [np.convolve(rest.masses, [1.0 - own, own]) for own in (plan.supports_own, plan.supports_other)]
        worst = max(worst, *(np.maximum(p - factor * q, 0.0).sum() for p, q in (views, views[::-1])))
    return worst


@pytest.mark.parametrize(("people", "lam", "keep"), [(8, 2.0, 0.6), (60, 8.0, 0.632), (300, 7.0, 0.632)])
def test_no_number_of_ones_loses_more(people, lam, keep):
    plan = OneSidedCount(crowd=Crowd(people), lam=lam, keep=keep)
    for epsilon in (0.3, 1.0):
        assert worst_of_all(plan, epsilon) <= plan.loss.delta(epsilon) * (1 + 1e-9)


def test_the_check_of_ones_catches_a_loss_among_more_people():
    plan = OneSidedCount(crowd=Crowd(60), lam=8.0, keep=0.632)
    assert worst_of_all(plan, 1.0) > plan.view(600).delta(1.0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "keep", "mean", "empty", "each"),
    [(1, 1e-6, 1.0, 42.65, 42.65, 0), (1, 1e-6, 0.5, 8.53, 34.1, 1), (1, 1e-6, 0.4, 4.93, 30.8, 1.5),
     (1, 1e-6, 0.2, 1.02, 25.4, 4), (4, 1e-10, 0.5, 0.12, 0.5, 1), (0.1, 1e-6, 0.2, 105, 2634, 4)],
)  # fmt: skip
def test_fewer_messages_need_far_fewer_dummies(epsilon, delta, keep, mean, empty, each):
    plan = calibrate(PoissonHistogram, Histogram(100), Crowd(10_000), Budget(epsilon, delta), keep=keep)
    assert plan.mean == pytest.approx(mean, rel=0.05)
    assert plan.rmse(0) ** 2 == pytest.approx(empty, rel=0.02)
    assert plan.rmse(1) ** 2 - plan.rmse(0) ** 2 == pytest.approx(each, rel=0.01, abs=1e-9)


def test_messages_are_dropped_where_cells_are_said_to_be_nearly_empty():
    full, sparse = (
        hc.advise(hc.Histogram(1000), n=10_000, epsilon=1, delta=1e-6, protocols=["poisson-histogram"], **said)
        for said in ({}, {"ones": 2})
    )
    assert full.best.protocol.keep == 1.0
    assert sparse.best.protocol.keep < 1.0


@pytest.mark.parametrize("name", ["one-sided-count", "poisson-histogram"])
def test_both_are_proved_at_a_million(name):
    given = {"keep": 0.4} if name == "poisson-histogram" else {}
    plan = hc.protocol(name, hc.Histogram(9) if given else hc.Count(), n=10**6, epsilon=1, delta=1e-6, **given)
    assert hc.verify(hc.certify(plan, epsilon=1)).answer == "proved"
