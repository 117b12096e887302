"""Predictions against simulation: a quick form of `make predictions`, and twins it must catch."""

from dataclasses import replace

import pytest

from headcount.audit.predictions import judge
from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.law import Noise
from headcount.core.task import Count
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE
from headcount.protocols.shuffle.zsum import Zsum

BUDGET = Budget(1.0, 1e-6)


@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.name)
def test_the_prediction_is_the_truth(cls):
    protocol = calibrate(cls, Count(), Crowd(3_000), BUDGET, lambda found: found.error(300).rmse)
    assert judge(protocol, BUDGET, 300, runs=20_000, seed=1).holds


class TooNarrow(Zsum):
    def interval(self, tally, confidence):
        return super().interval(tally, 0.9)


class TooModest(Zsum):
    def noise(self, truth, reports):
        exact = super().noise(truth, reports)
        return Noise(exact.values * 0.95, exact.masses, exact.dropped)


class Shifted(Zsum):
    def point(self, tally):
        return super().point(tally) + 0.5


@pytest.mark.parametrize("twin", [TooNarrow, TooModest, Shifted])
def test_a_wrong_prediction_is_caught(twin):
    protocol = calibrate(twin, Count(), Crowd(3_000), BUDGET)
    assert not judge(protocol, BUDGET, 300, runs=20_000, seed=1).holds


def test_the_threshold_of_zsum_is_predicted_too():
    silent = replace(calibrate(Zsum, Count(), Crowd(3_000), BUDGET), thresholded=True)
    assert all(judge(silent, BUDGET, ones, runs=20_000, seed=1).holds for ones in (20, 34, 60, 500))
