"""Extrapolation from a few measured sizes: straight lines, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DAY = 86_400.0
BUSY = 0.5  # the part of its time that a core may be kept busy on average, so that a busy hour finds room


@dataclass(frozen=True)
class Line:
    """A cost that grows with a number: `fixed` + `each` times that number, by least squares.

    `unsure` is the standard error of `each`, by how far the points lie from the line.
    """

    fixed: float
    each: float
    unsure: float

    @classmethod
    def through(cls, points: Sequence[tuple[float, float]]) -> Line:
        """At least three points at two sizes or more. A fixed cost below nothing is taken for none."""
        if len(points) < 3 or len({x for x, _ in points}) < 2:
            raise ValueError("a line with its spread takes three points, at two sizes at least")
        mean_x, mean_y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
        wide = math.fsum((x - mean_x) ** 2 for x, _ in points)
        each = math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / wide
        fixed = mean_y - each * mean_x
        if fixed < 0.0:
            squares = math.fsum(x * x for x, _ in points)
            each, fixed, wide = math.fsum(x * y for x, y in points) / squares, 0.0, squares
        left = math.fsum((y - fixed - each * x) ** 2 for x, y in points)
        return cls(fixed, each, math.sqrt(left / (len(points) - 2) / wide))

    def at(self, number: float) -> float:
        return self.fixed + self.each * number

    def most(self, allowed: float) -> float:
        """The largest number whose cost is allowed; none is, if the fixed cost alone is too much."""
        return max(0.0, (allowed - self.fixed) / self.each)

    def times(self, factor: float) -> Line:
        """The same for people who each count so often."""
        return Line(self.fixed, factor * self.each, factor * self.unsure)


def people_a_day(each: float, cores: float, busy: float = BUSY) -> float:
    """How many people a stage takes that keeps a core busy for `each` seconds a person."""
    return busy * cores * DAY / each


def cores_for(people: float, each: float, busy: float = BUSY) -> float:
    return people * each / (busy * DAY)


def bottleneck(stages: Mapping[str, float]) -> str:
    """The stage that costs most, of seconds of a core for each person: it is full first."""
    return max(stages, key=lambda name: stages[name])


def shards(people: float, window: float, batch: float, rate: float) -> int:
    """How many shufflers it takes: for as many uploads a second, and for batches of at most this size.

    All these people report within one window, evenly.
    """
    return max(1, math.ceil(people / batch), math.ceil(people / window / rate))
