r"""Amplification by shuffling, for any local randomiser: the clones of [FMT21].

With a chance of at least $e^{-\epsilon_0}$, each of the others sends what the victim might have sent with either of two
values: a fair coin between two clones. With C ~ Bin(others, $e^{-\epsilon_0}$), A ~ Bin(C, 1/2) and the victim's coin
$\Delta$ ~ Ber($e^{\epsilon_0}/(e^{\epsilon_0}+1)$), no view tells the two values better apart than
$$(A + \Delta,\; C - A + 1 - \Delta) \quad\text{and}\quad (A + 1 - \Delta,\; C - A + \Delta).$$

Given C, the masses of (N1, N2) are those of C + 1 fair coins times $(N_1 p + N_2 (1-p))\,2/(C+1)$
with p the chance of $\Delta$, and the same with the two counts exchanged.

The later claim that C ~ Bin(others, $2/(e^{\epsilon_0}+1)$) serves every randomiser was withdrawn
[FMT23, erratum]. It is right for one bit flipped with chance $1/(e^{\epsilon_0}+1)$, where nothing
but clones is ever sent.

[FMT21] Feldman, McMillan and Talwar, Hiding Among the Clones, FOCS 2021, Theorem 3.1.
[FMT23] Feldman, McMillan and Talwar, Stronger Privacy Amplification by Shuffling, SODA 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.pair import exp_down
from headcount.privacy.trinomial import Trinomial
from headcount.programme.law import Floats

ROUNDED = 2.0**-46  # more than e**-local_epsilon can be off, which has been rounded itself


@dataclass(frozen=True, eq=False)
class Clones(PrivacyLoss):
    """One report of this local epsilon among those of `others`; `binary` if it is a flipped bit."""

    kind = "bound"

    local_epsilon: float
    others: int
    binary: bool = False

    @cached_property
    def clone(self) -> float:
        """The chance that one of the others sends a clone."""
        lie = math.exp(-self.local_epsilon)
        return 2.0 * lie / (1.0 + lie) if self.binary else lie

    @cached_property
    def _cells(self) -> Trinomial:
        # Over C + 1 with C ~ Bin(others, clone), an expectation of f(C + 1)/(C + 1) is one of f
        # over Bin(others + 1, clone), divided by its mean: the victim counts as one more slot.
        none = math.tanh(self.local_epsilon / 2.0) if self.binary else -math.expm1(-self.local_epsilon)
        return Trinomial.of(self.others + 1, self.clone / 2.0, 0.0, none)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        divergence = np.array([self._divergence(e) for e in epsilon.tolist()])
        return (
            divergence,
            divergence,
        )  # to exchange the neighbours is to exchange the two counts, whose law is symmetric

    def _divergence(self, epsilon: float) -> float:
        if self._pure(epsilon):
            return 0.0
        factor, lie = float(exp_down(np.float64(epsilon))) * (1.0 - ROUNDED), math.exp(-self.local_epsilon)
        keep, turn = 1.0 / (1.0 + lie), lie / (1.0 + lie)
        return self._cells.excess(keep - factor * turn, factor * keep - turn, 0.0) * 2.0 / self.clone

    def slack(self, epsilon: float) -> float:
        return 0.0 if self._pure(epsilon) else self._cells.cut(1.0) * 2.0 / self.clone

    def _pure(self, epsilon: float) -> bool:
        """Whether the local epsilon, perhaps rounded down, is reached: then nothing is lost."""
        return epsilon >= self.local_epsilon * (1.0 + ROUNDED)
