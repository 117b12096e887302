"""Predictions against simulation: a quick form of `make predictions`, and twins it must catch."""

from dataclasses import replace

import numpy as np
import pytest

from headcount.audit.predictions import (
    Situation,
    categorised,
    counted,
    is_direct,
    judge,
    parted,
    runs_of,
    situations,
    spread,
)
from headcount.core.budget import Budget
from headcount.core.law import Noise
from headcount.protocols import CATALOGUE
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.blanket_sum import BlanketSum
from headcount.protocols.shuffle.zsum import Zsum

BUDGET = Budget(1.0, 1e-6)
COUNTED, CATEGORISED, SPREAD, PARTED = (
    counted(3_000, 300, BUDGET),
    categorised(2_000, BUDGET),
    spread(1_000, BUDGET),
    parted(1_000, BUDGET),
)
MESSAGES = 1e6
CASES = [
    pytest.param(cls, situation, id=f"{cls.name}-{situation.task.name}")
    for situation in (COUNTED, CATEGORISED, SPREAD)
    for cls in CATALOGUE
    if situation.task.name in cls.tasks
]


def judged(protocol, situation, messages=MESSAGES):
    return judge(protocol, situation, runs_of(protocol, messages=messages), seed=1)


@pytest.mark.parametrize(("cls", "situation"), CASES)
def test_the_prediction_is_the_truth(cls, situation):
    assert all(cell.holds for cell in judged(situation.calibrated(cls), situation))


def test_every_protocol_and_every_task_is_judged():
    assert {param.values[0] for param in CASES} == set(CATALOGUE)
    assert {situation.task.name for situation in situations()} == {"count", "histogram", "sum"}


def test_the_largest_and_the_smallest_category_are_judged():
    assert sorted(CATEGORISED.holders.values()) == [1, 672]
    assert np.bincount(CATEGORISED.values).tolist() == sorted(np.bincount(CATEGORISED.values), reverse=True)
    assert len(judged(CATEGORISED.calibrated(BalcerCheuHistogram), CATEGORISED)) == 2


class TooNarrow:
    def intervals(self, tally, confidence):
        return super().intervals(tally, 0.9)


class TooModest:
    def noise(self, truth, reports):
        exact = super().noise(truth, reports)
        return Noise(exact.values * 0.95, exact.masses, exact.dropped)


class Shifted:
    def point(self, tally):
        return super().point(tally) + 0.5


def twins(*protocols):
    wrongs = (TooNarrow, TooModest, Shifted)
    return [type(f"{wrong.__name__}{cls.__name__}", (wrong, cls), {}) for cls in protocols for wrong in wrongs]


@pytest.mark.parametrize("twin", twins(Zsum), ids=lambda twin: twin.__name__)
def test_a_wrong_prediction_of_a_count_is_caught(twin):
    assert not any(cell.holds for cell in judged(COUNTED.calibrated(twin), COUNTED))


@pytest.mark.parametrize("twin", twins(BalcerCheuHistogram), ids=lambda twin: twin.__name__)
def test_a_wrong_prediction_of_a_histogram_is_caught_in_either_category(twin):
    assert not any(cell.holds for cell in judged(CATEGORISED.calibrated(twin), CATEGORISED))


@pytest.mark.parametrize("twin", twins(BlanketSum), ids=lambda twin: twin.__name__)
def test_a_wrong_prediction_of_a_sum_is_caught_where_it_is_hardest(twin):
    # Nearly so with half of the people at either end, where a liar is furthest from the truth.
    assert not any(cell.holds for cell in judged(PARTED.calibrated(twin), PARTED, 2e7))


def test_a_sum_may_have_less_error_than_is_stated_and_a_count_may_not():
    class TooWide(Zsum):
        def noise(self, truth, reports):
            exact = super().noise(truth, reports)
            return Noise(exact.values * 1.05, exact.masses, exact.dropped)

    class TooWideSum(BlanketSum):
        def noise(self, truth, reports):
            exact = super().noise(truth, reports)
            return Noise(exact.values * 1.05, exact.masses, exact.dropped)

    assert not judged(COUNTED.calibrated(TooWide), COUNTED)[0].holds
    cautious = judged(SPREAD.calibrated(TooWideSum), SPREAD)[0]
    assert cautious.variance_z < 0.0
    assert cautious.holds


def test_what_is_too_rare_to_be_seen_is_no_error():
    silent = replace(COUNTED.calibrated(Zsum), thresholded=True)
    nobody = Situation(COUNTED.task, BUDGET, np.zeros(3_000, dtype=np.int64), {"nobody": 0})
    assert judged(silent, nobody)[0].holds


def test_the_threshold_of_zsum_is_predicted_too():
    silent = replace(COUNTED.calibrated(Zsum), thresholded=True)
    assert all(judged(silent, counted(3_000, ones, BUDGET))[0].holds for ones in (20, 34, 60, 500))


def test_protocols_that_go_through_everybody_have_as_many_runs_as_messages_allow():
    protocol = SPREAD.calibrated(BlanketSum)
    assert not is_direct(protocol)
    assert [runs_of(protocol, messages=messages) for messages in (1e9, 2e6, 1e3)] == [20_000, 2_000, 300]
    assert runs_of(COUNTED.calibrated(Zsum), messages=1e3) == 20_000
