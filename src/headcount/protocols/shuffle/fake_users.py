r"""Fake users [CZ22]: everybody sends a one-hot row of bits and empty rows, all flipped alike.

Randomiser: send the row, and on average $k/n$ rows of zeros, $k$ the `fakes` that the $n$ honest
            bring together, every bit of all of them flipped with chance `flip`.
Analyser:   with $b_j$ rows that have the bit set, $m$ rows expected and $f$ the flip,
            $\hat c_j = (b_j - mf)/(1-2f)$.
View:       the multiset of rows; bounded by showing the true rows of all others.
Error:      unbiased, $\mathrm{Var}\,\hat c_j \approx mf(1-f)/(1-2f)^2$, whatever the data; $b_j$ is
            a sum of binomials.

[CZ22] Cheu and Zhilyaev, Differentially Private Histograms in the Shuffle Model from Fake Users,
S&P 2022.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from headcount.privacy import Bounded, Budget, Crowd, Model, PrivacyLoss, laws
from headcount.privacy.blanket import RandomFakeUsersBlanket
from headcount.programme import All, Brick, Chance, Copies, Field, Maybe, Row, Tally
from headcount.programme.law import Floats, Noise
from headcount.protocols.base import Choices, Knob, Settings, Shape, likely_variance
from headcount.protocols.shared.bit_rows import BitRows, heaviest_row
from headcount.questions import Histogram, Question


@dataclass(frozen=True, kw_only=True)
class FakeUsers(BitRows):
    """Two rows of bits each at most, one of them nobody's."""

    name: ClassVar[str] = "fake-users"
    model: ClassVar[Model] = Model.SHUFFLE
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF})
    knob: ClassVar[Knob] = Knob.logistic(
        "flip", lambda budget, given: 4.0 * likely_variance(budget) / given["crowd"].honest, high=16.0, most=0.5
    )
    steady: ClassVar[bool] = False  # only in size: the shape leans with the truth
    reference: ClassVar[str] = "Cheu and Zhilyaev 2022, arXiv:2104.02739"

    flip: float
    fakes: int

    def __post_init__(self) -> None:
        self.require_within("flip", 0.0, 0.5 - 1e-9)
        self.whole("fakes", 1, 1000 * self.crowd.honest)
        even = math.ceil(self.flip * 2.0**53) / 2.0**53  # so that 1 - flip is a chance as well, and not nearly one
        object.__setattr__(self, "flip", Chance(even))
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """One each; more of them bring the error down to 0.7 of that at most."""
        return ({"fakes": crowd.honest},)

    @property
    def _each(self) -> tuple[int, Chance]:
        """How many fakes everybody sends, and the chance of one more."""
        each, rest = divmod(self.fakes, self.crowd.honest)
        return each, Chance.up(rest / self.crowd.honest)

    @cached_property
    def heaviest(self) -> int:
        rows = self.crowd.size * (2 + self._each[0])
        return heaviest_row(1.0 - self.flip, self.flip, self.task.values, rows)

    def report(self, value: Field) -> Brick:
        width, flip = self.task.values, Chance(self.flip)
        own, fake = Row(width, flip, value, Chance(1.0 - flip)), Row(width, flip)
        each, chance = self._each
        surely = (Copies(Field.of(each), fake),) if each else ()
        return All(own, *surely, *((Maybe(chance, fake),) if chance else ()))

    def view(self, honest: int) -> PrivacyLoss:
        """Others who hold a third value hide the two as fakes do."""
        bound = RandomFakeUsersBlanket(self.flip, honest, *self._each)
        return Bounded(bound, bound.among_others) if self.task.values > 2 else bound

    def point(self, tally: Tally) -> Floats:
        rows = tally.reports * (1 + sum(self._each))
        return (tally.totals - rows * self.flip) / (1.0 - 2.0 * self.flip)

    def noise(self, truth: int, reports: int) -> Noise:
        each, chance = self._each
        empty = reports * (1 + each) - truth
        own = laws.binomial(empty, self.flip) + (-laws.binomial(truth, self.flip)).shifted(truth)
        centre = (empty + reports * chance) * self.flip + truth * (1.0 - self.flip)
        more = laws.binomial(reports, chance * self.flip)
        return Noise.of(own + more, centre=centre, scale=1.0 / (1.0 - 2.0 * self.flip))

    def size_of_error(self, truth: int, reports: int) -> float:
        (each, chance), flip = self._each, float(self.flip)
        variance = (1 + each) * flip * (1.0 - flip) + chance * flip * (1.0 - chance * flip)
        return math.sqrt(reports * variance) / (1.0 - 2.0 * flip)

    @property
    def independent(self) -> bool:  # type: ignore[override]
        """Unless the number of rows is left to chance, and all bits hang on it."""
        return not self._each[1]

    @property
    def local_epsilon(self) -> float | None:
        return 2.0 * math.log((1.0 - self.flip) / self.flip)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(2), crowd=Crowd(3), flip=0.25, fakes=3)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(2), crowd=Crowd(3), flip=0.25, fakes=1)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """One fake each, where that many are enough."""
        factor = 1.0 / math.tanh(budget.epsilon / 2.0) ** 2
        product = 33.0 / (5.0 * crowd.honest) * factor * math.log(4.0 / budget.delta)
        return {"flip": 0.5 - math.sqrt(max(0.0, 0.25 - product)), "fakes": crowd.honest}
