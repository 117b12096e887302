"""Intervals of many cells at once cover, also where the estimates' lattice is coarse."""

import numpy as np
import pytest

import headcount as hc
from headcount.answers import intervals as cover
from headcount.audit.conformance.coverage import exact_coverage
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from stress import some


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


ORACLES = ["optimised-unary", "generalised-response", "subset-selection"]


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("truth", [0, 500, 10_000, 20_000])
def test_intervals_of_many_people_cover_exactly(name, truth):
    """And hardly more: answers lie on a lattice, and at most two and a half of its points are too many at each end."""
    protocol = hc.protocol(name, hc.Histogram(10), n=20_000, epsilon=1)
    law = protocol.noise(truth, 20_000)
    both_ends = 0.117 * law.step / law.rmse  # the normal density at 1.96, twice
    assert 0.95 <= exact_coverage(protocol, truth, 20_000, 0.95) < 0.95 + 2.5 * both_ends


def shuffled_oracles():
    """Shuffled protocols whose error depends on the truth, with the intervals that all protocols have."""
    for kind in CATALOGUE:
        tiny = kind.tiny()
        if kind.model is Model.SHUFFLE and not tiny.steady and kind.intervals is Protocol.intervals:
            yield kind.name, hc.Histogram(10) if isinstance(tiny.task, hc.Histogram) else tiny.task


SHUFFLED = dict(shuffled_oracles())
PEOPLE = 20_000
FEW_TRUTHS = (0, 500, 10_000, PEOPLE)
MANY_TRUTHS = (*range(0, 40, 3), *range(40, PEOPLE, 797), *range(PEOPLE - 30, PEOPLE + 1, 3))


@pytest.mark.parametrize("name", SHUFFLED)
@pytest.mark.parametrize(
    ("epsilon", "truths"),
    some(
        [(1.0, FEW_TRUTHS), *((epsilon, MANY_TRUTHS) for epsilon in (0.25, 1.0, 4.0))], lambda at: at[1] is FEW_TRUTHS
    ),
)
def test_intervals_of_shuffled_oracles_cover_exactly(name, epsilon, truths):
    """From the exact law of the error. The least of the quick ones is 0.950482, of all 0.950001."""
    protocol = hc.protocol(name, SHUFFLED[name], n=PEOPLE, epsilon=epsilon, delta=1e-6)
    assert min(exact_coverage(protocol, truth, PEOPLE, 0.95) for truth in truths) >= 0.95


def test_all_shuffled_oracles_are_looked_at():
    assert {"cheu-count", "blanket-histogram", "fake-users", "shuffled-subset-selection"} <= SHUFFLED.keys()


def test_a_width_taken_at_the_estimate_does_not_cover(monkeypatch):
    """The twin: as if the truth were what was estimated."""

    def at_the_estimate(protocol, people, reports, confidence):
        return (
            cover.half_widths(protocol, np.clip(np.rint(people), 0, reports).astype(np.int64), reports, confidence)
            - step
        )

    protocol = hc.protocol("generalised-response", hc.Histogram(10), n=20_000, epsilon=1)
    step = protocol.noise(20_000, 20_000).step
    monkeypatch.setattr(cover, "_at_the_ends", at_the_estimate)
    assert exact_coverage(protocol, 20_000, 20_000, 0.95) < 0.95
