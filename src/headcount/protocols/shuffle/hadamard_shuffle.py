r"""Hadamard tuples [GGKPV21]: columns where the category's row is +1, among uniform ones.

Randomiser: with $D$ a power of two above the $d$ categories and $\tau$ the `indices`, send $\tau$
            numbers below $D$, each uniform among those that agree with the category (an even number
            of common binary ones with $x+1$); and `blankets` tuples $\rho$ of any numbers.
Analyser:   with $N_j$ tuples that agree with category $j$ throughout,
            $\hat c_j = (N_j - (1+\rho)n2^{-\tau})/(1-2^{-\tau})$.
View:       the multiset of tuples; bounded by showing the true tuples of all others.
Error:      unbiased; $N_j$ is $c + \mathrm{Bin}((1+\rho)n - c, 2^{-\tau})$: half of all numbers
            agree with two categories, so a variance of $((1+\rho)n - c)2^{-\tau}/(1-2^{-\tau})$.

A tuple is a few integers, each with as many numbers one after the other in binary as it has room
for. The analyser's work is tuples times categories.

[GGKPV21] Ghazi, Golowich, Kumar, Pagh and Velingker, On the Power of Multiple Anonymous Messages,
EUROCRYPT 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.privacy import Bounded, Budget, Crowd, Model, PrivacyLoss, laws
from headcount.privacy.blanket import HadamardBlanket
from headcount.programme import All, Batch, Below, Brick, Copies, Emit, Field, Let, Tally
from headcount.programme.law import Floats, Ints, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings, Shape, likely_variance
from headcount.questions import Histogram, Question

BITS = 62  # of an integer
MOST = 40
RARELY = 1e-9  # the chance that an honest tuple is taken for a liar's


@dataclass(frozen=True, kw_only=True)
class HadamardShuffle(Protocol):
    """A message for every unit of variance, however many the categories."""

    name: ClassVar[str] = "hadamard-shuffle"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    steady: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob.logarithmic(
        "blankets",
        1,
        1e6,
        lambda budget, given: 1.3 * likely_variance(budget) * 2 ** given["indices"] / given["crowd"].honest,
        whole=True,
    )
    reference: ClassVar[str] = "Ghazi, Golowich, Kumar, Pagh and Velingker 2021, arXiv:1908.11358"

    blankets: int
    indices: int

    def __post_init__(self) -> None:
        self.whole("blankets", 1, 10**6)
        self.whole("indices", 1, MOST)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """The crowd's binary digits: others then add at most one to the variance."""
        yield {"indices": min(MOST, max(1, (crowd.honest - 1).bit_length()))}

    @property
    def _width(self) -> int:
        """The binary digits of one number: a row of zeros stands for no category."""
        return self.task.values.bit_length()

    @property
    def _packed(self) -> list[int]:
        """How many numbers there are in each integer of a tuple."""
        room = BITS // self._width
        return [min(room, self.indices - start) for start in range(0, self.indices, room)]

    @property
    def kinds(self) -> int:
        return 1 << (self._width * self.indices)

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        return {f"part{i}": (0, (1 << many * self._width) - 1) for i, many in enumerate(self._packed)}

    def report(self, value: Field) -> Brick:
        row, size = value + 1, 1 << self._width
        lowest = row & (0 - row)
        parts = [Field.of(0) for _ in self._packed]
        for i in range(self.indices):
            number, at = Field.named(f"c{i}"), i // self._packed[0]
            # Turning the row's lowest one turns the parity: two drawn numbers for every one that
            # agrees.
            parts[at] = parts[at] * size + (number ^ (lowest * (number & row).parity))
        own: Brick = Emit(*parts)
        for i in reversed(range(self.indices)):
            own = Let(f"c{i}", Below(size), own)
        blanket: Brick = Emit(*(Field.named(f"any{i}") for i in range(len(parts))))
        for i, many in enumerate(self._packed):
            blanket = Let(f"any{i}", Below(size**many), blanket)
        return All(own, Copies(Field.of(self.blankets), blanket))

    @cached_property
    def least_rank(self) -> int:
        """The least rank of a tuple's numbers; an honest one has less with chance at most 1e-9.

        A tuple of rank r agrees with 2**(width - r) - 1 categories, that of zeros with all of them.
        """
        ranks = np.eye(1, self._width)[0]  # the chance of each, of numbers that agree with a category
        grows = 1.0 - 2.0 ** (np.arange(self._width) - (self._width - 1))
        for _ in range(self.indices):
            ranks = ranks * (1.0 - grows) + np.append(0.0, (ranks * grows)[:-1])
        return int(np.count_nonzero(np.cumsum(ranks) <= RARELY))

    def genuine(self, messages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        inside = super().genuine(messages)
        return inside & (self._ranks(messages) >= self.least_rank) if self.least_rank else inside

    def _ranks(self, messages: npt.NDArray[Any]) -> Ints:
        """The rank of each tuple's numbers, by elimination of one binary digit after the other."""
        width = self._width
        numbers = np.stack(
            [
                messages[f"part{i}"].astype(np.int64) >> width * at & (1 << width) - 1
                for i, many in enumerate(self._packed)
                for at in range(many)
            ]
        )
        ranks = np.zeros(messages.size, dtype=np.int64)
        for digit in range(width):
            there = (numbers >> digit & 1).astype(np.bool_)
            chosen = np.take_along_axis(numbers, there.argmax(axis=0)[None], axis=0)
            ranks += there.any(axis=0)
            numbers ^= np.where(there, chosen, 0)
        return ranks

    def telling(self) -> npt.NDArray[Any]:
        """A tuple of least rank, of highest digits; one that fits the first category, not all."""
        width, digits = self._width, range(self._width)
        chosen = [[*reversed(digits)][: self.least_rank], [*digits[1:]][: self.indices]]
        tuples = np.zeros(len(chosen), dtype=self.message)
        for at, places in enumerate(chosen):
            numbers = [1 << place for place in places] + [0] * (self.indices - len(places))
            for i, many in enumerate(self._packed):
                here, numbers = numbers[:many], numbers[many:]
                tuples[f"part{i}"][at] = sum(number << width * place for place, number in enumerate(here))
        return tuples

    def tally(self, batch: Batch) -> Tally:
        """The tuples that agree with each category, filtered one index at a time."""
        found, last = np.zeros(self.task.values, dtype=np.int64), (1 << self._width) - 1
        parts = [batch.messages[name].astype(np.int64) for name in self.message.names or ()]
        for category in range(self.task.values):
            left = np.arange(batch.messages.size)
            for part, many in zip(parts, self._packed, strict=True):
                for place in range(many):
                    number = part[left] >> (place * self._width) & last
                    left = left[np.bitwise_count(number & (category + 1)) & 1 == 0]
            found[category] = left.size
        return Tally(batch.reports, found)

    def view(self, honest: int) -> PrivacyLoss:
        """Others with the fourth value hide the first two like uniform tuples: independent rows."""
        bound = HadamardBlanket(honest, self.blankets, self.indices)
        return Bounded(bound, bound.among_others) if self.task.values > 3 else bound

    @property
    def _chance(self) -> float:
        """The chance that a tuple of no category, or of another, agrees."""
        return 2.0**-self.indices

    def point(self, tally: Tally) -> Floats:
        expected = tally.reports * (1 + self.blankets) * self._chance
        return (tally.totals - expected) / (1.0 - self._chance)

    def noise(self, truth: int, reports: int) -> Noise:
        others = reports * (1 + self.blankets) - truth
        return Noise.of(
            laws.binomial(others, self._chance), centre=others * self._chance, scale=1.0 / (1.0 - self._chance)
        )

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt((reports * (1 + self.blankets) - truth) * self._chance / (1.0 - self._chance))

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(2), crowd=Crowd(3), blankets=1, indices=2)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        return cls.tiny(), cls(task=Histogram(2), crowd=Crowd(5), blankets=1, indices=1)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Theorem 4.3, with one value each."""
        blankets = 36.0 / budget.epsilon**2 * math.log(math.e / (budget.epsilon * budget.delta))
        return {"blankets": math.ceil(blankets), "indices": min(MOST, max(1, (crowd.honest - 1).bit_length()))}
