"""The least delta that an almost central sum can claim, and that nothing below it is searched for."""

from __future__ import annotations

import pytest

from headcount.errors import Infeasible
from headcount.planner.calibrate import calibrate
from headcount.privacy.almost_central import AlmostCentral, unavoidable_delta
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import Bounded
from headcount.protocols.shuffle.almost_central_sum import AlmostCentralSum
from headcount.questions.sum_and_mean import Sum

SCALES = [0.05, 1.0, 30.0, 1e3]
SLACK = 10.0  # times, where tables are that much coarser


def claims(levels: int, inner: float, people: int, scale: float, epsilon: float) -> tuple[AlmostCentralSum, float]:
    task = Sum((0.0, 1.0), steps=levels)
    made = AlmostCentralSum(task=task, crowd=Crowd(people), inner=inner, levels=levels, shape=25.0, scale=scale)
    return made, made.loss.claim(epsilon).delta


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("levels", "inner", "epsilon"), [(5, 0.9, 1.0), (5, 3.0, 4.0), (40, 28.0, 30.0)])
def test_no_claim_is_below_the_unavoidable_delta(levels: int, inner: float, epsilon: float, scale: float) -> None:
    protocol, claimed = claims(levels, inner, 1_000, scale, epsilon)
    assert 0.0 < protocol.unavoidable_delta(epsilon) <= claimed


def test_the_check_catches_a_bound_that_charges_too_much_slack() -> None:
    protocol, claimed = claims(40, 28.0, 1_000, 1e3, 30.0)
    assert isinstance(protocol.loss, Bounded)
    loss = protocol.loss.most
    assert isinstance(loss, AlmostCentral)
    assert unavoidable_delta(loss.top, loss.cancel, SLACK * loss.distance, 30.0) > claimed


@pytest.mark.parametrize(("epsilon", "delta"), [(34.0, 1e-11), (48.7, 5e-18)])
def test_a_budget_below_the_unavoidable_delta_is_refused_unsearched(
    epsilon: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: object) -> None:
        raise AssertionError("the loss was computed")

    monkeypatch.setattr(AlmostCentral, "claim", searched)
    with pytest.raises(Infeasible, match="cannot meet epsilon"):
        calibrate(AlmostCentralSum, Sum((0.0, 100.0)), Crowd(1_000), Budget(epsilon, delta))
