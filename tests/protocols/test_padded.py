"""A shuffler that adds messages: sizes and errors of its laws, every party's view, and broken twins."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import headcount as hc
from headcount.audit.conformance.exact_loss import EPSILONS, exact_delta
from headcount.errors import BadArgument, Unsupported
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Party
from headcount.privacy.pair import Pair
from headcount.privacy.product import two_cells
from headcount.privacy.two_sided_noise import AddDiscreteLaplace
from headcount.programme.release import Pad, Unchanged
from headcount.programme.table import Table
from headcount.protocols.base.parties import who_learns_what
from headcount.protocols.shuffle.padded_count import PaddedCount
from headcount.protocols.shuffle.padded_histogram import PaddedHistogram
from headcount.protocols.shuffle.sampled_padded_histogram import SampledPaddedHistogram
from headcount.testing import (
    Nonconforming,
    no_party_learns_more_than_is_stated,
    the_claimed_loss_covers_every_view,
)
from headcount_service.wire.collection import require_collectable
from stress import called

BUDGETS = {"1": (1, 1e-6), "0.5": (0.5, 1e-8), "0.1": (0.1, 1e-6), "4": (4, 1e-10)}
ROOT = Path(__file__).parents[2]
KINDS = (PaddedCount, PaddedHistogram, SampledPaddedHistogram)


def planned(name, epsilon, delta, task=None, n=10_000, **given):
    return hc.protocol(name, task, n=n, epsilon=epsilon, delta=delta, **given)


@pytest.mark.parametrize(
    ("budget", "count", "histogram", "added", "errors"),
    [
        ("1", 14, 25, 14, (1.357, 2.799)),
        ("0.5", 35, 66, 35, (2.799, 5.642)),
        ("0.1", 109, 203, 109, (14.13, 28.26)),
        ("4", 6, 12, 6, (0.195, 0.602)),
    ],
)
def test_shifts_and_errors_are_those_of_central_geometric_noise(budget, count, histogram, added, errors):
    task = hc.Histogram(1_000)
    one = planned("padded-count", *BUDGETS[budget], analyser=False)
    many = planned("padded-histogram", *BUDGETS[budget], task, analyser=False)
    private = planned("padded-histogram", *BUDGETS[budget], task, analyser=False, neighbours="add-remove")
    assert (one.shift, many.shift, private.shift) == (count, histogram, added)
    assert one.dummies == pytest.approx(2 * count)
    assert (one.rmse(), many.rmse()) == pytest.approx(errors, rel=0.01)
    assert private.rmse() == pytest.approx(errors[0], rel=0.01)
    central = hc.protocol("geometric", task, n=10_000, epsilon=BUDGETS[budget][0])
    assert many.rmse() == pytest.approx(central.rmse(), rel=1e-3)


@pytest.mark.parametrize(
    ("budget", "public"),
    [("1", (0.916, 0.861)), ("0.5", (0.468, 0.445)), ("0.1", (0.090, 0.083)), ("4", (3.84, 3.71))],
)
def test_the_public_learns_less_than_the_analyser_and_the_shuffler_no_more(budget, public):
    epsilon, delta = BUDGETS[budget]
    for name, task, stated in (("padded-count", None, public[0]), ("padded-histogram", hc.Histogram(50), public[1])):
        views = planned(name, epsilon, delta, task).views()
        assert views[Party.ANALYSER].delta(epsilon) <= delta
        assert views[Party.PUBLIC].epsilon(delta) == pytest.approx(stated, rel=0.01)
        assert views[Party.SHUFFLER].delta(epsilon) == 0.0
        assert planned(name, epsilon, delta, task, analyser=False).views()[Party.SHUFFLER] is None


def test_the_analysers_noise_is_there_unless_it_is_left_out():
    with_noise, without = (planned("padded-count", 1, 1e-6, analyser=own) for own in (True, False))
    assert planned("padded-count", 1, 1e-6) == with_noise
    assert (with_noise.rmse(), without.rmse()) == pytest.approx((1.919, 1.357), rel=0.001)
    histogram = planned("padded-histogram", 1, 1e-6, hc.Histogram(1_000))
    assert histogram.rmse() == pytest.approx(3.959, rel=0.001)


def test_a_table_says_who_learns_what():
    learned = dict(who_learns_what(planned("padded-count", 1, 1e-6), hc.Budget(1, 1e-6)).rows)
    assert learned["the analyser"] == "(ε=1, δ=1e-06)"
    assert learned["the public, reading the answer"] == "(ε=0.917, δ=1e-06)"
    assert learned["the shuffler, before the answer"] == "who took part, and nothing else"
    assert learned["the shuffler, reading the answer"] == "(ε=1, δ=0)"
    assert learned["the shuffler and the analyser"] == "every value"
    without = dict(who_learns_what(planned("padded-count", 1, 1e-6, analyser=False), hc.Budget(1, 1e-6)).rows)
    assert without["the shuffler, reading the answer"] == "every value"


def test_the_threat_model_has_this_table():
    by_default, without = (
        who_learns_what(planned("padded-count", 1, 1e-6, analyser=own), hc.Budget(1, 1e-6)) for own in (True, False)
    )
    text = (ROOT / "THREATMODEL.md").read_text(encoding="utf-8")
    for (party, learned), (_, alone) in zip(by_default.rows, without.rows, strict=True):
        assert f"| {party} | {learned} | {alone} |" in text


def test_the_advisor_recommends_it_in_a_collection_and_says_what_trust_means():
    for task in (hc.Count(), hc.Histogram(10)):
        advice = hc.advise(task, n=10_000, epsilon=1, delta=1e-6, collected=True)
        assert advice.best.protocol.model == "shuffle-dummies"
        assert "tell nobody how many of each kind, or the analyser sees every total" in advice.why()
        assert "messages from everybody instead of 1." in advice.why()
        usual = hc.advise(task, n=10_000, epsilon=1, delta=1e-6, collected=True, models=["shuffle", "local"])
        assert usual.best.protocol.name in ("correlated-count", "shuffled-subset-selection")


def test_the_service_carries_them():
    assert all(kind.collectable() for kind in KINDS)
    require_collectable(hc.advise("count", n=100, epsilon=1, delta=1e-6, protocols="padded-count", collected=True).best)


def test_a_sampled_histogram_is_pure_with_less_than_one_dummy_a_category():
    found = planned("sampled-padded-histogram", 1, 0, hc.Histogram(1_000), analyser=False)
    keep = 1 - math.exp(-0.5)
    assert found.loss.delta(1) == 0.0
    assert found.dummies / 1_000 == pytest.approx(0.61, rel=0.01)
    for truth in (0, 10, 100):
        assert found.rmse(truth) ** 2 == pytest.approx(6.29 + truth * (1 - keep) / keep, rel=0.01)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("people", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_loss_is_the_same_in_every_crowd(kind, people, neighbours):
    """Also of one person alone; where messages are sampled, in a crowd with nobody else in the totals."""
    task = None if kind is PaddedCount else hc.Histogram(2 if kind is PaddedHistogram else 3)
    own = {"inner": 0.6} if kind is SampledPaddedHistogram else {"scale": 0.7, "shift": 2}
    given = {} if task is None else {"task": task}
    alone, among = (kind(crowd=Crowd(n), neighbours=neighbours, **given, **own) for n in (1, people))
    truth = exact_delta(among, people, EPSILONS)
    for epsilon, exact in zip(EPSILONS, truth, strict=True):
        assert among.loss.delta(epsilon) == alone.loss.delta(epsilon)
        assert among.loss.delta(epsilon) == pytest.approx(float(exact.high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("filled", [True, False])
def test_the_closed_form_is_the_divergence_of_the_table(filled):
    """One total, and two that move apart."""
    neighbours = "replace" if filled else "add-remove"
    found = PaddedCount(crowd=Crowd(3), scale=1.7, shift=6, neighbours=neighbours)
    pair = Pair.shifted(found.added)
    apart = PaddedHistogram(task=hc.Histogram(4), crowd=Crowd(3), scale=1.7, shift=6)
    two = two_cells(Pair.shifted(apart.added))
    for epsilon in (0.0, 0.2, 0.5, 1 / 1.7, 0.9, 2 / 1.7, 3.0):
        assert found.loss.delta(epsilon) == pytest.approx(pair.delta(epsilon), rel=1e-9)
        assert apart.loss.delta(epsilon) == pytest.approx(two.delta(epsilon), rel=1e-9)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("n", [50, 1_000_000])
@pytest.mark.parametrize("name", [kind.name for kind in KINDS])
def test_certificates_are_proved(name, n, neighbours):
    task = hc.Count() if name == "padded-count" else hc.Histogram(1_000)
    advice = hc.advise(task, n=n, epsilon=1, delta=1e-6, protocols=name, neighbours=neighbours)
    assert hc.verify(hc.certify(advice.best)).answer == "proved"


def test_dropouts_and_liars_cost_nothing():
    task, given = hc.Histogram(10), {"epsilon": 1, "delta": 1e-6, "protocols": "padded-histogram"}
    usual = hc.advise(task, n=1_000, **given).best.protocol
    few = hc.advise(task, n=1_000, least=10, corrupt=9, **given).best.protocol
    assert (few.shift, few.rmse()) == (usual.shift, usual.rmse())


@pytest.mark.parametrize("tiny", [tiny for kind in KINDS for tiny in kind.tinies()], ids=called)
def test_messages_that_are_added_have_the_law_that_is_accounted_for(tiny):
    coins, runs = hc.SeededCoins(5), 4_000
    drawn = np.array([np.bincount(tiny.padding(coins)["kind"], minlength=tiny.kinds) for _ in range(runs)])
    spread = 6 * math.sqrt(tiny.added.variance / runs)
    assert np.abs(drawn.mean(axis=0) - tiny.added.mean).max() <= spread
    assert drawn.min() >= 0
    if isinstance(tiny, PaddedCount) and tiny.filled:
        assert set(drawn.sum(axis=1)) == {2 * tiny.shift}


def test_a_batch_that_the_shuffler_padded_needs_the_analysers_noise_only():
    found = planned("padded-count", 1, 1e-6, n=50, analyser=False)
    sent = found.randomise([1] * 20 + [0] * 30)
    added = found.padding(hc.SeededCoins(3))
    both = type(sent)(sent.reports, np.concatenate([sent.messages, added]))
    released = found.release(found.tally(both), padded=True)
    assert released.totals.tolist() == [20 + int(added["kind"].sum())]
    assert both.messages.size == 50 + 28


class SkipsTheDummies(PaddedCount):
    """The shuffler mixes, and adds nothing."""

    def released(self):
        return Pad(Table.of([1]), 2 * self.shift)


class SkipsTheDummiesOfCategories(PaddedHistogram):
    def released(self):
        return Unchanged()


class CutOnTheRight(PaddedHistogram):
    """Never more than twice the shift: then either of two totals can show what is impossible."""

    def released(self):
        table = super().released().table
        return Pad(Table.of(table.masses[: 2 * self.shift + 1]))


class SamplesTooOften(SampledPaddedHistogram):
    def released(self):
        release = super().released()
        return type(release)(type(release.keep)(0.9), release.more)


class HalfTheNoiseOfTheAnalyser(PaddedCount):
    """The shuffler is promised more noise than there is."""

    def by_analyser(self):
        return AddDiscreteLaplace(2 / Fraction(self.analyser_scale)) if self.analyser_scale else Unchanged()


@pytest.mark.parametrize("twin", [SkipsTheDummies, SkipsTheDummiesOfCategories, CutOnTheRight, SamplesTooOften])
def test_a_shuffler_that_does_otherwise_is_caught(twin):
    with pytest.raises(Nonconforming, match="too small by"):
        the_claimed_loss_covers_every_view(twin.tiny())


def test_an_analyser_that_adds_too_little_is_caught_by_what_the_shuffler_sees():
    tiny = HalfTheNoiseOfTheAnalyser(crowd=Crowd(3), scale=0.8, shift=2, analyser_scale=0.8)
    the_claimed_loss_covers_every_view(tiny)  # which is about the analyser, who knows its own noise
    with pytest.raises(Nonconforming, match=r"as the (public|shuffler) sees it"):
        no_party_learns_more_than_is_stated(tiny)


def test_the_shuffler_reads_an_answer_without_the_analysers_noise():
    """And not one with it; the analyser and the public read neither."""
    for own in (0.0, 1.0):
        tiny = PaddedCount(crowd=Crowd(4), scale=1.0, shift=5, analyser_scale=own)
        for seen in ("view", "released"):
            assert not hc.attack(tiny, seen=seen, samples=40_000, coins=hc.SeededCoins(1)).violated
        told = hc.attack(tiny, seen="shuffler", samples=40_000, coins=hc.SeededCoins(1))
        assert (told.epsilon > 5) == (own == 0.0)
        assert not told.violated
        assert math.isinf(told.claim) == (own == 0.0)


def test_a_shuffler_that_skips_the_dummies_is_found_by_an_attack():
    found = hc.attack(SkipsTheDummies(crowd=Crowd(4), scale=1.0, shift=5), samples=20_000, coins=hc.SeededCoins(1))
    assert found.violated


def test_other_models_have_no_shuffler_to_look_through():
    with pytest.raises(Unsupported, match="has no shuffler that adds messages"):
        hc.attack(hc.protocol("cheu-count", n=6, lam=3), seen="shuffler")


def test_an_analyser_that_would_hide_less_than_the_shuffler_is_refused():
    with pytest.raises(BadArgument, match="analyser_scale"):
        PaddedCount(crowd=Crowd(4), scale=2.0, shift=5, analyser_scale=1.0)
