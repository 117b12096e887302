"""Asymmetric response: a bit that is flipped more often one way than the other, and shuffled."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from headcount.privacy import laws
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model
from headcount.privacy.pair import Pair
from headcount.programme.brick import All, Copies, Emit, Maybe
from headcount.programme.chance import Chance
from headcount.protocols.base.knob import Knob, likely_variance
from headcount.protocols.shared.frequency_oracle import FrequencyOracle
from headcount.questions.domains.domain import Shape

FEW = 50  # people, of whom every crowd is looked at
STRETCHES = 16


@dataclass(frozen=True, eq=False)
class Worst(PrivacyLoss):
    """Of several pairs of crowds."""

    pairs: tuple[Pair, ...]
    kind: str = "exact"

    def orders(self, epsilon):
        every = [pair.orders(epsilon) for pair in self.pairs]
        return tuple(np.max([orders[i] for orders in every], axis=0) for i in (0, 1))

    def slack(self, epsilon):
        return max(pair.slack(epsilon) for pair in self.pairs)


@dataclass(frozen=True, kw_only=True)
class AsymmetricResponse(FrequencyOracle):
    """A zero is told as a one with chance `lie`, and a one as a zero with half of that."""

    name: ClassVar[str] = "asymmetric-response"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT})
    knob: ClassVar[Knob] = Knob(
        "lie",
        lambda u, _: 0.6 / (1.0 + math.exp(-u)),
        -28.0,
        20.0,
        lambda budget, given: math.log(4.0 * likely_variance(budget) / given["crowd"].honest),
    )
    reference: ClassVar[str] = "none"

    lie: float

    def __post_init__(self):
        self.require_within("lie", 0.0, 0.6)
        object.__setattr__(self, "lie", Chance.up(self.lie))
        super().__post_init__()

    @cached_property
    def _back(self):
        return Chance.up(self.lie / 2.0)

    @property
    def kinds(self):
        return 2

    @property
    def supports_own(self):
        return 1.0 - self._back

    @property
    def supports_other(self):
        return float(self.lie)

    def supporters(self, tally):
        return tally.totals[1:]

    def report(self, value):
        zero, one = Maybe(Chance(self.lie), Emit(1), Emit(0)), Maybe(self._back, Emit(0), Emit(1))
        return All(Copies(1 - value, zero), Copies(value, one))

    def view(self, honest):
        """Of a few people every crowd; of many a few, each of which stands for a stretch without those who differ."""
        if honest < FEW:
            return Worst(tuple(self._pair(ones, honest - 1) for ones in range(honest)))
        length = -(-honest // STRETCHES)
        others = honest - length
        return Worst(tuple(self._pair(ones, others) for ones in {*range(0, others, length), others}), "bound")

    def _pair(self, ones, others):
        rest = laws.binomial(ones, self.supports_own) + laws.binomial(others - ones, self.supports_other)
        return Pair.of(rest + laws.binomial(1, self.supports_own), rest + laws.binomial(1, self.supports_other))

    @property
    def local_epsilon(self):
        own, other = self.supports_own, self.supports_other
        return math.log(max(own / other, (1.0 - other) / (1.0 - own)))

    @classmethod
    def tiny(cls):
        return cls(crowd=Crowd(6), lie=0.4)
