"""Blocks of periods: each period has a cell, and so has each block of b periods, of b² periods, …

Somebody who comes in one period is in one cell of each level. The sum of the first t periods takes
as many cells as the digits of t in base b come to, and all of them lie before t: such sums can be
told while periods go on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.strategies.over_time import OverTime

MOST_LEVELS = 3


@dataclass(frozen=True)
class BlocksOfPeriods(OverTime):
    """Blocks of these widths, from 1, each dividing the next; the last code is of no period."""

    codes: int
    widths: tuple[int, ...] = (1,)
    noise: tuple[float, ...] = ()

    @property
    def words(self) -> str:
        return "blocks of " + " and ".join(map(str, self.widths[1:])) if len(self.widths) > 1 else "periods"

    @property
    def families(self) -> int:
        return len(self.widths)

    @cached_property
    def nodes(self) -> tuple[int, ...]:
        """The cells of each level; the last is of people too late for a whole block, or absent."""
        return tuple(self.periods // width + 1 for width in self.widths)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first cell of each level."""
        return tuple(sum(self.nodes[:level]) for level in range(self.families))

    @property
    def size(self) -> int:
        return sum(self.nodes)

    def cells(self, value: Field) -> tuple[Field, ...]:
        pairs = zip(self.widths, self.starts, strict=True)
        blocks = ((value if width == 1 else value // width, start) for width, start in pairs)
        return tuple(block + start if start else block for block, start in blocks)

    def counts(self, held: Ints) -> Ints:
        places = np.arange(self.codes)
        return np.concatenate([np.bincount(places // width, held, many) for width, many in self._levels]).astype(
            held.dtype
        )

    @property
    def _levels(self) -> Iterator[tuple[int, int]]:
        return zip(self.widths, self.nodes, strict=True)

    @property
    def sizes_of_families(self) -> tuple[int, ...]:
        return self.nodes

    def rebuilt(self, cells: Floats, people: int) -> Floats:
        """Of each level, the blocks that end by then and are in no whole block of the next one."""
        ends, found = np.arange(1, self.periods + 1), np.zeros((*cells.shape[:-1], self.periods))
        wider = (*self.widths[1:], self.codes)
        for (width, many), start, next_width in zip(self._levels, self.starts, wider, strict=True):
            counted = np.cumsum(cells[..., start : start + many], axis=-1)
            sums = np.concatenate([np.zeros((*cells.shape[:-1], 1)), counted], axis=-1)
            found += sums[..., ends // width] - sums[..., ends // next_width * next_width // width]
        return found

    def of_periods(self, weights: Floats) -> Floats:
        """The fewest cells: one for each whole block in which all periods have the same weight."""
        found, left = np.zeros(self.size), np.array(weights, dtype=np.float64)
        for width, start in reversed([*zip(self.widths, self.starts, strict=True)]):
            blocks = left[: self.periods // width * width].reshape(-1, width)  # a view: what is told is struck out
            same = np.flatnonzero(np.ptp(blocks, axis=1) == 0.0) if blocks.size else np.zeros(0, dtype=np.int64)
            found[start + same] = blocks[same, 0]
            blocks[same] = 0.0
        return found

    @cached_property
    def prefix_variances(self) -> Floats:
        """The sums of digits, where all cells have variance 1."""
        last, found = np.arange(1, self.periods + 1), np.zeros(self.periods)
        noise = self.noise or (1.0,) * self.families
        for width, own in zip(reversed(self.widths), reversed(noise), strict=True):
            found += own * (last // width)
            last = last % width
        return found


def widths_over(periods: int) -> Iterator[tuple[int, ...]]:
    """Candidate levels by their number: those of the smallest largest sum of digits, then mean."""
    for levels in range(1, MOST_LEVELS + 1):
        likely = round(periods ** (1.0 / levels))
        bases = [base for base in range(max(2, likely - 4), likely + 5) if base ** (levels - 1) <= periods]
        tried = [tuple(base**level for level in range(levels)) for base in (bases if levels > 1 else [1])]
        if tried:
            yield min(tried, key=lambda widths: _sizes(periods, widths))


def _sizes(periods: int, widths: tuple[int, ...]) -> tuple[float, float]:
    variances = BlocksOfPeriods(periods + 1, widths).prefix_variances
    return float(variances.max()), math.fsum(variances)
