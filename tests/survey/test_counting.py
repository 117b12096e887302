"""What the studies of counts find, held against laws and enumerations of their own."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.sampled_counts import SampledCount
from headcount.programme.law import Noise
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount_survey.studies import (
    data_sets,
    dropouts,
    error_and_ones,
    fixed_sample,
    good_events,
    messages,
    sampling_as_noise,
    sampling_rate,
    thresholding,
    too_sparse,
    why_five,
)

BUDGET = Budget(1.0, 1e-6)


def test_the_error_depends_on_the_ones_only_under_a_threshold():
    for _, _, protocol in error_and_ones.protocols():
        floor = error_and_ones.PEOPLE * float(protocol.gamma)
        errors = [protocol.rmse(k) for k in (1, round(0.9 * floor), error_and_ones.PEOPLE)]
        if protocol.thresholded:
            assert errors[0] == pytest.approx(1.0)  # the one person there is goes missing
            assert errors[1] > 2.5 * errors[2]  # and so do nine tenths of the floor
        else:
            assert max(errors) == min(errors) == pytest.approx(math.sqrt(floor * (1 - protocol.gamma)), rel=1e-6)


def test_sampling_rates_are_the_largest_that_fit():
    for delta, threshold in ((0.05, 6), (1e-6, 17)):
        rate = sampling_rate.exactly(1.0, delta, threshold)
        assert SampledCount(rate, threshold, 10**6).delta(1.0) <= delta
        assert SampledCount(1.01 * rate, threshold, 10**6).delta(1.0) > delta
        by_the_paper = sampling_rate.final(1.0, delta, threshold)
        share = by_the_paper / -math.expm1(-1.0)
        assert math.log(1 / share) - 1 / (1 + share) == pytest.approx(math.log(1 / delta) / threshold)
        assert by_the_paper < rate


@pytest.mark.parametrize(("ones", "people", "budget"), [(100, 200, Budget(0.5, 1e-3)), (120, 5_000, BUDGET)])
def test_the_best_threshold_is_the_best_of_all(ones, people, budget):
    found = sampling_rate.best_for(ones, people, budget)
    errors = {}
    for threshold in range(2, ones + 1):
        rate = sampling_rate.exactly(budget.epsilon, budget.delta, threshold, people)
        errors[threshold] = SampleThreshold(crowd=Crowd(people), rate=rate, threshold=threshold).rmse(ones)
    assert found.rmse(ones) == pytest.approx(min(errors.values()), rel=1e-3)
    steps = [max(2, round(0.3 * 1.6**step * math.log(1.0 / budget.delta))) for step in range(16)]
    assert found.rmse(ones) < min(errors[step] for step in steps if step in errors)  # a grid of such steps misses it


def test_larger_thresholds_leave_out_a_poisson_number_of_people():
    """The share that is left out, times the threshold, settles at the mean of Poisson noise."""
    mean = calibrate(PoissonCount, Count(), Crowd(10**6), BUDGET).mean
    missing = []
    for threshold in (17, 200, 3_000):
        rate = sampling_rate.exactly(1.0, 1e-6, threshold)
        missing.append(threshold * (1.0 - rate) / rate)
        holders = round(threshold / rate)
        apart = 0.5 * sum(
            abs(stats.binom.pmf(k, holders, 1.0 - rate) - stats.poisson.pmf(k, holders * (1.0 - rate)))
            for k in range(holders + 1)
        )
        assert apart <= 1.0 - rate  # as the proof has it
    assert abs(missing[0] - mean) > 4.0
    assert missing[2] == pytest.approx(mean, rel=2e-3)


def test_the_notes_own_rule_asks_more_than_eight_percent():
    row = sampling_rate._row(0.05, 1.0)
    assert row["notes"] == pytest.approx(0.1668, abs=1e-4)
    assert row["proved"] < row["notes"] < row["exact"]


def test_five_is_the_smallest_whole_number_up_to_one():
    grid = np.linspace(0.01, 1.0, 100)
    assert all(why_five.alpha(e) > e / math.sqrt(5.0) for e in grid)
    assert not any(why_five.alpha(e) >= e / 2.0 for e in grid)  # four serves nowhere
    assert why_five.needed(1.0) == pytest.approx(1.0 / math.tanh(0.5) ** 2)
    assert why_five.alpha(1.21) < 1.21 / math.sqrt(5.0)  # nor does five much beyond one
    assert 1.2 < why_five.reach(5.0) < 1.21


def test_simulated_errors_lie_where_they_are_predicted():
    rows = data_sets.DataSets().run(quick=True).rows
    assert {row["data"] for row in rows if row["predicted"] is None} == {data_sets.DATA_SETS[0].name}
    for row in (row for row in rows if row["predicted"] is not None):
        assert row["simulated"] == pytest.approx(row["predicted"], rel=0.25)  # 400 runs: some seven standard errors
    at = {(row["protocol"], row["data"]): row["predicted"] for row in rows}
    for data in data_sets.DATA_SETS:
        assert at["zsum", data.name] < at["sample-threshold", data.name]


def test_a_count_is_seen_from_where_the_binomial_says():
    protocol = SampleThreshold(crowd=Crowd(too_sparse.PEOPLE), rate=0.25, threshold=12)
    for chance in (0.5, 0.95):
        fewest = too_sparse.smallest_count(protocol, chance)
        reported = [stats.binom.sf(11, k, float(protocol.rate)) for k in (fewest - 1, fewest)]
        assert reported[0] < chance <= reported[1]
    assert fewest < too_sparse.safe(protocol) < 1.5 * fewest


def test_the_floor_of_additive_noise_is_its_cover():
    for gamma in (0.0725, 0.00341):
        protocol = Zsum(crowd=Crowd(too_sparse.PEOPLE), gamma=gamma, thresholded=True)
        assert abs(too_sparse.smallest_count(protocol, 0.5) - too_sparse.PEOPLE * gamma) < 2
        plain = Zsum(crowd=Crowd(too_sparse.PEOPLE), gamma=gamma)
        assert too_sparse.smallest_count(plain, 0.95) < 0.6 * too_sparse.PEOPLE * gamma


def test_the_worst_of_several_errors():
    law = Noise(np.array([-1.0, 0.0, 2.0, 3.0]), np.array([0.2, 0.7, 0.08, 0.02]))
    for bins in (1, 2, 3):
        drawn = list(product(zip(law.values, law.masses, strict=True), repeat=bins))
        within = {
            size: sum(math.prod(m for _, m in one) for one in drawn if max(abs(v) for v, _ in one) <= size)
            for size in (0.0, 1.0, 2.0, 3.0)
        }
        assert thresholding.worst_of(law, bins) == min(size for size, chance in within.items() if chance >= 0.95)


def test_thresholds_pay_only_where_nearly_all_bins_are_empty():
    cell = Zsum(crowd=Crowd(thresholding.PEOPLE), gamma=42.7 / thresholding.PEOPLE)
    few, many = (thresholding._bins(cell, empty) for empty in (0, 10**6))
    assert few["plain"] < few["sparse"] < many["plain"]
    assert many["thresholded"] == few["thresholded"] == few["plain"]


def test_plans_that_rely_on_fewer_keep_their_promise():
    rows = dropouts._rows(Zsum, (0.0, 0.1, 0.3, 0.5), quick=True)
    everybody, fewer = ({r["gone"]: r["epsilon_left"] for r in rows if r["relied"] == relied} for relied in (1.0, 0.7))
    assert everybody[0.0] <= 1.0 + 1e-6 < everybody[0.1]
    assert everybody[0.1] == pytest.approx(1.092, abs=0.002)
    assert fewer[0.3] <= 1.0 + 1e-6 < fewer[0.5]


def test_extra_messages_are_a_matter_of_the_crowd_and_not_of_its_size():
    totals = [next(messages._rows("correlated-count", n, (0.1118,)))["extra"] * n for n in (1_000, 100_000)]
    assert totals[0] == pytest.approx(totals[1], rel=1e-6)
    assert 600 < totals[0] < 720  # some 600 with the very best flood


def test_every_step_of_the_proof_gives_something_away():
    for cover in (20, 34, 100, 300):
        row = good_events._additive(cover)
        chances = [row[step] for step in good_events.STEPS]
        assert all(a <= b for a, b in pairwise(chances))
    assert good_events._additive(35)["exact"] <= 1e-6 < good_events._additive(33)["exact"]
    assert calibrate(Zsum, Count(), Crowd(good_events.PEOPLE), BUDGET).gamma * good_events.PEOPLE < 35


def test_the_lemma_as_quoted_fails_for_a_single_one_and_mended_holds():
    rows = good_events._sampled(np.array([1, 5, 26, 100, 1_000]))
    assert rows[0]["quoted"] == pytest.approx(good_events.RATE)
    assert max(row["mended"] for row in rows) < good_events.DELTA
    assert rows[3]["two_sided"] > good_events.DELTA  # nobody is sampled
    assert good_events.disagreements(2) == (7, 16)  # all but those without a person who has neither


def test_a_fixed_sample_is_its_list_and_betrays_a_share_of_its_size():
    for ones in range(7):
        law, by_hand = fixed_sample.hypergeometric(6, 3, ones), fixed_sample.listed(6, 3, ones)
        assert law.masses == pytest.approx(by_hand.masses[law.start : law.start + law.masses.size])
    row = fixed_sample._row(1_000, 0.3, 1)
    assert row[fixed_sample.FIXED] == pytest.approx(0.3)
    assert row[fixed_sample.COINS] < 1e-20


def test_a_high_threshold_leaves_out_as_many_as_additive_noise_covers():
    cover = calibrate(PoissonCount, Count(), Crowd(10_000), BUDGET).mean
    far, near = (
        sampling_as_noise._left_out(tau, sampling_rate.exactly(1.0, 1e-6, tau), cover)["left_out"] for tau in (5, 8_000)
    )
    assert near == pytest.approx(cover, rel=0.003)
    assert far > 2.5 * cover
