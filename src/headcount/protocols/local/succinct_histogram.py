r"""Succinct histograms [BS15]: one bit each, of a random row of a public matrix of signs.

Randomiser: draw a row $j$ of the Hadamard matrix of size $2^{\lceil\log_2 d\rceil}$; send $j$ and,
            with chance `keep`, the sign $(-1)^{\langle j, x\rangle}$ in the own column, otherwise
            the opposite.
Analyser:   with $m_x$ reports whose sign is that of column $x$, by one fast Walsh-Hadamard
            transform, $\hat c_x = (m_x - n/2)/(p-1/2)$, $p$ the chance `keep`.
View:       each single report; half of the rows tell two columns apart, with
            $\epsilon = \ln(p/(1-p))$.
Error:      unbiased, $\mathrm{Var}\,\hat c = [c\,p(1-p) + (n-c)/4]/(p-1/2)^2$.

The paper's matrix is random and its columns only nearly orthogonal. Those of Hadamard's are exactly
so: nothing is left to the choice of the matrix, and the error has an exact law [NXYHSS16]. If $j$
is drawn in public, a single bit is sent.

[BS15] Bassily and Smith, Local, Private, Efficient Protocols for Succinct Histograms, STOC 2015.
[NXYHSS16] Nguyen et al., Collecting and Analyzing Data from Smart Device Users with Local
Differential Privacy, 2016.
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

ROW = Field.named("row")


@dataclass(frozen=True, kw_only=True)
class SuccinctHistogram(HadamardOracle):
    """One bit each about any number of categories, and the number of a row that may be public."""

    name: ClassVar[str] = "succinct-histogram"
    reference: ClassVar[str] = "Bassily and Smith 2015, arXiv:1504.04686"

    @property
    def rows(self) -> int:
        return 1 << (self.task.values - 1).bit_length()

    @property
    def kinds(self) -> int:
        return 2 * self.rows

    @property
    def message_laws(self) -> MessageLaws:
        return self.supporting(0.5, 0.25, 0.125)

    @property
    def idle(self) -> float:
        """The chance of row 0 with its own sign, which agrees with everything."""
        return self.keep / self.rows

    def supporters(self, tally: Tally) -> Ints:
        told = np.append(np.zeros(2, dtype=np.int64), tally.totals[2:])
        return (walsh_hadamard(told[::2] - told[1::2])[: self.task.values] + int(told.sum())) // 2

    def telling(self) -> npt.NDArray[Any]:
        """The rows that agree with most categories and fewest, but not the one saying nothing."""
        asked = np.zeros(self.rows, dtype=np.int64)
        asked[: self.task.values] = 1
        balance = walsh_hadamard(asked)
        return self.most_and_fewest(np.stack([balance, -balance], axis=1).ravel()[2:], 2)

    def report(self, value: Field) -> Brick:
        minus = (ROW & value).parity
        told = Maybe(Chance(self.keep), Emit(ROW * 2 + minus), Emit(ROW * 2 + 1 - minus))
        return Let("row", Below(self.rows), told)

    def view(self, honest: int) -> PrivacyLoss:
        right, wrong = self.keep / 2.0, (1.0 - self.keep) / 2.0
        return Pair(np.array([right, wrong, 0.5]), np.array([wrong, right, 0.5]))

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), keep=0.75)
