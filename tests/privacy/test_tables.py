"""What people and analysers draw from, against the law it stands for: integers against integers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import truth
from scipy.special import chdtri
from truth import BITS, mp

from headcount.errors import Infeasible
from headcount.privacy import exact_tables as tables
from headcount.privacy.two_sided_noise import (
    AddDiscreteLaplace,
    TwoSidedNoise,
    discrete_laplace,
    discrete_laplace_distance,
)
from headcount.programme.coins import SCANNED, SeededCoins
from headcount.programme.report_law import WHOLE
from headcount.programme.table import Table
from headcount.programme.tally import Tally

FALSE_ALARM = 1e-6
TAIL = 2.0**-tables.TAIL_BITS

MEANS = [
    Fraction(1, 10**12),
    Fraction(3407, 10**11),
    Fraction(1, 1000),
    Fraction(1, 2),
    Fraction(3),
    Fraction(3407, 100),
]
SHARES = [
    (Fraction(1, 10**9), Fraction(0.37)), (Fraction(11, 10**4), Fraction(0.9966)), (Fraction(1, 6), Fraction(0.25)),
    (Fraction(27.6) / 10**9, Fraction(0.99)), (Fraction(1), Fraction(0.5)), (Fraction(20), Fraction(1, 1000)),
    (Fraction(6.5e7) / 10**4, Fraction(0.0055)), (Fraction(2e5) / 10**6, Fraction(0.009)),
]  # fmt: skip
DECAYS = [Fraction(1, 1000), Fraction(0.05), Fraction(1, 2), Fraction(0.9), Fraction(0.9966)]
RATES = [Fraction(1, 10**4), Fraction(1, 1000), Fraction(1, 64), Fraction(0.1), Fraction(0.7), Fraction(1), Fraction(5)]


def in_units(table: Table) -> list[int]:
    return [mass << (BITS - 128) for mass in table.masses]


def total_variation(table: Table, law: truth.Masses) -> Any:
    """Between what is drawn and the law, everything beyond the table's last cell included."""
    drawn = in_units(table)
    cells = max(len(drawn), law.units.size)
    assert law.start == table.start == 0
    sides = ([*side, *[0] * (cells - len(side))] for side in (drawn, law.units.tolist()))
    return truth.real(sum(abs(a - b) for a, b in zip(*sides, strict=True))) / 2


def check_distance(table: Table, law: truth.Masses) -> None:
    assert total_variation(table, law) <= tables.distance(len(table.coarse))


@pytest.mark.parametrize("mean", MEANS)
def test_a_poisson_table_lies_within_the_stated_distance(mean: Fraction) -> None:
    check_distance(tables.poisson(mean), truth.poisson(mean))


@pytest.mark.parametrize(("shape", "decay"), SHARES)
def test_a_negative_binomial_table_lies_within_the_stated_distance(shape: Fraction, decay: Fraction) -> None:
    check_distance(tables.negative_binomial(shape, decay), truth.negative_binomial(shape, decay))


def test_the_check_of_distance_catches_a_mean_off_in_the_thirtieth_digit() -> None:
    mean = Fraction(1, 2)
    with pytest.raises(AssertionError):
        check_distance(tables.poisson(mean + Fraction(1, 10**30)), truth.poisson(mean))


def test_the_check_of_distance_catches_masses_of_single_words() -> None:
    table = tables.poisson(Fraction(1, 2))
    coarse = (table.coarse[0] + table.spill, *table.coarse[1:])
    with pytest.raises(AssertionError):
        check_distance(Table(0, coarse), truth.poisson(Fraction(1, 2)))


@pytest.mark.parametrize("mean", MEANS)
def test_poisson_cells_leave_out_less_than_the_tail(mean: Fraction) -> None:
    assert truth.poisson(mean).outside(0, tables.poisson_cells(float(mean)) - 1) <= TAIL


@pytest.mark.parametrize(("shape", "decay"), SHARES)
def test_negative_binomial_cells_leave_out_less_than_the_tail(shape: Fraction, decay: Fraction) -> None:
    cells = tables.negative_binomial_cells(float(shape), float(decay))
    assert truth.negative_binomial(shape, decay).outside(0, cells - 1) <= TAIL


