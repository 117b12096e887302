"""What is said of ranks is true as often as it says, also where counts are nearly the same."""

from __future__ import annotations

import numpy as np
import pytest

import headcount as hc
from headcount.answers.top import ranks
from headcount.privacy.laws import discrete_laplace
from headcount.programme.coins import SeededCoins

RUNS = 4_000
LEAST = 0.95 - 4.8 * np.sqrt(0.95 * 0.05 / RUNS)  # a false alarm in a million
TRUTHS = {
    "nearly the same": 1_000 - np.arange(40) // 4,
    "the same": np.full(12, 50),
    "far apart": 1_000 // np.arange(1, 31),
    "a tie at the end": np.array([900, 800, 500, 500, 500, 100]),
}


def true_as_often(truth, k, widen=1.0):
    """How often everybody who is surely among the largest is, and all of the largest are among those who may be."""
    protocol = hc.protocol("geometric", hc.Histogram(truth.size), n=100_000, epsilon=0.5)
    noise = discrete_laplace(float(protocol.rate)).sample(SeededCoins(k), RUNS * truth.size).reshape(RUNS, -1)
    half = widen * protocol.noise(0, 100_000).half_width(0.95 ** (1 / truth.size))
    least = np.sort(truth)[-k]
    right = 0
    for row in truth + noise:
        surely, maybe = ranks(np.stack([row - half, row + half], axis=1), k, None)
        right += bool((truth[surely] >= least).all() and maybe[truth > least].all() and maybe.sum() >= k)
    return right / RUNS


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS.keys())
@pytest.mark.parametrize("k", [1, 3, 5])
def test_what_is_said_of_ranks_is_true_as_often_as_it_says(truth, k):
    assert true_as_often(truth, k) >= LEAST


def test_with_intervals_of_a_tenth_of_the_width_it_is_not():
    assert true_as_often(TRUTHS["nearly the same"], 5, widen=0.1) < LEAST


def test_what_nobody_listed_may_be_anywhere_below_the_threshold():
    ends = np.array([[90.0, 110.0], [40.0, 60.0], [20.0, 39.0]])
    assert [part.tolist() for part in ranks(ends, 2, None)] == [[True, True, False], [True, True, False]]
    surely, _ = ranks(ends, 2, 45.0)
    assert surely.tolist() == [True, False, False]


def test_labels_that_are_not_shown_are_spoken_of():
    held = ["a"] * 5_000 + ["b"] * 4_000 + [f"rare {place}" for place in range(300)]
    top = hc.histogram(held, epsilon=1, delta=1e-6).top(5)
    assert top.hidden
    assert top.surely == ["a", "b"]
    assert "or one that is not shown" in str(top)
    assert not hc.histogram(held, epsilon=1, delta=1e-6).top(2).hidden


def test_the_order_is_that_of_values_or_of_categories():
    answer = hc.histogram(["b"] * 500 + ["c"] * 900 + ["a"] * 100, categories=["c", "b", "a"], epsilon=5)
    assert [cell.category for cell in answer.sorted()] == ["c", "b", "a"]
    assert [cell.category for cell in answer.sorted("category")] == ["a", "b", "c"]
    assert [cell.category for cell in answer.top(2)] == ["c", "b"]
    for wrong in (0, -1, 1.5):
        with pytest.raises(hc.Refused, match="top is"):
            answer.top(wrong)
    with pytest.raises(hc.Refused, match="several categories"):
        hc.count([1, 0], epsilon=1).top(1)
