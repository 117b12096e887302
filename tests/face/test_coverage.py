"""Intervals of many cells at once cover, also where the estimates' lattice is coarse."""

import numpy as np
import pytest

import headcount as hc


@pytest.mark.parametrize("name", ["optimised-unary", "generalised-response", "hadamard-response"])
def test_intervals_of_many_small_cells_cover(name):
    """Rare categories and a large epsilon: the width must be that of the truth, not of the estimate.

    Coverage is at least 95% for every cell; in 1,600 cells a fraction below 0.92 has a chance below 1e-6.
    """
    d, n, runs = 200, 4_000, 8
    held = np.r_[np.full(d - 1, 4), n - 4 * (d - 1)]
    values = np.repeat(np.arange(d), held)
    protocol = hc.protocol(name, hc.Histogram(d), n=n, epsilon=10)
    coins = hc.SeededCoins(3)
    covered = []
    for _ in range(runs):
        tally = protocol.tally(protocol.reports(values, coins))
        ends = protocol.intervals(tally, 0.95)
        covered.append((ends[:, 0] <= held) & (held <= ends[:, 1]))
    assert np.mean(covered) > 0.92
