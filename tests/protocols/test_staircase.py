"""Staircase noise: its tables at both ends of the knob, and that it is the better one of two."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.report_law import WHOLE
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.central.staircase import LARGEST, LEVELS, Staircase, staircase
from headcount.questions.sum_and_mean import Sum


@pytest.mark.parametrize("scale", [0.02, 0.1, 1.0, 7.0, LARGEST])
@pytest.mark.parametrize("width", [1, 2, 7, LEVELS])
def test_tables_are_as_near_to_the_law_as_is_stated(scale, width):
    for high in {1, (width + 1) // 2, width}:
        drawn = staircase(1 / Fraction(scale), width, high).law
        b = np.exp(-1.0 / scale)
        a = (1.0 - b) / (2.0 * high + 2.0 * b * (width - high) - (1.0 - b))
        blocks, place = np.divmod(np.abs(drawn.values), width)
        ideal = a * b ** (blocks + (place >= high))
        distance = (8.0 * width + 8.0 / (1.0 - b) ** 2) * 2.0**-60
        assert 0.5 * np.abs(ideal - drawn.masses).sum() <= distance + 1e-12  # of doubles
        assert drawn.masses.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.9999), (1.0, 0.98), (2.0, 0.93), (5.0, 0.62), (10.0, 0.21)])
def test_it_errs_less_than_laplace_noise(epsilon, share):
    mine, laplace = (calibrate(cls, Sum((0, 10)), Crowd(100), Budget(epsilon)) for cls in (Staircase, Laplace))
    assert mine.rmse() < share * laplace.rmse()
    assert mine.rmse() == pytest.approx(mine.error().rmse, rel=1e-6)


@pytest.mark.parametrize("each", [2, 3])
def test_several_reports_of_a_person_lose_no_more_than_is_claimed(each):
    planned = replace(Staircase.tiny(), crowd=Crowd(6, each=each))
    noise = planned.released().law(0)
    for epsilon in (0.0, 0.7, 2.0, 3.9, 2.0 * each):
        moved = ((noise.get(k, 0), noise.get(k - each * planned.width, 0)) for k in noise)
        truth = sum(max(0.0, here - np.exp(epsilon) * there) for here, there in moved) / WHOLE
        assert truth <= planned.loss.delta(epsilon) + 1e-15  # where the law ends
    assert planned.loss.delta(2.0 * each) == 0.0
    assert planned.loss.delta(2.0 * each - 0.01) > 0.0
