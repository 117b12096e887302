"""A person who touches a cell in each of k families: the loss of k pairs of cells."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from headcount.privacy import laws
from headcount.privacy.correlated import correlated_loss
from headcount.privacy.discrete_laplace import RepeatedResponse
from headcount.privacy.many_cells import ManyCells, one_of_each
from headcount.privacy.pair import Pair
from headcount.privacy.product import ProductPair, two_cells
from headcount.programme.law import Law

POISSON = {2: 75.14, 3: 109.7, 4: 144.9, 5: 180.3, 8: 286.9, 10: 358.1, 20: 714.7, 32: 1143.0}
GAUSSIAN = {2: 71.41, 5: 178.5, 10: 357.0, 32: 1142.0}
LAPLACE = {1: 7.84, 2: 31.83, 3: 71.83, 4: 127.8, 5: 199.6, 6: 286.4, 8: 473.1, 10: 616.5, 20: 1324.0, 32: 2194.0}


def gaussian(variance: float) -> Law:
    reach = int(12 * variance**0.5)
    masses = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2.0 * variance))
    return Law(-reach, masses / masses.sum())


def rate(variance: float) -> Fraction:
    """Of the discrete Laplace law with this variance, 1 / (2 sinh(rate / 2)**2)."""
    return Fraction(2.0 * np.arcsinh((2.0 * variance) ** -0.5))


@pytest.mark.parametrize(("families", "mean"), POISSON.items())
def test_poisson_cells_hide_as_tabled(families: int, mean: float) -> None:
    assert ManyCells.of(laws.poisson(1.002 * mean), families).delta(1.0) <= 1e-6
    assert ManyCells.of(laws.poisson(0.998 * mean), families).delta(1.0) > 1e-6


@pytest.mark.parametrize(("families", "variance"), GAUSSIAN.items())
def test_gaussian_cells_hide_as_tabled(families: int, variance: float) -> None:
    assert ManyCells.of(gaussian(1.002 * variance), families).delta(1.0) <= 1e-6
    assert ManyCells.of(gaussian(0.998 * variance), families).delta(1.0) > 1e-6


@pytest.mark.parametrize(("families", "variance"), LAPLACE.items())
def test_geometric_cells_hide_as_tabled(families: int, variance: float) -> None:
    assert RepeatedResponse(rate(1.002 * variance), 2 * families).delta(1.0) <= 1e-6
    assert RepeatedResponse(rate(0.998 * variance), 2 * families).delta(1.0) > 1e-6


@pytest.mark.parametrize("families", [2, 5])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 1.4])
def test_the_bound_is_less_than_a_percent_above_the_truth(families: int, epsilon: float) -> None:
    loss = ManyCells.of(laws.poisson(60.0 * families), families)
    assert loss.least(epsilon) <= loss.delta(epsilon) <= 1.006 * loss.least(epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.5, 2.0])
def test_two_families_are_two_products(epsilon: float) -> None:
    """Tilted, also where delta is 1e-16: a transform alone would be lost below 1e-12."""
    pair = Pair.shifted(laws.poisson(75.14))
    likely = Pair(*(np.where((pair.p > 1e-13) | (pair.q > 1e-13), side, 0.0) for side in (pair.p, pair.q)))
    plane = Pair(np.outer(likely.p, likely.q).ravel(), np.outer(likely.q, likely.p).ravel())
    exact = ProductPair(plane, plane).orders(np.array([epsilon]))[0].item()
    found = ManyCells(likely, 2).orders(np.array([epsilon]))[0].item()
    assert exact <= found * (1 + 1e-9)
    assert found <= 1.001 * exact + 1e-23


def test_the_closed_sum_and_the_grid_agree() -> None:
    noise = laws.discrete_laplace(1 / 7)
    for epsilon in (0.0, 0.1, 0.4):
        closed = RepeatedResponse(Fraction(1, 7), 6).delta(epsilon)
        grid = ManyCells.of(noise, 6, replaced=False).delta(epsilon)
        assert closed <= grid <= 1.01 * closed


@pytest.mark.parametrize(("one", "times"), [(Fraction(1, 3), 4), (Fraction(1, 2), 1), (Fraction(1, 5), 3)])
def test_the_closed_sum_is_that_over_all_signs(one: Fraction, times: int) -> None:
    rate, signs = float(one), np.array(list(product((1, -1), repeat=times)))
    losses = rate * signs.sum(axis=1)
    masses = np.prod(1.0 / (1.0 + np.exp(-rate * signs)), axis=1)
    loss = RepeatedResponse(one, times)
    for epsilon in (0.0, 0.25, 0.5, 0.9):
        exact = float((masses * np.maximum(1.0 - np.exp(epsilon - losses), 0.0)).sum())
        assert loss.delta(epsilon) == pytest.approx(exact, rel=1e-9, abs=1e-30)
    assert loss.delta(times * rate * (1 - 1e-6)) > 0.0
    assert loss.delta(times * rate * (1 + 1e-12)) == 0.0


def test_one_family_is_exact() -> None:
    pair = Pair.shifted(laws.poisson(40.0))
    assert one_of_each(pair, 1).kind == two_cells(pair).kind == "exact"
    assert one_of_each(pair, 1).delta(1.0) == two_cells(pair).delta(1.0)
    assert one_of_each(pair, 1, replaced=False) is pair
    assert one_of_each(pair, 2).kind == "rounded"


def test_single_cells_have_two_orders() -> None:
    pair = Pair.shifted(laws.poisson(40.0))
    forward, backward = ManyCells(pair, 1, replaced=False).orders(np.array([0.5]))
    exact = pair.orders(np.array([0.5]))
    assert forward == pytest.approx(exact[0], rel=1e-3)
    assert backward == pytest.approx(exact[1], rel=1e-3)
    assert forward != pytest.approx(backward, rel=0.1)


@pytest.mark.parametrize(("overhead", "families", "dummies"), [(0.05, 2, 1069), (0.1, 3, 553), (0.1, 1, 612)])
def test_floods_of_correlated_cells_hide_as_tabled(overhead: float, families: int, dummies: float) -> None:
    """Dummies of a cell, own and of both signs of the flood, for a standard error above that of the pure sum."""
    whole = 1.0 / (2 * families)
    inner = 2.0 * np.arcsinh(np.sinh(whole / 2.0) / (1.0 + overhead))
    cancel, shape = float(np.exp(-inner)), 12.0
    own = 2.0 * cancel / (1.0 - cancel)

    def delta(total: float) -> float:
        mean = (total - own) / 2.0
        flood = laws.negative_binomial(shape, mean / (mean + shape))
        one = correlated_loss(cancel, 1.0, flood)
        assert isinstance(one, Pair)
        return one_of_each(one, families).delta(1.0)

    assert delta(1.02 * dummies) <= 1e-6 < delta(0.98 * dummies)


def test_a_family_forgotten_is_noticed() -> None:
    """The broken twin: k families accounted as one fewer."""
    law = laws.poisson(75.14)
    assert ManyCells.of(law, 1).delta(1.0) < 0.3 * ManyCells.of(law, 2).least(1.0)
