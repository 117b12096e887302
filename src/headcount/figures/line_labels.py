"""Placement of line labels: at the right edge, or beside the end of a shorter line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

Spot: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top, in inches

ROW = 0.165  # inches between two lines of labels
LETTER = 0.064  # inches, about
GAP = 0.07  # inches from the end of a line to its name
STEP = 0.04  # inches between two places of a line that words must not cover


@dataclass
class FreeSpace:
    """What labels must not cover, in inches from the panel's lower left corner."""

    size: Spot
    spots: list[Spot] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)

    def draw(self, points: Sequence[Spot]) -> None:
        """Take the space of a line through these points."""
        self.spots += points[:1]
        for here, there in pairwise(points):
            steps = max(1, min(2000, math.ceil(math.dist(here, there) / STEP)))
            self.spots += [_between(here, there, (i + 1) / steps) for i in range(steps)]

    def write(self, box: Box) -> None:
        """Take the space of a box."""
        self.boxes.append(box)

    def beside(self, end: Spot, text: Sequence[str]) -> Spot | None:
        """Take a place for text near a line's end: its left and mid-height; None if no space."""
        wide, tall = LETTER * max(map(len, text)), ROW * len(text)
        for left, middle in _around(end, wide, tall):
            box = (left, middle - tall / 2.0, left + wide, middle + tall / 2.0)
            if self._free((min(left, end[0] + STEP / 2.0), *box[1:])):  # with nothing between the end and its name
                self.write(box)
                return left, middle
        return None

    def _free(self, box: Box) -> bool:
        left, bottom, right, top = box
        if left < 0.0 or bottom < 0.0 or right > self.size[0] or top > self.size[1]:
            return False
        if any(left < x < right and bottom < y < top for x, y in self.spots):
            return False
        return not any(left < b[2] and b[0] < right and bottom < b[3] and b[1] < top for b in self.boxes)


def _around(end: Spot, wide: float, tall: float) -> Iterator[Spot]:
    """To the right of the end, then above and below that, then to its left."""
    x, y = end
    for up in (0.0, 0.7, -0.7, 1.3, -1.3):
        yield x + GAP, y + up * tall
    for up in (0.7, -0.7, 0.0):
        yield x - GAP - wide, y + up * tall


def last_visible(points: Sequence[Spot]) -> Spot | None:
    """The last visible point of a line, in parts of the panel: inside, or crossing the border."""
    inside = [i for i, point in enumerate(points) if _within(point)]
    if not inside:
        return None
    here = points[inside[-1]]
    if inside[-1] + 1 == len(points):
        return here
    there = points[inside[-1] + 1]
    near, far = 0.0, 1.0
    for _ in range(40):
        middle = (near + far) / 2.0
        near, far = (middle, far) if _within(_between(here, there, middle)) else (near, middle)
    return _between(here, there, near)


def _between(here: Spot, there: Spot, part: float) -> Spot:
    return here[0] + part * (there[0] - here[0]), here[1] + part * (there[1] - here[1])


def _within(point: Spot, slack: float = 1e-6) -> bool:
    return all(-slack <= part <= 1.0 + slack for part in point)
