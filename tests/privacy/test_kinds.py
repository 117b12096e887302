"""What a loss says of itself: exact, rounded or bound, held against the enumerated truth of small crowds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headcount.audit.conformance.exact_loss import EPSILONS, exact_delta, judge_claim
from headcount.planner.calibrate import calibrate
from headcount.planner.glossary import entry
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import KINDS, WITHIN, ClaimedDelta, Kind, PrivacyLoss, TotalVariationSlack
from headcount.privacy.model import Model
from headcount.programme.law import Floats
from headcount.protocols import CATALOGUE
from headcount.protocols.base import Shape
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.shuffle.cheu_count import CheuCount
from headcount.protocols.shuffle.cheu_sum import CheuSum
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.histogram import Histogram
from headcount.questions.sum_and_mean import Sum
from stress import some

JSON = Path(__file__).parents[2] / "docs" / "json.md"


SMALL = [
    *(tiny for cls in CATALOGUE for tiny in cls.tinies() if tiny.loss.kind != "bound"),
    *(
        CheuSum(task=Sum((0, 1), steps=steps), crowd=Crowd(3), lam=0.75, levels=levels)
        for steps in (1, 2, 3, 4, 6)
        for levels in (1, 2, 3)
    ),
]
QUICK = [each for each in SMALL if each.task.shape is not Shape.K_OF or each.model is Model.CENTRAL]
ONE_OF_EACH = {id(each) for each in {(each.name, getattr(each.task, "steps", None)): each for each in QUICK}.values()}


def fewest(protocol: Protocol) -> int:
    """Of two people's shuffled histograms there are views enough."""
    shuffled = isinstance(protocol.task, Histogram) and protocol.model is Model.SHUFFLE
    return min(protocol.crowd.honest, 2 if shuffled else 3)


def check_its_kind(protocol: Protocol, loss: PrivacyLoss) -> None:
    people = fewest(protocol)
    truth = exact_delta(protocol, people, EPSILONS)
    assert all(one.holds for one in judge_claim(protocol, people, loss, truth))


@pytest.mark.parametrize(
    "protocol",
    some(SMALL, lambda protocol: id(protocol) in ONE_OF_EACH),
    ids=lambda p: f"{p.name}-{p.task.name}-{p.neighbours}-{getattr(p.task, 'steps', '')}-{p.loss.kind}",
)
def test_a_loss_is_what_it_calls_itself(protocol: Protocol) -> None:
    check_its_kind(protocol, protocol.loss_if(fewest(protocol)))


class Loose(TotalVariationSlack):
    """A claim that is a part of itself too large."""

    part: float = 0.0

    def claim(self, epsilon: float) -> ClaimedDelta:
        delta, slack = self.ideal.claim(epsilon)
        return ClaimedDelta(delta * (1.0 + self.part), slack)


@pytest.mark.parametrize(("kind", "part", "fine"), [
    ("exact", 0.0, True), ("exact", 1e-4, False), ("rounded", 0.009, True), ("rounded", 0.05, False),
    ("bound", 0.5, True), ("exact", -1e-6, False), ("rounded", -1e-6, False), ("bound", -1e-6, False),
])  # fmt: skip
def test_the_check_of_kinds_catches_what_is_too_loose_and_what_is_too_small(
    kind: Kind, part: float, fine: bool
) -> None:
    protocol = Zsum.tiny()
    loss = Loose(protocol.loss_if(3), 0.0, kind)
    object.__setattr__(loss, "part", part)
    if fine:
        check_its_kind(protocol, loss)
    else:
        with pytest.raises(AssertionError):
            check_its_kind(protocol, loss)


def test_a_sum_with_fewer_steps_than_levels_is_called_a_bound() -> None:
    coarse = CheuSum(task=Sum((0, 1), steps=1), crowd=Crowd(3), lam=0.75, levels=3)
    assert coarse.loss.kind == "bound"
    with pytest.raises(AssertionError):
        check_its_kind(coarse, TotalVariationSlack(coarse.loss, 0.0, "exact"))


def test_a_sum_is_planned_with_no_more_levels_than_steps() -> None:
    protocol = calibrate(CheuSum, Sum((0, 10), steps=10), Crowd(10**6), Budget(1.0, 1e-6))
    assert protocol.levels == 10


@pytest.mark.parametrize(("n", "kind"), [(50, "exact"), (4000, "exact"), (10**4, "rounded"), (10**9, "rounded")])
def test_cheu_count_is_exact_where_every_crowd_is_searched(n: int, kind: str) -> None:
    assert CheuCount(crowd=Crowd(n), lam=30.0).loss.kind == kind


def test_a_loss_that_does_not_state_its_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="must state its kind: exact, rounded, bound"):

        class Unstated(PrivacyLoss):
            def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
                return np.zeros_like(epsilon), np.zeros_like(epsilon)


def test_a_claim_of_each_kind_is_defined_once_and_said_everywhere() -> None:
    page = JSON.read_text(encoding="utf-8")
    for kind, meaning in KINDS.items():
        assert meaning in str(entry(kind))
        assert f"`{kind}`: {meaning}" in page
    assert WITHIN["exact"] < WITHIN["rounded"] < WITHIN["bound"]
    assert "0.001%" in KINDS["exact"]
    assert "1%" in KINDS["rounded"]
