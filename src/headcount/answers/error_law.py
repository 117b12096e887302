"""The law of an answer's error, in the unit of the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.answers.error_sums import error_sum
from headcount.programme.law import Floats, Noise, weighed

LIKELY = 1e-12
POINTS = 2_000
GRID = np.linspace(-8.5, 8.5, 4_097)
NORMAL = Noise(GRID, np.exp(-(GRID**2) / 2.0) / np.exp(-(GRID**2) / 2.0).sum())  # of variance 1


@dataclass(frozen=True, eq=False)
class ErrorLaw:
    """The law of an error: a density's masses on a grid if it is `smooth`, point masses otherwise.

    A `lattice` is how far the law may be shifted, where that depends on the crowd.
    """

    noise: Noise
    std_error: float
    smooth: bool = False
    lattice: float = 0.0

    def scaled(self, by: float) -> ErrorLaw:
        """The law of the error times a number that is not negative."""
        return ErrorLaw(self.noise.times(by), self.std_error * by, self.smooth, self.lattice * by)

    def widened(self, variance: float) -> ErrorLaw:
        """The law with an added normal error of this variance, as many people's lots make together.

        A variance below nothing takes from the law's own.
        """
        total = self.std_error**2 + variance
        if not variance or total <= 0.0:
            return self
        if variance < 0.0:
            return self.scaled(math.sqrt(total) / self.std_error)
        parts = [(self.noise, 1.0), (NORMAL, math.sqrt(variance))]
        return ErrorLaw(error_sum(parts), math.sqrt(total), smooth=True)

    def tails(self, chance: float) -> tuple[float, float]:
        """Two values: errors below the first, and above the second, have at most this chance."""
        values, masses = self.noise.values, self.noise.masses
        reached = np.cumsum(masses)
        if self.smooth:
            ends = np.interp([chance, 1.0 - chance], reached - masses / 2.0, values)
            return float(ends[0]), float(ends[1])
        allowed = (chance * reached[-1] - self.noise.dropped) * (1.0 - 1e-9)
        low = int(np.searchsorted(reached, allowed, side="right"))
        high = int(np.searchsorted(reached, reached[-1] - allowed))
        return float(values[min(low, values.size - 1)]), float(values[min(high, values.size - 1)])

    @cached_property
    def points(self) -> tuple[Floats, Floats, float]:
        """The law on few points, and how far they may lie from the values they stand for."""
        likely = self.noise.masses > LIKELY * self.noise.masses.max()
        values, masses = self.noise.values[likely], self.noise.masses[likely]
        if values.size <= POINTS:
            return values, masses, self.lattice
        low, high = float(values.min()), float(values.max())
        gap = (high - low) / POINTS
        cell = np.minimum(((values - low) / gap).astype(np.int64), POINTS - 1)
        return low + (np.arange(POINTS) + 0.5) * gap, weighed(cell, masses, POINTS), gap / 2.0 + self.lattice

    @cached_property
    def _sorted(self) -> tuple[Floats, Floats]:
        order = np.argsort(self.noise.values, kind="stable")
        return self.noise.values[order], np.append(0.0, np.cumsum(self.noise.masses[order]))

    def at_most(self, values: Floats) -> Floats:
        """The chance of an error up to each of these values."""
        places, reached = self._sorted
        return np.asarray(reached[np.searchsorted(places, values, side="right")])

    def at_least(self, values: Floats) -> Floats:
        """The chance of an error from each of these values on."""
        places, reached = self._sorted
        return np.asarray(reached[-1] - reached[np.searchsorted(places, values, side="left")])
