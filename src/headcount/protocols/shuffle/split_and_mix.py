r"""Split and mix [IKOS06, BBGN20, GMPV20]: additive secret shares of everybody's number.

Randomiser: round the value to one of $k$ `levels`, add $\mathrm{NB}(1/n, a) - \mathrm{NB}(1/n, a)$,
            and send `shares` residues modulo $q$ that add up to it; $a = e^{-\epsilon^*/k}$ with
            $\epsilon^*$ the `inner` epsilon.
Analyser:   the sum of all residues, brought into the range where sums lie, over $k$.
View:       all residues. They tell nothing but their sum, up to a total variation distance $\eta$
            that shrinks with every share and costs $(1+e^\epsilon)\eta$; the sum has two-sided
            geometric noise, pure at $\epsilon^*$.
Error:      unbiased, variance $2a/(1-a)^2/k^2$ and at most $n/4k^2$ of rounding; wraps are less
            likely than 1e-12.

One dishonest person can change the sum at will: nobody checks what is shared.

[IKOS06] Ishai, Kushilevitz, Ostrovsky and Sahai, Cryptography from Anonymity, FOCS 2006.
[BBGN20] Balle, Bell, Gascon and Nissim, Private Summation in the Multi-Message Shuffle Model, CCS
2020.
[GMPV20] Ghazi, Manurangsi, Pagh and Velingker, Private Aggregation from Fewer Anonymous Messages,
EUROCRYPT 2020.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from headcount.common.short_decimals import decayed
from headcount.errors import BadArgument
from headcount.privacy import Bounded, Budget, Crowd, Model, Pair, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy import exact_tables as tables
from headcount.privacy.discrete_laplace import IdealLaplaceShift
from headcount.privacy.share_distance import fewest_shares, published_shares, share_distance
from headcount.programme import Batch, Brick, Field, From, Let, Shares, Tally
from headcount.programme.law import Floats, Law, Noise, weighed
from headcount.protocols.base import Choices, Knob, Protocol, Reach, Settings, Shape
from headcount.protocols.shared.stochastic_rounding import (
    fine_enough,
    halfway,
    levelled,
    rounded_laplace,
    rounding,
    size_of_rounded,
)
from headcount.questions import Question, Sum

UP, DOWN = Field.named("up"), Field.named("down")
MOST = 1 << 20
WRAPS = 1e-12


@dataclass(frozen=True, kw_only=True)
class SplitAndMix(Protocol):
    """Nearly the central error, with about ten messages each."""

    name: ClassVar[str] = "split-and-mix"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    provable: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob.by_epsilon("inner", float, high=12.0)
    reference: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2020, arXiv:2002.00817"

    inner: float
    levels: int
    modulus: int
    shares: int

    def __post_init__(self) -> None:
        self.require_within("inner", 0.0, 60.0)
        self.whole("levels", 1, MOST)
        self.whole("shares", 2, 1000)
        self.whole("modulus", 2, 1 << 53)
        super().__post_init__()
        if self.modulus < (needed := _room(self.crowd, self.levels, self.inner)):
            raise BadArgument("modulus", f"is {self.modulus:,}, too small for the sum", f"use at least {needed:,}")

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """Shares for a distance that costs a hundredth of delta at most."""
        levels = min(fine_enough(task, crowd.size, 2.0 / budget.epsilon**2), _drawable(budget.epsilon))
        modulus = 1 << (_room(crowd, levels, budget.epsilon / 2.0) - 1).bit_length()
        distance = 0.01 * budget.delta / (1.0 + math.exp(budget.epsilon))
        yield {"levels": levels, "modulus": modulus, "shares": fewest_shares(crowd.honest, modulus, distance)}

    @property
    def decay(self) -> float:
        """a, rounded toward more noise."""
        return decayed(self.inner / self.levels)

    @property
    def kinds(self) -> int:
        return self.modulus

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        return {"share": (0, self.modulus - 1)}

    @property
    def room(self) -> float:  # type: ignore[override]
        """The most people whose sum cannot wrap around and be read as another one."""
        spare = self.modulus - _room(self.crowd, self.levels, self.inner) - 2  # the reach is rounded up, either way
        person = self.levels * (1.0 + 2.0 * math.log(2.0) / (self.inner * self.crowd.honest))
        return self.crowd.size + max(0, math.floor(spare / person))

    def report(self, value: Field) -> Brick:
        noise = From(tables.negative_binomial(Fraction(1, self.crowd.honest), Fraction(self.decay)))

        def send(level: Field) -> Brick:
            return Let("up", noise, Let("down", noise, Shares(level + UP - DOWN, self.modulus, self.shares)))

        return levelled(value, self.task, self.levels, send)

    @property
    def messages_per_person(self) -> float:
        """Everybody's shares; the programme's tables have millions of cells in a large crowd."""
        return float(self.shares)

    def tally(self, batch: Batch) -> Tally:
        low, high = np.divmod(batch.messages["share"].astype(np.int64), 1 << 32)[::-1]  # either sums without overflow
        total = (int(low.sum()) + (int(high.sum()) << 32)) % self.modulus
        return Tally(batch.reports, np.array([total]), None, self.modulus)

    def view(self, honest: int) -> PrivacyLoss:
        """Symmetric noise of one mode: the widest shift is worst; the sum alone tells as much."""
        drawn = tables.distance(tables.negative_binomial_cells(1.0 / self.crowd.honest, self.decay))
        mixed = share_distance(honest, self.modulus, self.shares)
        total, distance = self._sum(honest), 2.0 * honest * drawn
        bound = TotalVariationSlack(total, distance + mixed, "bound")
        return Bounded(bound, partial(TotalVariationSlack, total, distance, "exact"))

    def _sum(self, honest: int) -> PrivacyLoss:
        """The loss of the sum; with everybody's share the noise is two-sided geometric."""
        if honest == self.crowd.honest:
            return IdealLaplaceShift(Fraction(self._rate), self.levels)
        noise = self._noise(honest)
        return Pair.of(noise, noise.shifted(self.levels))

    @property
    def _rate(self) -> float:
        return -math.log(self.decay)

    def _noise(self, people: int) -> Law:
        if people == self.crowd.honest:
            return laws.discrete_laplace(self._rate)
        one_sided = laws.negative_binomial(people / self.crowd.honest, self.decay)
        return one_sided + -one_sided

    def point(self, tally: Tally) -> Floats:
        """Residues above the middle of what no sum reaches are negative ones."""
        top = (tally.reports * self.levels + self.modulus) // 2
        return np.where(tally.totals > top, tally.totals - self.modulus, tally.totals) / self.levels

    def reach(self, messages: int = 1) -> Reach:
        """One share can be any residue, and turns a sum in the middle of them into any other."""
        any_number = self.modulus / 2.0 / self.levels
        return Reach(any_number, -any_number, bounded=False)

    @property
    def hardest_value(self) -> int:
        return halfway(self.task, self.levels)

    def noise(self, truth: int, reports: int) -> Noise:
        if reports == self.crowd.honest:
            return rounded_laplace(self.task, self.levels, self._rate, reports)
        rounded, centre = rounding(self.task, self.levels, reports)
        return Noise.of(self._noise(reports) + rounded, centre=centre, scale=1.0 / self.levels)

    def size_of_error(self, truth: int, reports: int) -> float:
        variance = 2.0 * reports / self.crowd.honest * self.decay / (1.0 - self.decay) ** 2
        return size_of_rounded(self.task, self.levels, variance, reports)

    def among(self, crowd: Crowd) -> Self:
        """The protocol for another crowd, with more room for more people."""
        room = 1 << (_room(crowd, self.levels, self.inner) - 1).bit_length()
        return replace(self, crowd=crowd, modulus=max(self.modulus, room))

    @property
    def local_epsilon(self) -> float | None:
        """The local epsilon of one person's sum; None unless the noise goes all around."""
        table = tables.negative_binomial(Fraction(1, self.crowd.honest), Fraction(self.decay))
        if 2 * len(table.coarse) <= self.modulus:
            return None
        own = np.array(table.masses, dtype=np.float64) / table.total
        noise = np.convolve(own, own[::-1])
        around = weighed(np.arange(noise.size) % self.modulus, noise, self.modulus)
        shifts = (np.roll(around, shift) for shift in range(1, self.levels + 1))
        return max(float(np.max(np.abs(np.log(around / shifted)))) for shifted in shifts)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((0, 1), steps=1), crowd=Crowd(3), inner=10.0, levels=1, modulus=16, shares=2)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        levels = math.ceil(math.sqrt(crowd.honest))
        modulus = 1 << (_room(crowd, levels, budget.epsilon) - 1).bit_length()
        shares = published_shares(crowd.honest, modulus, budget.delta / (1.0 + math.exp(budget.epsilon)))
        return {"inner": budget.epsilon, "levels": levels, "modulus": modulus, "shares": shares}


def _drawable(epsilon: float) -> int:
    """The most levels at which one person's noise fits into a table, with some room."""
    reach = tables.TAIL_BITS * math.log(2.0) + math.log(10.0)
    return max(1, min(math.floor(0.9 * tables.MOST_CELLS * 0.6 * epsilon / reach), MOST))


def _room(crowd: Crowd, levels: int, inner: float) -> int:
    """The smallest modulus in which sum and noise wrap around with a chance below `WRAPS` only."""
    people = crowd.size / crowd.honest
    reach = math.ceil(-levels / inner * (math.log(WRAPS) - people * math.log(2.0)))
    return crowd.size * levels + 2 * reach + 1
