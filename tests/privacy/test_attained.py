"""Lower bounds: what certain crowds lose is lost, and not less than it could be."""

import math
from dataclasses import replace

import numpy as np
import pytest

import headcount as hc
from headcount.audit.conformance.exact_loss import EPSILONS, exact_delta
from headcount.audit.conformance.loss_checks import the_claimed_loss_covers_every_view
from headcount.privacy import loss
from headcount.privacy.loss import Bounded, RoundedDown
from headcount.protocols.local.oracle_by_lot import OracleByLot
from headcount.protocols.local.piecewise import Piecewise
from headcount.protocols.shared.shuffled_local import shuffled
from headcount.protocols.shuffle.blanket_sum import BlanketSum
from headcount.protocols.shuffle.cheu_sum import CheuSum
from headcount.protocols.shuffle.fake_users import FakeUsers
from headcount.protocols.shuffle.hadamard_shuffle import HadamardShuffle
from headcount.protocols.shuffle.recursive_sum import RecursiveSum
from headcount.questions import Histogram, Sum
from headcount.testing import Nonconforming

THREE = hc.Crowd(3)
SMALL = [
    FakeUsers(task=Histogram(3), crowd=THREE, flip=0.25, fakes=1),
    FakeUsers(task=Histogram(3), crowd=THREE, flip=0.25, fakes=3),
    HadamardShuffle(task=Histogram(4), crowd=THREE, blankets=1, indices=1),
    *(BlanketSum(task=Sum((0, 1), steps=steps), crowd=THREE, levels=3, lie=0.5) for steps in (2, 3)),
    *(RecursiveSum(task=Sum((0, 1), steps=steps), crowd=THREE, liars=1.5, digits=2, base=1.5) for steps in (3, 8)),
    CheuSum(task=Sum((0, 1), steps=3), crowd=THREE, lam=0.75, levels=2),
]


@pytest.mark.parametrize("protocol", SMALL, ids=lambda protocol: f"{protocol.name}-{protocol.parameters}")
def test_certain_crowds_lose_no_more_than_all_do(protocol):
    attained = protocol.loss.attained
    least = [attained.delta(epsilon) for epsilon in EPSILONS]
    most = [float(delta.high) for delta in exact_delta(protocol, 3, EPSILONS)]
    assert all(low <= high * (1 + 1e-12) + 1e-24 for low, high in zip(least, most, strict=True))
    assert least[0] > 0.4 * most[0]


class NotHeldByAnybody(shuffled(Piecewise)):
    """Of others who are at a level that nobody's value is rounded to alone."""

    name = "not-held-by-anybody"

    @property
    def message_laws(self):
        true, middle = super().message_laws, self.chances(self.grid // 2)
        return replace(true, rows=np.array([*true.rows[:2], middle]))


def test_crowds_that_do_not_exist_are_found_out():
    tiny = shuffled(Piecewise).tiny()
    given = {name: getattr(tiny, name) for name in ("task", "crowd", *tiny.parameters)}
    with pytest.raises(Nonconforming, match="no crowd loses"):
        the_claimed_loss_covers_every_view(NotHeldByAnybody(**given))


@pytest.mark.parametrize(
    ("question", "name", "share"),
    [
        (hc.Count(), "cheu-count", 0.999),
        (hc.Count(), "one-sided-count", 0.999),
        (hc.Histogram(100), "hadamard-shuffle", 0.98),
        (hc.Histogram(100), "fake-users", 0.65),
        (hc.Histogram(100), "almost-one-message-histogram", 0.83),
        (hc.Histogram(100), "sample-threshold", 0.999),
        (hc.Histogram(100), "shuffled-basic-rappor", 0.95),
        (hc.Sum((0, 1)), "cheu-sum", 0.999),
        (hc.Sum((0, 1)), "split-and-mix", 0.9999),
        (hc.Sum((0, 1)), "almost-central-sum", 0.91),
    ],
)
def test_the_truth_lies_between(question, name, share):
    loss = hc.protocol(name, question, n=10_000, epsilon=1, delta=1e-6).loss
    assert share < loss.epsilon_at_least(1e-6) <= loss.epsilon(1e-6) <= 1


def test_a_loss_of_several_rounds_or_rows_is_no_less_than_that_of_one():
    given = {"n": 1_000, "keep": 0.9, "flip": 0.1}
    once = hc.protocol("shuffled-basic-rappor", hc.Histogram(5), **given)
    twice = once.among(hc.Crowd(1_000, each=2))
    assert twice.loss.epsilon_at_least(1e-6) == once.loss.epsilon_at_least(1e-6) < twice.loss.epsilon(1e-6)
    advised = hc.advise(hc.Histogram(5), n=1_000, epsilon=1, delta=1e-6, rounds=2, protocols="shuffled-basic-rappor")
    assert 0.1 < advised["shuffled-basic-rappor"].epsilon_at_least < 1


def test_what_is_rounded_down_leaves_out_slack():
    loss = hc.protocol("poisson-count", n=100, epsilon=1, delta=1e-6).loss
    assert RoundedDown(loss, 2.0).delta(1) == pytest.approx(loss.delta(1) / 2, rel=1e-6)
    assert Bounded(loss, lambda: loss).attained.delta(1) < loss.delta(1) * (1 - 2 * loss.delta_slack(1))
    assert math.isclose(Bounded(loss, lambda: loss).epsilon(1e-6), loss.epsilon(1e-6))


def test_rounding_adds_nothing_to_a_lower_bound(monkeypatch):
    """At the epsilon of a report, which loses next to nothing beyond it: less than doubles round by."""
    tiny = next(tiny for tiny in OracleByLot.tinies() if tiny.task.name == "table")
    the_claimed_loss_covers_every_view(tiny)
    monkeypatch.setattr(loss, "BEYOND", 0.0)  # the twin
    with pytest.raises(Nonconforming, match="no crowd loses"):
        the_claimed_loss_covers_every_view(tiny)
