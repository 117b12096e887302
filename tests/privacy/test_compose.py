"""Composition: an upper bound, nearly tight, in both directions."""

import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as google

import headcount as hc
from headcount.planner.calibrate import calibrate
from headcount.privacy import compose as module
from headcount.privacy import laws
from headcount.privacy.budget import Budget
from headcount.privacy.compose import compose
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import ROUND_UP
from headcount.privacy.loss_distribution import LossDistribution
from headcount.privacy.pair import Pair
from headcount.programme.law import Law
from headcount.protocols import CATALOGUE
from headcount.protocols.central.geometric import Geometric
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count


def chosen(pairs, ratio):
    """The exact divergence of all questions, where the direction of each may hang on the answers before it."""
    if not pairs:
        return np.maximum(1.0 - ratio, 0.0)
    first, *rest = pairs
    ways = [(p[p > 0], q[p > 0]) for p, q in ((first.p, first.q), (first.q, first.p))]
    return np.max([np.tensordot(p, chosen(rest, np.multiply.outer(q / p, ratio)), 1) for p, q in ways], axis=0)


ONE_SIDED = Pair(np.array([1e-6, 0.5 - 1e-6, 0.5]), np.array([0.0, 0.5, 0.5]))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_two_questions_cost_what_their_product_costs(epsilon):
    first, second = Pair.shifted(laws.poisson(5.0)), Pair.shifted(laws.negative_binomial(3.0, 0.5))
    exact, bound = chosen([first, second], np.exp(epsilon)), compose([first, second]).delta(epsilon)
    assert exact <= bound <= 1.02 * exact


def test_three_of_a_kind_cost_what_their_product_costs():
    loss = Pair.shifted(laws.binomial(30, 0.3))
    exact, bound = chosen([loss] * 3, np.exp(1.0)), compose([loss] * 3).delta(1.0)
    assert exact <= bound <= 1.02 * exact


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


# A person's answers may change in opposite directions.


def added(noise):
    """A one against a zero with this noise, by the definition: masses at 0, 1, …"""
    return np.append(0.0, noise), np.append(noise, 0.0)


def negative_binomial(shape, decay, size):
    ratios = (shape - 1 + np.arange(1, size)) / np.arange(1, size) * decay
    return (1 - decay) ** shape * np.cumprod(np.append(1.0, ratios))


def poisson(mean, size=60):
    return np.exp(-mean) * np.cumprod(np.append(1.0, mean / np.arange(1, size)))


def cancelling(inner, shape, decay, size):
    """Pluses and minuses of `correlated-count`: both sides of the flood, and geometric noise on each."""
    own, flood = (1 - np.exp(-inner)) * np.exp(-inner * np.arange(size)), negative_binomial(shape, decay, size)
    view = np.zeros((size + 1, size))
    for pairs in range(size):
        rest = own[: size - pairs]
        view[pairs:-1, pairs:] += flood[pairs] * np.multiply.outer(rest, rest)
    return np.roll(view, 1, axis=0).ravel(), view.ravel()


POISSON = hc.protocol("poisson-count", n=50, mean=1.7822)
NEGATIVE_BINOMIAL = hc.protocol("negative-binomial-count", n=50, shape=10.0, decay=0.576)
STEEP = hc.protocol("correlated-count", n=50, inner=4.2574, shape=1.8979, decay=0.54561)
GENTLE = hc.protocol("correlated-count", n=50, inner=1.349, shape=7.954, decay=0.6615)
OPPOSITE = [
    (POISSON, added(poisson(1.7822)), STEEP, cancelling(4.2574, 1.8979, 0.54561, 100), 3.698145, 0.55809),
    (NEGATIVE_BINOMIAL, added(negative_binomial(10, 0.576, 200)), GENTLE, cancelling(1.349, 7.954, 0.6615, 200), 1.2,
     0.14175),
]  # fmt: skip


def divergence(p, q, epsilon):
    return float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum())


