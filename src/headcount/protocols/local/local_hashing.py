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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Model, Pair, PrivacyLoss
from headcount.programme import Batch, Below, Brick, Chance, Emit, Field, Let, Maybe, Tally
from headcount.protocols.base import Knob
from headcount.protocols.shared.frequency_oracle import FrequencyOracle
from headcount.protocols.shared.hashing import U, V, collision, hashed, hashes, next_prime, support
from headcount.questions import Histogram, Question

MOST = 1 << 24
COMPARED = 1 << 22
STEP = Field.named("step")


@dataclass(frozen=True, kw_only=True)
class LocalHashing(FrequencyOracle):
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
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Iterable[Mapping[str, Any]]:
        return ({"range": min(round(math.exp(min(budget.epsilon, 40.0))) + 1, MOST)},)

    @cached_property
    def prime(self) -> int:
        return next_prime(max(self.task.values, self.range))

    @property
    def collision(self) -> float:
        """The chance that two given categories share a bucket."""
        return collision(self.prime, self.range)

    @property
    def supports_own(self) -> float:
        return self.keep

    @property
    def supports_other(self) -> float:
        return self.collision * self.keep + (1.0 - self.collision) * (1.0 - self.keep) / (self.range - 1)

    def report(self, value: Field) -> Brick:
        bucket = hashed(value, self.prime, self.range)
        other = Let("step", Below(self.range - 1), Emit(U + 1, V, (bucket + 1 + STEP) % self.range))
        told = Maybe(Chance(self.keep), Emit(U + 1, V, bucket), other)
        return Let("u", Below(self.prime - 1), Let("v", Below(self.prime), told))

    @property
    def kinds(self) -> int:
        return (self.prime - 1) * self.prime * self.range

    @property
    def message(self) -> np.dtype[Any]:
        wide, narrow = np.min_scalar_type(self.prime - 1), np.min_scalar_type(self.range - 1)
        return np.dtype([("u", wide), ("v", wide), ("bucket", narrow)])

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        return hashes(self.prime, self.range)

    def tally(self, batch: Batch) -> Tally:
        return Tally(batch.reports, support(batch.messages, self.task.values, self.prime, self.range))

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
        return self.prime * self.range * self.task.values <= COMPARED

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), keep=0.75, range=2)
