"""Local protocols for sums: a report's integer score has a mean affine in the value.

A value is rounded to one of the `levels`, without bias. The mean of a report's score is affine in
the level, so that the sum of all scores tells the sum of all values; it is symmetric too, the level
L - l having the mirrored scores of l. Hence a report's variance is V + (Q - G^2)(l - L/2)^2 in the
middle's V, the curvature Q of the mean square and the gain G of the mean from one level to the
next; rounding adds Q r(1-r), r being the part that is rounded.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from headcount.answers.intervals import SKEWED, half_width, skewed_by, sure_half_width
from headcount.privacy import Model, Pair, PrivacyLoss
from headcount.privacy.amplified import MessageLaws
from headcount.programme import Batch, Tally
from headcount.programme.law import Floats, Ints, Law, Noise
from headcount.protocols.base import Protocol, Shape
from headcount.protocols.shared.stochastic_rounding import steps_of

SEARCHED = 1 << 16  # values; of more, only those next to one end are tried


@dataclass(frozen=True, kw_only=True)
class ScoredReports(Protocol):
    """One report, private on its own, by the chances of its kinds and the score of each."""

    model: ClassVar[Model] = Model.LOCAL
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.AMOUNT})
    pure: ClassVar[bool] = True

    @property
    @abstractmethod
    def grid(self) -> int:
        """The number of levels, above 0."""

    @abstractmethod
    def chances(self, level: int) -> Floats:
        """The chance of each kind of message at this level."""

    @cached_property
    def scores(self) -> Ints:
        """The score of each kind of message."""
        return np.arange(self.kinds)

    def telling(self) -> npt.NDArray[Any]:
        """The lowest score and the highest."""
        return self.messages_with(kind=[int(self.scores.argmin()), int(self.scores.argmax())])

    def tally(self, batch: Batch) -> Tally:
        counts = np.bincount(batch.messages["kind"], minlength=self.kinds)
        return Tally(batch.reports, np.array([int(counts @ self.scores)]))

    def view(self, honest: int) -> PrivacyLoss:
        """The two ends of the range: other values are nearer, or mixtures of nearer levels."""
        return Pair(self.chances(0), self.chances(self.grid))

    @property
    def message_laws(self) -> MessageLaws:
        """Each message is least likely at one of the two ends; others may hold these or halfway."""
        steps = steps_of(self.task)
        rows = np.array([self._chances_of(value) for value in (0, steps, steps // 2)[: steps + 1]])
        return MessageLaws(rows, np.minimum(*rows[:2]), others=tuple(range(len(rows))))

    @property
    def local_epsilon(self) -> float | None:
        first, last = self.chances(0), self.chances(self.grid)
        if ((first > 0.0) != (last > 0.0)).any():
            return None
        told = first > 0.0
        return float(np.log(first[told] / last[told]).max())

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The mean score of someone at level 0, and of someone at the last level."""
        low, high = (float(self.chances(level) @ self.scores) for level in (0, self.grid))
        return low, high

    @property
    def _gain(self) -> float:
        """The gain of the mean score from nothing to a whole person."""
        return self._ends[1] - self._ends[0]

    def point(self, tally: Tally) -> Floats:
        return np.asarray((tally.totals - tally.reports * self._ends[0]) / self._gain, dtype=np.float64)

    def _chances_of(self, value: int) -> Floats:
        """The chance of each kind of message from this value, which is rounded to a level."""
        level, part = divmod(value * self.grid, steps_of(self.task))
        rest = part / steps_of(self.task)
        return np.asarray((1.0 - rest) * self.chances(level) + (rest * self.chances(level + 1) if rest else 0.0))

    def _one(self, value: int) -> Law:
        """The law of one person's score."""
        first = int(self.scores.min())
        masses: Floats = np.bincount(self.scores - first, self._chances_of(value)).astype(np.float64)
        return Law(first, masses)

    @cached_property
    def hardest_value(self) -> int:
        """The value whose score varies most.

        Few values are all tried; of many, the peaks between two levels, of which the highest is
        next to an end or to the middle.
        """
        steps, middle, curve, gain = steps_of(self.task), self.grid / 2.0, self._curvature, self._gain / self.grid
        if steps <= SEARCHED:
            values = np.arange(steps + 1)
        else:
            below = np.array([0, max(0, self.grid // 2 - 1), self.grid // 2])
            part = 0.5 * (curve + 2.0 * (curve - gain**2) * (below - middle)) / gain**2
            peaks = (below + np.clip(part, 0.0, 1.0)) * (steps / self.grid)
            values = np.concatenate([np.floor(peaks), np.ceil(peaks)]).astype(np.int64)
        rest = values * self.grid % steps / steps
        varying = (curve - gain**2) * (values * (self.grid / steps) - middle) ** 2 + curve * rest * (1.0 - rest)
        return int(values[np.argmax(varying)])

    @cached_property
    def _curvature(self) -> float:
        """The curvature, in the level, of the score's mean square about its middle."""
        centre, halfway = sum(self._ends) / 2.0, self.grid // 2
        if not halfway:
            return (self._gain / self.grid) ** 2  # any would do: with two levels the mean square is always the same
        squares = (self.scores - centre) ** 2
        fall = float((self.chances(0) - self.chances(halfway)) @ squares)
        return fall / (halfway * (self.grid - halfway))

    def noise(self, truth: int, reports: int) -> Noise:
        one = self._one(self.hardest_value)
        law, block = one.coarse_power(reports)
        return Noise.of(law, centre=reports * one.mean / block, scale=block / self._gain)

    def size_of_error(self, truth: int, reports: int) -> float:
        return math.sqrt(reports * self._one(self.hardest_value).variance) / self._gain

    def intervals(self, tally: Tally, confidence: float) -> Floats:
        half = self._half_width(tally.reports, confidence)
        return np.stack([self.point(tally) - half, self.point(tally) + half], axis=1)

    def _half_width(self, reports: int, confidence: float) -> float:
        """A half-width for any crowd: the hardest's and a step, as other estimates lie between."""
        most, spread = float(np.ptp(self.scores)) / self._gain, self.size_of_error(reports, reports)
        sure = sure_half_width(most, spread, reports, confidence)
        if reports <= SKEWED or not spread:
            return sure
        sent = self.scores[self.chances(0) + self.chances(self.grid) > 0.0]
        step = float(np.gcd.reduce(np.diff(sent))) / self._gain
        half = half_width(self, reports, reports, confidence)
        return min(sure, half + step + skewed_by(half, spread, most))
