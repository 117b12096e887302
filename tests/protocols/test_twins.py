"""Broken twins that no mutation makes: what is wrong with them is particular to a protocol, or to its class.

The rest are made from any protocol by `headcount_survey.mutants.catalogue` and tested in
tests/audit/mutants/test_mutations.py.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from headcount.privacy import exact_tables as tables
from headcount.privacy.discrete_laplace import DiscreteLaplaceShift
from headcount.programme.brick import NOTHING, All, Copies, Emit, Maybe
from headcount.programme.chance import Chance
from headcount.programme.law import Noise
from headcount.programme.table import Table
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shuffle.correlated_count import CorrelatedCount
from headcount.protocols.shuffle.negative_binomial_count import NegativeBinomialCount
from headcount.protocols.shuffle.zsum import Zsum
from headcount.testing import (
    Nonconforming,
    calibration_meets_the_budget_and_no_more,
    conforms,
    it_survives_pickling_and_json,
    large_counts_are_unbiased,
    the_shortcut_is_the_protocol,
)

ONE = Emit(0)


class HalfTheSensitivity(Laplace):
    def view(self, honest):
        return DiscreteLaplaceShift(self.rate, self.levels // 2)


class SwappedConvention(NegativeBinomialCount):
    def share(self):
        return tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, 1 - Fraction(self.decay))


class RoundedTheWrongWay(Zsum):
    """The chance that is drawn is rounded down to a sixteenth, the one that is claimed is not."""

    def report(self, value):
        coarse = Chance(int(self.gamma * 16) / 16)
        return All(Copies(value, ONE), Maybe(coarse, NOTHING, ONE))


class IndependentFlood(CorrelatedCount):
    """The flood's pluses and minuses drawn apart: they hide, and no longer cancel."""

    def report(self, value):
        own = tables.negative_binomial(Fraction(1, self.crowd.honest), Fraction(self.cancel))
        flood = tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, Fraction(self.decay))
        plus, minus = Emit(1), ONE
        return All(
            Copies(value, plus), Copies(own, plus), Copies(own, minus), Copies(flood, plus), Copies(flood, minus)
        )


class CutFlood(CorrelatedCount):
    """Nobody sends more than one pair, and nothing is charged for those that are cut."""

    def report(self, value):
        *others, flood = super().report(value).parts
        return All(*others, Copies(Table.of(flood.amount.masses[:2]), flood.brick))


class TooConfident(RandomisedResponse):
    def intervals(self, tally, confidence):
        return super().intervals(tally, confidence - 0.2)


class Untight(Zsum):
    """A knob with few settings, so that calibration wastes the budget."""

    knob = replace(Zsum.knob, along=lambda u, _: min(0.5, 2.0 ** math.ceil(u / math.log(2.0))))


@dataclass(frozen=True, kw_only=True)
class Forgetful(Zsum):
    """Its JSON does not say how much noise there is."""

    def to_json(self):
        described = super().to_json()
        return {**described, "parameters": {**described["parameters"], "gamma": 0.25}}


class StillBiased(Zsum):
    def noise(self, truth, reports):
        exact = super().noise(truth, reports)
        return Noise(exact.values + reports / 100, exact.masses)


@pytest.mark.parametrize(
    "twin", [HalfTheSensitivity, SwappedConvention, RoundedTheWrongWay, IndependentFlood, CutFlood, TooConfident]
)
def test_the_suite_catches(twin):
    with pytest.raises(Nonconforming):
        conforms(twin)


@pytest.mark.parametrize(
    ("check", "twin"),
    [
        (calibration_meets_the_budget_and_no_more, Untight),
        (it_survives_pickling_and_json, Forgetful),
        (large_counts_are_unbiased, StillBiased),
        (the_shortcut_is_the_protocol, RoundedTheWrongWay),
    ],
    ids=lambda part: part.__name__,
)
def test_checks_that_mutations_are_not_seen_by_catch_a_twin(check, twin):
    with pytest.raises(Nonconforming):
        check(twin.tiny())
