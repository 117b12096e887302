"""Laws on the integers and the noise they make: moments, sums, samples and half-widths."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tapes import chi_square_rejects

from headcount.programme.coins import SeededCoins
from headcount.programme.law import DIRECT, FOURIER_ERROR, Law, Noise

few = settings(derandomize=True, max_examples=100, deadline=None)
masses = st.lists(st.integers(1, 1000), min_size=1, max_size=12)


def law_of(weights: list[int], start: int) -> tuple[Law, dict[int, Fraction]]:
    exact = {start + i: Fraction(weight, sum(weights)) for i, weight in enumerate(weights)}
    return Law(start, np.array([float(mass) for mass in exact.values()])), exact


def moments(exact: dict[int, Fraction]) -> tuple[float, float]:
    mean = sum(value * mass for value, mass in exact.items())
    return float(mean), float(sum((value - mean) ** 2 * mass for value, mass in exact.items()))


@few
@given(masses, st.integers(-50, 50))
def test_a_law_s_moments_are_those_of_its_masses(weights: list[int], start: int) -> None:
    law, exact = law_of(weights, start)
    assert (law.mean, law.variance) == pytest.approx(moments(exact), rel=1e-12, abs=1e-12)


@few
@given(masses, st.integers(-50, 50), st.integers(-9, 9))
def test_a_shifted_law_has_the_same_masses_further_on(weights: list[int], start: int, by: int) -> None:
    law, exact = law_of(weights, start)
    moved = law.shifted(by)
    assert moved.values.tolist() == [value + by for value in exact]
    assert moved.masses.tolist() == law.masses.tolist()


@few
@given(masses, st.integers(-50, 50))
def test_the_law_of_the_negative_is_mirrored(weights: list[int], start: int) -> None:
    law, exact = law_of(weights, start)
    mirrored = dict(zip((-law).values.tolist(), (-law).masses.tolist(), strict=True))
    assert mirrored == {-value: float(mass) for value, mass in exact.items()}


def sum_by_brute_force(first: dict[int, Fraction], second: dict[int, Fraction]) -> dict[int, Fraction]:
    together: dict[int, Fraction] = {}
    for a, p in first.items():
        for b, q in second.items():
            together[a + b] = together.get(a + b, Fraction(0)) + p * q
    return together


@few
@given(masses, masses, st.integers(-50, 50), st.integers(-50, 50))
def test_the_law_of_a_sum_is_found_pair_by_pair(one: list[int], two: list[int], start: int, other: int) -> None:
    (first, p), (second, q) = law_of(one, start), law_of(two, other)
    together = sum_by_brute_force(p, q)
    assert (first + second).values.tolist() == list(together)
    assert (first + second).masses.tolist() == pytest.approx([float(mass) for mass in together.values()], rel=1e-14)


def test_a_sum_owns_up_to_what_both_dropped() -> None:
    assert (Law(0, np.ones(1), 0.25) + Law(0, np.ones(1), 0.5)).dropped == 0.75


def long_law(size: int, steep: float) -> Law:
    weights = np.exp(-steep * np.arange(size))
    return Law(0, weights / weights.sum())


LONG = {
    "flat": (long_law(DIRECT + 1, 0.0), long_law(DIRECT + 1, 0.0)),
    "steep": (long_law(3 * DIRECT, 0.3), long_law(2 * DIRECT, 0.01)),
    "concentrated": (long_law(5 * DIRECT, 30.0), long_law(DIRECT + 1, 30.0)),
}


@pytest.mark.parametrize("pair", LONG.values(), ids=LONG)
def test_the_fourier_transform_s_error_is_owned_up_to(pair: tuple[Law, Law]) -> None:
    first, second = pair
    error = np.abs((first + second).masses - np.convolve(first.masses, second.masses)).sum()
    assert error <= (first + second).dropped == FOURIER_ERROR


def test_a_sum_through_the_fourier_transform_has_no_negative_mass() -> None:
    first, second = LONG["steep"]
    assert ((first + second).masses >= 0.0).all()


def test_a_short_side_keeps_the_sum_direct_and_its_tails_exact() -> None:
    total = long_law(5 * DIRECT, 0.05) + long_law(DIRECT, 0.05)
    assert total.dropped == 0.0
    assert total.masses[-1] == pytest.approx(long_law(5 * DIRECT, 0.05).masses[-1] * long_law(DIRECT, 0.05).masses[-1])


def test_samples_follow_the_law() -> None:
    law = Law(-2, np.array([0.5, 0.1, 0.25, 0.0, 0.15]))
    drawn = law.sample(SeededCoins(1), 200_000)
    assert not chi_square_rejects(np.bincount(drawn + 2, minlength=5), 200_000 * law.masses)


def test_the_test_of_samples_catches_a_law_shifted_by_one_percent() -> None:
    law = Law(-2, np.array([0.5, 0.1, 0.25, 0.0, 0.15]))
    drawn = Law(-2, np.array([0.51, 0.09, 0.25, 0.0, 0.15])).sample(SeededCoins(1), 200_000)
    assert chi_square_rejects(np.bincount(drawn + 2, minlength=5), 200_000 * law.masses)


def test_a_law_that_vanishes_counts_as_dropped() -> None:
    """Part of a law may be weighed so lightly that nothing of its sum is left to speak of."""
    faint = Law(3, np.array([1e-6, 2e-6]))
    total = faint.power(7)
    assert float(total.masses.sum()) + total.dropped >= 3e-6**7 * (1 - 1e-9)
    assert total.masses.sum() == 0.0


# Noise


@few
@given(masses, st.integers(-50, 50), st.floats(-20.0, 20.0), st.floats(0.1, 10.0))
def test_noise_is_its_law_seen_from_the_centre(weights: list[int], start: int, centre: float, scale: float) -> None:
    law, exact = law_of(weights, start)
    noise = Noise.of(law, centre=centre, scale=scale)
    mean, variance = moments(exact)
    bias = (mean - centre) * scale
    assert noise.bias == pytest.approx(bias, rel=1e-9, abs=1e-9)
    assert noise.variance == pytest.approx(variance * scale**2, rel=1e-9, abs=1e-9)
    assert noise.std_error == pytest.approx(math.sqrt(variance) * scale, rel=1e-9, abs=1e-9)
    assert noise.rmse == pytest.approx(math.sqrt(variance * scale**2 + bias**2), rel=1e-9, abs=1e-9)


def covered(noise: Noise, half: float) -> float:
    return math.fsum(noise.masses[np.abs(noise.values) <= half])


noises = st.builds(
    lambda weights, centre: Noise.of(law_of(weights, 0)[0], centre=centre),
    masses,
    st.integers(-24, 24).map(lambda k: k / 2),
)
confidences = st.sampled_from([0.1, 0.5, 0.8, 0.9, 0.95, 0.99])


@few
@given(noises, confidences)
def test_the_half_width_covers_with_the_confidence(noise: Noise, confidence: float) -> None:
    assert covered(noise, noise.half_width(confidence)) >= confidence - 1e-15


@few
@given(noises, confidences)
def test_no_smaller_half_width_covers(noise: Noise, confidence: float) -> None:
    smaller = np.abs(noise.values)[np.abs(noise.values) < noise.half_width(confidence)]
    assert all(covered(noise, float(half)) < confidence + 1e-15 for half in smaller)


def test_what_was_dropped_widens_the_half_width() -> None:
    values, weights = np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.46, 0.04])
    assert Noise(values, weights).half_width(0.95) == 1.0
    assert Noise(values, weights, dropped=0.02).half_width(0.95) == 2.0


def test_full_confidence_takes_the_widest_value() -> None:
    assert Noise(np.array([-3.0, 1.0]), np.array([0.1, 0.9])).half_width(1.0) == 3.0
