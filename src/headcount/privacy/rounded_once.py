r"""Stochastic rounding of a total to the grid of the noise, once, by the trusted side.

With $t$ the total in steps and one common $U$, uniform, it becomes $\lfloor t L/s + U \rfloor$. Two
totals that differ by at most $d$ steps lie, whatever $U$ is, at most $\lceil d L/s \rceil$ levels
apart: the rounding costs no privacy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from headcount.privacy.two_sided_noise import AddTwoSidedNoise
from headcount.programme.coins import Coins
from headcount.programme.field import number
from headcount.programme.release import Release
from headcount.programme.report_law import Parts
from headcount.programme.tally import Tally


@dataclass(frozen=True)
class RoundThenNoise(Release):
    """From steps to levels by unbiased stochastic rounding, then noise; all in integers."""

    steps: int
    levels: int
    noise: AddTwoSidedNoise

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        return self.noise.apply(tally.with_totals(self.rounded(tally.totals, coins)), coins)

    def rounded(self, totals: npt.NDArray[Any], coins: Coins) -> npt.NDArray[Any]:
        """The totals in levels, as integers of any size.

        One word each, whatever the total, unless nothing is ever left over.
        """
        scaled = totals.astype(object) * self._times
        if self._parts == 1:
            return scaled
        return scaled // self._parts + (coins.below(self._parts, totals.size) < scaled % self._parts)

    @property
    def scale(self) -> Fraction:
        return Fraction(self.levels, self.steps)

    @property
    def _times(self) -> int:
        return self.scale.numerator

    @property
    def _parts(self) -> int:
        return self.scale.denominator

    def law(self, total: int) -> Parts:
        """The two laws of noisy levels below and above it, mixed."""
        down, rest = divmod(total * self._times, self._parts)
        mixed: Counter[int] = Counter()
        for level, weight in ((down, self._parts - rest), (down + 1, rest)):
            for outcome, part in self.noise.law(level).items() if weight else ():
                mixed[outcome] += weight * part
        return {outcome: mass // self._parts for outcome, mass in mixed.items()}

    def encode(self) -> dict[str, Any]:
        return {"steps": number(self.steps), "levels": number(self.levels), **self.noise.encode()}
