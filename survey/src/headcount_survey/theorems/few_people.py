"""Two mechanisms among a few people, flipping bits and sampling ones, with laws as fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb
from typing import TypeAlias

Masses: TypeAlias = list[Fraction]
HALF = Fraction(1, 2)


def binomial(n: int, chance: Fraction) -> Masses:
    return [comb(n, v) * chance**v * (1 - chance) ** (n - v) for v in range(n + 1)]


def convolved(a: Masses, b: Masses) -> Masses:
    total = [Fraction(0)] * (len(a) + len(b) - 1)
    for (i, x), (j, y) in product(enumerate(a), enumerate(b)):
        total[i + j] += x * y
    return total


def distance(a: Masses, b: Masses) -> Fraction:
    """Their total variation distance."""
    wide = max(len(a), len(b))
    return sum((abs(x - y) for x, y in zip(padded(a, wide), padded(b, wide), strict=True)), Fraction(0)) / 2


def padded(masses: Masses, size: int) -> Masses:
    return masses + [Fraction(0)] * (size - len(masses))


@dataclass(frozen=True)
class Flipping:
    """Each of n people sends a coin with chance lam / n: a bit is wrong with chance `flip`."""

    people: int
    flip: Fraction

    def __str__(self) -> str:
        return f"n = {self.people}, flip = {self.flip}"

    def law(self, ones: int) -> Masses:
        """The law of the ones that the shuffler shows."""
        return convolved(binomial(ones, 1 - self.flip), binomial(self.people - ones, self.flip))

    def by_sampling(self, ones: int) -> Masses:
        """The same by a sample: people in it, with chance 1 - 2 flip, are truthful; others toss."""
        rate, total = 1 - 2 * self.flip, [Fraction(0)] * (self.people + 1)
        for a, with_ones in enumerate(binomial(ones, rate)):
            for b, with_zeros in enumerate(binomial(self.people - ones, rate)):
                for coins, mass in enumerate(binomial(self.people - a - b, HALF)):
                    total[a + coins] += with_ones * with_zeros * mass
        return total

    def variance(self, ones: int) -> Fraction:
        """The variance of the unbiased estimate."""
        return _variance(self.law(ones)) / (1 - 2 * self.flip) ** 2


@dataclass(frozen=True)
class Sampling:
    """Each one is sampled with chance `rate`, and counts below the threshold read 0."""

    rate: Fraction
    threshold: int

    def __str__(self) -> str:
        return f"rate = {self.rate}, threshold = {self.threshold}"

    def law(self, ones: int) -> Masses:
        sampled = binomial(ones, self.rate)
        hidden = sum(sampled[: self.threshold], Fraction(0))
        return [hidden, *(m if v >= self.threshold else Fraction(0) for v, m in enumerate(sampled) if v)]

    def variance(self, ones: int) -> Fraction:
        """The variance of the estimate, before the threshold."""
        return _variance(binomial(ones, self.rate)) / self.rate**2


def _variance(masses: Masses) -> Fraction:
    mean = sum((v * m for v, m in enumerate(masses)), Fraction(0))
    return sum((v * v * m for v, m in enumerate(masses)), Fraction(0)) - mean**2
