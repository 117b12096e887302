r"""Exact accounting of the analyser's own noise: pure from some epsilon on, without a residue.

A person with several reports moves totals by m and n, or one of them by m + n, and that is the
worst. With $a = e^{-rate}$, the divergence of a shift by m at $\epsilon = x \cdot rate$, x an
integer with m's parity, is $1 - G_m(x)$ with $G_m(x) = \min(1, a^{(m-x)/2}, a^{-x})$; between such
x it is linear in $e^\epsilon$, as is that of two shifts between those x with the parity of m + n.
What the second total shows shifts the x of the first by $2u - n$, u from 0 to n, with chances
$a^n/(1+a)$ at 0, $1/(1+a)$ at n and $a^{n-u}(1-a)/(1+a)$ between. For m >= n and 0 <= x < m + n
(negative x follow by exchanging the crowds), all $u \le (x+n-m)/2$ together, or u = 0 if there are
none, contribute $g/(1+a)$ to the mean of $G_m(x+n-2u)$, $g = a^{(m+n-x)/2} = G_{m+n}(x)$; u = n
contributes $g/(1+a)$, and every other u $g(1-a)/(1+a)$. The sum is $g (2 + j (1-a))/(1+a) \ge g$
with some j >= 0: two shifts show no more than one of m + n does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from headcount.privacy.loss import GrowingSlack, PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.privacy.two_sided_noise import discrete_laplace_distance
from headcount.programme.law import Floats
from headcount.programme.table import Ints


@dataclass(frozen=True, eq=False)
class IdealLaplaceShift(PrivacyLoss):
    """Discrete Laplace noise against itself shifted by `shift`: pure from rate * shift on."""

    kind = "exact"

    rate: Fraction
    shift: int

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        pure = np.array([Fraction(float(e)) >= self.rate * self.shift for e in epsilon])
        divergence = np.where(pure, 0.0, laplace_divergence(float(self.rate), np.array(self.shift), epsilon))
        return divergence, divergence


def laplace_divergence(rate: float, shift: Ints, log_factor: Floats) -> Floats:
    """The sum of (P - e**log_factor Q)_+, of either sign, with Q such noise and P the same shifted.

    The likelihood ratio at k, exp(rate (|k - shift| - |k|)), falls with k: it is a difference of
    two lower tails.
    """
    last = np.ceil((shift - log_factor / rate) / 2.0) - 1.0
    part = _below(rate, last) - exp_down(log_factor) * _below(rate, last - shift)
    within = np.where(log_factor < rate * shift, np.maximum(part, 0.0), 0.0)
    return np.where(log_factor <= -rate * shift, -np.expm1(np.minimum(log_factor, 0.0)), within)


def _below(rate: float, k: Floats) -> Floats:
    """P[noise <= k]"""
    a = math.exp(-rate)
    return np.where(k >= 0, 1.0 - a ** np.maximum(k + 1.0, 0.0) / (1.0 + a), a ** np.maximum(-k, 0.0) / (1.0 + a))


@dataclass(frozen=True, eq=False)
class DiscreteLaplaceShift(GrowingSlack, IdealLaplaceShift):
    """Discrete Laplace noise as drawn from tables; at most `totals` totals share the shift."""

    totals: int = 1

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(self.rate * self.shift), 0.0)

    def slack(self, epsilon: float) -> float:
        """No slack where privacy is pure: the rounded masses keep their ratios exactly."""
        if Fraction(epsilon) >= self.rate * self.shift:
            return 0.0
        return self.totals * (1.0 + math.exp(epsilon)) * discrete_laplace_distance(self.rate)


@dataclass(frozen=True, eq=False)
class ShiftsBound(DiscreteLaplaceShift):
    """The same as a bound on several totals whose shifts add up to this."""

    kind = "bound"  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class RepeatedResponse(GrowingSlack):
    """Totals with such noise, of which `times` move by a step each.

    The log-ratio of a total is rate or -rate, the former with chance 1/(1 + e^-rate), as of
    randomised response: all of them together have few different losses, and the divergence is a
    finite sum.
    """

    kind = "exact"

    rate: Fraction
    times: int

    @property
    def pure(self) -> Fraction:
        """The epsilon from which on delta is 0."""
        return self.times * self.rate

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(self.pure), 0.0)

    @cached_property
    def _losses(self) -> tuple[Floats, Floats]:
        """The sums of the log-ratios that are above 0, and their masses."""
        rate, falls = float(self.rate), np.arange((self.times + 1) // 2)
        chosen = np.array([float(math.comb(self.times, fall)) for fall in falls.tolist()])
        masses = chosen * np.exp(-rate * falls) * (1.0 + math.exp(-rate)) ** -self.times
        return rate * (self.times - 2 * falls), masses

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        losses, masses = self._losses
        pure = np.array([Fraction(float(e)) >= self.pure for e in epsilon])
        excess = -np.expm1(np.minimum(np.subtract.outer(epsilon, losses), 0.0))
        divergence = np.where(pure, 0.0, (masses * excess).sum(axis=1))
        return divergence, divergence

    def slack(self, epsilon: float) -> float:
        if Fraction(epsilon) >= self.pure:
            return 0.0
        return (1.0 + math.exp(epsilon)) * (self.times * discrete_laplace_distance(self.rate))
