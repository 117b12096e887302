"""Placement of labels within the regions of a map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

PANEL = (4.0, 4.5)  # inches
LETTER, LINE = 0.093, 0.2  # inches
CELLS = 120  # on a side

Mask = npt.NDArray[np.bool_]


class LabelSpace:
    """A fine grid over the panel, evenly spaced in logarithms, on which labels take their place."""

    def __init__(self, n: Sequence[int], ones: Sequence[int]) -> None:
        self.n, self.ones = n, ones
        self._free = np.ones((CELLS, CELLS), dtype=np.bool_)
        self._across, self._up = (self._nearest(places) for places in (n, ones))

    @staticmethod
    def _nearest(places: Sequence[int]) -> npt.NDArray[np.intp]:
        """Which of the places each fine cell belongs to."""
        logs = np.log(np.array(places, dtype=np.float64))
        fine = logs[0] + (np.arange(CELLS) + 0.5) / CELLS * (logs[-1] - logs[0])
        return np.asarray(np.searchsorted((logs[1:] + logs[:-1]) / 2.0, fine))

    def take(
        self, n: float, ones: float, text: str, side: float = 0.0, *, lines: int = 1, upright: bool = False
    ) -> None:
        """Take the space of words beside a point, or above it."""
        height, width = self._size(text, upright, lines)
        row, column = self._cell(self.ones, ones), self._cell(self.n, n) + round(side * width)
        row += height // 2 if upright else 0
        rows = slice(max(0, row - height // 2 - 1), max(0, row + height // 2 + 2))
        self._free[rows, max(0, column - width // 2 - 2) : max(0, column + width // 2 + 3)] = False

    def place(
        self, where: Mask, text: str, *, upright: bool = False, near: tuple[float, float] | None = None
    ) -> tuple[float, float] | None:
        """Take the middle of the region's widest part, or that nearest to a point, if words fit."""
        height, width = self._size(text, upright, 1 + text.count("\n"))
        free = where[np.ix_(self._up, self._across)] & self._free
        if height > CELLS or width > CELLS:
            return None
        summed = np.pad(np.cumsum(np.cumsum(free, axis=0), axis=1), ((1, 0), (1, 0)))
        inside = (
            summed[height:, width:] - summed[:-height, width:] - summed[height:, :-width] + summed[:-height, :-width]
        )
        fits = inside == height * width
        if not fits.any():
            return None
        if near is None:
            row, column = _deepest(fits)
        else:
            rows, columns = np.nonzero(fits)
            wide = (columns + width / 2 - self._cell(self.n, near[0])) ** 2
            nearest = int(np.argmin(wide + (rows + height / 2 - self._cell(self.ones, near[1])) ** 2))
            row, column = int(rows[nearest]), int(columns[nearest])
        self._free[max(0, row - 2) : row + height + 2, max(0, column - 2) : column + width + 2] = False
        return self._at(self.n, column + width / 2.0), self._at(self.ones, row + height / 2.0)

    def middle(self, where: Mask) -> tuple[float, float]:
        """The cell deepest inside the region."""
        row, column = _deepest(where[np.ix_(self._up, self._across)])
        return self._at(self.n, column + 0.5), self._at(self.ones, row + 0.5)

    @staticmethod
    def _size(text: str, upright: bool, lines: int) -> tuple[int, int]:
        """Height and width of the words, in cells."""
        long, tall = LETTER * max(map(len, text.split("\n"))), LINE * lines
        width, height = (tall, long) if upright else (long, tall)
        return max(1, round(height / PANEL[1] * CELLS)), max(1, round(width / PANEL[0] * CELLS))

    @staticmethod
    def _cell(places: Sequence[int], place: float) -> int:
        return round(float(np.log(place / places[0]) / np.log(places[-1] / places[0])) * CELLS)

    @staticmethod
    def _at(places: Sequence[int], cell: float) -> float:
        return float(places[0] * (places[-1] / places[0]) ** (cell / CELLS))


def _deepest(where: Mask) -> tuple[int, int]:
    """The cell farthest from everything outside; of several the uppermost."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(where, 1))[1:-1, 1:-1]
    row, column = np.argwhere(depth == depth.max())[-1].tolist()
    return row, column
