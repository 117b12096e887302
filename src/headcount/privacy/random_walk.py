r"""The mean positive part of a random walk, $E[(S_n)_+]/n$, from above and from below.

$S_n$ is a sum of n independent steps, each of which has one of a few values, or is 0. With
$M(z) = E[e^{zG}]$ of a step and any $\theta > 0$, the function
$$U(y) = e^{-\theta y}\,E[(S_n + y)_+] \quad\text{has the transform}\quad
\hat U(\omega) = \frac{M(\theta + i\omega)^n}{(\theta + i\omega)^2},$$
and by Poisson's formula $\frac{1}{Y}\sum_k \hat U(2\pi k/Y) = \sum_m U(mY)$. All of these are positive: the sum
on the left is never less than $U(0) = E[(S_n)_+]$, whatever $\theta$ and Y. That needs no grid and no window, and is
as precise at any size of the result. At the saddle point of $M(\theta)^n/\theta^2$ and with Y a dozen standard
deviations the rest is less than a millionth.

From above, Gaussian noise is added to $S_n$, which by Jensen's inequality only makes the positive
part larger, by about $\frac12\tau^2\theta^2$ of it: the terms then vanish after a few thousand.
From below they are cut where $\sum 1/\omega^2$ is small, and what is cut and the other $U(mY)$ are
taken off. Few steps are gone through one by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from headcount.programme.law import Floats

SMOOTH = 0.02  # of 1/theta: the noise that is added from above
APART = 12.0  # standard deviations between the copies of the result
VANISHED = 6.0  # standard deviations of the noise, beyond which all terms together are less than 1e-9
CLOSE = 5e-4  # of the result, at most, is taken off from below for terms that are cut
MOST_TERMS = 1 << 17
FEW = 1 << 13  # multisets of steps, which are gone through one by one
ROUNDED = 2.0**-48
PRECISE = 1e-10  # of the saddle: then the bound is as smooth as the loss
SMALLEST = -120.0  # the logarithm of what is left at a bound by Chernoff's inequality


class Between(NamedTuple):
    """A number that lies between the two."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Walk:
    """Steps with these values and chances, which leave the rest of the chance to a step of 0."""

    steps: Floats
    chances: Floats
    people: int

    @classmethod
    def of(cls, steps: Floats, chances: Floats, people: int) -> Walk:
        """The walk with equal steps taken together."""
        told = (chances > 0.0) & (steps != 0.0)
        steps, place = np.unique(steps[told], return_inverse=True)
        return cls(steps, np.bincount(place, chances[told], steps.size).astype(np.float64), people)

    def mean_positive_part(self) -> Between:
        """Bounds on E[(S_n)_+] / n, a small part apart: the lower one up to rounding."""
        if not (self.steps > 0.0).any():
            return Between(0.0, 0.0)
        if not (self.steps < 0.0).any():
            mean = float(self.steps @ self.chances)
            return Between(mean * (1.0 - ROUNDED), mean * (1.0 + ROUNDED))
        if math.comb(self.people + self.steps.size, self.steps.size) <= FEW:
            exact = self._one_by_one()
            return Between(exact * (1.0 - 64.0 * ROUNDED), exact * (1.0 + 64.0 * ROUNDED))
        return Between(self._from_below(), self._from_above())

    def at_most(self) -> float:
        """The upper bound, alone."""
        few = math.comb(self.people + self.steps.size, self.steps.size) <= FEW
        one_sign = not (self.steps > 0.0).any() or not (self.steps < 0.0).any()
        return self.mean_positive_part().high if few or one_sign else self._from_above()

    def _one_by_one(self) -> float:
        """Over every multiset of the steps."""
        left, sums, logs = np.array([self.people]), np.zeros(1), np.zeros(1)
        for step, chance in zip(self.steps.tolist(), self.chances.tolist(), strict=True):
            times = np.concatenate([np.arange(most + 1) for most in left.tolist()])
            again = np.repeat(np.arange(left.size), left + 1)
            logs = logs[again] + times * math.log(chance) - _log_factorials(self.people)[times]
            left, sums = left[again] - times, sums[again] + times * step
        none = 1.0 - float(self.chances.sum())
        if none > 4.0 * ROUNDED:
            logs = logs + left * math.log(none) - _log_factorials(self.people)[left]
        else:
            logs = np.where(left > 0, -np.inf, logs)
        masses = np.exp(logs + _log_factorials(self.people)[self.people])
        return float(masses @ np.maximum(sums, 0.0)) / self.people

    @cached_property
    def _saddle(self) -> float:
        """The theta at which n log M - 2 log theta is least, about."""
        low = 2.0 / (self.people * float(self.steps.max()))
        high = 2.0 * low
        while self._slope(high) < 0.0:
            low, high = high, 2.0 * high
        theta, moved = high, math.inf
        while abs(moved) > PRECISE * theta and low < high:  # Newton's steps, which a bracket keeps from going astray
            mass, mean, square = self._tilted(theta)
            slope = self.people * mean / mass - 2.0 / theta
            low, high = (theta, high) if slope < 0.0 else (low, theta)
            ahead = theta - slope / (self.people * (square / mass - (mean / mass) ** 2) + 2.0 / theta**2)
            ahead = ahead if low < ahead < high else math.sqrt(low * high)
            theta, moved = ahead, ahead - theta
        return theta

    def _slope(self, theta: float) -> float:
        mass, mean, _ = self._tilted(theta)
        return self.people * mean / mass - 2.0 / theta

    def _tilted(self, theta: float) -> tuple[float, float, float]:
        """The mass of a step, its mean and its mean square, weighted by e^(theta step)."""
        most = max(0.0, theta * float(self.steps.max()))
        weights = self.chances * np.exp(theta * self.steps - most)
        none = (1.0 - float(self.chances.sum())) * math.exp(-most)
        parts = (weights @ power for power in (np.ones_like(self.steps), self.steps, self.steps**2))
        mass, mean, square = map(float, parts)
        return mass + none, mean, square

    @cached_property
    def _spread(self) -> float:
        """The standard deviation of U as a density."""
        theta = self._saddle
        mass, mean, square = self._tilted(theta)
        return math.sqrt(self.people * (square / mass - (mean / mass) ** 2) + 2.0 / theta**2)

    def _logarithm(self, theta: Floats, gap: float = 0.0, last: int = 0) -> tuple[Floats, Floats, Floats]:
        """The logarithm of M(theta + i omega)^n at 0, …, `last` gaps: its real part, its imaginary
        part, and a bound on their errors."""
        more_than, turned = np.multiply.outer(theta, self.steps), self._half_turns(gap, last)
        less, grown = np.expm1(more_than), np.exp(more_than)
        across, up = less - 2.0 * grown * turned.imag**2, 2.0 * grown * turned.imag * turned.real
        size = np.hypot(across, up) @ self.chances
        across, up = across @ self.chances, up @ self.chances
        with np.errstate(divide="ignore"):  # a transform of 0
            real = 0.5 * np.log1p(across * (2.0 + across) + up**2)
        turn = np.arctan2(up, 1.0 + across)
        return self.people * real, self.people * turn, ROUNDED * (4.0 + self.people * size)

    def _half_turns(self, gap: float, last: int) -> npt.NDArray[np.complexfloating[Any, Any]]:
        """Half the angles by which each step turns, as points of the unit circle: sums of a long
        and a short angle."""
        short = 1 + math.isqrt(last)
        within = np.exp(0.5j * gap * np.multiply.outer(np.arange(short), self.steps))
        until = np.exp(0.5j * gap * short * np.multiply.outer(np.arange(1 + last // short), self.steps))
        return np.asarray((until[:, None] * within).reshape(-1, self.steps.size)[: last + 1])

    def _sum(self, last: int, noise: float) -> tuple[float, float, float]:
        """Poisson's sum up to this term, its error, and the logarithm of the factor of both."""
        theta, step = self._saddle, 2.0 * math.pi / (APART * self._spread)
        omega = step * np.arange(last + 1.0)
        real, turn, wrong = self._logarithm(np.array([theta]), step, last)
        smooth = 0.5 * noise**2 * (theta**2 - omega**2)
        sizes = np.exp(np.minimum(real - real[0], 0.0) + smooth) / np.hypot(theta, omega) ** 2
        angles = turn + noise**2 * theta * omega - 2.0 * np.arctan2(omega, theta)
        sizes[1:] *= 2.0
        scale = step / (2.0 * math.pi)
        return scale * float(sizes @ np.cos(angles)), scale * float(sizes @ wrong), float(real[0])

    def _from_above(self) -> float:
        theta = self._saddle
        at_saddle = float(self._logarithm(np.array([theta]))[0][0])
        if at_saddle < SMALLEST:
            return math.exp(SMALLEST) / (math.e * theta * self.people)
        noise = SMOOTH / theta
        last = math.ceil(VANISHED / noise * APART * self._spread / (2.0 * math.pi))
        found, wrong, factor = self._sum(last, noise)
        cut = math.exp(0.5 * (SMOOTH**2 - VANISHED**2)) * noise / (VANISHED * math.pi)
        return (found + wrong + cut) * math.exp(factor) * (1.0 + ROUNDED) / self.people

    def _from_below(self) -> float:
        theta, spread = self._saddle, self._spread
        about = 1.0 / (theta**2 * spread * math.sqrt(2.0 * math.pi))
        step = 2.0 * math.pi / (APART * spread)
        last = min(MOST_TERMS, math.ceil(1.0 / (math.pi * CLOSE * about * step)))
        found, wrong, factor = self._sum(last, 0.0)
        cut = 1.0 / (math.pi * last * step)
        return max(0.0, found - wrong - cut - self._copies(found, factor)) * math.exp(factor) / self.people

    def _copies(self, found: float, factor: float) -> float:
        """A bound on all the U(mY) but that of 0, in units of the factor."""
        theta, apart = self._saddle, APART * self._spread
        falls = math.exp(-theta * apart)
        up = falls * (found + apart * math.exp(min(-factor, 690.0)) / (1.0 - falls)) / (1.0 - falls)
        steeper = theta + np.array([1.0, 2.0, 4.0, 8.0, 16.0]) / self._spread
        logs = self._logarithm(steeper)[0] - factor - (steeper - theta) * apart
        return up + float(np.exp(np.minimum(logs, 690.0)).min()) / (math.e * theta) * 1.01


def _log_factorials(last: int) -> Floats:
    return np.array([math.lgamma(each + 1.0) for each in range(last + 1)])
