"""The loss of a person who is behind several reports: never below what their reports together give away."""

import numpy as np
import pytest
from scipy import stats

import headcount as hc
from headcount.errors import BadArgument
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift
from headcount.privacy.loss import GroupPrivacy
from headcount.privacy.model import Model
from headcount.programme.release import Unchanged
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.protocol import Protocol

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
        assert GroupPrivacy(DiscreteLaplaceShift(rate, 1), reports).delta(epsilon) >= exact * (1 - 1e-9)
    flood = hc.protocol("poisson-count", n=1_000, epsilon=0.5, delta=1e-5).among(Crowd(1_000, each=reports))
    mean = flood.parameters["mean"]
    masses = stats.poisson.pmf(np.arange(int(mean + 20 * np.sqrt(mean))), mean)
    for epsilon in EPSILONS:
        assert flood.loss.delta(epsilon) >= shifted(masses, reports, epsilon) * (1 - 1e-9)


def test_without_delta_it_is_exact():
    several = GroupPrivacy(DiscreteLaplaceShift(0.25, 1), 4)
    assert several.delta(1.0) == 0.0
    assert several.delta(0.99) >= DiscreteLaplaceShift(0.25, 4).delta(0.99) > 0.0


def test_a_plan_for_several_rows_keeps_the_budget_for_all_of_them():
    for kind, delta in (("geometric", 0.0), ("zsum", 1e-6), ("randomised-response", 0.0)):
        one = hc.protocol(kind, n=5_000, epsilon=1, delta=delta)
        cls = type(one)
        budget = hc.Budget(1.0, delta)
        three = calibrate(cls, hc.Count(), Crowd(5_000, each=3), budget)
        budget.require(three.loss)
        assert three.loss.kind == ("exact" if kind == "geometric" else "bound")
        assert three.rmse() > 2 * one.rmse()
        weaker = cls(task=hc.Count(), crowd=Crowd(5_000, each=3), neighbours=Neighbours.REPLACE, **one.parameters)
        assert weaker.loss.delta(1.0) > delta  # what suffices for one report does not for three


def test_a_local_report_costs_as_often_as_it_is_sent():
    flipped = hc.protocol("randomised-response", n=100, epsilon=1)
    several = flipped.among(Crowd(100, each=3))
    assert several.group_local_epsilon == pytest.approx(3 * flipped.local_epsilon)
    assert several.loss.epsilon(0.0) == pytest.approx(3 * flipped.local_epsilon, rel=1e-6)


@pytest.mark.parametrize("each", [0, 1.5, 1_001])
def test_how_many_must_make_sense(each):
    with pytest.raises(BadArgument, match="max_contributions"):
        Crowd(100, each=each)


def sampled(holders, rate, threshold):
    """What passes of so many holders' reports: nothing first, then every count from the threshold on."""
    masses = stats.binom.pmf(np.arange(4_000), holders, rate)
    return np.append(masses[:threshold].sum(), masses[threshold:])


def worst_of_moving(rate, threshold, by, epsilon, people):
    """The larger divergence, over all numbers of holders, of so many reports more or less."""
    laws = [sampled(holders, rate, threshold) for holders in range(people + 1)]
    factor = np.exp(epsilon)
    pairs = zip(laws, laws[by:], strict=False)
    return max(max(np.maximum(p - factor * q, 0.0).sum(), np.maximum(q - factor * p, 0.0).sum()) for p, q in pairs)


def test_sampling_and_thresholding_hides_all_reports_of_a_person():
    plan = hc.advise(
        hc.Count(), n=1_500, epsilon=1, delta=1e-6, models=["shuffle-threshold"], neighbours="add-remove",
        max_contributions=3,
    ).best  # fmt: skip
    rate, threshold = (plan.protocol.parameters[name] for name in ("rate", "threshold"))
    truth = worst_of_moving(rate, threshold, 3, 1.0, min(1_500, 3 * threshold))
    assert truth <= plan.protocol.loss.delta(1.0) <= 1e-6
    # The account of one report, which a leaf that wrote its own loss used to show for all three, falls below.
    assert plan.protocol.view(1_500).delta(1.0) < truth


@pytest.mark.parametrize("name", [cls.name for cls in CATALOGUE])
def test_no_protocol_promises_to_one_report_what_it_owes_to_several(name):
    tiny = named(name).tiny()
    one, three = tiny.loss, tiny.among(Crowd(tiny.crowd.size, each=3)).loss
    assert all(three.delta(epsilon) >= one.delta(epsilon) for epsilon in EPSILONS)
    assert any(three.delta(epsilon) > one.delta(epsilon) for epsilon in EPSILONS) or one.delta(2.5) == 1.0


@pytest.mark.parametrize("name", Protocol.FINAL)
def test_no_protocol_can_write_its_own_promise(name):
    with pytest.raises(TypeError, match=f"overrides {name}"):
        type("Careless", (named("sample-threshold"),), {name: property(lambda _: None)})
    aside = type("Aside", (), {name: property(lambda _: None)})
    with pytest.raises(TypeError, match=f"overrides {name}"):
        type("Careless", (aside, named("sample-threshold")), {})


@pytest.mark.parametrize("name", ["released", "by_analyser"])
def test_no_leaf_has_a_release_step_where_nobody_is_trusted_to_take_it(name):
    step = {name: lambda _: Unchanged()}
    with pytest.raises(TypeError, match="in the shuffle model"):
        type("Leaf", (named("zsum"),), step)
    type("Leaf", (named("zsum"),), {**step, "model": Model.CENTRAL})


@pytest.mark.parametrize("several", [2, 3])
def test_rows_in_several_totals_show_no_more_than_all_of_them_in_one(several):
    # The exact law of every way to spread the rows, over every epsilon where anything changes, and between.
    for rate in (0.05, 0.4, 1.3):
        steps = np.arange(-400, 401)
        masses = np.exp(-rate * np.abs(steps)) * np.tanh(rate / 2)
        one = DiscreteLaplaceShift(rate, several)
        for epsilon in np.arange(0.0, several + 0.6, 0.25) * rate:
            apart = [(masses[:-1], masses[1:])] * several
            p, q = np.ones(1), np.ones(1)
            for up, down in apart:
                ratio = np.log(up / down) > 0  # either e**rate or e**-rate
                ups, downs = (np.array([side[ratio].sum(), side[~ratio].sum()]) for side in (up, down))
                p, q = np.outer(p, ups).ravel(), np.outer(q, downs).ravel()
            assert np.maximum(p - np.exp(epsilon) * q, 0.0).sum() <= one.delta(epsilon) + 1e-12
