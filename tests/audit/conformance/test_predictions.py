"""Predictions against simulation: a quick form of `make predictions`, and twins it must catch."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headcount.audit.conformance.coverage import covered
from headcount.audit.conformance.predictions import JudgedPrediction, judge_predictions
from headcount.audit.conformance.scenarios import (
    Scenario,
    count_scenario,
    hardest_scenario,
    histogram_scenario,
    released_totals,
    samples_directly,
    spread_scenario,
)
from headcount.privacy import laws
from headcount.privacy.budget import Budget
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Noise
from headcount.programme.tally import Tally
from headcount.protocols import CATALOGUE, FORMER
from headcount.protocols.central.laplace_shares import LaplaceShares
from headcount.protocols.central.stability_histogram import StabilityHistogram
from headcount.protocols.local.oracle_by_lot import OracleByLot
from headcount.protocols.local.randomised_response import RandomisedResponse
from headcount.protocols.shared.stochastic_rounding import halfway, worst_fraction
from headcount.protocols.shuffle.almost_central_sum import AlmostCentralSum
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.blanket_sum import BlanketSum
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions import QUESTIONS
from headcount.questions.count import Fraction
from headcount.questions.distribution import Distribution
from headcount.questions.sum_and_mean import Mean, Sum
from headcount_survey.pages.predictions import HEAD, page, summary
from headcount_survey.pages.situations import EASY, RUNS, USUAL, entrant, parted, situations

COUNTED, CATEGORISED = count_scenario(3_000, 300, USUAL), histogram_scenario(300, EASY, 4)
SHARE, AVERAGE = count_scenario(3_000, 300, USUAL, Fraction()), hardest_scenario(200, EASY, Mean((0.0, 120.0)))
HARDEST, SPREAD, PARTED = hardest_scenario(200, EASY, Sum.whole((0, 3))), spread_scenario(300, EASY), parted(300, EASY)
SHARED = Scenario(LaplaceShares.tiny().task, EASY, np.repeat([0, 1, 2], [50, 150, 100]), {"what they hold": 1})
FAMILIES = histogram_scenario(1_000, Budget(6.0, 1e-4), 16, Distribution((0.0, 16.0), 16, radices=(4, 4)))
CASES = [
    pytest.param(cls, situation, id=f"{cls.name}-{situation.task.name}")
    for situation in (COUNTED, CATEGORISED, HARDEST, SHARED, FAMILIES)
    for cls in CATALOGUE
    if cls.answers(situation.task)
]


def judged(protocol, situation, runs=1_500):
    return judge_predictions(protocol, situation, RUNS if samples_directly(protocol) else runs, seed=1)


@pytest.mark.parametrize(("cls", "situation"), CASES)
def test_the_prediction_is_the_truth(cls, situation):
    assert all(cell.holds for cell in judged(situation.calibrated(cls), situation))


@pytest.mark.parametrize("situation", [SPREAD, PARTED], ids=["spread", "parted"])
def test_other_crowds_have_no_more_error_than_the_hardest(situation):
    assert all(cell.holds for cell in judged(situation.calibrated(BlanketSum), situation))


def test_every_protocol_and_every_task_is_judged():
    assert {param.values[0] for param in CASES} == set(CATALOGUE)
    grid = list(situations())
    assert len(grid) >= 60
    assert {situation.task.name for situation in grid} == {
        "count",
        "fraction",
        "histogram",
        "sum",
        "mean",
        "distribution",
        "table",
    }
    assert {True, False} == {situation.hardest for situation in grid if situation.task.name == "mean"}


def test_the_page_has_nothing_that_is_no_longer_there():
    """A protocol that was added since is judged here, and on the page when that is made again; so is one that left."""
    written = Path(__file__).parents[3] / "docs" / "predictions.md"
    lines = [line for line in written.read_text().splitlines() if line.startswith("| ")]
    rows = {line.split("|")[1].split(",")[0].strip() for line in lines} - {"protocol", "task", *QUESTIONS}
    assert len(rows) >= 40
    assert rows <= {cls.name for cls in (*CATALOGUE, *FORMER)}


def test_a_fraction_and_a_mean_are_judged_in_their_own_unit():
    (share,), (count,) = judged(SHARE.calibrated(Zsum), SHARE), judged(COUNTED.calibrated(Zsum), COUNTED)
    assert share.holds
    assert share.std * 3_000 == pytest.approx(count.std)
    assert share.half * 3_000 == pytest.approx(count.half)
    protocol = AVERAGE.calibrated(BlanketSum)
    (mean,) = judged(protocol, AVERAGE)
    assert mean.holds
    assert mean.std == pytest.approx(protocol.rmse() * 120 / 200)


def test_the_largest_and_the_smallest_category_are_judged():
    situation = histogram_scenario(2_000, USUAL)
    assert sorted(situation.holders.values()) == [1, 672]
    assert np.bincount(situation.values).tolist() == sorted(np.bincount(situation.values), reverse=True)
    assert len(judged(CATEGORISED.calibrated(BalcerCheuHistogram), CATEGORISED)) == 2


class TooNarrow:
    def intervals(self, tally, confidence):
        return super().intervals(tally, 0.88)


class TooModest:
    """Understates its variance."""

    def noise(self, truth, reports):
        exact = super().noise(truth, reports)
        return Noise(exact.values * 0.93, exact.masses, exact.dropped)


class TooWide:
    """Overstates it, and with it how wide an interval must be."""

    def noise(self, truth, reports):
        exact = super().noise(truth, reports)
        return Noise(exact.values * 1.08, exact.masses, exact.dropped)


class Shifted:
    def point(self, tally):
        return super().point(tally) + 0.5


def twins(*protocols):
    wrongs = (TooNarrow, TooModest, TooWide, Shifted)
    return [type(f"{wrong.__name__}{cls.__name__}", (wrong, cls), {}) for cls in protocols for wrong in wrongs]


@pytest.mark.parametrize("twin", twins(Zsum), ids=lambda twin: twin.__name__)
def test_a_wrong_prediction_of_a_count_is_caught(twin):
    assert not any(cell.holds for cell in judged(COUNTED.calibrated(twin), COUNTED))


@pytest.mark.parametrize("twin", twins(BalcerCheuHistogram), ids=lambda twin: twin.__name__)
def test_a_wrong_prediction_of_a_histogram_is_caught_in_either_category(twin):
    assert not any(cell.holds for cell in judged(CATEGORISED.calibrated(twin), CATEGORISED))


@pytest.mark.parametrize("twin", twins(BlanketSum), ids=lambda twin: twin.__name__)
def test_a_wrong_prediction_of_a_sum_is_caught_where_it_is_hardest(twin):
    situation = hardest_scenario(100, EASY)
    assert not any(cell.holds for cell in judged(situation.calibrated(twin), situation, 12_000))


@pytest.mark.parametrize("wrong", [TooModest, TooWide])
def test_an_interval_that_is_not_the_shortest_is_caught_by_itself(wrong):
    twin = type("Twin", (wrong, RandomisedResponse), {})
    assert not judged(COUNTED.calibrated(twin), COUNTED)[0].tight
    assert judged(COUNTED.calibrated(RandomisedResponse), COUNTED)[0].tight


def test_another_crowd_may_have_less_error_than_is_stated():
    twin = type("Twin", (TooWide, BlanketSum), {})
    cautious = judged(SPREAD.calibrated(twin), SPREAD)[0]
    assert cautious.variance_z < 0.0
    assert cautious.holds


def test_what_is_too_rare_to_be_seen_is_no_error():
    silent = replace(COUNTED.calibrated(Zsum), thresholded=True)
    nobody = Scenario(COUNTED.task, USUAL, np.zeros(3_000, dtype=np.int64), {"nobody": 0})
    assert judged(silent, nobody)[0].holds


def test_the_threshold_of_zsum_is_predicted_too():
    silent = replace(COUNTED.calibrated(Zsum), thresholded=True)
    assert all(judged(silent, count_scenario(3_000, ones, USUAL))[0].holds for ones in (20, 34, 60, 500))


def test_counts_that_are_shown_need_no_wider_interval_than_noise_alone():
    largest, _ = judged(CATEGORISED.calibrated(StabilityHistogram), CATEGORISED)
    assert largest.wider == pytest.approx(1.0)


def test_who_would_send_too_much_is_not_judged():
    assert entrant(AlmostCentralSum, SPREAD) is None
    assert entrant(AlmostCentralSum, SPREAD, runs=10) is not None
    assert entrant(Zsum, count_scenario(20, 3, USUAL)) is None


def test_many_runs_at_once_are_as_good_as_one_by_one():
    protocol = SPREAD.calibrated(BlanketSum)
    together = protocol.repeated(SPREAD.values, SeededCoins(1), 4_000)[:, 0]
    coins = SeededCoins(2)
    apart = np.array([protocol.tally(protocol.reports(SPREAD.values, coins)).totals[0] for _ in range(1_000)])
    assert abs(together.mean() - apart.mean()) < 5 * apart.std() * np.sqrt(1 / 1_000 + 1 / 4_000)
    assert together.std() == pytest.approx(apart.std(), rel=5 * np.sqrt(0.5 / 1_000 + 0.5 / 4_000))
    assert np.array_equal(
        protocol.repeated(SPREAD.values, SeededCoins(3), 1)[0],
        protocol.tally(protocol.reports(SPREAD.values, SeededCoins(3))).totals,
    )


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 10, 120, 1 << 40])
@pytest.mark.parametrize("levels", [1, 2, 3, 4, 7, 64, 120])
def test_halfway_has_the_worst_fraction_left_over(steps, levels):
    task = Sum((0, 1), steps=steps)
    for near in (0.0, 0.5, 1.0):
        value = halfway(task, levels, near)
        assert 0 <= value <= steps
        assert value * levels % steps / steps == pytest.approx(worst_fraction(task, levels))


def test_coverage_found_by_its_ends_is_that_of_every_interval():
    protocol = COUNTED.calibrated(RandomisedResponse)
    rows, times = np.unique(released_totals(protocol, COUNTED.values, 400, 1), axis=0, return_counts=True)
    tallies = [Tally(3_000, row) for row in rows]
    estimates = np.array([protocol.point(tally)[0] for tally in tallies])
    covers, width = covered(protocol, tallies, estimates, times, 0, 300.0, 0.95)
    ends = np.array([protocol.intervals(tally, 0.95)[0] for tally in tallies])
    assert np.array_equal(covers, (ends[:, 0] <= 300.0) & (ends[:, 1] >= 300.0))
    assert not covers.all()
    assert width == pytest.approx(float((ends[:, 1] - ends[:, 0]) @ times) / 400, rel=0.01)


def test_the_page_says_at_its_end_how_it_went():
    good = judged(COUNTED.calibrated(Zsum), COUNTED)[0]
    bad = replace(good, bias_z=7.0)
    assert isinstance(good, JudgedPrediction)
    assert HEAD[0] in page([(COUNTED, good)], RUNS)
    assert page([(COUNTED, good)], RUNS).endswith("all hold.\n")
    assert summary([(COUNTED, good), (COUNTED, bad)]).endswith("1 do not hold.")


class AllDrawTheFamily(OracleByLot):
    """Has the variance of drawing lots, in the form of an error that has none."""

    def noise_in(self, family, truth, reports):
        law = laws.binomial(round(reports / self._families), self.oracles[family].other)
        exact = self._variance(family, truth, reports)
        return Noise.of(law, centre=law.mean, scale=(exact / law.variance) ** 0.5)


def test_the_form_of_an_error_is_judged_and_not_its_variance_alone():
    assert all(cell.holds for cell in judged(FAMILIES.calibrated(OracleByLot), FAMILIES))
    assert not any(cell.tight for cell in judged(FAMILIES.calibrated(AllDrawTheFamily), FAMILIES))
