"""Sampled and thresholded histograms, one person moving: the claim against the joint law of both buckets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headcount.privacy.sampled_counts import UNSEARCHED, SampledCount, SampledHistogram


def shown(rate: float, threshold: int, holders: int, most: int) -> np.ndarray:
    """P[nothing is shown], then P[threshold .. most]."""
    masses = np.zeros(most + 1)
    for v in range(min(holders, most) + 1):
        masses[v] = math.comb(holders, v) * rate**v * (1 - rate) ** (holders - v)
    return np.concatenate([[masses[:threshold].sum()], masses[threshold:]])


def all_counts(rate: float, threshold: int, people: int, epsilon: float) -> float:
    """One bucket of j people gains somebody, one of k + 1 loses somebody, for every j and k there are people for."""
    laws = [shown(rate, threshold, holders, people) for holders in range(people + 1)]
    factor, worst = math.exp(epsilon), 0.0
    for j in range(people):
        for k in range(people - j):
            p, q = np.outer(laws[j], laws[k + 1]), np.outer(laws[j + 1], laws[k])
            worst = max(worst, float(np.maximum(p - factor * q, 0.0).sum()))
    return worst


@pytest.mark.parametrize(
    ("rate", "threshold", "people"),
    [(0.3, 3, 30), (0.6, 5, 24), (0.1, 1, 25), (0.1, 2, 40), (0.9, 6, 16), (0.45, 4, 4), (0.45, 4, 9), (0.02, 2, 12)],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7, 2.0])
def test_the_claim_is_the_worst_of_all_pairs_of_counts(
    rate: float, threshold: int, people: int, epsilon: float
) -> None:
    # An account of one bucket only falls below this for the larger rates, as does one for a single pair of counts.
    found = all_counts(rate, threshold, people, epsilon)
    delta = SampledHistogram(rate, threshold, people).delta(epsilon)
    assert found * (1 - 1e-11) <= delta <= found * UNSEARCHED * (1 + 1e-8) + 1e-30


@pytest.mark.parametrize(
    ("rate", "threshold", "epsilon"),
    [
        (0.302, 17, 1.0),
        (0.2613, 16, 0.0628),
        (0.2352, 9, 0.0),
        (0.1909, 2, 0.0227),
        (0.7662, 18, 0.0166),
        (0.6, 20, 1.0),
    ],
)
def test_the_search_finds_the_worst_of_all_counts_of_a_large_crowd(rate: float, threshold: int, epsilon: float) -> None:
    # Every pair of counts, where coarser searches have missed it by up to one and a half per cent.
    loss = SampledHistogram(rate, threshold, 10**6)
    k, j = loss._first_look(epsilon)
    parts = np.array_split(np.arange(j[-1] + 1), 1 + int(j[-1]) // 64)
    found = max(float(loss._table(np.arange(k[0], k[-1] + 1), part, epsilon).max()) for part in parts)
    assert found <= loss.orders(np.array([epsilon]))[0].item() <= found * UNSEARCHED * (1 + 1e-12)


def test_moving_costs_more_than_leaving_at_the_same_epsilon() -> None:
    # 4% here, and more than twice as much at a rate near 1 - 1/e: the loss of one bucket may not stand in for two.
    assert SampledHistogram(0.302, 17, 10**6).delta(1.0) > 1.04 * SampledCount(0.302, 17, 10**6).delta(1.0)
    rate = 0.95 * -math.expm1(-1.0)
    assert SampledHistogram(rate, 60, 10**6).delta(1.0) > 2.2 * SampledCount(rate, 60, 10**6).delta(1.0)


@pytest.mark.parametrize(("rate", "threshold"), [(0.3, 17), (0.1, 6), (0.05, 20)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_moving_costs_no_more_than_leaving_with_the_epsilon_of_the_bucket_gained(
    rate: float, threshold: int, epsilon: float
) -> None:
    moved = SampledHistogram(rate, threshold, 10**5).delta(epsilon - math.log1p(-rate))
    assert moved <= UNSEARCHED * (1 + 1e-9) * SampledCount(rate, threshold, 10**5).delta(epsilon) + 1e-30


def test_few_people_cannot_fill_both_buckets() -> None:
    # With nobody to spare for the bucket gained, moving costs what leaving does.
    few, many = (SampledHistogram(0.5, 10, people).delta(0.8) for people in (12, 10**6))
    assert few < many
    assert SampledHistogram(0.5, 10, 9).delta(0.8) == pytest.approx(0.0, abs=1e-31)


def test_without_sampling_there_is_no_privacy() -> None:
    assert SampledHistogram(1.0, 5, 5).delta(3.0) == 1.0
    assert SampledHistogram(1.0, 5, 4).delta(3.0) == pytest.approx(0.0, abs=1e-31)


def test_no_epsilon_overflows() -> None:
    # Only a bucket all of whose people are sampled tells for sure.
    assert SampledHistogram(0.3, 10, 100).delta(700.0) == pytest.approx(0.3**10, rel=3e-3)


def test_a_tiny_delta_keeps_its_digits_where_epsilon_is_nothing() -> None:
    # Somebody is shown only if all of 55 are sampled; 1 - e**epsilon in doubles would drown that.
    assert SampledHistogram(0.3, 55, 55).delta(0.0) == pytest.approx(0.3**55, rel=3e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.003, 0.1, 1.0, 2.5])
@pytest.mark.parametrize(
    ("rate", "threshold"), [(0.001, 3), (0.03, 40), (0.09, 7), (0.3, 17), (0.64, 60), (0.983, 1), (0.9, 250), (0.5, 0)]
)
@pytest.mark.parametrize("people", [1, 5, 300, 3_000])
def test_the_worst_number_of_holders_is_known_without_a_search(
    rate: float, threshold: int, people: int, epsilon: float
) -> None:
    loss, k = SampledCount(rate, threshold, people), np.arange(people)
    q, s = (1.0 - (1.0 - rate) * math.exp(sign * epsilon) for sign in (-1.0, 1.0))
    every = loss._more(k, np.maximum(threshold, np.ceil((k + 1) * q)) - 1.0, math.exp(epsilon))
    fewer = loss._fewer(k, np.maximum(threshold, np.ceil((k + 1) * s)) - 1.0, math.exp(epsilon))
    found = max(0.0, every.max()), max(0.0, fewer.max()) if s > 0.0 else 0.0
    assert loss._worst(epsilon) == pytest.approx(found, rel=1e-12, abs=1e-300)


def test_from_some_crowd_on_more_people_change_nothing() -> None:
    few, many, all_there_are = (SampledCount(0.3, 17, people).delta(1.0) for people in (20, 10**4, 10**12))
    assert few < many == all_there_are


def test_a_crowd_that_cannot_pass_the_threshold_shows_nothing() -> None:
    assert SampledCount(0.3, 17, 16).delta(0.0) == 0.0
