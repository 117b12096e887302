r"""Upper bounds for several shuffled digits, each by k-ary randomised response [BBGN20].

Show who lies. Of each digit there remain the lies that hit one of its two values,
$T \sim \mathrm{Bin}(n-1, 2l/k)$, split evenly, and the person's own: with
$c_1 = 1 + \mathrm{Bin}(T, 1/2)$ and $c_2 = T + 1 - c_1$ the loss is $\ln(c_1/c_2)$, or 0 if the
person lies as well. Fewer such lies lose more, so that T is rounded down; losses are rounded up to
a grid, on which those of independent digits add up by convolution. Both orders are equal.

[BBGN20] Balle, Bell, Gascon and Nissim, Private Summation in the Multi-Message Shuffle Model, CCS
2020.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from headcount.privacy import laws
from headcount.privacy.loss import LARGEST_EPSILON, PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.programme.law import Floats, Law, Noise, weighed
from headcount.programme.table import Ints

GRID = 800
POINTS = 1 << 10  # of a digit's law, where there are too many to combine them all
MOST_LIES = 64
WIDE = 6.7  # standard deviations of a split, twice: by Hoeffding, hardly anything lies beyond
FAR = 5.0  # the same, as far as losses matter: 1e-23 lies beyond


@dataclass(frozen=True, eq=False)
class ShuffledDigits(PrivacyLoss):
    """Digits from the `values`, each replaced by a uniform one with its chance of the `lies`."""

    lies: tuple[float, ...]
    values: tuple[int, ...]
    people: int
    kind = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        losses, masses, gone = self._composed
        asked = np.minimum(epsilon, LARGEST_EPSILON)
        room = np.maximum(1.0 - exp_down(asked[:, None]) * np.exp(-losses), 0.0)
        bound = np.minimum((room * masses).sum(axis=1) + gone, 1.0)
        return bound, bound

    @cached_property
    def _composed(self) -> tuple[Floats, Floats, float]:
        """The losses on the grid with their masses, and the mass of infinite ones."""
        pairs = zip(self.lies, self.values, strict=True)
        drawn = [laws.binomial(self.people - 1, 2.0 * lie / values) for lie, values in pairs]
        counts = [_few(law) for law in drawn]
        grid = max(_top(lies) for lies, _ in counts) / GRID
        parts = [_losses(lie, *count, grid) for lie, count in zip(self.lies, counts, strict=True)]
        masses = reduce(np.convolve, (part for part, _ in parts))
        reach = len(parts) * GRID
        return (
            grid * np.arange(-reach, reach + 1),
            masses,
            math.fsum([law.dropped for law in drawn] + [gone for _, gone in parts]),
        )


def _few(law: Law) -> tuple[Ints, Floats]:
    """Numbers of lies, each standing for those up to the next; what was cut is far from none."""
    first = np.unique(np.linspace(0, law.masses.size, MOST_LIES + 1).astype(np.int64)[:-1])
    return law.start + first, np.add.reduceat(law.masses, first)


def _top(lies: Ints) -> float:
    """About the largest loss that is likely enough to matter."""
    total = float(lies[len(lies) // 8]) + 1.0
    most = min(total, total / 2.0 + FAR * math.sqrt(total))
    return math.log(most / max(total - most, 0.5)) + 1e-3


def _losses(lie: float, lies: Ints, chances: Floats, grid: float) -> tuple[Floats, float]:
    """Masses of a digit's loss on the grid, -GRID .. GRID, and the mass beyond."""
    from scipy.special import expit

    total = lies[:, None].astype(np.float64)
    share = expit(grid * np.arange(-GRID, GRID + 1))
    share[GRID] = 0.5  # to the last bit: half of a total is often a whole number
    largest = np.floor((total + 1.0) * share)  # c1 up to here loses no more
    beyond = _at_least(lies, largest.astype(np.int64))  # P[1 + Bin(T, 1/2) > largest]
    above = (1.0 - lie) * (chances[:, None] * beyond).sum(axis=0)
    masses = -np.diff(above, prepend=1.0 - lie)
    masses[GRID] += lie
    return np.maximum(masses, 0.0), float(above[-1])


def _at_least(coins: Ints, heads: Ints) -> Floats:
    """P[Bin(coins, 1/2) >= heads], a row for each number of coins, summed from the tails' ends."""
    half = (coins + 1) // 2
    more = np.arange(1, math.ceil(WIDE * math.sqrt(int(coins.max(initial=1)))) + 2)  # heads than half of them
    with np.errstate(divide="ignore"):  # nothing has more heads than coins
        steps = np.log(np.maximum(coins - half - more[:, None] + 1, 0) / (half + more[:, None])).T
    middle = laws.binomial_masses(half.astype(np.float64), coins.astype(np.float64), 0.5, 0.5)
    masses = middle[:, None] * np.exp(np.cumsum(np.insert(steps, 0, 0.0, axis=1), axis=1))
    tails = np.append(np.cumsum(masses[:, ::-1], axis=1)[:, ::-1], np.zeros((coins.size, 1)), axis=1)
    upper = np.maximum(heads, coins[:, None] + 1 - heads) - half[:, None]  # P[at least h] is 1 - P[more than n - h]
    found = np.take_along_axis(tails, np.clip(upper, 0, tails.shape[1] - 1), axis=1)
    return np.where(2 * heads > coins[:, None], found, 1.0 - found) + math.exp(-2.0 * WIDE**2)


def one_digit(digit: int, rest: float, size: int, lie: float) -> Law:
    """The law of the digit sent by a person whose digit is rounded up with chance `rest`."""
    masses = np.full(size, lie / size)
    masses[digit] += (1.0 - lie) * (1.0 - rest)
    if rest:
        masses[digit + 1] += (1.0 - lie) * rest
    return Law(0, masses)


def added(sums: Sequence[Law], worths: Sequence[float]) -> Noise:
    """The error of a weighted sum of digits: exact for small crowds, on a fine grid for large."""
    exact = math.prod(law.masses.size for law in sums) <= POINTS**2
    noises = [_noise(law, worth, exact) for law, worth in zip(sums, worths, strict=True)]
    return reduce(lambda first, second: _both(first, second, exact), noises)


def _noise(law: Law, worth: float, exact: bool) -> Noise:
    block = 1 if exact else 1 << max(0, (law.masses.size // POINTS).bit_length() - 1)
    centred = law if block == 1 else law.in_blocks(block, law.mean)
    return Noise.of(centred, centre=law.mean if block == 1 else 0.0, scale=block * worth)


def _both(first: Noise, second: Noise, exact: bool) -> Noise:
    """The sum of two errors; of too many points on a grid, about four times as fine as either.

    Its step is a power of two, and 0 is on it: how far the laws reach, which hangs on last bits,
    moves nothing.
    """
    values = np.add.outer(first.values, second.values).ravel()
    masses = np.outer(first.masses, second.masses).ravel()
    dropped = first.dropped + second.dropped
    if exact:
        return Noise(values, masses, dropped)
    step = 2.0 ** (math.frexp(np.ptp(values) / (4 * POINTS))[1] - 1)
    places = np.rint(values / step).astype(np.int64)
    grid = np.arange(places.min(), places.max() + 1) * step
    return Noise(grid, weighed(places - places.min(), masses), dropped)
