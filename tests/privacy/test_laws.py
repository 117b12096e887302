"""The laws in doubles against the laws in 60 digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import truth
from scipy.stats import nbinom

from headcount.privacy import laws
from headcount.programme.law import Law

FINE, FAR = 1e-12, 1e-11  # where the mass is above 1e-8, and everywhere

PEOPLE = [1, 2, 10, 1000, 10**6, 10**9]
CHANCES = [2.0**-64, 1e-9, 3.4e-8, 1e-4, 0.1, 0.3, 0.5, 0.7, 0.999, 1.0 - 2.0**-50]
MEANS = [1e-12, 1e-3, 0.5, 3.0, 34.07, 1e3, 1e6, 1e9]
SHAPES = [1e-9, 1e-4, 0.3, 1.0, 2.5, 34.0, 1e3, 1e6]
DECAYS = [1e-9, 1e-3, 0.1, 0.36787944117144233, 0.9, 0.99]
RATES = [1e-3, 0.1, 1.0, 5.0, 50.0]


def relative_errors(law: Law, mass: Callable[[int], Any], points: int = 25) -> tuple[float, float]:
    """The largest one among the masses above 1e-8, and among all, at points spread over the window."""
    chosen = np.unique(np.linspace(0, law.masses.size - 1, points).astype(int)).tolist()
    errors = {i: float(abs(truth.exact(law.masses[i]) / mass(law.start + i) - 1)) for i in chosen}
    return max([e for i, e in errors.items() if law.masses[i] > 1e-8], default=0.0), max(errors.values())


def check_accuracy(law: Law, mass: Callable[[int], Any], fine: float = FINE, far: float = FAR) -> None:
    near, all_ = relative_errors(law, mass)
    assert near < fine
    assert all_ < far


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("n", [n for n in PEOPLE if n < 10**9])
def test_binomial_masses_are_good_to_twelve_digits(n: int, chance: float) -> None:
    check_accuracy(laws.binomial(n, chance), lambda k: truth.binomial_mass(n, chance, k), far=FINE)


@pytest.mark.parametrize("chance", CHANCES)
def test_binomial_masses_of_a_thousand_million_people_are_good_to_eleven_digits(chance: float) -> None:
    check_accuracy(laws.binomial(10**9, chance), lambda k: truth.binomial_mass(10**9, chance, k), fine=5e-12)


@pytest.mark.parametrize("mean", MEANS)
def test_poisson_masses_are_good_to_twelve_digits(mean: float) -> None:
    check_accuracy(laws.poisson(mean), lambda k: truth.poisson_mass(mean, k), far=FINE)


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_negative_binomial_masses_are_good_to_twelve_digits(shape: float, decay: float) -> None:
    check_accuracy(laws.negative_binomial(shape, decay), lambda k: truth.negative_binomial_mass(shape, decay, k))


FLOODS = [(2.5, 0.999), (11.05, 0.9966), (17.3, 0.9999), (27.6, 0.9989), (2e5, 0.009), (6.5e7, 0.0055), (1e9, 0.004)]


@pytest.mark.parametrize(("shape", "decay"), FLOODS)
def test_floods_are_good_to_ten_digits(shape: float, decay: float) -> None:
    law = laws.negative_binomial(shape, decay)
    check_accuracy(law, lambda k: truth.negative_binomial_mass(shape, decay, k), fine=5e-11, far=1e-10)


@pytest.mark.parametrize("rate", RATES)
def test_discrete_laplace_masses_are_good_to_twelve_digits(rate: float) -> None:
    check_accuracy(laws.discrete_laplace(rate), lambda k: truth.discrete_laplace_mass(rate, k), far=FINE)


def test_the_check_of_accuracy_catches_masses_off_by_a_few_parts_in_a_million_million() -> None:
    law = laws.poisson(34.07)
    worse = Law(law.start, law.masses * (1 + 2e-12), law.dropped)
    with pytest.raises(AssertionError):
        check_accuracy(worse, lambda k: truth.poisson_mass(34.07, k))


def test_the_check_of_accuracy_catches_scipy_s_convention() -> None:
    shape, decay = 2.5, 0.3
    ours = laws.negative_binomial(shape, decay)
    scipys = Law(ours.start, nbinom.pmf(ours.values, shape, decay), ours.dropped)
    with pytest.raises(AssertionError):
        check_accuracy(scipys, lambda k: truth.negative_binomial_mass(shape, decay, k))


def test_decay_is_the_chance_of_going_on() -> None:
    assert laws.negative_binomial(2.5, 0.3).mean == pytest.approx(2.5 * 0.3 / 0.7, rel=1e-12)


CUT_LAWS: list[tuple[str, tuple[float, ...]]] = [
    *[
        ("binomial", args)
        for args in [(1, 0.5), (10, 1e-9), (1000, 0.3), (1000, 0.999), (10**6, 0.02), (10**9, 3.4e-8)]
    ],
    *[("poisson", (mean,)) for mean in (1e-12, 0.5, 34.07, 1e3, 1e5)],
    *[("negative_binomial", args) for args in [(1e-9, 0.9), (0.3, 0.99), (2.5, 0.5), (34.0, 0.3679), (1e5, 1e-3)]],
]
cut = pytest.mark.parametrize(("name", "args"), CUT_LAWS)


def last(law: Law) -> int:
    return law.start + law.masses.size - 1


def left_out(name: str, args: tuple[float, ...], law: Law) -> Any:
    return getattr(truth, name)(*args).outside(law.start, last(law))


@cut
def test_the_window_leaves_out_no_more_than_it_owns_up_to(name: str, args: tuple[float, ...]) -> None:
    law = getattr(laws, name)(*args)
    rounding = truth.exact(2.0**-180)
    assert left_out(name, args, law) <= truth.exact(law.dropped) + rounding


@cut
def test_the_window_leaves_out_less_than_the_cut_on_either_side(name: str, args: tuple[float, ...]) -> None:
    assert left_out(name, args, getattr(laws, name)(*args)) <= 2.0 * laws.CUT


@cut
def test_a_law_adds_up_to_one(name: str, args: tuple[float, ...]) -> None:
    assert getattr(laws, name)(*args).masses.sum() == pytest.approx(1.0, abs=1e-11)


def test_the_check_of_the_window_catches_one_cell_too_few() -> None:
    law = laws.poisson(34.07)
    shorter = Law(law.start, law.masses[:-1], law.dropped)
    assert left_out("poisson", (34.07,), shorter) > truth.exact(law.dropped)


@pytest.mark.parametrize("rate", RATES)
def test_discrete_laplace_drops_exactly_its_tails(rate: float) -> None:
    law, a = laws.discrete_laplace(rate), truth.mp.exp(-truth.exact(rate))
    assert law.dropped == pytest.approx(float(2 * a ** (last(law) + 1) / (1 + a)), rel=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_discrete_laplace_is_symmetric(rate: float) -> None:
    law = laws.discrete_laplace(rate)
    assert (-law).start == law.start
    assert law.masses.tolist() == law.masses[::-1].tolist()


@pytest.mark.parametrize(("n", "chance", "at"), [(0, 0.3, 0), (7, 0.0, 0), (7, 1.0, 7)])
def test_a_binomial_law_without_chance_is_a_single_point(n: int, chance: float, at: int) -> None:
    law = laws.binomial(n, chance)
    assert (law.start, law.masses.tolist(), law.dropped) == (at, [1.0], 0.0)


@pytest.mark.parametrize("chance", [1e-6, 0.2, 0.9])
def test_rows_of_binomials_agree_with_single_ones(chance: float) -> None:
    n = np.array([0, 1, 5, 40, 41, 3000])
    rows = laws.binomials(n, chance, 0, 45)
    for row, people in zip(rows, n.tolist(), strict=True):
        law = laws.binomial(people, chance)
        alone = dict(zip(law.values.tolist(), law.masses.tolist(), strict=True))
        assert row.tolist() == pytest.approx([alone.get(k, 0.0) for k in range(46)], rel=1e-12, abs=1e-38)


def test_rows_of_binomials_have_nothing_outside_of_what_is_possible() -> None:
    row = laws.binomials(np.array([2]), 0.5, -2, 4)[0]
    assert np.flatnonzero(row).tolist() == [2, 3, 4]


def tails(n: int, chance: float, successes: int) -> tuple[float, float]:
    """P[Bin >= successes] and P[Bin <= successes]"""
    masses = [math.comb(n, k) * chance**k * (1.0 - chance) ** (n - k) for k in range(n + 1)]
    return math.fsum(masses[successes:]), math.fsum(masses[: successes + 1])


@pytest.mark.parametrize(("n", "k"), [(5, 2), (40, 0), (40, 40), (200, 150), (200, 3)])
@pytest.mark.parametrize("chance", [0.01, 0.3, 0.9])
def test_binomial_tails_keep_their_relative_accuracy(n: int, k: int, chance: float) -> None:
    above, upto = tails(n, chance, k + 1)[0], tails(n, chance, k)[1]
    assert float(laws.binomial_above(k, n, chance)) == pytest.approx(above, rel=1e-11)
    assert float(laws.binomial_upto(k, n, chance)) == pytest.approx(upto, rel=1e-11)


TRIALS = pytest.mark.parametrize(
    ("chance", "successes", "tail"),
    [(0.302, 17, 0.025), (0.302, 1, 0.025), (0.9, 5, 0.025), (0.5, 3, 0.3), (0.05, 2, 0.005), (1.0, 4, 0.025)],
)


@TRIALS
def test_smallest_trials_is_the_first_of_all(chance: float, successes: int, tail: float) -> None:
    first = next(n for n in range(successes, 500) if tails(n, chance, successes)[0] > tail)
    assert laws.smallest_trials(chance, successes, tail) == first


@TRIALS
def test_largest_trials_is_the_last_of_all(chance: float, successes: int, tail: float) -> None:
    following = next(n for n in range(successes + 1, 500) if tails(n, chance, successes)[1] <= tail)
    assert laws.largest_trials(chance, successes, tail) == following - 1


def test_nobody_sampled_still_leaves_room_for_some() -> None:
    assert laws.largest_trials(0.5, 0, 0.025) == 5
