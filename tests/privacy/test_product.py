"""Two views at once against the whole plane of their outcomes, and against the figures known for histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import truth

from headcount.common.root_finding import crossing
from headcount.privacy import laws
from headcount.privacy.correlated import correlated_loss
from headcount.privacy.pair import Pair
from headcount.privacy.product import ProductPair, two_cells
from headcount.programme.law import Floats, Law

EPSILONS = [0.0, 0.1, 0.5, 1.0, 2.0, 5.0]


def plane(first: Pair, second: Pair, epsilon: float) -> tuple[float, float]:
    """Every pair of outcomes."""
    p, q = np.outer(first.p, second.p), np.outer(first.q, second.q)
    factor = np.exp(epsilon)
    return float(np.maximum(p - factor * q, 0.0).sum()), float(np.maximum(q - factor * p, 0.0).sum())


def check_plane(product: ProductPair, epsilon: float, orders: tuple[float, float]) -> None:
    for found, expected in zip(product.orders(np.array([epsilon])), orders, strict=True):
        assert found.item() == pytest.approx(expected, rel=1e-9, abs=1e-15)


def minimal(mean_to_delta: Any, target: float, low: float = 20.0, high: float = 80.0) -> float:
    def excess(mean: float) -> float:
        return float(np.log(mean_to_delta(mean) / target))

    return crossing(excess, (low, excess(low)), (high, excess(high)), tight=1e-9)


def normal(*masses: float) -> Floats:
    return np.array(masses) / sum(masses)


# Zeros on either side and on both, ratios that tie, sizes that differ: a search on the wrong side of a tie, a zero
# taken for a finite ratio or two orders exchanged would all show.
ODD = Pair(normal(0.0, 2.0, 1.0, 0.0, 3.0), normal(1.0, 4.0, 2.0, 0.0, 0.5))
EVEN = Pair(normal(1.0, 1.0, 0.0, 2.0, 4.0, 0.1, 7.0), normal(1.0, 1.0, 3.0, 0.0, 8.0, 0.2, 1.0))
CASES = [
    (ODD, EVEN),
    (EVEN, ODD),
    (ODD, ODD),
    (Pair.shifted(laws.poisson(3.0)), EVEN),
    (Pair.shifted(laws.poisson(7.3)), Pair.shifted(laws.negative_binomial(2.5, 0.7))),
    (Pair.shifted(laws.binomial(30, 0.3)), Pair.shifted(laws.discrete_laplace(0.5))),
]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("first", "second"), CASES)
def test_two_views_lose_what_the_plane_of_their_outcomes_does(first: Pair, second: Pair, epsilon: float) -> None:
    check_plane(ProductPair(first, second), epsilon, plane(first, second, epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cell", [ODD, EVEN, *(pair for pair, _ in CASES[3:])])
def test_of_two_cells_that_change_places_one_order_tells_both(cell: Pair, epsilon: float) -> None:
    check_plane(two_cells(cell), epsilon, plane(cell, cell.reversed, epsilon))


def test_the_check_of_the_plane_catches_orders_exchanged_and_a_cell_that_moves_the_same_way() -> None:
    pair = Pair.shifted(laws.poisson(7.3))
    with pytest.raises(AssertionError):
        check_plane(ProductPair(Pair(ODD.q, ODD.p), Pair(EVEN.q, EVEN.p)), 0.5, plane(ODD, EVEN, 0.5))
    with pytest.raises(AssertionError):  # both cells gain: another law, and for some epsilons a smaller delta
        check_plane(ProductPair(pair, pair), 1.0, plane(pair, Pair(pair.q, pair.p), 1.0))


def test_many_epsilons_at_once_are_those_one_by_one() -> None:
    product = two_cells(Pair.shifted(laws.poisson(20.0)))
    forward, backward = product.orders(np.array(EPSILONS))
    assert [product.orders(np.array([e]))[0].item() for e in EPSILONS] == forward.tolist() == backward.tolist()


def test_a_view_without_news_changes_nothing() -> None:
    pair, silent = Pair.shifted(laws.poisson(20.0)), Pair(np.ones(1), np.ones(1))
    for epsilon in EPSILONS:
        assert ProductPair(pair, silent).delta(epsilon) == pytest.approx(pair.delta(epsilon), rel=1e-9)
        assert ProductPair(silent, pair).delta(epsilon) == pytest.approx(pair.delta(epsilon), rel=1e-9)


def test_views_that_never_agree_hide_nothing_at_any_epsilon() -> None:
    apart = Pair(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    for epsilon in (0.0, 1.0, 700.0, 1e6):
        assert ProductPair(apart, ODD).delta(epsilon) == 1.0
        assert ProductPair(ODD, apart).delta(epsilon) == 1.0


def test_what_either_window_drops_is_charged() -> None:
    first, second = Pair(ODD.p, ODD.q, 1e-7), Pair(EVEN.p, EVEN.q, 3e-7)
    assert ProductPair(first, second).slack(1.0) == pytest.approx(4e-7)
    assert two_cells(first).slack(1.0) == pytest.approx(2e-7)  # a reverse that forgets its own would charge half


def test_two_cells_lose_less_than_twice_what_one_does_at_half_the_budget() -> None:
    pair = Pair.shifted(laws.poisson(42.65))
    assert pair.delta(1.0) < two_cells(pair).delta(1.0) < 2.0 * pair.delta(0.5)


# Figures


def test_a_poisson_histogram_needs_dummies_of_mean_42_65() -> None:
    mean = minimal(lambda m: two_cells(Pair.shifted(laws.poisson(m))).delta(1.0), 1e-6)
    assert mean == pytest.approx(42.65, abs=0.01)


@pytest.mark.parametrize(("n", "expected"), [(200, 51.6), (1000, 43.7), (10**9, 42.7)])
def test_a_binomial_histogram_needs_this_much(n: int, expected: float) -> None:
    # In small crowds delta does not fall steadily with the noise: the last crossing on a grid counts.
    grid = np.arange(expected - 0.5, expected + 0.5, 0.05)
    deltas = [two_cells(Pair.shifted(laws.binomial(n, k / n))).delta(1.0) for k in grid]
    enough = grid[int(np.flatnonzero(np.array(deltas) > 1e-6)[-1]) + 1]
    assert enough == pytest.approx(expected, abs=0.1)


def fixed_point_plane(law: truth.Masses, epsilon: float) -> Any:
    """Cell one gains, cell two loses; all in 256-bit fixed point. Both orders are equal."""
    here = np.append(law.units, 0)
    moved = np.insert(law.units, 0, 0)
    factor = truth.fixed(truth.mp.exp(truth.exact(epsilon)))
    total = 0
    for a, b in zip(here.tolist(), moved.tolist(), strict=True):
        total += int(np.maximum(a * moved - (factor * (b * here) >> truth.BITS), 0).sum())
    return truth.real(total >> truth.BITS)


@pytest.mark.parametrize(("mean", "epsilon"), [(42.65, 1.0), (150.0, 1.0), (3.0, 3.0), (12.0, 0.001), (1.0, 50.0)])
def test_two_cells_are_right_down_to_a_delta_of_1e_minus_18(mean: float, epsilon: float) -> None:
    expected = fixed_point_plane(truth.poisson(mean), epsilon)
    product = two_cells(Pair.shifted(laws.poisson(mean)))
    claim = truth.exact(product.delta(epsilon))
    assert claim >= expected  # floats summed without rounding up would fall short now and then
    assert float(claim) == pytest.approx(float(expected), rel=1e-7, abs=1e-29)
    if mean == 150.0:
        assert 1e-19 < claim < 1e-16


# The noise that cancels


def joint(q: float, flood: Law, held: int) -> Floats:
    """P[held + A + Z = u, B + Z = v] for geometric A and B."""
    reach = 60
    own = (1.0 - q) * q ** np.arange(reach)
    view = np.zeros((reach + flood.masses.size + flood.start + 1,) * 2)
    for z, mass in zip(flood.values.tolist(), flood.masses.tolist(), strict=True):
        view[z + held : z + held + reach, z : z + reach] += mass * np.outer(own, own)
    return view


@pytest.mark.parametrize("epsilon", [0.2, 0.9, 1.3, 2.5])
def test_cancelling_noise_in_two_buckets_loses_what_all_four_totals_do(epsilon: float) -> None:
    q, flood = 0.25, Law(0, np.array([0.1, 0.2, 0.3, 0.25, 0.15]))
    pair = correlated_loss(q, 1.0, flood)
    assert isinstance(pair, Pair)
    views = [joint(q, flood, held).ravel() for held in (0, 1)]
    seen = (views[0] > 1e-17) | (views[1] > 1e-17)
    whole = Pair(views[0][seen], views[1][seen])
    gain, lose = whole, Pair(whole.q, whole.p)
    expected = plane(gain, lose, epsilon)
    for found, order in zip(two_cells(pair).orders(np.array([epsilon])), expected, strict=True):
        assert found.item() == pytest.approx(order, rel=1e-7)


def test_hundreds_of_thousands_of_cells_are_no_plane() -> None:
    pair = Pair.shifted(laws.negative_binomial(8.0, 1.0 - 3e-4))
    assert pair.p.size > 250_000
    product = two_cells(pair)
    assert product.delta(0.01) < product.delta(0.005) < 1.0  # a plane would take 10**11 cells
    assert product.epsilon(1e-12) < 1.0


def test_large_epsilons_do_not_overflow() -> None:
    product = two_cells(Pair.shifted(laws.poisson(42.65)))
    deltas = [product.delta(epsilon) for epsilon in (0.0, 0.001, 1.0, 50.0, 700.0, 1000.0)]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] == pytest.approx(np.exp(-42.65), rel=1e-6)  # an empty cell that gave one away
