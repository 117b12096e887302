"""How far one liar can move an estimate, in people. Honest people move it by one at most.

An estimate is affine in the messages: a report moves it by a part of its own, which takes the noise
that is expected of it away, and by a slope for each message. What is true of one liar is therefore
true of many: k of them reach k times as far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from headcount.common.short_decimals import compared
from headcount.programme.law import Floats

SAME = 1e-9  # relatively: slopes that differ by less are rounded differently


@dataclass(frozen=True)
class Reach:
    """The exact displacement by one person who sends any messages that the analyser takes.

    Parameters
    ----------
    up, down : float
        How far a cell can be moved, in people.
    cells : int
        How many cells at once by the same messages, as far as that.
    apart : float
        How far two cells can be moved apart.
    lifted : float
        How far where a small count is dropped and one more report makes it pass; 0 if none is.
    bounded : bool
        Whether the report cannot stand for any number at all.
    """

    up: float
    down: float
    cells: int = 1
    apart: float = 0.0
    lifted: float = 0.0
    bounded: bool = True

    @property
    def furthest(self) -> float:
        """The furthest that one liar moves a cell, either way."""
        return max(self.up, -self.down, self.lifted)

    def of(self, liars: int) -> float:
        """How far several liars move one cell together; infinite if a report can be any number."""
        if not self.bounded:
            return math.inf if liars else 0.0
        return max(liars * max(self.up, -self.down), self.lifted if liars else 0.0)

    def consistent(self, cells: int) -> float | None:
        """A bound where several cells' answers are made consistent; None if there is only one.

        What all cells have in common is taken off again, so that the difference between them
        counts: of a push one cell of s that are left keeps 1 - 1/s.
        """
        return None if cells < 2 else (1.0 - 1.0 / cells) * self.apart

    def to_json(self, cells: int = 1) -> dict[str, Any]:
        told = {"up": self.up, "down": self.down, "cells": self.cells, "consistent": self.consistent(cells)}
        figures = {name: compared(figure) if isinstance(figure, float) else figure for name, figure in told.items()}
        return {**figures, "lifted": compared(self.lifted), "bounded": self.bounded}

    @classmethod
    def among(cls, base: Floats, slopes: npt.NDArray[Any], messages: int) -> Reach:
        """The reach with at most this many messages, each with one of these rows of slopes."""
        slopes = np.vstack([slopes, np.zeros_like(base)])  # or none at all
        most, least = slopes.max(axis=0), slopes.min(axis=0)
        up, down = (base + messages * most).max(), (base + messages * least).min()
        furthest = most.max() if up >= -down else least.min()
        cells = int((np.abs(slopes - furthest) <= SAME * abs(furthest)).sum(axis=1).max())
        return cls(float(up), float(down), cells, float(messages * np.ptp(slopes, axis=1).max()))
