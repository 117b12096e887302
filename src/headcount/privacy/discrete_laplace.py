"""Exact accounting of the analyser's own noise: pure from some epsilon on, without a residue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from headcount.core.law import Floats
from headcount.core.loss import GrowingSlack, PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.privacy.tables import two_sided_distance


@dataclass(frozen=True, eq=False)
class IdealShift(PrivacyLoss):
    """Noise with masses proportional to exp(-rate |k|) against itself shifted by `shift`: pure from rate * shift on."""

    kind = "exact"

    rate: Fraction
    shift: int

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        rate, shift = float(self.rate), self.shift
        # The likelihood ratio at k, exp(rate (|k - shift| - |k|)), falls with k: the divergence is P[k <= last] - ...
        last = np.ceil((shift - epsilon / rate) / 2.0) - 1.0
        divergence = self._below(last) - exp_down(epsilon) * self._below(last - shift)
        pure = np.array([Fraction(float(e)) >= self.rate * shift for e in epsilon])
        divergence = np.where(pure, 0.0, np.maximum(divergence, 0.0))
        return divergence, divergence

    def _below(self, k: Floats) -> Floats:
        """P[noise <= k]"""
        a = math.exp(-float(self.rate))
        return np.where(k >= 0, 1.0 - a ** np.maximum(k + 1.0, 0.0) / (1.0 + a), a ** np.maximum(-k, 0.0) / (1.0 + a))


@dataclass(frozen=True, eq=False)
class DiscreteLaplaceShift(GrowingSlack, IdealShift):
    """The same as the analyser draws it, from tables."""

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(self.rate * self.shift), 0.0)

    def slack(self, epsilon: float) -> float:
        """None where privacy is pure: the masses were rounded so that their ratios keep the promise exactly."""
        if Fraction(epsilon) >= self.rate * self.shift:
            return 0.0
        return (1.0 + math.exp(epsilon)) * two_sided_distance(self.rate)


@dataclass(frozen=True, eq=False)
class TwoDiscreteLaplaceShifts(GrowingSlack):
    """Two totals with such noise each, one of which moves up by a step and the other down.

    Either log-ratio is rate or -rate, the former with chance h = 1/(1 + e^-rate): only where both are do they exceed an
    epsilon of 0 or more together.
    """

    kind = "exact"

    rate: Fraction

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(2 * self.rate), 0.0)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        rate = float(self.rate)
        both = (1.0 + math.exp(-rate)) ** -2
        pure = np.array([Fraction(float(e)) >= 2 * self.rate for e in epsilon])
        divergence = np.where(pure, 0.0, -both * np.expm1(np.minimum(epsilon - 2.0 * rate, 0.0)))
        return divergence, divergence

    def slack(self, epsilon: float) -> float:
        if Fraction(epsilon) >= 2 * self.rate:
            return 0.0
        return 2.0 * (1.0 + math.exp(epsilon)) * two_sided_distance(self.rate)
