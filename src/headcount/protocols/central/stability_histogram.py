r"""Stability histogram [KKMN09, BNS16]: noise on categories that are held, and a threshold.

Randomiser: none, the value is handed over.
Analyser:   to every count $c \ge 1$ adds $Z$ with $P[Z=k] \propto e^{-|k|/b}$, $b$ the `scale`, and
            shows the result from the `threshold` on; what nobody holds is never touched, so that
            the categories need not be known.
View:       the shown counts. A person alone in a category shows with chance $a^{T-1}/(1+a)$,
            $a = e^{-1/b}$; counts of two or more lose at most $1/b$ each, one of them if people may
            come and go, two if replaced. With several reports, those alone are in one category or
            each in another, and the rest join one count.
Error:      two-sided geometric for counts well above the threshold, however many categories; small
            ones read 0.

[KKMN09] Korolova, Kenthapadi, Mishra and Ntoulas, Releasing Search Queries and Clicks Privately,
WWW 2009.
[BNS16] Bun, Nissim and Stemmer, Simultaneous Private Learning of Multiple Concepts, ITCS 2016.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, GroupPrivacy, Model, Neighbours, PrivacyLoss, laws
from headcount.privacy.stability import UNKNOWN, StabilityAddRemove, StabilityReplace
from headcount.privacy.two_sided_noise import AddDiscreteLaplace
from headcount.programme import Brick, Coins, Emit, Field, Release, Tally, Threshold
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.programme.release import without_zeros
from headcount.programme.report_law import WHOLE, Parts
from headcount.protocols.base import Choices, Knob, Protocol, Reach, Settings, Shape
from headcount.questions import Histogram, Question


@dataclass(frozen=True)
class NoisyThreshold(Release):
    """Noise on totals that are not empty, then the threshold.

    Noise is drawn for empty ones too, and thrown away: the work must not tell how many of the
    listed categories are held.
    """

    noise: AddDiscreteLaplace
    threshold: Threshold

    def apply(self, tally: Tally, coins: Coins) -> Tally:
        noisy = self.noise.apply(Tally(0, tally.totals), coins).totals
        return without_zeros(tally.with_totals(np.where(tally.totals != 0, self.threshold.passed(noisy), 0)))

    def law(self, total: int) -> Parts:
        if not total:
            return {0: WHOLE}
        parts: Counter[int] = Counter()
        for noisy, part in self.noise.law(total).items():
            parts[int(self.threshold.passed(np.array(noisy)))] += part
        return dict(parts)

    def encode(self) -> dict[str, Any]:
        return {**self.noise.encode(), **self.threshold.encode(), "empty": "untouched"}


@dataclass(frozen=True, kw_only=True)
class StabilityHistogram(Protocol):
    """Noise that does not grow with the number of categories, which need not be known."""

    name: ClassVar[str] = "stability-histogram"
    model: ClassVar[Model] = Model.CENTRAL
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.KEY})
    relations: ClassVar[frozenset[Neighbours]] = frozenset(Neighbours)
    independent: ClassVar[bool] = True
    steady: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob.whole(
        "threshold", 1, 1e8, lambda budget, given: 1.0 + given["scale"] * math.log(1.0 / budget.delta)
    )
    reference: ClassVar[str] = "Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016"

    scale: float
    threshold: int

    def __post_init__(self) -> None:
        self.require_within("scale", 0.01, 1e7)
        self.whole("threshold", 1)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """All of epsilon for counts that others share; delta pays for those who are alone."""
        counts = 2.0 if budget.neighbours is Neighbours.REPLACE else 1.0
        return ({"scale": crowd.each * counts / budget.epsilon},)

    @property
    def rate(self) -> Fraction:
        return 1 / Fraction(self.scale)

    def report(self, value: Field) -> Brick:
        return Emit(value)

    def released(self) -> NoisyThreshold:
        return NoisyThreshold(AddDiscreteLaplace(self.rate), Threshold(self.threshold))

    def view(self, honest: int) -> PrivacyLoss:
        return self.group(honest, 1)

    def group(self, honest: int, reports: int) -> PrivacyLoss:
        if self.neighbours is Neighbours.REPLACE:
            return GroupPrivacy.of(StabilityReplace(self.rate, self.threshold, honest), reports)
        cells = UNKNOWN if self.task.shape is Shape.KEY else self.task.cells
        return StabilityAddRemove(self.rate, self.threshold, reports, cells)

    def point(self, tally: Tally) -> Floats:
        return tally.totals.astype(np.float64)

    def reach(self, messages: int = 1) -> Reach:
        """A report that lifts a noisy count over the threshold shows all of it."""
        return Reach(1.0, 0.0, apart=1.0, lifted=float(self.threshold))

    def noise(self, truth: int, reports: int) -> Noise:
        if not truth:
            return Noise(np.zeros(1), np.ones(1))
        added = self._added
        shown = np.where(added.values + truth >= self.threshold, added.values, -truth)
        return Noise(shown.astype(np.float64), added.masses, added.dropped)

    @property
    def added_noise(self) -> Noise:
        return Noise.of(self._added, centre=0.0)

    @cached_property
    def _added(self) -> Law:
        return laws.discrete_laplace(float(self.rate))

    @cached_property
    def _upto(self) -> tuple[Floats, Floats]:
        """Cumulative masses of the noise, and of its second moment."""
        parts = (self._added.masses, self._added.masses * self._added.values**2)
        mass, square = (np.append(0.0, np.cumsum(part)) for part in parts)
        return mass, square

    def size_of_error(self, truth: int, reports: int) -> float:
        mass, square = self._upto
        hidden = min(max(0, self.threshold - truth - self._added.start), mass.size - 1)
        missed = float(mass[hidden] * truth**2 + square[-1] - square[hidden])
        return math.sqrt(missed / float(mass[-1])) if truth else 0.0

    def intervals(self, tally: Tally, confidence: float) -> Floats:
        """For a suppressed count, all counts that are suppressed with more than the tail's chance.

        A count that is missed this way has noise so low that the interval of a shown total would
        miss it, too.
        """
        tail = (1.0 - confidence) / 2.0
        added = self._added
        half = self.added_noise.half_width(confidence)
        upto = np.cumsum(added.masses)
        # Suppressed: count + Z <= threshold - 1, which has a chance above the tail for counts up to
        # this.
        most = self.threshold - 1 - int(added.values[upto > tail][0])
        shown = tally.totals > 0
        low, high = np.where(shown, tally.totals - half, 0.0), np.where(shown, tally.totals + half, float(most))
        return np.stack([low, high], axis=1)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        noise = laws.discrete_laplace(float(self.rate)).sample(coins, runs * held.size).reshape(runs, held.size)
        return np.where(held > 0, self.released().threshold.passed(held + noise), 0)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(4), scale=0.5, threshold=2)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(3), crowd=Crowd(3), scale=0.5, threshold=2, neighbours=Neighbours.ADD_REMOVE)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        """Vadhan's form, for replaced people: threshold 1 + 2 ln(2/delta)/epsilon."""
        return {
            "scale": 2.0 / budget.epsilon,
            "threshold": math.ceil(1.0 + 2.0 * math.log(2.0 / budget.delta) / budget.epsilon),
        }
