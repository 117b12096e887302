r"""Discrete Gaussian noise [CKS20]: more than geometric for one question, less for many.

Randomiser: none, the value is handed over.
Analyser:   adds $Z$ with $P[Z=k] \propto e^{-k^2/2\sigma^2}$, $\sigma$ the `scale`, from a table of
            64-bit weights.
View:       each total with noise of its own; a person shifts one total by one, or two if replaced
            in a histogram. The weights that are drawn are the ones accounted for, to the last.
            Where a person counts by whole weights in many totals, it is the Gaussian mechanism's
            view, by the length of these.
Error:      unbiased, $\mathrm{Var} \le \sigma^2$, whatever the data.

[CKS20] Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, GroupPrivacy, Neighbours, Pair, PrivacyLoss, gaussian_shift
from headcount.privacy.exact_tables import exp_below
from headcount.privacy.many_cells import one_of_each
from headcount.privacy.two_sided_noise import AddTwoSidedNoise, TwoSidedNoise
from headcount.programme import Table
from headcount.programme.chance import WORD
from headcount.programme.law import Law, Noise
from headcount.protocols.base import Knob, Settings, Shape
from headcount.protocols.shared.cells import touched
from headcount.protocols.shared.noisy_total import NoisyTotal
from headcount.questions import Arrivals, Distribution, Histogram, Question

GUARD_BITS = 320
SMALLEST, LARGEST = 0.2, 1e4
REACH = 9.5  # standard deviations: less than one part of 2**64 is as likely as that


def _enough(budget: Budget) -> float:
    """The textbook's standard deviation for one total, for epsilon up to 1."""
    return math.sqrt(2.0 * math.log(1.25 / max(budget.delta, 1e-18))) / budget.epsilon


def _length(task: Question) -> float:
    """The length, about, of what a person changes."""
    weighted = task.shape is Shape.WEIGHTED
    return math.sqrt(task.strategy.square(1, replaced=False) if weighted else touched(task))


@lru_cache(maxsize=64)
def gaussian(scale: Fraction) -> TwoSidedNoise:
    """Weights that never rise, multiples of 2**-64 rounded down, with bounded support."""
    reach, one = math.ceil(REACH * scale) + 1, 1 << GUARD_BITS
    fall = int(one / exp_below(1 / (2 * scale * scale)))
    weights, ratio, twice = [one], fall, fall * fall >> GUARD_BITS
    for _ in range(reach):
        weights.append(weights[-1] * ratio >> GUARD_BITS)
        ratio = ratio * twice >> GUARD_BITS
    whole = 2 * sum(weights) - one
    side = [weight * WORD // whole for weight in weights]
    return TwoSidedNoise(Table(-reach, (*side[:0:-1], *side)), Table(0, (WORD, *[0] * reach)))


def distance(scale: Fraction) -> float:
    """A bound on the total variation of `gaussian` from its law: cut at its reach, rounded down."""
    cells = 2 * math.ceil(REACH * scale) + 3
    return math.erfc(REACH / math.sqrt(2.0)) + 2.0 * cells / WORD + 2.0**-100


@dataclass(frozen=True)
class AddGaussian(AddTwoSidedNoise):
    """Discrete Gaussian noise of this scale."""

    scale_of_noise: Fraction

    @property
    def noise(self) -> TwoSidedNoise:
        return gaussian(self.scale_of_noise)


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(NoisyTotal):
    """Add whole-number noise with light tails to each exact count."""

    name: ClassVar[str] = "discrete-gaussian"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT, Shape.ONE_OF, Shape.K_OF, Shape.WEIGHTED})
    pure: ClassVar[bool] = False
    knob: ClassVar[Knob] = Knob.logarithmic(
        "scale",
        SMALLEST,
        LARGEST,
        lambda budget, given: given["crowd"].each * _enough(budget) * _length(given["task"]),
    )
    reference: ClassVar[str] = "Canonne, Kamath and Steinke 2020, arXiv:2004.00010"

    def __post_init__(self) -> None:
        self.require_within("scale", 0.99 * SMALLEST, 1.01 * LARGEST)
        super().__post_init__()

    @property
    def release_noise(self) -> AddGaussian:
        return AddGaussian(Fraction(self.scale))

    @property
    def added(self) -> Law:
        weights = np.array(gaussian(Fraction(self.scale)).centre.coarse, dtype=np.float64)
        return Law(-(weights.size // 2), weights / weights.sum())

    def group(self, honest: int, reports: int) -> PrivacyLoss:
        """The noise is symmetric and falls, so that the widest shift of a total is the worst."""
        if self.summed:
            return Pair.of(self.added, self.added.shifted(reports))
        if self.task.shape is Shape.WEIGHTED:
            square = self.task.strategy.square(reports, replaced=self.neighbours is Neighbours.REPLACE)
            scale = Fraction(self.scale)
            return gaussian_shift.shifted(scale, square, self.task.cells, distance(scale))
        one = Pair.shifted(self.added)
        replaced = self.neighbours is Neighbours.REPLACE
        return GroupPrivacy.of(one_of_each(one, touched(self.task), replaced=replaced), reports)

    def noise(self, truth: int, reports: int) -> Noise:
        return Noise.of(self.added, centre=0.0)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(self.added.variance)

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), scale=0.8)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(3), crowd=Crowd(3), scale=0.6)
        yield cls(task=Histogram(2), crowd=Crowd(3), scale=0.6, neighbours=Neighbours.ADD_REMOVE)
        yield cls(task=Distribution((0.0, 2.0), 2, radices=(2, 1)), crowd=Crowd(2), scale=0.4)
        yield cls(task=Arrivals(2, fine=2), crowd=Crowd(2), scale=2.0)
        yield cls(task=Arrivals(2, fine=2), crowd=Crowd(2), scale=2.0, neighbours=Neighbours.ADD_REMOVE)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Settings:
        return {"scale": _enough(budget)}
