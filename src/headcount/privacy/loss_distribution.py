"""Privacy loss distributions on a grid: which losses a mechanism has, and how likely each is.

Independent mechanisms add their losses. Masses are convolved by Fourier transforms, whose errors
are absolute; what uses them adds for that.

[DGKKM22] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the Dots, PETS 2022.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headcount.programme.law import Floats

CUT = 1e-15  # of the mass of repeated losses: what is cut above counts as an infinite loss
TILTS = np.concatenate([np.arange(-20.0, 0.0), np.arange(1.0, 21.0)])  # of Chernoff's bounds, over the width of a law
FEW = 64  # masses that are convolved one by one


@dataclass(frozen=True, eq=False)
class LossDistribution:
    """Masses of the losses `start`, `start + 1`, … times the grid, and that of an infinite loss."""

    grid: float
    start: int
    masses: Floats
    infinite: float

    @classmethod
    def through(cls, grid: float, step: int, deltas: Floats) -> LossDistribution:
        """The one whose profile is straight, in e^epsilon, between these deltas [DGKKM22, Algorithm
        1].

        They are at every `step`-th point of the grid, as many on either side of zero, and do not
        rise. A convex profile that goes through them lies below.
        """
        falls, gap = np.diff(deltas), step * grid
        before = np.append(1.0 - deltas[0], falls / math.expm1(-gap))
        after = np.append(falls / math.expm1(gap), 0.0)
        masses = np.zeros((deltas.size - 1) * step + 1)
        masses[::step] = np.maximum(before + after, 0.0)
        return cls(grid, -(deltas.size // 2) * step, masses, float(deltas[-1]))

    def repeated(self, times: int) -> LossDistribution:
        """Of that many independent mechanisms of this kind."""
        if times == 1 or self.infinite >= 1.0:
            return self
        if times * math.log(max(float(self.masses.sum()), CUT)) > 1.0:  # of a bound that is no profile: it says nothing
            return LossDistribution(self.grid, 0, np.zeros(1), 1.0)
        low, high = self._likely(times)
        length = _length(max(high - low + 1, self.masses.size))
        around = np.fft.irfft(np.fft.rfft(self.masses, length) ** times, length)  # places beyond the length begin anew
        masses = np.take(around, np.arange(low, high + 1), mode="wrap")
        infinite = CUT - math.expm1(times * math.log1p(-self.infinite))
        return LossDistribution(self.grid, self.start * times + low, masses, infinite)

    def _likely(self, times: int) -> tuple[int, int]:
        """The places between which all of the repeated losses lie but for the mass that is cut, by
        Chernoff's bound."""
        places, tilts = np.arange(self.masses.size), TILTS / self.masses.size
        with np.errstate(divide="ignore"):
            logs = np.log(np.exp(np.multiply.outer(tilts, places)) @ self.masses)
        ends = (times * logs + math.log(2.0 / CUT)) / tilts
        low, high = ends[tilts < 0.0].max(), ends[tilts > 0.0].min()
        return max(0, math.floor(low)), min(math.ceil(high), (self.masses.size - 1) * times)

    def together(self, other: LossDistribution) -> LossDistribution:
        """With another, on the same grid."""
        start, size = self.start + other.start, self.masses.size + other.masses.size - 1
        infinite = self.infinite + other.infinite - self.infinite * other.infinite
        if min(self.masses.size, other.masses.size) <= FEW:
            return LossDistribution(self.grid, start, np.convolve(self.masses, other.masses), infinite)
        length = _length(size)
        both = np.fft.rfft(self.masses, length) * np.fft.rfft(other.masses, length)
        return LossDistribution(self.grid, start, np.fft.irfft(both, length)[:size], infinite)

    def delta(self, epsilon: float) -> float:
        """The divergence at this epsilon, up to the errors of transforms."""
        first = max(0, math.floor(epsilon / self.grid) + 1 - self.start)
        above = (np.arange(first, self.masses.size) + self.start) * self.grid
        return self.infinite + float(-np.expm1(epsilon - above) @ self.masses[first:])


def _length(least: int) -> int:
    """The smallest number from there on that a transform is fast for: a power of two, or 3, 5 or 9
    times one."""
    powers = (odd << max(0, math.ceil(math.log2(least / odd))) for odd in (1, 3, 5, 9))
    return min(powers)
