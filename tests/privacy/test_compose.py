"""Composition: an upper bound, nearly tight, in both directions."""

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as google

import headcount as hc
from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.law import Law
from headcount.core.task import Count
from headcount.privacy import laws
from headcount.privacy.calibrate import calibrate
from headcount.privacy.compose import compose
from headcount.privacy.pair import Pair
from headcount.protocols import CATALOGUE
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.shuffle.zsum import Zsum


def product(first, second):
    """The exact pair of asking both questions."""
    return Pair(np.multiply.outer(first.p, second.p).ravel(), np.multiply.outer(first.q, second.q).ravel())


ONE_SIDED = Pair(np.array([1e-6, 0.5 - 1e-6, 0.5]), np.array([0.0, 0.5, 0.5]))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_two_questions_cost_what_their_product_costs(epsilon):
    first, second = Pair.shifted(laws.poisson(5.0)), Pair.shifted(laws.negative_binomial(3.0, 0.5))
    exact, bound = product(first, second).delta(epsilon), compose([first, second]).delta(epsilon)
    assert exact <= bound <= 1.01 * exact


def test_three_of_a_kind_cost_what_their_product_costs():
    loss = Pair.shifted(laws.binomial(30, 0.3))
    exact, bound = product(product(loss, loss), loss).delta(1.0), compose([loss] * 3).delta(1.0)
    assert exact <= bound <= 1.01 * exact


def test_one_question_costs_itself():
    assert compose([ONE_SIDED]) is ONE_SIDED


def test_no_question_is_refused():
    with pytest.raises(hc.Refused, match="losses"):
        compose([])


def test_a_composed_loss_says_that_it_is_a_bound():
    assert compose([ONE_SIDED, ONE_SIDED]).kind == "bound"


def test_both_directions_are_composed():
    assert compose([ONE_SIDED, ONE_SIDED]).delta(1.0) >= 1.9e-6
    flipped = Pair(ONE_SIDED.q, ONE_SIDED.p)
    assert compose([flipped, flipped]).delta(1.0) >= 1.9e-6


def test_the_one_sided_default_would_have_missed_it():
    lower, upper = ({i: float(np.log(m)) for i, m in enumerate(side) if m} for side in (ONE_SIDED.q, ONE_SIDED.p))
    default = google.from_two_probability_mass_functions(upper, lower)
    told = google.from_two_probability_mass_functions(upper, lower, symmetric=False)
    assert min(default.get_delta_for_epsilon(1.0), 1e-12) < 1e-10 <= told.get_delta_for_epsilon(1.0)


@pytest.mark.parametrize("name", ["zsum", "poisson-count", "correlated-count", "geometric", "randomised-response"])
def test_a_hundred_questions_are_bounded_within_one_percent(name):
    loss = hc.protocol(name, n=100_000, epsilon=0.1, delta=1e-9).loss
    coarse, fine = compose([loss] * 100), compose([loss] * 100, points=2_000)
    assert coarse.epsilon(1e-6) == pytest.approx(fine.epsilon(1e-6), rel=0.01)
    assert coarse.epsilon(1e-6) < 100 * 0.1


def test_losses_of_different_protocols_compose():
    losses = [hc.protocol(name, n=10_000, epsilon=0.5, delta=1e-7).loss for name in ("zsum", "cheu-count", "geometric")]
    assert losses[0].delta(1.5) < compose(losses).delta(1.5) < 3e-7


def test_a_point_mass_composes_to_certainty():
    sure = Pair.of(Law(0, np.ones(1)), Law(1, np.ones(1)))
    assert compose([sure, sure]).delta(5.0) == pytest.approx(1.0)


PURE = [cls for cls in CATALOGUE if cls.pure]


@pytest.mark.parametrize("cls", PURE, ids=lambda cls: cls.name)
def test_pure_losses_together_are_pure(cls):
    protocol = calibrate(cls, cls.tiny().task, Crowd(1_000), Budget(0.5))
    together = compose([protocol.loss] * 3)
    assert together.delta(1.5) == 0.0
    assert together.epsilon(0.0) == pytest.approx(1.5, rel=1e-6)
    assert together.delta(1.49) > 0.0


def test_one_that_is_not_pure_spoils_it():
    pure, other = (calibrate(cls, Count(), Crowd(1_000), Budget(0.5, delta)).loss
                   for cls, delta in ((Geometric, 0.0), (Zsum, 1e-6)))  # fmt: skip
    assert compose([pure, pure, other]).epsilon(0.0) == math.inf
