"""Binomial laws in doubles whose error is known.

Everything here is a product or a sum of positive numbers, of which each step loses at most one part
in 2**53. A mass k steps from the middle has lost 3k of them and a sum over a window of w as many
again as it has terms, so that nothing is wrong by more than `loss(w)`, relatively: far less than
what a claim is rounded up by, at a thousandth of the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import numpy as np
import numpy.typing as npt
from flint import arb

from headcount.proof.ball_laws import likeliest
from headcount.proof.effort import TooLarge, spend

Doubles = npt.NDArray[np.float64]
ROUNDING = 2.0**-53
MOST_CELLS = 1 << 22
CALL = 8  # units for a call, whatever the size
MADE, ADDED, SOUGHT = 50, 2_000, 400  # doubles a unit: of a window, of a sum of products, of one with places looked up


def loss(cells: int) -> float:
    """A bound on the relative error of a sum over this many products of masses."""
    return 12.0 * (cells + 64) * ROUNDING


@dataclass(frozen=True, eq=False)
class Window:
    """Masses of the integers from `start` on, and an upper bound on the mass of all others."""

    start: int
    masses: Doubles
    outside: float

    @classmethod
    def binomial(cls, trials: int, chance: arb, bits: int) -> Window:
        """The law from its mode, mass by mass, until less than 2**-bits is left."""
        mode, mass = likeliest(trials, chance)
        if not mass.rad() < mass * ROUNDING:
            raise ArithmeticError("more precision is needed")
        p = float(chance.mid())
        spread = sqrt(trials * p * (1.0 - p) + 1.0)
        reach = int(spread * sqrt(2.0 * log(2.0) * bits)) + bits + 8
        while True:
            cells = min(trials, mode + reach) - max(0, mode - reach)
            if cells > MOST_CELLS:
                raise TooLarge("a law is spread over too many numbers")
            spend(10 * CALL + cells // MADE)
            up = np.arange(mode, min(trials, mode + reach), dtype=np.float64)
            down = np.arange(mode, max(0, mode - reach), -1, dtype=np.float64)
            rising = (trials - up) / (up + 1.0) * (p / (1.0 - p))
            falling = down / (trials - down + 1.0) * ((1.0 - p) / p)
            middle = np.float64(float(mass.mid()))
            above, below = middle * np.cumprod(rising), middle * np.cumprod(falling)
            outside = _beyond(above, rising, reach) + _beyond(below, falling, reach)
            if outside <= 2.0**-bits:
                masses = np.concatenate([below[::-1], [float(mass.mid())], above])
                return cls(mode - below.size, masses, outside)
            reach *= 2


def _summed(terms: Doubles) -> float:
    return float(np.add.reduce(terms))


def _beyond(masses: Doubles, ratios: Doubles, reach: int) -> float:
    """A bound on the mass beyond a window's end, where ratios only fall."""
    if masses.size < reach:
        return 0.0
    return 2.0 if ratios[-1] > 1.0 - 1e-9 else float(masses[-1] / (1.0 - ratios[-1])) * 1.001


@dataclass(frozen=True, eq=False)
class WindowDifference:
    """The law of Y - X for independent windows, one sum over X at a time."""

    x: Window
    y: Window

    @property
    def cells(self) -> int:
        return self.x.masses.size + self.y.masses.size

    @property
    def loss(self) -> float:
        return loss(self.cells)

    @property
    def outside(self) -> float:
        return self.x.outside + self.y.outside

    def mass(self, s: int) -> float:
        """P[Y - X = s], within the windows."""
        first = s + self.x.start - self.y.start  # the place in Y's window that meets the first of X's
        low, high = max(0, -first), min(self.x.masses.size, self.y.masses.size - first)
        spend(CALL + self.cells // ADDED)
        if low >= high:
            return 0.0
        return _summed(self.x.masses[low:high] * self.y.masses[low + first : high + first])

    def upto(self, s: int) -> float:
        """P[Y - X <= s], within the windows."""
        spend(2 * CALL + self.cells // SOUGHT)
        places = np.clip(s + self.x.start - self.y.start + 1 + np.arange(self.x.masses.size), 0, self.y.masses.size)
        return _summed(self.x.masses * self._y_upto[places])

    @cached_property
    def _y_upto(self) -> Doubles:
        return np.concatenate([[0.0], np.cumsum(self.y.masses)])
