r"""Recursive sums [BBGN20]: the digits of a number, each shuffled apart.

Randomiser: write the value in `digits` digits, the $j$-th with precision
            $p_j = \lceil b^{3^{j-1}}\rceil$, $b$ the `base`, and round the last one at random; send
            each with its place, or, with chance $l_j$, any of its values.
Analyser:   with $s_j$ the sum of the $j$-th digits, $q_j = p_1 \cdots p_j$ and $P_j$ values of the
            digit, $\sum_j (s_j - n l_j (P_j-1)/2)/(q_j (1-l_j))$.
View:       the counts of every digit's values; bounded by showing who lies, digit by digit; the
            digits are composed.
Error:      unbiased; a digit $d$ with remainder $f$ ($0$ but for the last) adds
            $[(1-l)f(1-f) + l(P^2-1)/12 + l(1-l)(d+f-(P-1)/2)^2]/q^2(1-l)^2$ for every person.

$P_j = p_j$, and $p_m + 1$ for the last digit. The lies have the same odds for each value of each
digit: $l_j/(1-l_j)$ is $P_j$ times the `liars` over $n$.

[BBGN20] Balle, Bell, Gascon and Nissim, Private Summation in the Multi-Message Shuffle Model, CCS
2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from headcount.errors import BadArgument
from headcount.privacy import Bounded, Budget, Crowd, Model, PrivacyLoss
from headcount.privacy.amplified import CrowdLoss, MessageLaws
from headcount.privacy.shuffled_digits import ShuffledDigits, added, one_digit
from headcount.programme import All, Batch, Below, Brick, Chance, Emit, Field, Let, Maybe, Rounded, Tally
from headcount.programme.law import Floats, Noise
from headcount.protocols.base import Choices, Knob, Protocol, Settings, Shape, likely_variance
from headcount.protocols.base.predicted import FEW_VALUES
from headcount.protocols.shared.stochastic_rounding import LEVEL, steps_of
from headcount.questions import Question, Sum

ANY = Field.named("any")
FINEST = 1 << 20


@dataclass(frozen=True, kw_only=True)
class RecursiveSum(Protocol):
    """A few messages each, with an error that hardly grows with the crowd."""

    name: ClassVar[str] = "recursive-sum"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    provable: ClassVar[bool] = False
    options: ClassVar[frozenset[str]] = frozenset({"digits"})
    knob: ClassVar[Knob] = Knob.logarithmic(
        "liars", 1e-3, 1e12, lambda budget, given: 1.3 * given["digits"] * likely_variance(budget)
    )
    reference: ClassVar[str] = "Balle, Bell, Gascon and Nissim 2020, arXiv:2002.00817"

    liars: float
    digits: int
    base: float

    def __post_init__(self) -> None:
        self.require_within("liars", 0.0, 1e12)
        self.whole("digits", 1, 4)
        self.require_within("base", 1.0, FINEST)
        super().__post_init__()
        if _finest(self.base, self.digits) > FINEST:
            raise BadArgument("base", f"is {self.base:g}, too large for {self.digits} digits", "use a smaller one")

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget, digits: int | None = None) -> Choices:
        """For each number of digits the base with the least variance from lies and rounding."""

        def spread(base: float, digits: int) -> float:
            liars = 1.3 * digits * likely_variance(budget)
            sizes = _precisions(base, digits)
            odds = [liars * p / crowd.honest for p in sizes]
            finest = np.cumprod(sizes)
            lies = sum(
                crowd.honest * o * (1.0 + o) * (p / q) ** 2 / 3.0 for o, p, q in zip(odds, sizes, finest, strict=True)
            )
            return float(lies + crowd.honest / (4.0 * float(finest[-1]) ** 2))

        for many in (1, 2, 3) if digits is None else (digits,):
            bases = [base for base in np.geomspace(1.02, 200.0, 100).tolist() if _finest(base, many) <= FINEST]
            yield {"digits": many, "base": min((spread(base, many), base) for base in bases)[1]}

    @cached_property
    def precisions(self) -> list[int]:
        return _precisions(self.base, self.digits)

    @cached_property
    def alphabets(self) -> list[int]:
        *first, last = self.precisions
        return [*first, last + 1]

    @cached_property
    def lies(self) -> list[Chance]:
        odds = [self.liars * size / self.crowd.honest for size in self.alphabets]
        return [Chance.up(odd / (1.0 + odd)) for odd in odds]

    @cached_property
    def _units(self) -> list[int]:
        """The worth of one, in the finest unit, for each digit."""
        return [math.prod(self.precisions[j + 1 :]) for j in range(self.digits)]

    @property
    def kinds(self) -> int:
        return sum(self.alphabets)

    def report(self, value: Field) -> Brick:
        steps, last = steps_of(self.task), self.precisions[-1]
        coarse = self._units[0] * self.precisions[0] // last  # levels without the last digit
        known = value * coarse // steps - value // steps  # the largest value has no level of its own
        digits = [known // (unit // last) % p for unit, p in zip(self._units[:-1], self.precisions, strict=False)]
        sent, start = [], 0
        for digit, size, lie in zip([*digits, LEVEL - known * last], self.alphabets, self.lies, strict=True):
            sent.append(Maybe(lie, Let("any", Below(size), Emit(ANY + start)), Emit(digit + start)))
            start += size
        return Let("level", Rounded(value, steps, coarse * last), All(*sent))

    def telling(self) -> npt.NDArray[Any]:
        """The largest of each digit."""
        return self.messages_with(kind=np.cumsum(self.alphabets) - 1)

    def tally(self, batch: Batch) -> Tally:
        starts = np.append(0, np.cumsum(self.alphabets))
        counts = np.bincount(batch.messages["kind"], minlength=self.kinds)
        parts = [counts[a:b] @ np.arange(b - a) for a, b in pairwise(starts)]
        return Tally(batch.reports, np.array(parts))

    def view(self, honest: int) -> PrivacyLoss:
        """At worst all digits change; from below, one digit's loss if all others hold the same."""
        lies, levels = tuple(map(float, self.lies)), self._units[0] * self.precisions[0]
        digit = max(range(self.digits), key=lambda at: self.alphabets[at] / lies[at])
        one = MessageLaws.response(lies[digit], self.alphabets[digit])
        if steps_of(self.task) % levels:
            one = replace(one, others=(0, 1))  # of which both ends of the range are
        return Bounded(ShuffledDigits(lies, tuple(self.alphabets), honest), partial(CrowdLoss, one, honest))

    @cached_property
    def _worth(self) -> Floats:
        """The gain of the estimate from one more of each digit."""
        finest = self._units[0] * self.precisions[0]
        return np.array([unit / finest / (1.0 - lie) for unit, lie in zip(self._units, self.lies, strict=True)])

    def point(self, tally: Tally) -> Floats:
        expected = [lie * (size - 1) / 2.0 for lie, size in zip(self.lies, self.alphabets, strict=True)]
        return np.array([(tally.totals - tally.reports * np.array(expected)) @ self._worth])

    def _variances(self, value: int) -> list[float]:
        """The variance that a person with this value adds to each sum of digits."""
        return [one_digit(*parts).variance for parts in self._laws(value)]

    def _laws(self, value: int) -> list[tuple[int, float, int, float]]:
        """Each digit, its remainder, its number of values and its lie."""
        steps, rest, found = steps_of(self.task), 0.0, []
        finest = self._units[0] * self.precisions[0]
        down, left = divmod(value * finest, steps)
        if down == finest:
            down, left = finest - 1, steps
        for unit, p, size, lie in zip(self._units, self.precisions, self.alphabets, self.lies, strict=True):
            rest = left / steps if unit == 1 else 0.0
            found.append((down // unit % p, rest, size, float(lie)))
        return found

    @cached_property
    def hardest_value(self) -> int:
        """Digits are hardest at the ends of their ranges, the last one with some remainder."""
        values, finest = self.task.values, self._units[0] * self.precisions[0]
        if values <= FEW_VALUES:
            near: Iterable[int] = range(values)
        else:
            lie, k = self.lies[-1], self.precisions[-1]
            part = min(max((1.0 - lie * k) / (2.0 * (1.0 - lie)), 0.0), 1.0)
            near = {math.floor(part * (values - 1) / finest), math.ceil(part * (values - 1) / finest)}
        return max(near, key=lambda value: float(np.array(self._variances(value)) @ self._worth**2))

    def noise(self, truth: int, reports: int) -> Noise:
        sums = [one_digit(*parts).coarse_power(reports) for parts in self._laws(self.hardest_value)]
        worths = [block * worth for (_, block), worth in zip(sums, self._worth.tolist(), strict=True)]
        return added([law for law, _ in sums], worths)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * float(np.array(self._variances(self.hardest_value)) @ self._worth**2))

    @property
    def local_epsilon(self) -> float | None:
        pairs = zip(self.lies, self.alphabets, strict=True)
        return sum(math.log1p(size * (1.0 - lie) / lie) for lie, size in pairs)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((0, 1), steps=4), crowd=Crowd(3), liars=1.0, digits=2, base=1.3)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        n, m = crowd.honest, max(1, round(math.log(math.log2(crowd.honest), 3)))
        epsilon = budget.epsilon / m
        base = ((3.0**m - 1.0) * n * budget.epsilon**2 / m**3) ** (3.0**-m)
        liars = n / (n - 1) * max(14.0 * math.log(2.0 * m / budget.delta) / epsilon**2, 27.0 / epsilon)
        return {"liars": liars, "digits": m, "base": max(base, 1.2)}


def _precisions(base: float, digits: int) -> list[int]:
    return [math.ceil(min(base ** (3.0**j), 1e9)) for j in range(digits)]


def _finest(base: float, digits: int) -> int:
    return math.prod(_precisions(base, digits))
