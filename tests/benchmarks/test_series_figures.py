"""Figures of series are those that were derived, to 1%; and a figure that is not is noticed."""

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import headcount as hc

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from rounds import SO_FAR, WEEKLY, Question, contenders, errors
from series import ROWS, Row, too_large

SLOW = 12  # rounds of own noise, for which thousands of laws are composed


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[pytest.mark.stress] * (row.rounds == SLOW)) for row in ROWS],
    ids=lambda row: f"{row.protocol}-{row.rounds}-{row.epsilon:g}-{row.sums or 'each'}",
)
def test_errors_are_as_derived(row: Row) -> None:
    error, plan = row.found()
    assert not too_large(row, error)
    assert too_large(replace(row, expected=0.9 * row.expected), error)
    assert plan.loss.epsilon(1e-6) <= row.epsilon


def test_a_claim_about_a_year_is_proved_from_its_certificate() -> None:
    _, plan = next(row for row in ROWS if row.protocol == "poisson-count").found()
    assert hc.verify(hc.certify(plan)).answer == "proved"


def test_the_worst_round_is_chosen_by_other_runs_than_measure_it() -> None:
    answers = np.array([[0.0, 3.0], [0.0, -3.0], [7.0, 2.0], [7.0, -2.0]])
    mean, worst = errors(answers, np.zeros(2))
    assert worst.size == pytest.approx(2.0)
    assert mean.size == pytest.approx(np.sqrt((answers**2).mean()))


@pytest.mark.parametrize("question", [WEEKLY, SO_FAR], ids=lambda question: question.title)
def test_ours_comes_first_in_each_company_and_nobody_comes_twice(question: Question) -> None:
    everybody = list(contenders(question))
    companies = {(each.trust, each.neighbours): each.peer for each in reversed(everybody)}
    assert set(companies.values()) == {"headcount"}
    names = [(each.trust, each.neighbours, each.label) for each in everybody]
    assert not any(one == other for one, other in combinations(names, 2))