def test_the_check_of_cells_catches_half_as_many() -> None:
    shape, decay = SHARES[1]
    cells = tables.negative_binomial_cells(float(shape), float(decay)) // 2
    assert truth.negative_binomial(shape, decay).outside(0, cells - 1) > TAIL


@pytest.mark.parametrize("mean", MEANS)
def test_a_poisson_table_has_as_many_cells_as_were_counted(mean: Fraction) -> None:
    assert len(tables.poisson(mean).coarse) == tables.poisson_cells(float(mean))


@pytest.mark.parametrize(("shape", "decay"), SHARES)
def test_a_negative_binomial_table_has_as_many_cells_as_were_counted(shape: Fraction, decay: Fraction) -> None:
    cells = tables.negative_binomial_cells(float(shape), float(decay))
    assert len(tables.negative_binomial(shape, decay).coarse) == cells


def test_noise_spread_too_far_to_draw_is_refused_with_a_way_out() -> None:
    with pytest.raises(Infeasible, match="larger epsilon or more people"):
        tables.poisson_cells(1e7)
    with pytest.raises(Infeasible, match="larger epsilon or more people"):
        tables.negative_binomial_cells(1.0, 1.0 - 1e-9)


# Logarithmic numbers of dummies


@pytest.mark.parametrize("decay", DECAYS)
def test_a_logarithmic_table_lies_within_the_stated_distance(decay: Fraction) -> None:
    check_distance(tables.logarithmic(decay), truth.logarithmic(decay))


@pytest.mark.parametrize("decay", DECAYS)
def test_logarithmic_cells_leave_out_less_than_the_tail(decay: Fraction) -> None:
    cells = tables.logarithmic_cells(float(decay))
    assert truth.logarithmic(decay).outside(0, cells - 1) <= TAIL
    assert len(tables.logarithmic(decay).coarse) == cells


@pytest.mark.parametrize("decay", DECAYS)
def test_nobody_sends_dummies_none_at_a_time(decay: Fraction) -> None:
    assert tables.logarithmic(decay).masses[0] == 0


def test_the_check_of_distance_catches_logarithmic_weights_that_start_at_nothing() -> None:
    # Weights decay**k / (k + 1) from k = 0 on: an easy slip, and half as many dummies.
    table = tables.logarithmic(Fraction(1, 2))
    with pytest.raises(AssertionError):
        check_distance(Table.of(list(table.masses[1:])), truth.logarithmic(Fraction(1, 2)))


