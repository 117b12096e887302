r"""Hashed cells [LWY22, GKMP20]: with many cells, a message names a random hash function's bucket.

Randomiser: in every family of $N$ cells in which you touch one, $x$: if $N$ is at most $b$
(`buckets`) send it, and
            $\mathrm{Poi}(N\lambda/n)$ dummies, each any of the cells. Otherwise draw a hash
            function $h_{u,v}(x) = ((u\,x^3+v) \bmod q) \bmod b$, $q$ a prime from $N$ on with $3
            \nmid q-1$, send $(u, v, h_{u,v}(x))$, and $\mathrm{Poi}(b\lambda/n)$ dummies, each any
            function and any bucket.
Analyser:   $m_x$ messages name the cell, or agree with it: $h_{u,v}(x)$ is what they name. Directly
            $\hat c_x = m_x - \lambda$, hashed $\hat c_x = (m_x - \lambda - nr)/(1-r)$ with $r$ the
            chance that two cells share a bucket, exactly.
View:       of each family as good as $\mathrm{Poi}(\lambda)$ in the two cells that a replaced person changes; with $k$
            families of cells $k$ such pairs, whatever their size.
Error:      unbiased, $\mathrm{Var}\,\hat c_x = \lambda$ directly, and hashed
            $[\lambda + (n-c_x)r(1-r)]/(1-r)^2$, nearly $\lambda + n/b$, uncorrelated but for
            collisions of three.

*Why the view is that of two cells.* Show which messages of the others are genuine. A person's
message is as likely any of the $H$ functions, and each place (function, bucket) holds
$\mathrm{Poi}(\lambda/H)$ dummies, so that the view is $m_x/\lambda$ times as likely as the dummies
alone would be, $m_x$ those that agree with $x$. Where $x$ and $x'$ share no bucket, $m_x$ and
$m_{x'}$ are independent and Poisson of mean $\lambda$; where they share some, the two likelihoods
are closer. The cube breaks up progressions, of which linear functions map more than two cells into
one bucket too often; it is a permutation, as 3 has no factor in common with $q-1$.

[LWY22] Luo, Wang and Yi, Frequency Estimation in the Shuffle Model with Almost a Single Message,
CCS 2022. [GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML
2020.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.errors import Unsupported
from headcount.privacy import Budget, Crowd, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy import exact_tables as tables
from headcount.programme import All, Batch, Below, Brick, Copies, Emit, Field, Let, Table, Tally
from headcount.programme.law import Floats, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Shape, likely_variance
from headcount.protocols.shared.cells import touched
from headcount.protocols.shared.cubic_hash import CubicHash
from headcount.protocols.shared.dummy_messages import PoissonDummies, poisson_loss
from headcount.questions import Distribution, Question

ANY = Field.named("any")
SPENT = 4.0, 2.0, 1.0  # dummies to a genuine message in hashed families, the most accurate first


@dataclass(frozen=True, kw_only=True)
class HashedHistogram(PoissonDummies):
    """Count in families of many cells with messages that do not grow with their number."""

    name: ClassVar[str] = "hashed-histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.K_OF})
    provable: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob.logarithmic(
        "mean", 1e-3, 1e12, lambda budget, given: 1.3 * likely_variance(budget) * touched(given["task"])
    )
    reference: ClassVar[str] = "Luo, Wang and Yi 2022, arXiv:2111.06833"

    buckets: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.whole("buckets", 2, max(2, max(self._sizes) - 1))

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """A few dummies to a genuine message, or more, which costs messages and saves error."""
        largest = max(task.strategy.sizes_of_families)
        if largest < 3:
            raise Unsupported("has too few cells for any to be hashed", "use 'poisson-histogram'", protocol=cls.name)
        mean = 1.1 * likely_variance(budget) * touched(task)
        return [{"buckets": int(min(max(2.0, each * crowd.honest / mean), largest - 1))} for each in SPENT]

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.task.strategy.sizes_of_families)

    def _hashes(self, family: int) -> bool:
        return self._sizes[family] > self.buckets

    @property
    def linear(self) -> bool:
        return True

    @property
    def steady(self) -> bool:  # type: ignore[override]
        return not self._hashes(0)

    @cached_property
    def hashes(self) -> tuple[CubicHash, ...]:
        """The functions of each family, used where it has more cells than buckets."""
        return tuple(CubicHash.over(size, self.buckets) for size in self._sizes)

    @property
    def _places(self) -> tuple[int, ...]:
        """The number of cells or buckets that a message may name in each family."""
        return tuple(min(size, self.buckets) for size in self._sizes)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(accumulate(self._places, initial=0))

    @property
    def kinds(self) -> int:
        found = zip(self._places, self.hashes, self._sizes, strict=True)
        return sum(places * (hashing.functions if size > places else 1) for places, hashing, size in found)

    @property
    def ranges(self) -> Mapping[str, tuple[Any, Any]]:
        prime = max(hashing.prime for hashing in self.hashes)
        return {"place": (0, self._starts[-1] - 1), "u": (0, prime - 2), "v": (0, prime - 1)}

    def telling(self) -> npt.NDArray[Any]:
        """The first place of each family."""
        return self.messages_with(place=self._starts[:-1])

    def report(self, value: Field) -> Brick:
        cells, starts = self.task.strategy.cells(value), [*accumulate(self._sizes, initial=0)]
        parts: list[Brick] = []
        for family, cell in enumerate(cells):
            own, first = _shifted(cell, -starts[family]), self._starts[family]
            if self._hashes(family):
                hashing = self.hashes[family]
                parts.append(hashing.drawn(hashing.emit(_shifted(hashing.of(own), first))))
                blank = Let("any", Below(self.buckets), hashing.emit(_shifted(ANY, first)))
                parts.append(Copies(self._share(family), hashing.drawn(blank)))
            else:
                blank = Let("any", Below(self._places[family]), Emit(_shifted(ANY, first), 0, 0))
                parts += [Emit(_shifted(own, first), 0, 0), Copies(self._share(family), blank)]
        return All(*parts)

    def _blank(self, family: int) -> Fraction:
        """The mean number of a person's dummies in a family."""
        return self._places[family] * Fraction(self.mean) / self.crowd.honest

    def _share(self, family: int) -> Table:
        return tables.poisson(self._blank(family))

    @property
    def sent(self) -> Fraction:
        return sum((self._blank(family) for family in range(len(self._sizes))), Fraction(0))

    @property
    def distance(self) -> float:
        return math.fsum(
            tables.distance(tables.poisson_cells(float(self._blank(family)))) for family in range(len(self._sizes))
        )

    def view(self, honest: int) -> PrivacyLoss:
        ideal = poisson_loss(self.mean * honest / self.crowd.honest, len(self._sizes))
        return TotalVariationSlack(ideal, honest * self.distance, "bound")

    def genuine(self, messages: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Messages about a cell have no function, others one modulo their family's prime."""
        fits = super().genuine(messages)
        primes = [hashing.prime if self._hashes(family) else 1 for family, hashing in enumerate(self.hashes)]
        family = np.searchsorted(self._starts, messages["place"], side="right") - 1
        prime = np.array([*primes, 1])[family]
        return np.asarray(fits & (messages["v"] < prime) & (messages["u"] < np.maximum(prime - 1, 1)))

    def tally(self, batch: Batch) -> Tally:
        found = []
        for family, (first, places) in enumerate(zip(self._starts, self._places, strict=False)):
            own = batch.messages["place"].astype(np.int64) - first
            inside = (own >= 0) & (own < places)
            if self._hashes(family):
                told = batch.messages[inside]
                found.append(self.hashes[family].agreeing(told["u"], told["v"], own[inside], self._sizes[family]))
            else:
                found.append(np.bincount(own[inside], minlength=places))
        return Tally(batch.reports, np.concatenate(found))

    def _shared(self, family: int) -> float:
        """The chance that two cells share a bucket."""
        return self.hashes[family].collision if self._hashes(family) else 0.0

    def point(self, tally: Tally) -> Floats:
        shared = np.repeat([self._shared(family) for family in range(len(self._sizes))], self._sizes)
        return np.asarray((tally.totals - tally.reports * (self.expected + shared)) / (1.0 - shared))

    def noise(self, truth: int, reports: int) -> Noise:
        return self.noise_in(0, truth, reports)

    def noise_in(self, family: int, truth: int, reports: int) -> Noise:
        shared = self._shared(family)
        law = self.dummies(reports) + laws.binomial(reports - truth, shared)
        centre = reports * self.expected + (reports - truth) * shared
        return Noise.of(law, centre=centre, scale=1.0 / (1.0 - shared))

    def relative_variance(self, family: int) -> float:
        return self._variance(family, 0, self.crowd.size) / self._variance(0, 0, self.crowd.size)

    def _variance(self, family: int, truth: int, reports: int) -> float:
        shared = self._shared(family)
        return (reports * self.expected + (reports - truth) * shared * (1.0 - shared)) / (1.0 - shared) ** 2

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(self._variance(0, truth, reports))

    def extremes(self, reports: int) -> tuple[int, ...]:
        return (0, reports)

    sample = Protocol.sample  # through everybody's own randomiser: supporters of different cells are not independent

    @property
    def messages_per_person(self) -> float:
        return len(self._sizes) + float(self.sent)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Distribution((0.0, 3.0), 3, radices=(3,)), crowd=Crowd(2), mean=1e-5, buckets=2)


def _shifted(field: Field, by: int) -> Field:
    return field + by if by else field
