r"""Exact accounting of the shuffler's dummies: a total is seen as $c + Z$, whatever others sent.

$Z$ is two-sided geometric around the shift $s$ and cut at 0: $P[Z=k] \propto a^{|k-s|}$, $a = e^{-r}$.
The likelihood ratio of $c+Z$ and $c+1+Z$ is $e^{r}$ where $k \le s$ and $e^{-r}$ beyond; only $k = 0$ is
impossible for $c+1$. One total that moves therefore has
$\delta(\epsilon) = p_0 + (1-e^{\epsilon-r})_+ (F-p_0)$ with $F = P[Z \le s]$, and in the other order
$(1-e^{\epsilon-r})_+ P[Z \ge s]$ if nothing is cut at the right. Two totals that move in opposite
directions have log-ratios $\pm r$ each, and only one of them can be impossible:
$p_0 + (1-e^{\epsilon-2r})_+ P[Z \ge s](F-p_0)$ in both orders. With $k$ totals that rise and $l$ that fall
$$1 - (1-p_0)^k + \sum_{a,b} \binom{k}{a} (F-p_0)^a (1-F)^{k-a} \binom{l}{b} P[Z \ge s]^b P[Z < s]^{l-b}
\big(1-e^{\epsilon-(2a-k+2b-l)\,r}\big)_+.$$
The other people's messages are added to
both sides alike and change nothing: the figures hold for every crowd.

[MSE25] Murakami, Sei and Eriguchi, Augmented Shuffle Protocols for Accurate and Robust Frequency
Estimation under Differential Privacy, S&P 2025.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from headcount.privacy.exact_tables import exp_below
from headcount.privacy.loss import GrowingSlack, Kind, PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.programme.law import Floats


@dataclass(frozen=True)
class PaddedLaw:
    """The ideal law of the dummies of one total."""

    rate: Fraction
    shift: int
    filled: bool  # up to 2 * shift, exactly as many as are missing being dummies of another kind

    @property
    def decay(self) -> float:
        return math.exp(-float(self.rate))

    @property
    def _whole(self) -> float:
        """The sum of the weights, of which the largest is 1."""
        left = -math.expm1(-float(self.rate) * (self.shift + 1)) / self._step
        return 2.0 * left - 1.0 if self.filled else left + self.decay / self._step

    @property
    def _step(self) -> float:
        return -math.expm1(-float(self.rate))

    @property
    def lost(self) -> float:
        """P[Z = 0], the chance of a total that the other crowd cannot have."""
        return math.exp(-float(self.rate) * self.shift) / self._whole

    @property
    def up_to_shift(self) -> float:
        """P[Z <= s]"""
        return -math.expm1(-float(self.rate) * (self.shift + 1)) / self._step / self._whole

    @property
    def from_shift(self) -> float:
        """P[Z >= s]"""
        return self.up_to_shift if self.filled else 1.0 / self._step / self._whole


@dataclass(frozen=True, eq=False)
class PaddedTotals(GrowingSlack):
    """Padded totals of which each moves by one: some up, and as many or none down."""

    kind = "exact"

    law: PaddedLaw
    up: int
    down: int
    distance: float  # of one total's table from the law, in total variation

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        forward = self._order(epsilon, self.up, self.down)
        if self.law.filled or self.up == self.down:
            return forward, forward
        return forward, self._order(epsilon, self.down, self.up)

    def _order(self, epsilon: Floats, up: int, down: int) -> Floats:
        law, rate = self.law, float(self.law.rate)
        rising, falling = law.up_to_shift - law.lost, law.from_shift
        found = np.full(np.shape(epsilon), -math.expm1(up * math.log1p(-law.lost)))
        for a, b in product(range(up + 1), range(down + 1)):
            steps = 2 * (a + b) - up - down
            chance = math.comb(up, a) * rising**a * (1.0 - law.up_to_shift) ** (up - a)
            chance *= math.comb(down, b) * falling**b * (1.0 - falling) ** (down - b)
            found = found - chance * np.expm1(np.minimum(epsilon - steps * rate, 0.0))
        return np.asarray(found)

    def slack(self, epsilon: float) -> float:
        return (self.up + self.down) * (1.0 + math.exp(epsilon)) * self.distance


@dataclass(frozen=True, eq=False)
class SampledTotals(PrivacyLoss):
    r"""Totals of messages kept with chance b, plus dummies while a chance q comes true: pure.

    One more message multiplies the chance of the smallest total by $1-b$ and that of every other by
    $h = 1-b+b/q$.
    """

    keep: Fraction
    more: Fraction
    totals: int  # 1, or 2 that move in opposite directions
    kind: Kind = "exact"

    @property
    def _ratios(self) -> tuple[Fraction, Fraction]:
        """The likelihood ratio of the smallest total, and that of the others inverted."""
        return 1 / (1 - self.keep), 1 - self.keep + self.keep / self.more

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        smallest, other = self._ratios
        if self.totals == 1:
            return _atom(1 - self.more, smallest, epsilon), _atom(self.more * other, other, epsilon)
        both = _atom((1 - self.more) * self.more * other, smallest * other, epsilon)
        return both, both


def _atom(chance: Fraction, ratio: Fraction, epsilon: Floats) -> Floats:
    """Divergence of outcomes of this chance, all this much likelier: exactly 0 from ln(ratio)."""
    pure = np.array([exp_below(Fraction(float(each))) >= ratio for each in epsilon])
    return np.where(pure, 0.0, np.maximum(float(chance) * (1.0 - exp_down(epsilon) / float(ratio)), 0.0))
