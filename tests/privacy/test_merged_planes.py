"""Planes of correlated noise whose cells are brought to a grid of losses: never less, and hardly more."""

import math

import numpy as np
import pytest

from headcount.privacy import correlated, laws
from headcount.privacy.compose import compose
from headcount.privacy.correlated import CorrelatedView, two_correlated_losses

VIEW = CorrelatedView(laws.negative_binomial(3.0, 0.8), laws.negative_binomial(8.0, 0.9))
EPSILON = np.array([0.0, 0.01, 0.03, 0.05, 0.1, 0.2])


def above_in_both_orders(merged):
    """How far its divergences are above those of all cells, at least and at most."""
    ratios = np.divide(merged.orders(EPSILON), VIEW.pair.orders(EPSILON))
    return float(ratios.min()) - 1.0, float(ratios[0].max()) - 1.0


def test_a_merged_plane_dominates_and_is_close():
    least, most = above_in_both_orders(VIEW.merged)
    assert least > -1e-12
    assert most < 1e-6
    assert VIEW.merged.p.size < 0.2 * VIEW.pair.p.size


def test_cells_that_are_rounded_down_are_found_out(monkeypatch):
    """The twin keeps each outcome at the grid's next loss below."""
    monkeypatch.setattr(np, "expm1", np.zeros_like)
    twin = CorrelatedView(VIEW.own, VIEW.flood).merged
    monkeypatch.undo()
    assert above_in_both_orders(twin)[0] < -1e-6


def test_what_is_beyond_the_grid_counts_as_told(monkeypatch):
    monkeypatch.setattr(correlated, "FURTHEST", 100)
    near = CorrelatedView(VIEW.own, VIEW.flood).merged
    assert (np.max(near.orders(EPSILON), axis=0) >= np.max(VIEW.pair.orders(EPSILON), axis=0) * (1 - 1e-12)).all()
    beyond = VIEW.pair.p > math.exp(101 * correlated.GRID) * VIEW.pair.q
    assert near.p[-2] == pytest.approx(float(VIEW.pair.p[beyond].sum()), rel=0.05)


def test_rounds_of_two_cells_are_composed_from_merged_planes(monkeypatch):
    one = two_correlated_losses(0.8, 3.0, laws.negative_binomial(8.0, 0.9), 1)
    merged = compose([one] * 4)
    assert [part.kind for part in merged.times] == ["rounded"]
    monkeypatch.setattr(type(one), "parts", property(lambda self: (self,)))
    exact = compose([one] * 4)
    for epsilon in (0.5, 1.0):
        assert merged.delta(epsilon) == pytest.approx(exact.delta(epsilon), rel=1e-5)


def test_a_plane_of_millions_of_cells_has_a_price(monkeypatch):
    few = two_correlated_losses(0.8, 3.0, laws.negative_binomial(8.0, 0.9), 1)
    monkeypatch.setattr(correlated, "FEW_CELLS", 1 << 10)
    many = two_correlated_losses(0.8, 3.0, laws.negative_binomial(8.0, 0.9), 1)
    assert many.kind == "rounded"
    for epsilon in (0.1, 0.3):
        assert few.delta(epsilon) <= many.delta(epsilon) <= few.delta(epsilon) * 1.001
