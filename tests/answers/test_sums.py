"""Sums, means, differences and ledgers as a user asks for them."""

import numpy as np
import pandas as pd
import pytest

import headcount as hc
from headcount.questions.domains.domain import Shape

BUDGET = {"epsilon": 1, "delta": 1e-6}
AGES = np.arange(5_000) % 100
TOTAL = float(AGES.sum())


@pytest.mark.parametrize("model", ["central", "shuffle"])
def test_sums_and_means_of_whole_and_real_numbers(model):
    assert abs(hc.sum(AGES, bounds=(0, 100), model=model, **BUDGET).value - TOTAL) < 3_000
    assert abs(hc.mean(AGES, bounds=(0, 100), model=model, **BUDGET).value - 49.5) < 0.6
    shares = AGES / 100
    assert abs(hc.sum(shares, bounds=(0, 1), model=model, **BUDGET).value - TOTAL / 100) < 30
    assert abs(hc.mean(shares - 0.5, bounds=(-0.5, 0.5), model=model, **BUDGET).value + 0.005) < 0.006


@pytest.mark.parametrize("protocol", [p.name for p in hc.CATALOGUE if Shape.AMOUNT in p.shapes])
def test_every_protocol_for_sums_runs(protocol):
    """Twenty standard errors: only a wrong estimator fails."""
    answer = hc.sum(AGES + 20, bounds=(10, 130), protocol=protocol, epsilon=2, delta=1e-6)
    assert abs(answer.value - TOTAL - 100_000) < 20 * answer.std_error
    low, high = answer.interval()
    assert low < answer.value < high


def test_whole_numbers_are_not_rounded_if_they_are_said_to_be_whole():
    assert hc.Sum.whole((0, 120)).steps == 120
    assert hc.Sum((0, 120)).steps == 1 << 40
    answer = hc.sum(AGES, bounds=(0, 100), whole=True, model="central", **BUDGET)
    assert answer.protocol.levels % 100 == 0
    with pytest.raises(hc.Refused, match="whole=False"):
        hc.sum([*AGES, 3.5], bounds=(0, 100), whole=True, model="central", **BUDGET)


def test_the_plan_does_not_hang_on_one_person_s_value():
    """A list of whole numbers becomes an array of floats by a single fraction; nothing that is shown may."""
    plans = [hc.sum([*range(50), last], bounds=(0, 100), model="central", epsilon=1).protocol for last in (3, 3.5)]
    assert plans[0] == plans[1]


def test_values_outside_the_bounds_are_refused_or_clipped():
    with pytest.raises(hc.Refused, match="outside the bounds"):
        hc.sum(AGES, bounds=(0, 50), **BUDGET)
    clipped = hc.sum(AGES, bounds=(0, 50), clip=True, **BUDGET)
    assert abs(clipped.value - np.minimum(AGES, 50).sum()) < 1_500


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_bounds_are_kept_under_either_relation(neighbours):
    with pytest.raises(hc.Refused, match="outside the bounds"):
        hc.sum(AGES, bounds=(18, 120), model="central", epsilon=1, neighbours=neighbours)
    clipped = hc.sum(AGES, bounds=(18, 60), clip=True, model="central", epsilon=1, neighbours=neighbours)
    assert abs(clipped.value - np.clip(AGES, 18, 60).sum()) < 1_500


def test_add_remove_counts_from_zero():
    for bounds in ((-50, 50), (0, 100), (-50, 120)):
        answer = hc.sum(np.clip(AGES - 50, *bounds), bounds=bounds, model="central", neighbours="add-remove", epsilon=1)
        assert answer.n is None
        assert abs(answer.value - np.clip(AGES - 50, *bounds).sum()) < 3_000
    answer = hc.mean(AGES, bounds=(0, 100), neighbours="add-remove", epsilon=1)
    assert answer.n is None
    assert abs(answer.value - AGES.mean()) < 1


def test_the_interval_of_a_private_number_of_people_does_not_depend_on_it():
    widths = set()
    for people in (10, 5_000):
        answer = hc.sum(AGES[:people] / 100, bounds=(0, 1), model="central", neighbours="add-remove", epsilon=1)
        low, high = answer.interval()
        widths.add(round(high - low, 6))
    assert len(widths) == 1


@pytest.mark.parametrize("bounds", [None, 5, (1,), (1, 1), (2, 1), (0, np.inf), (np.nan, 1), ("a", "b"), "01"], ids=str)
def test_bad_bounds_are_refused(bounds):
    with pytest.raises(hc.Refused, match="bounds"):
        hc.sum(AGES, bounds=bounds, **BUDGET)


