"""The difference of two answers: did the change help, and by how much?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount.common.quantity import require_confidence
from headcount.programme.law import Floats, Noise, weighed
from headcount.questions.question import Question

LIKELY = 1e-12
POINTS = 2_000


@dataclass(frozen=True, repr=False)
class Difference:
    """The difference of two answers, with the laws of both errors, each with its unit."""

    task: Question
    value: float
    first: tuple[Noise, float]
    second: tuple[Noise, float]
    promises: tuple[str, ...]

    @property
    def std_error(self) -> float:
        return math.hypot(*(noise.rmse * scale for noise, scale in (self.first, self.second)))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval, from the law of the difference of the two independent errors."""
        require_confidence(confidence)
        (a, a_masses, a_gap), (b, b_masses, b_gap) = (_points(noise, scale) for noise, scale in self._both)
        size = np.abs(a[:, None] - b[None, :]).ravel()
        order = np.argsort(size, kind="stable")
        reached = np.cumsum(np.outer(a_masses, b_masses).ravel()[order])
        last = min(int(np.searchsorted(reached, confidence)), order.size - 1)
        half = float(size[order[last]]) * (1.0 + 1e-12) + a_gap + b_gap
        return self.value - half, self.value + half

    @property
    def _both(self) -> tuple[tuple[Noise, float], tuple[Noise, float]]:
        return self.first, self.second

    def to_json(self) -> dict[str, Any]:
        clipped = self.task.clipped_to
        return {
            "value": self.value,
            "interval95": list(self.interval()),
            "clipped_to": None if clipped is None else list(clipped),
            "std_error": self.std_error,
        }

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        low, high = self.interval()
        told = f"{self.value:+,.4g} {self.task.about}".rstrip()
        return f"{told}  (95% interval {low:,.4g} to {high:,.4g})   {' | '.join(self.promises)}"

    __repr__ = __str__


def _points(noise: Noise, scale: float) -> tuple[Floats, Floats, float]:
    """The law on few points, and how far they may lie from the values they stand for."""
    likely = noise.masses > LIKELY * noise.masses.max()
    values, masses = noise.values[likely] * scale, noise.masses[likely]
    if values.size <= POINTS:
        return values, masses, 0.0
    low, high = float(values.min()), float(values.max())
    gap = (high - low) / POINTS
    cell = np.minimum(((values - low) / gap).astype(np.int64), POINTS - 1)
    return low + (np.arange(POINTS) + 0.5) * gap, weighed(cell, masses, POINTS), gap / 2.0
