"""Privacy loss distributions, beside Google's of the same curve."""

import numpy as np
import pytest
from dp_accounting.pld import pld_pmf

from headcount.privacy import laws
from headcount.privacy.loss_distribution import LossDistribution
from headcount.privacy.pair import Pair

GRID = 2.0**-8


def curve(loss, points):
    """Deltas of a symmetric profile at the points of the grid on either side of zero."""
    epsilon = np.arange(points + 1) * GRID
    worse = np.maximum(*loss.orders(epsilon))
    return np.concatenate([(1 - np.exp(-epsilon) + np.exp(-epsilon) * worse)[:0:-1], worse])


LOSSES = {
    "poisson": Pair.shifted(laws.poisson(200.0)),
    "binomial": Pair.shifted(laws.binomial(3_000, 0.2)),
    "never": Pair(np.array([1e-6, 0.5 - 1e-6, 0.5]), np.array([0.0, 0.5, 0.5])),
}


def theirs(deltas, step=1):
    half = deltas.size // 2
    return pld_pmf.create_pmf_pessimistic_connect_dots(GRID, step * np.arange(-half, half + 1), deltas).to_dense_pmf()


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("times", [1, 2, 12, 365])
def test_repeated_losses_are_those_of_googles_library(name, times):
    deltas = curve(LOSSES[name], 150)
    ours = LossDistribution.through(GRID, 1, deltas).repeated(times)
    google = theirs(deltas).self_compose(times)
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        assert ours.delta(epsilon) == pytest.approx(google.get_delta_for_epsilon(epsilon), rel=1e-9, abs=times * 1e-14)


@pytest.mark.parametrize("points", [20, 400])
def test_losses_of_two_kinds_are_those_of_googles_library(points):
    one, other = (curve(LOSSES[name], points) for name in ("poisson", "never"))
    other = other[:: 2 if points > 20 else 1]
    ours = LossDistribution.through(GRID, 1, one).together(LossDistribution.through(GRID, 400 // points, other))
    google = theirs(one).compose(theirs(other, 400 // points))
    for epsilon in (0.0, 0.1, 0.5):
        assert ours.delta(epsilon) == pytest.approx(google.get_delta_for_epsilon(epsilon), rel=1e-9, abs=1e-14)


def test_the_sum_is_that_of_every_pair_of_losses():
    few = LossDistribution.through(GRID, 30, curve(LOSSES["poisson"], 150)[::30])
    sums = np.add.outer(np.arange(few.masses.size), np.arange(few.masses.size))
    masses = np.bincount(sums.ravel(), np.multiply.outer(few.masses, few.masses).ravel())
    again = few.repeated(2)
    assert again.masses == pytest.approx(masses[again.start - 2 * few.start :][: again.masses.size], abs=1e-15)
    assert few.together(few).masses == pytest.approx(masses, abs=1e-15)


def test_what_is_cut_counts_as_an_infinite_loss():
    """The twin keeps only what is likely and forgets the rest."""
    whole = LossDistribution.through(GRID, 1, curve(LOSSES["poisson"], 150)).repeated(365)
    assert whole.masses.sum() + whole.infinite >= 1.0 - 365 * 2.0**-46
    assert whole.infinite >= 1e-15
    assert whole.masses.size < 365 * 300


def test_an_infinite_loss_of_every_part_is_one_of_the_whole():
    never = LossDistribution.through(GRID, 1, curve(LOSSES["never"], 50))
    assert never.repeated(3).infinite == pytest.approx(1 - (1 - never.infinite) ** 3, rel=1e-8)
    assert never.together(never).infinite == pytest.approx(1 - (1 - never.infinite) ** 2, rel=1e-12)
    sure = LossDistribution(GRID, 0, np.zeros(1), 1.0)
    assert sure.repeated(5).infinite == 1.0
