"""Sums of independent errors with coefficients: laws of totals, differences or trends of rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headcount.programme.law import Noise, weighed

REACH = 24.0  # standard deviations: half of the grid
POINTS = 1 << 15
NEGLIGIBLE = 1e-14
FAR, FEW = 12.0, 100  # standard deviations and people more, beyond which no panel of a crowd is looked for
LATTICE = 1e-9  # of a step, within which values lie on one lattice

Part = tuple[Noise, float]


def error_sum(parts: Sequence[Part]) -> Noise:
    """The law of the sum of errors, each times its coefficient.

    On the lattice that all of them share, if there is one that is coarse enough. Otherwise on a
    fine grid, where each value is shared between its two neighbours so that its mean is kept.
    """
    parts = [(noise, coefficient) for noise, coefficient in parts if coefficient and noise.values.size]
    spread = math.sqrt(math.fsum(coefficient**2 * noise.variance for noise, coefficient in parts))
    if not spread:
        return Noise(np.array([math.fsum(noise.bias * coefficient for noise, coefficient in parts)]), np.ones(1))
    step, points = _grid(parts, spread)
    start, spectrum = 0.0, np.ones(points // 2 + 1, dtype=np.complex128)
    for noise, coefficient in parts:
        values = noise.values * (coefficient / step)
        lowest = float(values.min())
        below = np.floor(values - lowest + LATTICE).astype(np.int64)
        share = np.clip(values - lowest - below, 0.0, 1.0)
        share[share < LATTICE] = 0.0
        masses = weighed(below % points, noise.masses * (1.0 - share), points)
        masses += weighed((below + 1) % points, noise.masses * share, points)
        spectrum *= np.fft.rfft(masses)
        start += lowest
    first = math.ceil(-start - points / 2)
    masses = np.roll(np.fft.irfft(spectrum, points), -first)
    dropped = math.fsum(noise.dropped for noise, _ in parts)
    return Noise((start + first + np.arange(points)) * step, np.where(masses > NEGLIGIBLE, masses, 0.0), dropped)


def _grid(parts: Sequence[Part], spread: float) -> tuple[float, int]:
    """The step, and the number of points: a power of two."""
    gaps = {round(abs(coefficient) * noise.step, 12) for noise, coefficient in parts}
    common = gaps.pop() if len(gaps) == 1 else 0.0
    fine = 2.0 * REACH * spread / POINTS
    if common <= fine:
        return fine, POINTS
    return common, min(POINTS, 1 << math.ceil(math.log2(2.0 * REACH * spread / common + 2.0)))


def panel_error(people: int, panels: int, ones: int) -> Noise:
    """The error law of a count by one random panel of a crowd, times the number of panels."""
    asked = people // panels
    middle = asked * ones // people
    far = math.ceil(FAR * math.sqrt(asked * (ones / people) * (1.0 - ones / people))) + FEW
    low, high = max(0, asked - (people - ones), middle - far), min(asked, ones, middle + far)
    held = np.arange(low, high + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        up = np.log((ones - held[:-1]) * (asked - held[:-1]))
        down = np.log((held[:-1] + 1.0) * (people - ones - asked + held[:-1] + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(up - down)])
    masses = np.exp(logs - logs.max())
    masses /= masses.sum()
    kept = masses > NEGLIGIBLE**2
    return Noise((held[kept] - asked * ones / people) * (people / asked), masses[kept])


def by_panels(noise: Noise, people: int, panels: int, ones: int, *, several: bool = False) -> Noise:
    r"""The error law of the whole crowd's count, where one of its panels answers with this error.

    Each person is in one panel only, so that panels depend on each other. With
    $a_{it}$ the value of person i in round t times its weight, the sum over panels has the variance
    $\sum_i T\sum_t a_{it}^2-(\sum_t a_{it})^2$ at most, which is T/(T-1) times that of panels drawn
    independently: where `several` are added up, the error of drawing is made larger by as much.
    """
    if panels == 1:
        return noise
    asked = people // panels
    wider = math.sqrt(panels / (panels - 1)) if several else 1.0
    return error_sum([(noise, people / asked), (panel_error(people, panels, ones), wider)])
