r"""Staircase noise [GV16]: optimal where one person can move a total by many levels.

Randomiser: none, the value is handed over.
Analyser:   adds $Z$ to the total, a person's range being $w$ levels wide: $P[Z=k]$ is $a$ for
            $0 \le k < h$, $ab$ for $h \le k < w$, then $b$ times what it is $w$ before, and
            $P[Z=-k]$ the same; $b = e^{-1/\mathrm{scale}}$, $a = (1-b)/(2h + 2b(w-h) - (1-b))$.
View:       the total with such noise; a person shifts it by at most $w$, so that the loss is pure
            from $1/\mathrm{scale}$ on, and
            $(1-e^{\epsilon-1/\mathrm{scale}})(1/2 + a/2 + a\min(h-1, w-h))$ before.
Error:      unbiased; $h$ is the one with the smallest variance. Rounding the total adds a little.

[GV16] Geng and Viswanath, The Optimal Noise-Adding Mechanism in Differential Privacy, IEEE Trans.
Inf. Theory 2016.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, GroupPrivacy, Neighbours, PrivacyLoss
from headcount.privacy.exact_tables import exp_below
from headcount.privacy.loss import GrowingSlack
from headcount.privacy.pair import exp_down
from headcount.privacy.two_sided_noise import AddTwoSidedNoise, TwoSidedNoise
from headcount.programme import Table
from headcount.programme.chance import WORD
from headcount.programme.law import UNSEEN, Floats, Law, Noise
from headcount.protocols.base import Choices, Knob, Shape
from headcount.protocols.shared.noisy_total import NoisyTotal
from headcount.protocols.shared.stochastic_rounding import rounding, size_of_rounded, steps_of
from headcount.questions import Question, Sum

LEVELS = 256
LARGEST = 100.0  # scale: beyond, a staircase is next to nothing better than Laplace noise


@lru_cache(maxsize=64)
def staircase(rate: Fraction, width: int, high: int) -> TwoSidedNoise:
    """Tables whose masses `width` apart differ by at most e**rate, exactly, and never rise."""
    growth = exp_below(rate)
    tall = int(WORD * (1 - 1 / growth) * Fraction(3, 8) / width)  # both tables then fit a word
    short = math.ceil(tall / growth) + 2
    block = (tall // 2,) * high + (math.ceil(tall // 2 / growth) + 2,) * (width - high)
    go_on = math.ceil(sum(block) / (growth - 1))
    outer = math.ceil(tall * (sum(block) + go_on) / (growth * (tall // 2)))
    side = (tall,) * high + (short,) * (width - high)
    return TwoSidedNoise(Table(-width, (outer, *side[:0:-1], *side, outer)), Table(0, (*block, go_on)))


@dataclass(frozen=True)
class AddStaircase(AddTwoSidedNoise):
    """Staircase noise, in steps of this width, the first part of which is high."""

    rate: Fraction
    width: int
    high: int

    @property
    def noise(self) -> TwoSidedNoise:
        return staircase(self.rate, self.width, self.high)


@dataclass(frozen=True, eq=False)
class StaircaseShift(GrowingSlack):
    """Staircase noise shifted by its width: the ratio is e**rate with this chance, never more."""

    kind = "exact"

    rate: Fraction
    chance: float
    distance: float

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        below = np.array([Fraction(float(e)) < self.rate for e in epsilon])
        divergence = np.where(below, self.chance * (1.0 - exp_down(epsilon) * math.exp(-float(self.rate))), 0.0)
        return divergence, divergence

    @property
    def grows_up_to(self) -> float:
        return math.nextafter(float(self.rate), 0.0)

    def slack(self, epsilon: float) -> float:
        return 0.0 if Fraction(epsilon) >= self.rate else (1.0 + math.exp(epsilon)) * self.distance


@dataclass(frozen=True, kw_only=True)
class Staircase(NoisyTotal):
    """Add noise that falls in steps as wide as one person's range."""

    name: ClassVar[str] = "staircase"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    knob: ClassVar[Knob] = Knob.logarithmic(
        "scale", 0.02, LARGEST, lambda budget, given: given["crowd"].each / budget.epsilon
    )
    reference: ClassVar[str] = "Geng and Viswanath 2016, arXiv:1212.1186"

    levels: int = LEVELS

    def __post_init__(self) -> None:
        self.whole("levels", 1, LEVELS)
        self.require_within("scale", 0.019, LARGEST * 1.001)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """The most levels that are drawn quickly; a multiple of the task's steps if few."""
        steps = steps_of(task)
        return ({"levels": LEVELS // steps * steps if steps <= LEVELS else LEVELS},)

    @property
    def grid(self) -> int:
        return self.levels

    @property
    def rate(self) -> Fraction:
        """The log-ratio between neighbouring steps of the stairs."""
        return 1 / Fraction(self.scale)

    @property
    def width(self) -> int:
        """The sensitivity of the total, in levels."""
        return math.ceil(Fraction(max(int(self._zero), self.steps - int(self._zero)) * self.grid, self.steps))

    @cached_property
    def _squares(self) -> Floats:
        """The mean square of the noise for each height from 1 to the width.

        A sum over the first step, where a place i stands for all i + m w, of which each is b times
        as likely as the one before.
        """
        w, b, i = self.width, self._fall, np.arange(self.width, dtype=np.float64)
        first, second = b / (1.0 - b) ** 2, b * (1.0 + b) / (1.0 - b) ** 3
        each = 2.0 * (i**2 / (1.0 - b) + 2.0 * i * w * first + w**2 * second)
        heights = np.arange(1, w + 1)
        tall = np.cumsum(each)
        return np.asarray(self._tallest(heights) * (tall + b * (tall[-1] - tall)))

    @property
    def _fall(self) -> float:
        return math.exp(-float(self.rate))

    def _tallest(self, high: Any) -> Any:
        b = self._fall
        return (1.0 - b) / (2.0 * high + 2.0 * b * (self.width - high) - (1.0 - b))

    @cached_property
    def high(self) -> int:
        """The height with the smallest variance; of equally good ones the least."""
        return 1 + int(np.argmin(np.round(self._squares / self._squares.min(), 9)))

    @property
    def release_noise(self) -> AddStaircase:
        return AddStaircase(self.rate, self.width, self.high)

    def group(self, honest: int, reports: int) -> PrivacyLoss:
        """The noise is symmetric and falls: the widest shift is worst; a report's is the width."""
        a, between = self._tallest(self.high), min(self.high - 1, self.width - self.high)
        distance = (8.0 * self.width + 8.0 / (1.0 - self._fall) ** 2) * 2.0**-60  # three units a cell, and the tails
        return GroupPrivacy.of(StaircaseShift(self.rate, 0.5 + a / 2.0 + a * between, distance), reports)

    @cached_property
    def added(self) -> Law:
        """The noise, in levels, until hardly anything of it is left."""
        blocks = math.ceil(-math.log(UNSEEN) * self.scale) + 1
        first = np.where(np.arange(self.width) < self.high, 1.0, self._fall) * self._tallest(self.high)
        side = np.outer(self._fall ** np.arange(blocks), first).ravel()
        return Law(1 - side.size, np.concatenate([side[:0:-1], side]), UNSEEN)

    def noise(self, truth: int, reports: int) -> Noise:
        rounded, centre = rounding(self.task, self.grid, 1)
        return Noise.of(self.added + rounded, centre=centre, scale=1.0 / self.grid)

    def size_of_error(self, truth: int, reports: int) -> float:
        return size_of_rounded(self.task, self.grid, float(self._squares[self.high - 1]), people=1)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Sum((0, 3), steps=3), crowd=Crowd(3), scale=0.5, levels=3)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Sum((-1, 3), steps=4), crowd=Crowd(3), scale=0.4, levels=2)
        yield cls(task=Sum((-2, 2), steps=4), crowd=Crowd(3), scale=0.5, levels=4, neighbours=Neighbours.ADD_REMOVE)
