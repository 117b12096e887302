r"""Hadamard tuples [GGKPV21]: everybody sends places where their category's row of signs is a plus, among random ones.

Randomiser: with $D$ a power of two above the $d$ categories and $\tau$ the `indices`, send $\tau$ numbers below $D$,
            each uniform among those that agree with the category (an even number of common binary ones with $x+1$); and
            `blankets` tuples $\rho$ of any numbers.
Analyser:   with $N_j$ tuples that agree with category $j$ throughout,
            $\hat c_j = (N_j - (1+\rho)n2^{-\tau})/(1-2^{-\tau})$.
View:       the multiset of tuples; bounded by showing the true tuples of all others.
Error:      unbiased; $N_j$ is $c + \mathrm{Bin}((1+\rho)n - c, 2^{-\tau})$: half of all numbers agree with two
            categories, so a variance of $((1+\rho)n - c)2^{-\tau}/(1-2^{-\tau})$.

A tuple is one integer, its numbers one after the other in binary. The analyser's work is tuples times categories.

[GGKPV21] Ghazi, Golowich, Kumar, Pagh and Velingker, On the Power of Multiple Anonymous Messages, EUROCRYPT 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.core.brick import All, Brick, Copies, Emit, Let
from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.draw import Below
from headcount.core.errors import BadArgument
from headcount.core.field import Field
from headcount.core.law import Floats, Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.protocol import HISTOGRAMS, Knob, Model, Protocol, likely_variance
from headcount.core.table import Ints
from headcount.core.tally import Batch, Tally
from headcount.core.task import Histogram, Task
from headcount.privacy import laws
from headcount.privacy.blanket import HadamardCover

ANY = Field.named("any")
BITS = 62  # of a tuple


@dataclass(frozen=True, kw_only=True)
class HadamardShuffle(Protocol):
    """A message for every unit of variance, however many the categories."""

    name: ClassVar[str] = "hadamard-shuffle"
    model: ClassVar[Model] = Model.SHUFFLE
    tasks: ClassVar[frozenset[str]] = HISTOGRAMS
    knob: ClassVar[Knob] = Knob(
        "blankets", lambda u, _: math.ceil(math.exp(u)), 0.0, math.log(1e6),
        lambda budget, given: math.log(1.3 * likely_variance(budget) * 2 ** given["indices"] / given["crowd"].honest),
    )  # fmt: skip
    reference: ClassVar[str] = "Ghazi, Golowich, Kumar, Pagh and Velingker 2021, arXiv:1908.11358"

    blankets: int
    indices: int

    def __post_init__(self) -> None:
        self.whole("blankets", 1, 10**6)
        self.whole("indices", 1, BITS)
        super().__post_init__()
        if self.indices * self._width > BITS:
            most = BITS // self._width
            raise BadArgument("indices", f"is {self.indices}, too many for one message", f"use {most} or fewer")

    @classmethod
    def choices(cls, task: Task, crowd: Crowd, budget: Budget) -> Iterable[Mapping[str, Any]]:
        """As many as the crowd has binary digits make the true tuples cost one unit of variance; fewer also do."""
        most = max(1, BITS // task.values.bit_length())
        yield {"indices": min(most, max(1, (crowd.honest - 1).bit_length()))}

    @property
    def _width(self) -> int:
        """The binary digits of one number: a row of zeros stands for no category."""
        return self.task.values.bit_length()

    @property
    def kinds(self) -> int:
        return 1 << (self._width * self.indices)

    @property
    def message(self) -> np.dtype[Any]:
        return np.dtype([("tuple", np.min_scalar_type(self.kinds - 1))])

    @property
    def tallied(self) -> int:
        return self.task.values

    def report(self, value: Field) -> Brick:
        row, size = value + 1, 1 << self._width
        lowest = row & (0 - row)
        packed = Field.of(0)
        for i in range(self.indices):
            number = Field.named(f"c{i}")
            # Turning the row's lowest one turns the parity: two drawn numbers for every one that agrees.
            packed = packed * size + (number ^ (lowest * (number & row).parity))
        own: Brick = Emit(packed)
        for i in reversed(range(self.indices)):
            own = Let(f"c{i}", Below(size), own)
        return All(own, Copies(Field.of(self.blankets), Let("any", Below(self.kinds), Emit(ANY))))

    def tally(self, batch: Batch) -> Tally:
        return Tally(batch.reports, self._agreeing(batch.messages["tuple"].astype(np.int64)))

    def _agreeing(self, tuples: npt.NDArray[np.int64]) -> Ints:
        """How many tuples agree with each category: only those that did so far are looked at further."""
        found, last = np.zeros(self.task.values, dtype=np.int64), (1 << self._width) - 1
        for category in range(self.task.values):
            left = tuples
            for _ in range(self.indices):
                left = left[np.bitwise_count(left & last & (category + 1)) & 1 == 0] >> self._width
            found[category] = left.size
        return found

    def view(self, honest: int) -> PrivacyLoss:
        return HadamardCover(honest, self.blankets, self.indices)

    @property
    def _chance(self) -> float:
        """That a tuple of no or another category agrees."""
        return 2.0**-self.indices

    def point(self, tally: Tally) -> Floats:
        expected = tally.reports * (1 + self.blankets) * self._chance
        return (tally.totals - expected) / (1.0 - self._chance)

    def noise(self, truth: int, reports: int) -> Noise:
        others = reports * (1 + self.blankets) - truth
        return Noise.of(
            laws.binomial(others, self._chance), centre=others * self._chance, scale=1.0 / (1.0 - self._chance)
        )

    @property
    def steady(self) -> bool:
        return False

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(2), crowd=Crowd(3), blankets=1, indices=2)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        """Theorem 4.3, with one value each."""
        blankets = 36.0 / budget.epsilon**2 * math.log(math.e / (budget.epsilon * budget.delta))
        return {"blankets": math.ceil(blankets), "indices": max(1, (crowd.honest - 1).bit_length())}
