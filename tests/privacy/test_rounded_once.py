"""A total that is rounded once: every word, every neighbour, integers of any size, and the error that it makes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import chdtri

from headcount.engines.memory import MemoryEngine
from headcount.errors import BadArgument
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.rounded_once import RoundThenNoise
from headcount.privacy.two_sided_noise import AddDiscreteLaplace
from headcount.programme.coins import Bytes, Coins, SeededCoins
from headcount.programme.field import Values
from headcount.programme.report_law import WHOLE
from headcount.programme.table import Ints
from headcount.programme.tally import Batch, Tally
from headcount.protocols.base.plan import Plan
from headcount.protocols.central.laplace import Laplace
from headcount.protocols.shared.stochastic_rounding import worst_fraction
from headcount.questions.count import Count
from headcount.questions.domains.levels import REAL_STEPS
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.testing import Nonconforming, the_claimed_loss_covers_every_view

NOISE = AddDiscreteLaplace(Fraction(1, 3))
GRIDS = [(1, 1), (1, 64), (4, 2), (5, 3), (6, 4), (3, 9), (7, 1)]
REAL = Mean((0.0, 1.0))
FALSE_ALARM = 1e-6


class Said(Coins):
    """Whoever asks for a number below something is told this one."""

    secret = False

    def __init__(self, number: int) -> None:
        self.number = number

    def stream(self, size: int) -> Bytes:
        raise AssertionError("nothing else is drawn")

    def below(self, bound: int, size: int) -> Ints:
        assert self.number < bound
        return np.full(size, self.number)


def _rounded(release: RoundThenNoise, total: int) -> list[int]:
    """By every word there is."""
    parts = release.scale.denominator
    return [int(release.rounded(np.array([total], dtype=object), Said(word))[0]) for word in range(parts)]


@pytest.mark.parametrize(("steps", "levels"), GRIDS)
@pytest.mark.parametrize("total", [-7, 0, 1, 2, 3, 10, 41, (1 << 90) + 5])
def test_the_mean_over_all_words_is_exact(steps: int, levels: int, total: int) -> None:
    release = RoundThenNoise(steps, levels, NOISE)
    every = _rounded(release, total)
    assert Fraction(sum(every), len(every)) == Fraction(total * levels, steps)
    assert max(every) - min(every) <= 1


@pytest.mark.parametrize(("steps", "levels"), GRIDS)
def test_by_every_word_one_person_moves_the_total_by_no_more_than_all_levels(steps: int, levels: int) -> None:
    release = RoundThenNoise(steps, levels, NOISE)
    rounded = [_rounded(release, total) for total in range(-steps, 4 * steps)]
    for first, second in product(range(len(rounded)), repeat=2):
        if 0 <= second - first <= steps:
            apart = [b - a for a, b in zip(rounded[first], rounded[second], strict=True)]
            assert min(apart) >= 0
            assert max(apart) <= -(-(second - first) * levels // steps) <= levels


@pytest.mark.parametrize(("steps", "levels"), GRIDS)
def test_its_law_is_that_of_every_word(steps: int, levels: int) -> None:
    release = RoundThenNoise(steps, levels, NOISE)
    for total in (0, 1, 5, 9):
        every, mixed = _rounded(release, total), release.law(total)
        laws = [NOISE.law(level) for level in every]
        for outcome in range(-40, 40):
            exact = Fraction(sum(law.get(outcome, 0) for law in laws), len(every))
            assert exact - 1 < mixed.get(outcome, 0) <= exact
        assert 0 <= WHOLE - sum(mixed.values()) < WHOLE >> 80


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize(
    ("bounds", "steps", "levels"), [((0, 1), 5, 3), ((0, 1), 3, 5), ((-1, 1), 6, 4), ((-3, 0), 3, 2)]
)
def test_the_claim_is_the_truth_of_every_small_crowd(
    bounds: tuple[float, float], steps: int, levels: int, relation: Neighbours
) -> None:
    protocol = Laplace(task=Sum(bounds, steps=steps), crowd=Crowd(3), scale=0.6, levels=levels, neighbours=relation)
    the_claimed_loss_covers_every_view(protocol)


class EachForThemselves(Laplace):
    """The total is rounded to a grid of whole people only, and the noise is for finer ones."""

    def released(self) -> RoundThenNoise:
        return RoundThenNoise(1, self.levels, AddDiscreteLaplace(self.rate))


def test_a_total_that_moves_further_is_noticed() -> None:
    with pytest.raises(Nonconforming):
        the_claimed_loss_covers_every_view(
            EachForThemselves(task=Sum((0, 1), steps=5), crowd=Crowd(2), scale=0.6, levels=3)
        )


def test_zero_must_be_on_both_grids_where_people_come_and_go() -> None:
    for steps, levels in ((4, 2), (3, 4)):  # of levels, of steps
        with pytest.raises(BadArgument, match="0 on their grid"):
            Laplace(
                task=Sum((-1, 3), steps=steps), crowd=Crowd(3), scale=1.0, levels=levels,
                neighbours=Neighbours.ADD_REMOVE,
            )  # fmt: skip


# Integers of any size


def test_more_people_than_64_bits_can_add_up() -> None:
    people = 10_000_000
    protocol = Laplace(task=REAL, crowd=Crowd(people), scale=1.0)
    messages = np.zeros(people, dtype=protocol.message)
    messages["steps"] = REAL_STEPS
    assert int(messages["steps"].sum()) < 0  # what adding them up in 64 bits would give
    tally = protocol.tally(Batch(people, messages))
    assert tally.totals.tolist() == [people * REAL_STEPS]
    released = protocol.release(tally, SeededCoins(1))
    assert released.totals.dtype == np.int64
    assert abs(protocol.point(released)[0] - people) < 40.0
    assert protocol.estimate(released).value == pytest.approx(1.0, abs=1e-5)


def test_pieces_add_up_to_the_whole() -> None:
    plan = Plan(Laplace(task=REAL, crowd=Crowd(50), scale=1.0, levels=64), Budget(1.0, 1e-6))
    data, coins = np.linspace(0.0, 1.0, 50), SeededCoins(1)
    whole, halves = (MemoryEngine().tally(plan, pieces, coins) for pieces in ([data], [data[:20], data[20:]]))
    assert whole == halves
    assert whole.totals.tolist() == [sum(plan.protocol.task.domain.codes(data).tolist())]


@pytest.mark.parametrize("levels", [1, 64, 1 << 22])
def test_the_total_of_the_largest_crowd_is_brought_to_levels_exactly(levels: int) -> None:
    people = 10**12
    protocol = Laplace(task=REAL, crowd=Crowd(people), scale=1.0, levels=levels)
    released = protocol.release(Tally(people, np.array([people * REAL_STEPS])), SeededCoins(1))
    assert abs(int(released.totals[0]) - people * levels) < 60 * levels


def test_what_fits_no_release_is_refused_and_never_wraps_around() -> None:
    protocol = Laplace(task=REAL, crowd=Crowd(3), scale=1.0)
    with pytest.raises(OverflowError):
        protocol.release(Tally(3, np.array([REAL_STEPS << 62])), SeededCoins(1))


# Errors


@pytest.mark.parametrize("people", [1, 2, 3, 300, 10_000, 1 << 20])
def test_people_who_hold_the_hardest_value_have_a_total_half_way(people: int) -> None:
    protocol = Laplace(task=REAL, crowd=Crowd(people), scale=1.0)
    value = protocol.hardest_value
    assert 0 <= value <= REAL_STEPS
    assert value * people * protocol.levels % REAL_STEPS == REAL_STEPS // 2


@pytest.mark.parametrize(
    ("people", "levels", "steps"), [(40, 1, REAL_STEPS), (41, 2, REAL_STEPS), (7, 3, 5), (25, 2, 9)]
)
def test_the_error_of_the_hardest_crowd_has_the_stated_law(people: int, levels: int, steps: int) -> None:
    runs = 5_000
    protocol = Laplace(task=Sum((0, 1), steps=steps), crowd=Crowd(people), scale=0.3, levels=levels)
    values = np.full(people, protocol.hardest_value)
    if steps < REAL_STEPS:  # where that crowd is as hard as any
        assert worst_fraction(protocol.task, levels * people) == worst_fraction(protocol.task, levels)
    drawn = [protocol.repeated(values, SeededCoins(1), runs)]
    if steps < REAL_STEPS:
        drawn.append(protocol.sample(np.bincount(values, minlength=steps + 1), SeededCoins(2), runs))
    truth = float(protocol.task.truth(values)[0])
    stated = protocol.noise(0, people)
    for totals in drawn:
        errors = totals[:, 0] / levels - truth
        _fits(errors, stated.values, stated.masses)
        assert errors.std() == pytest.approx(stated.std_error, rel=0.1)


def _fits(errors: Values, values: Values, masses: Values) -> None:
    """Chi-square over all errors that are likely enough; an error is never elsewhere."""
    near = np.abs(errors[:, None] - values[None, :]).argmin(axis=1)
    assert np.abs(errors - values[near]).max() < 1e-9
    likely = masses * errors.size >= 20
    seen = np.bincount(near, minlength=values.size)[likely]
    expected = masses[likely] * errors.size
    assert float(((seen - expected) ** 2 / expected).sum()) < chdtri(int(likely.sum()), FALSE_ALARM)


@pytest.mark.parametrize("relation", list(Neighbours))
def test_how_many_people_there_are_changes_nothing_about_the_error(relation: Neighbours) -> None:
    task, budget = Sum((0.0, 1.0)), Budget(1.0, 1e-6, relation)
    few, many = (Laplace(task=task, crowd=Crowd(n), scale=1.0, neighbours=relation) for n in (10, 10**9))
    assert few.rmse() == many.rmse() == few.rmse(reports=10**6)
    assert np.array_equal(few.noise(0, 10).masses, many.noise(0, 10**9).masses)
    assert [*Laplace.choices(task, Crowd(10), budget)] == [*Laplace.choices(task, Crowd(10**9), budget)]
    assert few.released() == many.released()
    assert few.programme.encode() == many.programme.encode()


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 10.0, 50.0])
def test_rounding_once_adds_less_than_a_hundredth_to_the_variance(epsilon: float) -> None:
    for task in (REAL, Sum.whole((0, 120)), Count()):
        (choice,) = Laplace.choices(task, Crowd(10**6), Budget(epsilon, 1e-6))
        protocol = Laplace(task=task, crowd=Crowd(10**6), scale=1.0 / epsilon, **choice)
        assert choice["levels"] == {1: 64, 120: 120}.get(task.values - 1, 64 if epsilon <= 10.0 else 256)
        fraction = worst_fraction(task, protocol.levels)
        assert fraction * (1 - fraction) / protocol.levels**2 < 0.01 * protocol.rmse() ** 2
