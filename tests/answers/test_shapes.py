"""Bands and intervals of quantiles cover as often as they say, whatever the data look like."""

import numpy as np
import pytest

import headcount as hc
from headcount.programme.coins import SeededCoins
from stress import lengths

BINS, PEOPLE = 64, 2_000
EDGES = np.arange(BINS)
SHAPES = {
    "uniform": np.ones(BINS),
    "two spikes": np.where((EDGES == 9) | (EDGES == 50), 1.0, 0.0),
    "heavy tail": 1.0 / (1.0 + EDGES) ** 2,
    "all equal": np.where(EDGES == 31, 1.0, 0.0),
    "gaps": np.where(EDGES % 16 < 4, 1.0, 0.0),
    "two humps": np.exp(-(((EDGES - 15) / 5.0) ** 2)) + np.exp(-(((EDGES - 45) / 5.0) ** 2)),
    "at the ends": np.where((EDGES == 0) | (EDGES == BINS - 1), 1.0, 0.0),
    "slope": EDGES + 1.0,
}
PARTS = (0.25, 0.5, 0.9)
CONFIDENCE = 0.9
ALARM = 5.5  # standard errors


def people(shape: str) -> np.ndarray:
    shares = SHAPES[shape] / SHAPES[shape].sum()
    return np.diff(np.rint(np.append(0.0, np.cumsum(shares)) * PEOPLE)).astype(np.int64)


@lengths("runs", 40, 2_500)  # of eight shapes: 20,000 in all
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("protocol", "radices"),
    [
        ("geometric", (8, 8)),
        ("poisson-histogram", (4, 4, 4)),
        ("hashed-histogram", (4, 4, 4)),
        ("oracle-by-lot", (4, 4, 4)),
    ],
)
def test_bands_and_quantiles_cover(shape: str, protocol: str, radices: tuple[int, ...], runs: int) -> None:
    task = hc.Distribution((0, BINS), BINS, radices=radices)
    hashed = {"buckets": 20} if protocol == "hashed-histogram" else {}  # the last level's 64 nodes, and no others
    calibrated = hc.protocol(protocol, task, n=PEOPLE, epsilon=1, delta=1e-6, **hashed)
    held = people(shape)
    curve = np.append(0, np.cumsum(held)) / PEOPLE
    truths = [int(np.flatnonzero(curve[1:] >= part)[0]) for part in PARTS]
    covered = np.zeros(1 + len(PARTS))
    for totals in calibrated.sample(held, SeededCoins(7), runs):
        answer = calibrated.estimate(hc.Tally(PEOPLE, totals, released=True))
        band = answer.band(CONFIDENCE)
        covered[0] += bool(((band[:, 2] <= curve + 1e-12) & (curve - 1e-12 <= band[:, 3])).all())
        for place, (part, truth) in enumerate(zip(PARTS, truths, strict=True), 1):
            low, high = answer.quantile_ends(part, (1.0 - CONFIDENCE) / 2.0)
            covered[place] += low <= truth and truth + 1 <= high
    assert (covered / runs >= CONFIDENCE - ALARM * np.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / runs)).all()
