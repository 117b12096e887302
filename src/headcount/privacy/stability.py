r"""Exact accounting of a stability histogram [KKMN09]: noise on the bins that somebody holds, and a threshold.

A bin of c >= 1 people reports c + Z if that reaches the threshold T, else 0; an empty one is never touched. One bin
with a person more is one of two pairs, as far as the worst goes:

- nobody against one: only the latter is ever reported, with chance $\tau = P[Z \ge T-1] = a^{T-1}/(1+a)$, where
  $a = e^{-rate}$;
- c >= 1 against c + 1: what is seen is computed from c + Z against c + 1 + Z, whose likelihood ratio is $e^{rate}$ up
  to c, with mass $h = 1/(1+a)$, and $e^{-rate}$ beyond; nothing is lost by the threshold once T <= c + 1.

To add or remove a person changes one bin. To replace one changes two, independently, of which one gains and one loses:

- filled, filled: $h^2 (1 - e^{\epsilon - 2 rate})_+$;
- empty, empty: $\tau$ (who reports one of them cannot have reported the other, and silence says nothing);
- empty, filled: $\tau + h (1 - \tau - e^{\epsilon - rate})_+$, or in the other order
  $h (1 - (1-\tau) e^{\epsilon - rate})_+ + a h (1 - (1-\tau) e^{\epsilon + rate})_+$.

The filled bins need T - 1 people and one more; of a smaller crowd the claim is true but not the best.

[KKMN09] Korolova, Kenthapadi, Mishra and Ntoulas, Releasing Search Queries and Clicks Privately, WWW 2009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from headcount.core.errors import BadArgument
from headcount.core.law import Floats
from headcount.core.loss import GrowingSlack
from headcount.privacy.tables import two_sided, two_sided_distance


@dataclass(frozen=True, eq=False)
class StabilityLoss(GrowingSlack):
    """`cells` bins change: 1 if a person comes or goes, 2 if one is replaced."""

    kind = "exact"

    rate: Fraction
    threshold: int
    cells: Literal[1, 2]

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise BadArgument("threshold", f"is {self.threshold}", "use 1 or more, or empty bins would be told apart")
        object.__setattr__(self, "rate", Fraction(self.rate))

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(self.cells * self.rate), 0.0)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """For one bin, a person more comes first; of two bins the roles may be exchanged, so either order is as bad."""
        revealed, high = reveals(self.rate, self.threshold), 1.0 / (1.0 + math.exp(-float(self.rate)))
        filled = high**self.cells * _fallen(epsilon, self.cells * self.rate)
        if self.cells == 1:
            return np.maximum(filled, revealed), np.maximum(filled, _silent(epsilon, revealed))
        one_filled = high * np.maximum(_fallen(epsilon, self.rate) - revealed, 0.0)
        worst = np.max([filled, revealed + one_filled, self._other_order(epsilon, revealed)], axis=0)
        return worst, worst

    def _other_order(self, epsilon: Floats, revealed: float) -> Floats:
        """An empty bin and a filled one, for the crowd that cannot report the former."""
        rate = float(self.rate)
        low = 1.0 / (1.0 + math.exp(min(rate, 700.0)))
        return (1.0 - low) * _silent(epsilon - rate, revealed) + low * _silent(epsilon + rate, revealed)

    def slack(self, epsilon: float) -> float:
        """None where only reports of somebody alone tell: their chance is the drawn one, and ratios are kept."""
        at = np.array([epsilon])
        silent = self.cells == 1 or not self._other_order(at, reveals(self.rate, self.threshold) * (1.0 + 1e-9)).any()
        if Fraction(epsilon) >= self.cells * self.rate and silent:
            return 0.0
        return self.cells * (1.0 + math.exp(epsilon)) * two_sided_distance(self.rate)


def reveals(rate: Fraction, threshold: int) -> float:
    """P[Z >= threshold - 1] of the noise that is drawn: one person's bin is reported."""
    law = two_sided(rate).law
    return float(law.masses[max(0, threshold - 1 - law.start) :].sum()) + law.dropped


def _fallen(epsilon: Floats, pure: Fraction) -> Floats:
    """(1 - e**(epsilon - pure))_+, exactly 0 from `pure` on."""
    below = np.array([Fraction(float(e)) < pure for e in epsilon])
    return np.where(below, -np.expm1(np.minimum(epsilon - float(pure), 0.0)), 0.0)


def _silent(log_factor: Floats, revealed: float) -> Floats:
    """(1 - e**log_factor (1 - tau))_+, without cancellation: what silence tells."""
    x = np.minimum(log_factor, 50.0)
    return np.maximum(-np.expm1(x) + revealed * np.exp(x), 0.0)
