"""Probability laws on the integers as arrays: for accounting and error bars, not for drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.programme.coins import Coins
from headcount.programme.table import Ints as Ints

Floats = npt.NDArray[np.floating[Any]]

DIRECT = 1 << 11  # a convolution whose shorter side is longer than this goes through the Fourier transform
FOURIER_ERROR = 1e-13
NEGLIGIBLE = 1e-22
UNSEEN = 1e-15  # in error bars: above what a Fourier transform leaves where there is nothing
WIDE = 1 << 15
SHORT = 1 << 7


def weighed(places: Ints, masses: Floats, size: int = 0) -> Floats:
    """The mass at each place."""
    return np.asarray(np.bincount(places, masses, size), dtype=np.float64)


def expected(masses: Floats, values: Floats | Ints) -> float:
    """The mean of the values, without a dot product, whose threads collide on a busy machine."""
    return float((masses * values).sum()) / float(masses.sum())


def _convolved(a: Floats, b: Floats) -> Floats:
    """The convolution by Fourier transforms of a convenient length."""
    size = a.size + b.size - 1
    length = 1 << (size - 1).bit_length()
    masses = np.fft.irfft(np.fft.rfft(a, length) * np.fft.rfft(b, length), length)
    return np.maximum(masses[:size], 0.0)


@dataclass(frozen=True, eq=False)
class Law:
    """P[start + i] = masses[i], good to about 1e-11; `dropped` bounds the mass outside."""

    start: int
    masses: Floats
    dropped: float = 0.0

    @property
    def values(self) -> Ints:
        return np.arange(self.start, self.start + self.masses.size)

    def shifted(self, by: int) -> Law:
        return Law(self.start + by, self.masses, self.dropped)

    def __neg__(self) -> Law:
        return Law(1 - self.start - self.masses.size, self.masses[::-1], self.dropped)

    def __add__(self, other: Law) -> Law:
        """The convolution; direct sums keep the tails' relative accuracy."""
        a, b = self.masses, other.masses
        dropped = self.dropped + other.dropped
        if min(a.size, b.size) <= DIRECT:
            return Law(self.start + other.start, np.convolve(a, b), dropped)
        return Law(self.start + other.start, _convolved(a, b), dropped + FOURIER_ERROR)

    def __or__(self, other: Law) -> Law:
        """The masses of both: a mixture, if each was weighed before."""
        start = min(self.start, other.start)
        masses = np.zeros(max(law.start + law.masses.size for law in (self, other)) - start)
        for law in (self, other):
            masses[law.start - start : law.start - start + law.masses.size] += law.masses
        return Law(start, masses, self.dropped + other.dropped)

    def weighed(self, weight: float) -> Law:
        return Law(self.start, weight * self.masses, weight * self.dropped)

    @property
    def mean(self) -> float:
        return self.start + expected(self.masses, np.arange(self.masses.size))

    @property
    def variance(self) -> float:
        return expected(self.masses, (self.values - self.mean) ** 2)

    def power(self, n: int) -> Law:
        """The n-fold convolution, by repeated squaring; what is below `NEGLIGIBLE` is dropped."""
        total, power = Law(0, np.ones(1)), self
        while n:
            if n & 1:
                total = (total + power)._trimmed()
            n >>= 1
            if n:
                power = (power + power)._trimmed()
        return total

    def coarse_power(self, n: int) -> tuple[Law, int]:
        """The n-fold convolution, in blocks where it is too wide: for error bars only.

        Blocks grow by two, what lies between two of them being shared out evenly: the mean stays as
        it is, and the variance grows by some millionths of itself at most.
        """
        total, power, block = Law(0, np.ones(1)), self, 1
        while n:
            while power.masses.size > WIDE and n > 1:
                total, power, block = total._halved(), power._halved(), 2 * block
            if n & 1:
                total = total._with(power)
            n >>= 1
            if n:
                power = power._with(power)
        return total, block

    @staticmethod
    def coarse_sum(*parts: tuple[Law, int]) -> tuple[Law, int]:
        """The convolution of laws, each with its multiplicity, in blocks: for error bars only."""
        powers = [law.coarse_power(times) for law, times in parts]
        block, total = max(block for _, block in powers), Law(0, np.ones(1))
        for power, own in powers:
            while own < block:
                power, own = power._halved(), 2 * own
            total = total._with(power)
        return total, block

    def _with(self, other: Law) -> Law:
        """The sum of the two, for error bars: unless one is short, by Fourier transforms."""
        if min(self.masses.size, other.masses.size) <= SHORT:
            return (self + other)._trimmed(UNSEEN)
        masses = _convolved(self.masses, other.masses)
        return Law(self.start + other.start, masses, self.dropped + other.dropped + FOURIER_ERROR)._trimmed(UNSEEN)

    def _halved(self) -> Law:
        """The law in blocks of two; odd places go half to either side."""
        last = self.start + self.masses.size - 1
        before, after = 3 - self.start % 2, 3 - last % 2  # from an odd place to an odd place, both empty
        masses = np.pad(self.masses, (before, after))
        odd = masses[::2]
        return Law((self.start - before + 1) // 2, masses[1::2] + (odd[:-1] + odd[1:]) / 2.0, self.dropped)

    def _trimmed(self, below: float = NEGLIGIBLE) -> Law:
        """The law without negligible ends, which count as dropped."""
        kept = np.flatnonzero(self.masses > below)
        if not kept.size:
            return Law(self.start, np.zeros(1), self.dropped + float(self.masses.sum()))
        first, last = int(kept[0]), int(kept[-1]) + 1
        cut = float(self.masses[:first].sum() + self.masses[last:].sum())
        return Law(self.start + first, self.masses[first:last], self.dropped + cut)

    def in_blocks(self, block: int, centre: float) -> Law:
        """The law of the nearest multiple of `block` from the centre, in blocks."""
        places = np.rint((self.values - centre) / block).astype(np.int64)
        return Law(int(places[0]), weighed(places - places[0], self.masses), self.dropped)

    def within(self, tail: float) -> tuple[int, int]:
        """The smallest and the largest value, but for a chance of at most `tail` on either side."""
        upto, above = (np.cumsum(masses) + self.dropped for masses in (self.masses, self.masses[::-1]))
        low, high = (int(np.searchsorted(side, tail, side="right")) for side in (upto, above))
        return self.start + low, self.start + self.masses.size - 1 - high

    def sample(self, coins: Coins, size: int) -> Ints:
        """Draws for simulation only."""
        cumulative = np.cumsum(self.masses)
        uniform = coins.uniform(size) * cumulative[-1]
        return np.asarray(self.start + np.searchsorted(cumulative, uniform, side="right"), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Noise:
    """The law of an estimator's error: `values[i]` with chance `masses[i]`."""

    values: Floats
    masses: Floats
    dropped: float = 0.0

    @classmethod
    def of(cls, law: Law, *, centre: float, scale: float = 1.0) -> Noise:
        return cls(np.asarray((law.values - centre) * scale, dtype=np.float64), law.masses, law.dropped)

    def times(self, factor: float) -> Noise:
        """The law of the error times a number."""
        return Noise(self.values * factor, self.masses, self.dropped)

    @property
    def step(self) -> float:
        """The largest gap between neighbouring values; 0 for a single one."""
        return float(np.diff(np.sort(self.values)).max(initial=0.0))

    @property
    def bias(self) -> float:
        return expected(self.masses, self.values)

    @property
    def variance(self) -> float:
        return expected(self.masses, (self.values - self.bias) ** 2)

    @property
    def std_error(self) -> float:
        return float(np.sqrt(self.variance))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.variance + self.bias**2))

    def half_width(self, confidence: float = 0.95) -> float:
        """The smallest h such that the error is at most h in size with this confidence."""
        order = np.argsort(np.abs(self.values), kind="stable")
        reached = np.cumsum(self.masses[order])
        last = min(int(np.searchsorted(reached, confidence + self.dropped)), order.size - 1)
        return float(np.abs(self.values[order[last]]))