def worst(first, second, epsilon):
    """The exact delta of both questions, over the directions in which a person's answers may change."""
    return max(
        divergence(np.multiply.outer(p, r).ravel(), np.multiply.outer(q, s).ravel(), epsilon)
        for p, q in (first, first[::-1])
        for r, s in (second, second[::-1])
    )


@pytest.mark.parametrize("case", OPPOSITE, ids=["poisson", "negative-binomial"])
def test_answers_that_change_in_opposite_directions_are_bounded(case):
    one, first, other, second, epsilon, known = case
    truth = worst(first, second, epsilon)
    assert truth == pytest.approx(known, abs=1e-5)
    assert truth <= compose([one.loss, other.loss]).delta(epsilon) <= 1.01 * truth


@pytest.mark.parametrize("case", OPPOSITE, ids=["poisson", "negative-binomial"])
def test_forward_with_forward_alone_is_found_out(case, monkeypatch):
    """The twin composes all questions forwards, all of them backwards, and takes the larger."""
    one, first, other, second, epsilon, _ = case

    def forwards(loss, grid, step, top, side):
        apart = int(step / grid)
        epsilon = np.arange(int(np.ceil(top / step)) + 1) * apart * grid
        order, reverse = (loss.orders(epsilon)[way] * ROUND_UP for way in (side, 1 - side))
        below = (1.0 - np.exp(-epsilon) + np.exp(-epsilon) * reverse)[:0:-1]
        return LossDistribution.through(grid, apart, np.minimum.accumulate(np.concatenate([below, order])))

    claimed = 0.0
    for side in (0, 1):
        monkeypatch.setattr(module, "_symmetric", lambda *given, side=side: forwards(*given, side))
        claimed = max(claimed, compose([one.loss, other.loss]).delta(epsilon))
    assert claimed < 0.96 * worst(first, second, epsilon)


RESPONSE = np.exp([[0.25, -0.25], [-0.25, 0.25]]) / (2 * np.cosh(0.25))


def test_directions_that_are_chosen_from_answers_are_bounded():
    """Of three slots, none of them symmetric with the others."""
    slots = [Pair.shifted(laws.poisson(3.0)), Pair(*RESPONSE), Pair.shifted(laws.negative_binomial(3.0, 0.4))]
    exact, bound = chosen(slots, np.exp(0.7)), compose(slots).delta(0.7)
    assert exact == pytest.approx(0.3197, abs=1e-4)
    assert exact <= bound <= 1.03 * exact


# Pure losses.


def test_pure_losses_add_up_at_delta_0():
    losses = [hc.protocol("geometric", n=10, epsilon=epsilon).loss for epsilon in (0.3, 0.5)]
    pure = losses[0].epsilon(0.0) + 2 * losses[1].epsilon(0.0)
    assert compose([losses[0], losses[1], losses[1]]).epsilon(0.0) == pytest.approx(pure, rel=1e-12)
    assert compose([losses[0], losses[1], losses[1]]).epsilon(0.0) >= pure * (1 - 1e-15)
    assert compose([losses[0], POISSON.loss]).epsilon(0.0) == np.inf


PURE = [cls for cls in CATALOGUE if cls.pure]


@pytest.mark.parametrize("cls", PURE, ids=lambda cls: cls.name)
def test_pure_losses_together_are_pure(cls):
    protocol = calibrate(cls, cls.tiny().task, Crowd(1_000), Budget(0.5))
    together = compose([protocol.loss] * 3)
    assert together.delta(1.5) == 0.0
    assert 1.499 < together.epsilon(0.0) <= 1.5
    assert together.epsilon(0.0) == pytest.approx(3 * protocol.loss.epsilon(0.0), rel=1e-12)
    assert together.delta(1.49) > 0.0


def test_one_that_is_not_pure_spoils_it():
    pure = calibrate(Geometric, Count(), Crowd(1_000), Budget(0.5)).loss
    other = calibrate(Zsum, Count(), Crowd(1_000), Budget(0.5, 1e-6)).loss
    assert compose([pure, pure, other]).epsilon(0.0) == math.inf
