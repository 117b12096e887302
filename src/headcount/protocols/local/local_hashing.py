r"""Local hashing [WBLJ17]: a random hash function each, and randomised response on its bucket.

Randomiser: with $g$ buckets (`range`) and $q$ the first prime from $\max(d, g)$ on, draw
            $u \in 1..q-1$ and $v \in 0..q-1$; the own bucket is $h(x) = ((ux+v) \bmod q) \bmod g$.
            Send $u$, $v$ and, with chance $p$ (`keep`), the own bucket, otherwise another one.
Analyser:   with $m_j$ reports that name the bucket of $j$, $\hat c_j = (m_j - no)/(p-o)$,
            $o = rp + (1-r)(1-p)/(g-1)$; two categories share a bucket with chance
            $r = \lfloor q/g\rfloor((q \bmod g)+q-g)/(q(q-1))$, exactly.
View:       each single report: with chance $r$ it tells nothing, otherwise
            $\epsilon = \ln((g-1)p/(1-p))$.
Error:      unbiased, $\mathrm{Var}\,\hat c = [c\,p(1-p) + (n-c)\,o(1-o)]/(p-o)^2$.

[WBLJ17] Wang, Blocki, Li and Jha, Locally Differentially Private Protocols for Frequency
Estimation, USENIX Sec. 2017.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Below, Brick, Chance, Field, Let, Maybe
from headcount.protocols.base import Choices, Knob
from headcount.protocols.shared.frequency_oracle import FrequencyOracle
from headcount.protocols.shared.hashing import HashedMessages, LinearHash, next_prime
from headcount.questions import Histogram, Question

MOST = 1 << 24
COMPARED = 1 << 22
STEP = Field.named("step")


@dataclass(frozen=True, kw_only=True)
class LocalHashing(HashedMessages, FrequencyOracle):
    """A hash function and one of its buckets each: accurate for many categories, in a few bytes."""

    name: ClassVar[str] = "local-hashing"
    model: ClassVar[Model] = Model.LOCAL
    knob: ClassVar[Knob] = Knob.above("keep", lambda given: 1.0 / given["range"])
    pure: ClassVar[bool] = True
    reference: ClassVar[str] = "Wang, Blocki, Li and Jha 2017, arXiv:1705.04421"

    keep: float
    range: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole("range", 2, MOST)
        self.as_chance("keep", 1.0 / self.range, 1.0, Chance.down)

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        return ({"range": min(round(math.exp(min(budget.epsilon, 40.0))) + 1, MOST)},)

    @cached_property
    def hashing(self) -> LinearHash:
        return LinearHash(next_prime(max(self.task.values, self.range)), self.range)

    @property
    def supports_own(self) -> float:
        return self.keep

    @property
    def supports_other(self) -> float:
        return self.collision * self.keep + (1.0 - self.collision) * (1.0 - self.keep) / (self.range - 1)

    @property
    def message_laws(self) -> MessageLaws:
        once = 1.0 / self.range
        return self.supporting(once, once * self.collision, once * self.hashing.triple_collision)

    def report(self, value: Field) -> Brick:
        bucket, emit = self.hashing.of(value), self.hashing.emit
        other = Let("step", Below(self.range - 1), emit((bucket + 1 + STEP) % self.range))
        return self.hashing.drawn(Maybe(Chance(self.keep), emit(bucket), other))

    def view(self, honest: int) -> PrivacyLoss:
        """The two buckets, and all that tells nothing: the others, and both where they collide."""
        apart = 1.0 - self.collision
        own, other = apart * self.keep, apart * (1.0 - self.keep) / (self.range - 1)
        rest = 1.0 - own - other
        return Pair(np.array([own, other, rest]), np.array([other, own, rest]))

    @property
    def local_epsilon(self) -> float | None:
        return math.log(self.keep * (self.range - 1) / (1.0 - self.keep)) if self.keep < 1.0 else None

    @property
    def provable(self) -> bool:  # type: ignore[override]
        """Proofs compare what each value hashes to, one by one: not with thousands of buckets."""
        return self.hashing.prime * self.range * self.task.values <= COMPARED

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), keep=0.75, range=2)