def compound(often: Any, decay: Fraction, cells: int) -> truth.Masses:
    """A Poisson number of draws from the library's logarithmic table: k P[k] = often * sum of j w[j] P[k - j]."""
    weights = np.array([j * unit for j, unit in enumerate(in_units(tables.logarithmic(decay)))], dtype=object)
    rate, masses = truth.fixed(often), [truth.fixed(mp.exp(-often))]
    for k in range(1, cells):
        upto = min(k, weights.size - 1)
        total = int(weights[1 : upto + 1] @ np.array(masses[k - upto : k][::-1], dtype=object))
        masses.append(rate * total // k >> 2 * BITS)
    return truth.Masses(0, np.array(masses, dtype=object))


def check_negative_binomial(often: Any, shape: Fraction, decay: Fraction) -> None:
    expected = truth.negative_binomial(shape, decay)
    law = compound(often, decay, min(expected.units.size, 400))
    apart = sum(abs(law.units - expected.units[: law.units.size]))
    assert truth.real(apart) <= 2 * often * tables.distance(tables.logarithmic_cells(float(decay)))


@pytest.mark.parametrize("shape", [Fraction(1, 1000), Fraction(1), Fraction(11, 2)])
@pytest.mark.parametrize("decay", [Fraction(0.05), Fraction(1, 2), Fraction(0.9)])
def test_a_poisson_number_of_logarithmic_draws_is_negative_binomial(shape: Fraction, decay: Fraction) -> None:
    check_negative_binomial(-truth.exact(shape) * mp.log(1 - truth.exact(decay)), shape, decay)


def test_the_check_of_compounds_catches_a_mean_without_its_logarithm() -> None:
    with pytest.raises(AssertionError):
        check_negative_binomial(truth.exact(Fraction(1, 2)), Fraction(1), Fraction(1, 2))


# Discrete Laplace noise


def runs(noise: TwoSidedNoise) -> list[list[Fraction]]:
    """P[0], P[1], ...: the centre, the first restart, and where the second one begins."""
    centre, beyond = sum(noise.centre.coarse), sum(noise.beyond.coarse)
    outward = noise.centre.coarse[noise.reach :]
    far, further = Fraction(outward[-1], centre), Fraction(noise.beyond.coarse[-1], beyond)
    inner = [Fraction(weight, centre) for weight in outward[:-1]]
    outer = [far * Fraction(weight, beyond) for weight in noise.beyond.coarse[:-1]]
    return [inner, outer, [far * further * Fraction(weight, beyond) for weight in noise.beyond.coarse[:2]]]


def check_consecutive(noise: TwoSidedNoise, rate: Fraction) -> None:
    """No mass is more than e**rate times its neighbour, the places where it restarts included."""
    most = truth.fixed(mp.exp(truth.exact(rate)))
    for weights in (noise.centre.coarse[noise.reach : -1], noise.beyond.coarse[:-1]):
        for a, b in pairwise(weights):
            assert a << BITS <= b * most
            assert b << BITS <= a * most
    inner, outer, again = runs(noise)
    for a, b in ((inner[-1], outer[0]), (outer[-1], again[0])):
        assert max(a / b, b / a) * (1 << BITS) <= most


@pytest.mark.parametrize("rate", RATES)
def test_consecutive_masses_never_differ_by_more_than_the_promise(rate: Fraction) -> None:
    check_consecutive(discrete_laplace(rate), rate)


@pytest.mark.parametrize("rate", [Fraction(1, 64), Fraction(1), Fraction(5)])
def test_the_check_of_consecutive_masses_catches_a_single_word_too_few(rate: Fraction) -> None:
    noise = discrete_laplace(rate)
    weights = list(noise.centre.coarse)
    weights[noise.reach + 2] -= 1
    with pytest.raises(AssertionError):
        check_consecutive(replace(noise, centre=Table(noise.centre.start, tuple(weights))), rate)


@pytest.mark.parametrize(("at", "change"), [(0, 1), (-1, -1)])
def test_the_check_of_consecutive_masses_catches_a_restart_that_is_off(at: int, change: int) -> None:
    noise = discrete_laplace(Fraction(1))
    weights = list(noise.beyond.coarse)
    weights[at] += change * (weights[at] // 100)
    with pytest.raises(AssertionError):
        check_consecutive(replace(noise, beyond=Table(0, tuple(weights))), Fraction(1))


@pytest.mark.parametrize("rate", RATES)
def test_noise_is_symmetric(rate: Fraction) -> None:
    centre = discrete_laplace(rate).centre
    assert centre.coarse == centre.coarse[::-1]
    assert centre.start == -(len(centre.coarse) // 2)


@lru_cache
def far_units(rate: Fraction) -> tuple[list[int], int, int]:
    """P[0], P[1], ... up to the third restart in units of 2**-256, their ideal, and the mass on one side beyond."""
    noise = discrete_laplace(rate)
    centre, beyond = sum(noise.centre.coarse), sum(noise.beyond.coarse)
    units = [(weight << BITS) // centre for weight in noise.centre.coarse[noise.reach : -1]]
    far = (noise.centre.coarse[-1] << BITS) // centre
    for _ in range(2):
        units += [far * weight // beyond for weight in noise.beyond.coarse[:-1]]
        far = far * noise.beyond.coarse[-1] // beyond
    a = mp.exp(-truth.exact(rate))
    ideal, fall = [truth.fixed((1 - a) / (1 + a))], truth.fixed(a)
    for _ in range(len(units) - 1):
        ideal.append(ideal[-1] * fall >> BITS)
    beyond_both = far + truth.fixed(truth.real(ideal[-1]) * a / (1 - a))
    apart = sum(abs(p - q) * (2 if k else 1) for k, (p, q) in enumerate(zip(units, ideal, strict=True)))
    return units, apart, 2 * beyond_both


SCALES = [0.004, 0.01, 0.02, 0.03, 0.035, 0.039, 0.04, 0.05, 0.07, 0.1, 0.13, 0.3, 0.7, 2.0, 7.3]


@pytest.mark.parametrize("rate", [*RATES, *(1 / Fraction(scale) for scale in SCALES)])
def test_noise_lies_within_the_stated_distance_of_its_ideal(rate: Fraction) -> None:
    _, apart, beyond = far_units(rate)
    assert truth.real(apart + beyond) / 2 <= discrete_laplace_distance(rate) <= 4 * truth.real(apart + beyond)


def test_the_check_of_noise_s_distance_catches_a_smaller_claim() -> None:
    rate = Fraction(1)
    _, apart, beyond = far_units(rate)
    assert truth.real(apart + beyond) / 2 > discrete_laplace_distance(rate) / 4


@pytest.mark.parametrize("rate", RATES)
def test_the_variance_of_noise_is_that_of_its_ideal(rate: Fraction) -> None:
    units, _, _ = far_units(rate)
    a = mp.exp(-truth.exact(rate))
    variance = truth.real(2 * sum(k * k * unit for k, unit in enumerate(units)))
    assert float(variance / (2 * a / (1 - a) ** 2)) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("rate", RATES[1:])
def test_the_law_of_noise_is_that_of_its_weights(rate: Fraction) -> None:
    law, (units, _, _) = discrete_laplace(rate).law, far_units(rate)
    middle = -law.start
    few = np.unique(np.geomspace(1, min(len(units), law.masses.size - middle) - 1, 200).astype(int)).tolist()
    for k in (0, *few):
        expected = pytest.approx(float(truth.real(units[k])), rel=1e-12)
        assert (law.masses[middle + k], law.masses[middle - k]) == (expected, expected)


def rejects(rate: Fraction, drawn: np.ndarray) -> bool:
    """Pearson's chi-square against the law of the weights, with a false-alarm rate of 1e-6."""
    law = discrete_laplace(rate).law
    expected = drawn.size * law.masses
    inside = expected >= 10.0
    first, last = law.start + np.flatnonzero(inside)[[0, -1]]
    counts = [np.count_nonzero(drawn < first), *np.bincount(drawn[(drawn >= first) & (drawn <= last)] - first)]
    counts += [0] * (last - first + 2 - len(counts)) + [np.count_nonzero(drawn > last)]
    before, after = expected[: first - law.start].sum(), expected[last + 1 - law.start :].sum()
    means = np.array([before, *expected[inside], after])
    observed = np.array(counts, dtype=np.float64)
    return float(((observed - means) ** 2 / means).sum()) > float(chdtri(means.size - 1, FALSE_ALARM))


def in_small_calls(rate: Fraction, seed: int, size: int) -> np.ndarray:
    coins = SeededCoins(seed)
    return np.concatenate([discrete_laplace(rate).draw(coins, SCANNED) for _ in range(size // SCANNED)])


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1), Fraction(3)])
def test_noise_drawn_for_a_few_totals_follows_the_law(rate: Fraction) -> None:
    assert not rejects(rate, in_small_calls(rate, 1, 100_000))


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1), Fraction(3)])
def test_noise_drawn_for_many_totals_follows_the_law(rate: Fraction) -> None:
    assert not rejects(rate, discrete_laplace(rate).draw(SeededCoins(2), 500_000))


def test_the_test_of_noise_catches_a_rate_three_percent_off() -> None:
    assert rejects(Fraction(1), in_small_calls(Fraction(103, 100), 1, 100_000))


def test_noise_beyond_the_last_cell_starts_again_further_out() -> None:
    noise = discrete_laplace(Fraction(1))

    class Chosen(SeededCoins):
        cells = iter([2 * noise.reach, noise.reach, 3])

        def draw(self, table: Table, size: int) -> np.ndarray:
            return np.full(size, table.start + next(self.cells))

    assert noise.draw(Chosen(1), 1).tolist() == [2 * noise.reach + 3]


def test_noise_is_added_to_every_total() -> None:
    noise = AddDiscreteLaplace(Fraction(1, 64))
    released = noise.apply(Tally(9, np.array([5, 7])), SeededCoins(3))
    assert released.reports == 9
    assert (released.totals - np.array([5, 7])).tolist() == discrete_laplace(noise.rate).draw(
        SeededCoins(3), 2
    ).tolist()


def test_the_law_of_a_noisy_total_is_centred_on_it() -> None:
    law = AddDiscreteLaplace(Fraction(1, 64)).law(5 * 64)
    assert sum(total * (mass / WHOLE) for total, mass in law.items()) == pytest.approx(5 * 64, abs=1e-9)
    assert max(law, key=law.__getitem__) == 5 * 64
