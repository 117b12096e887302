"""Errors beside the peers are counted in people, and a peer that is off by more is seen to be."""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from ranges import BINS, BOUNDS, QUESTIONS, Question, contenders, of_quantiles, of_ranges


def test_ranges_are_off_by_what_every_pair_of_edges_is() -> None:
    rng = np.random.default_rng(5)  # noqa: TID251
    values = rng.uniform(*BOUNDS, 500)
    noise = rng.normal(size=(2, BINS))
    prefixes = np.pad(np.cumsum(noise, axis=1), ((0, 0), (1, 0)))
    first, last = np.triu_indices(BINS + 1, 1)
    assert of_ranges(np.histogram(values, BINS, BOUNDS)[0] + noise, values) == pytest.approx(
        ((prefixes[:, last] - prefixes[:, first]) ** 2).mean(axis=1)
    )


def test_quantiles_are_off_by_the_people_between() -> None:
    values = np.array([4.0, 1.0, 3.0, 2.0, 3.0, 3.0])
    squares = of_quantiles([0.5])(np.array([[3.0], [2.5], [0.0], [9.0]]), values)
    assert squares.tolist() == [0.0, 1.0, 9.0, 9.0]
    both = of_quantiles([0.5, 1.0])(np.array([[0.0, 9.0]]), values)
    assert both.tolist() == [4.5]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_ours_comes_first_in_each_company_and_nobody_comes_twice(question: Question) -> None:
    everybody = list(contenders(question))
    companies = {(each.trust, each.neighbours): each.peer for each in reversed(everybody)}
    assert set(companies.values()) == {"headcount"}
    names = [(each.trust, each.neighbours, each.label) for each in everybody]
    assert not any(one == other for one, other in combinations(names, 2))
