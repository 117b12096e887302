r"""Exact accounting of a stability histogram [KKMN09]: noise on the bins that somebody holds, and a threshold.

A bin of c >= 1 people reports c + Z if that reaches the threshold T, else 0; an empty one is never touched. One bin
with a person more is one of two pairs, as far as the worst goes:

- nobody against one: only the latter is ever reported, with chance $\tau = P[Z \ge T-1] = a^{T-1}/(1+a)$, $a=e^{-rate}$;
- c >= 1 against c + 1: what is seen is computed from c + Z against c + 1 + Z, whose likelihood ratio is $e^{rate}$ up
  to c, with mass $h = 1/(1+a)$, and $e^{-rate}$ beyond; nothing is lost by the threshold once T <= c + 1.

To add or remove a person changes one bin. To replace one changes two, independently, of which one gains and one loses:

- filled, filled: $h^2 (1 - e^{\epsilon - 2 rate})_+$;
- empty, empty: $\tau$ (who reports one of them cannot have reported the other, and silence says nothing);
- empty, filled: $\tau + ((1-\tau) h - e^\epsilon a h)_+$, or in the other order $(h - e^\epsilon (1-\tau) a h)_+$.

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
from headcount.core.loss import PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.privacy.tables import two_sided, two_sided_distance


@dataclass(frozen=True, eq=False)
class StabilityLoss(PrivacyLoss):
    """`cells` bins change: 1 if a person comes or goes, 2 if one is replaced."""

    rate: Fraction
    threshold: int
    cells: Literal[1, 2]

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise BadArgument("threshold", f"is {self.threshold}", "use 1 or more, or empty bins would be told apart")
        object.__setattr__(self, "rate", Fraction(self.rate))

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        rate, revealed = float(self.rate), reveals(self.rate, self.threshold)
        high = 1.0 / (1.0 + math.exp(-rate))
        filled = high**self.cells * _fallen(epsilon, self.cells * self.rate)
        worst = np.maximum(filled, revealed)
        if self.cells == 2:
            one_filled = high * _fallen(epsilon, self.rate)
            worst = np.maximum(worst, revealed + np.maximum(one_filled - revealed * high, 0.0))
            worst = np.maximum(worst, self._hidden(epsilon, one_filled, revealed))
        return worst, worst  # the bins' roles may be exchanged

    def _hidden(self, epsilon: Floats, one_filled: Floats, revealed: float) -> Floats:
        """h - e**epsilon (1 - tau) a h: where the silence of an empty bin speaks for the neighbour."""
        if not self._silent(float(epsilon.max())):
            low = math.exp(-float(self.rate)) / (1.0 + math.exp(-float(self.rate)))
            over = np.maximum(1.0 - low - exp_down(np.minimum(epsilon, 700.0)) * (1.0 - revealed) * low, 0.0)
            return np.where(one_filled > 0.0, one_filled + np.exp(np.minimum(epsilon, 700.0)) * revealed * low, over)
        return np.zeros_like(epsilon)

    def _silent(self, epsilon: float) -> bool:
        """Silence is no more likely than e**(epsilon - rate) allows, so that only reports tell."""
        return False

    def slack(self, epsilon: float) -> float:
        return 0.0


def reveals(rate: Fraction, threshold: int) -> float:
    """P[Z >= threshold - 1] of the noise that is drawn: one person's bin is reported."""
    law = two_sided(rate).law
    return float(law.masses[max(0, threshold - 1 - law.start) :].sum()) + law.dropped


def _fallen(epsilon: Floats, pure: Fraction) -> Floats:
    """(1 - e**(epsilon - pure))_+, exactly 0 from `pure` on."""
    below = np.array([Fraction(float(e)) < pure for e in epsilon])
    return np.where(below, -np.expm1(np.minimum(epsilon - float(pure), 0.0)), 0.0)
