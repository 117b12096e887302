r"""Almost one message [LWY22]: a random hash function each, sent with the bucket of one's category.

Randomiser: draw $u, v$ and send $(u, v, ((ux+v) \bmod q) \bmod b)$, $q$ the `prime`, $b$ the
            `buckets`; and on average $\rho = \mu b/n$ blanket messages $(u, v, w)$ that are all
            random, $\mu$ the `mean` for each bucket.
Analyser:   with $s_j$ messages whose bucket is that of category $j$,
            $\hat c_j = (s_j - n\rho/b - n p)/(1-p)$, $p$ the chance that two categories collide.
View:       the multiset of messages; bounded by showing the true messages of all others.
Error:      unbiased; $s_j$ is $c + \mathrm{Bin}(n-c, p)$ and the blanket's share, a variance near
            $n/b + \mu$.

[LWY22] Luo, Wang and Yi, Frequency Estimation in the Shuffle Model with Almost a Single Message,
CCS 2022.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

from headcount.errors import BadArgument
from headcount.privacy import Bounded, Budget, Crowd, Model, Pair, PrivacyLoss, laws
from headcount.privacy.blanket import HashedBlanket
from headcount.programme import All, Below, Brick, Chance, Copies, Field, Let, Maybe, Tally
from headcount.programme.law import Floats, Law, Noise
from headcount.protocols.base import Choices, Knob, Settings, Shape, likely_variance
from headcount.protocols.shared.hashing import HashedMessages, LinearHash, next_prime
from headcount.questions import Histogram, Question


@dataclass(frozen=True, kw_only=True)
class AlmostOneMessageHistogram(HashedMessages):
    """Hardly more than one short message each, however many categories."""

    name: ClassVar[str] = "almost-one-message-histogram"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    provable: ClassVar[bool] = False
    steady: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob.logarithmic("mean", 1e-3, 1e9, lambda budget, _: 1.3 * likely_variance(budget))
    reference: ClassVar[str] = "Luo, Wang and Yi 2022, arXiv:2111.06833"

    mean: float
    buckets: int
    prime: int

    def __post_init__(self) -> None:
        self.require_within("mean", 0.0, 1e9)
        self.whole("buckets", 2, 1 << 31)
        self.whole("prime", 2, 1 << 31)
        super().__post_init__()
        if self.prime != next_prime(self.prime) or self.prime < max(self.task.values, self.buckets):
            works = f"use {next_prime(max(self.task.values, self.buckets)):,}"
            raise BadArgument("prime", f"is {self.prime}, not a prime from the number of categories on", works)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """Buckets for which a quarter of the people, on average, send a second message."""
        buckets = max(2, round(crowd.honest / (5.0 * likely_variance(budget))))
        yield {"buckets": buckets, "prime": next_prime(max(task.values, buckets))}

    @classmethod
    def laborious(cls, task: Question, rounds: int) -> bool:
        return True

    @property
    def _blankets(self) -> tuple[int, Chance]:
        """How many everybody sends, and the chance of one more."""
        each = self.mean * self.buckets / self.crowd.honest
        return math.floor(each), Chance.up(each - math.floor(each))

    @property
    def hashing(self) -> LinearHash:
        return LinearHash(self.prime, self.buckets)

    def report(self, value: Field) -> Brick:
        hashing, (each, chance) = self.hashing, self._blankets
        own = hashing.drawn(hashing.emit(hashing.of(value)))
        blanket = hashing.drawn(Let("w", Below(self.buckets), hashing.emit(Field.named("w"))))
        surely = (Copies(Field.of(each), blanket),) if each else ()
        return All(own, *surely, Maybe(chance, blanket))

    def view(self, honest: int) -> PrivacyLoss:
        each, chance = self._blankets
        bound = HashedBlanket(honest, each + chance, self.buckets, self.collision)
        return Bounded(bound, partial(self._by_one_value, honest))

    def _by_one_value(self, honest: int) -> PrivacyLoss:
        """A lower bound, from messages in the bucket of all others' value; theirs hide nothing."""
        others = self._supporting(0, honest)
        without = others.weighed(1.0 - self.collision) | others.shifted(1).weighed(self.collision)
        return Pair.of(others.shifted(1), without)

    def _supporting(self, others: int, reports: int) -> Law:
        """How many of the reports' messages have the bucket of a value these others lack."""
        each, chance = self._blankets
        cover = laws.binomial(reports * each, 1.0 / self.buckets) + laws.binomial(reports, chance / self.buckets)
        return laws.binomial(others, self.collision) + cover

    def point(self, tally: Tally) -> Floats:
        each, chance = self._blankets
        expected = tally.reports * ((each + chance) / self.buckets + self.collision)
        return (tally.totals - expected) / (1.0 - self.collision)

    def noise(self, truth: int, reports: int) -> Noise:
        each, chance = self._blankets
        expected = (reports - truth) * self.collision + reports * (each + chance) / self.buckets
        return Noise.of(self._supporting(reports - truth, reports), centre=expected, scale=1.0 / (1.0 - self.collision))

    def size_of_error(self, truth: int, reports: int) -> float:
        (each, chance), p, b = self._blankets, self.collision, self.buckets
        cover = each * (1.0 - 1.0 / b) + chance * (1.0 - chance / b)
        return math.sqrt((reports - truth) * p * (1.0 - p) + reports * cover / b) / (1.0 - p)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), mean=0.5, buckets=2, prime=3)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        return cls.tiny(), cls(task=Histogram(2), crowd=Crowd(5), mean=1.5, buckets=2, prime=2)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"mean": 32.0 * math.log(2.0 / budget.delta) / budget.epsilon**2}
