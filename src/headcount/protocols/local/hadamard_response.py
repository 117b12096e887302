r"""Hadamard response [ASZ19]: a point of the half that the category's Hadamard row marks.

Randomiser: with $K = 2^{\lceil\log_2(d+1)\rceil}$ and
            $C_x = \{y < K : \langle x+1, y\rangle \text{ even}\}$, send $y$ uniform in $C_x$ with
            chance `keep`, otherwise uniform outside of it.
Analyser:   with $p$ the chance `keep` and $m_j$ reports in $C_j$, by one fast Walsh-Hadamard
            transform, $\hat c_j = (m_j - n/2)/(p-1/2)$.
View:       each single report, which lies in both of two sets, in one or in neither;
            $\epsilon = \ln(p/(1-p))$.
Error:      unbiased, $\mathrm{Var}\,\hat c = [c\,p(1-p) + (n-c)/4]/(p-1/2)^2$.

[ASZ19] Acharya, Sun and Zhang, Hadamard Response, AISTATS 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.privacy import Crowd, Pair, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Below, Brick, Chance, Emit, Field, Let, Maybe, Tally
from headcount.programme.law import Ints
from headcount.protocols.shared.hadamard import HadamardOracle, walsh_hadamard
from headcount.questions import Histogram

POINT = Field.named("point")


@dataclass(frozen=True, kw_only=True)
class HadamardResponse(HadamardOracle):
    """One small number each, and an analyser that takes hardly more time than to count them."""

    name: ClassVar[str] = "hadamard-response"
    reference: ClassVar[str] = "Acharya, Sun and Zhang 2019, arXiv:1802.04705"

    @property
    def kinds(self) -> int:
        return 1 << self.task.values.bit_length()

    @property
    def message_laws(self) -> MessageLaws:
        """The third of three sets may hold just what is in both of the others or in neither."""
        return self.supporting(0.5, 0.25, 0.25)

    @property
    def idle(self) -> float:
        """The chance of point 0, which agrees with everything."""
        return 2.0 * self.keep / self.kinds

    def supporters(self, tally: Tally) -> Ints:
        told = np.append(0, tally.totals[1:])
        balance = walsh_hadamard(told)[1 : self.task.values + 1]
        return (balance + int(told.sum())) // 2

    def telling(self) -> npt.NDArray[Any]:
        """The points that agree with most categories and fewest, but not the one saying nothing."""
        asked = np.zeros(self.kinds, dtype=np.int64)
        asked[1 : self.task.values + 1] = 1
        return self.most_and_fewest(walsh_hadamard(asked)[1:], 1)

    def report(self, value: Field) -> Brick:
        """Any point, moved by the category's lowest bit to where it should lie."""
        mask = value + 1
        lowest, odd = mask & (0 - mask), (POINT & mask).parity
        inside, outside = Emit(POINT ^ lowest * odd), Emit(POINT ^ lowest * (1 - odd))
        return Let("point", Below(self.kinds), Maybe(Chance(self.keep), inside, outside))

    def view(self, honest: int) -> PrivacyLoss:
        inside, outside = self.keep / 2.0, (1.0 - self.keep) / 2.0
        return Pair(np.array([inside, inside, outside, outside]), np.array([inside, outside, inside, outside]))

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), keep=0.75)