def test_bad_numbers_are_refused():
    with pytest.raises(hc.Refused, match="missing"):
        hc.sum([1.0, np.nan], bounds=(0, 2), **BUDGET)
    with pytest.raises(hc.Refused, match="numbers"):
        hc.sum(["a", "b"], bounds=(0, 2), **BUDGET)
    with pytest.raises(hc.Refused, match="empty"):
        hc.mean([], bounds=(0, 2), **BUDGET)


def test_a_modulus_too_small_for_the_sum():
    with pytest.raises(hc.Refused, match=r"modulus.*too small.*use at least"):
        hc.protocol("split-and-mix", hc.Sum((0, 1)), n=1_000, inner=1, levels=10, modulus=1_024, shares=5)


def test_rows_of_a_person_are_added_or_averaged():
    frame = pd.DataFrame({"id": np.repeat(np.arange(1_000), 2), "spent": np.tile([1.0, 3.0], 1_000)})
    spent = hc.sum(frame, column="spent", unit="id", bounds=(0, 10), model="central", **BUDGET)
    average = hc.mean(frame, column="spent", unit="id", bounds=(0, 10), model="central", **BUDGET)
    assert abs(spent.value - 4_000) < 300
    assert abs(average.value - 2) < 0.3
    with pytest.raises(hc.Refused, match="outside the bounds"):
        hc.sum(frame, column="spent", unit="id", bounds=(0, 3), model="central", **BUDGET)


def test_the_difference_of_two_answers_has_an_interval():
    first = hc.count(np.arange(4_000) < 2_000, **BUDGET)
    second = hc.count(np.arange(4_000) < 1_500, **BUDGET)
    difference = first - second
    low, high = difference.interval()
    assert low < float(difference) < high
    assert abs(float(difference) - 500) < 40
    assert high - low < sum(b - a for a, b in (first.interval(), second.interval()))
    assert difference.std_error == pytest.approx(np.hypot(first.std_error, second.std_error))


def test_the_interval_of_a_difference_covers():
    """Exactly, from the laws: the chance that both errors differ by more than the half-width is at most 5%."""
    first, second = (hc.protocol("poisson-count", n=1_000, mean=mean) for mean in (3.0, 7.0))
    a, b = (p.estimate(hc.Tally(1_000, np.array([500]))) for p in (first, second))
    low, high = (a - b).interval()
    half = (high - low) / 2
    noises = [p.noise(0, 1_000) for p in (first, second)]
    gap = np.abs(noises[0].values[:, None] - noises[1].values)
    inside = (np.outer(noises[0].masses, noises[1].masses) * (gap <= half + 1e-9)).sum()
    assert 0.95 <= inside < 0.99


def test_a_ledger_refuses_before_anything_is_drawn():
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    assert ledger.spent == 0
    assert ledger.remaining == 1
    hc.count(AGES > 50, epsilon=0.6, delta=5e-7, ledger=ledger)
    spent = ledger.spent
    assert 0.5 < spent < 0.61
    assert 0.1 < ledger.would_cost(epsilon=0.2, delta=1e-8) <= 0.21

    class Untouchable(hc.SecretCoins):
        def stream(self, size):
            raise AssertionError("something was drawn")

    plan = hc.advise(hc.Count(), n=5_000, epsilon=0.6, delta=5e-7, models="shuffle").best
    with pytest.raises(hc.Refused, match=r"of the budget and 40% is left"):
        hc.run(plan, AGES > 50, coins=Untouchable(), ledger=ledger)
    assert ledger.spent == spent
    assert ledger.questions == 1


def test_a_ledger_composes_better_than_by_adding_up():
    ledger = hc.Ledger(epsilon=3, delta=1e-6)
    for _ in range(30):
        hc.count(AGES > 50, epsilon=0.1, delta=1e-9, ledger=ledger)
    assert ledger.spent < 0.8  # all of it by adding up


def test_a_pure_ledger_adds_up():
    ledger = hc.Ledger(epsilon=1)
    for _ in range(2):
        hc.sum(AGES, bounds=(0, 100), epsilon=0.5, model="central", ledger=ledger)
    assert ledger.spent == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(hc.Refused):
        hc.sum(AGES, bounds=(0, 100), epsilon=0.5, model="central", ledger=ledger)


def test_a_ledger_keeps_to_one_relation():
    ledger = hc.Ledger(epsilon=1, neighbours="add-remove")
    with pytest.raises(hc.Refused, match="the ledger counts in add-remove and the question in replace"):
        hc.count(AGES > 50, epsilon=0.5, model="central", ledger=ledger)
    hc.count(AGES > 50, epsilon=0.5, model="central", neighbours="add-remove", ledger=ledger)
    assert ledger.spent == 0.5


def test_refused_data_cost_nothing():
    ledger = hc.Ledger(epsilon=1, delta=1e-6)
    with pytest.raises(hc.Refused, match="outside the bounds"):
        hc.sum(AGES, bounds=(0, 50), epsilon=0.5, model="central", ledger=ledger)
    assert ledger.questions == 0
