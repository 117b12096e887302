"""Twins for what the checks say about several cells, sums and whole knobs: each breaks one clause and no other."""

import math
from dataclasses import replace

import pytest

from headcount.privacy import laws
from headcount.privacy.pair import Pair
from headcount.programme.law import Noise
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.central.stability_histogram import StabilityHistogram
from headcount.protocols.shuffle.poisson_histogram import PoissonHistogram
from headcount.testing import (
    Nonconforming,
    calibration_meets_the_budget_and_no_more,
    intervals_cover,
    the_claimed_loss_covers_every_view,
    the_error_is_as_stated,
)


class NoWiderForAll(PoissonHistogram):
    """Each interval covers; all of them at once do not."""

    def intervals(self, tally, confidence):
        return super().intervals(tally, min(confidence, 0.95))


class OneCellOnly(PoissonHistogram):
    """Accounts for the cell that gains a person, and not for the one that loses them."""

    def view(self, honest):
        return Pair.shifted(laws.poisson(self.mean * honest / self.crowd.honest))


class ForgetsRounding(Laplace):
    def noise(self, truth, reports):
        return Noise.of(laws.discrete_laplace(float(self.rate)), centre=0.0, scale=1.0 / self.grid)


class WastesAStep(StabilityHistogram):
    """Its threshold is a multiple of five, so that most budgets are not used up."""

    knob = replace(StabilityHistogram.knob, along=lambda u, _: 5 * math.ceil(u / 5))


@pytest.mark.parametrize(
    ("check", "twin"),
    [
        (intervals_cover, NoWiderForAll),
        (the_claimed_loss_covers_every_view, OneCellOnly),
        (the_error_is_as_stated, ForgetsRounding),
        (calibration_meets_the_budget_and_no_more, WastesAStep),
    ],
    ids=lambda part: part.__name__,
)
def test_the_check_catches_its_twin(check, twin):
    with pytest.raises(Nonconforming):
        _every(check, twin)


def _every(check, twin):
    for tiny in twin.tinies():
        check(tiny)
