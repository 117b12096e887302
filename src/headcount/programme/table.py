"""Finite laws that are drawn exactly, one 64-bit word at a time.

A `Table` gives cell i the mass `coarse[i] / 2**64`. What the coarse masses leave of 2**64 is the
*spill*: a word that falls there is followed by a second word, drawn from the `fine` masses. The
mass of a cell is therefore a multiple of 2**-128, so that the rounding of one person's noise stays
negligible when 10**9 people add it up, while nearly every draw costs a single word. A table without
fine masses spills into itself: the word is drawn again, and the law is proportional to the coarse
masses, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from headcount.programme.chance import WORD

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

GUIDE_BITS = 16


@dataclass(frozen=True)
class Table:
    """Cell i stands for the integer `start + i`."""

    start: int
    coarse: tuple[int, ...]
    fine: tuple[int, ...] = ()
    spill: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spill", WORD - sum(self.coarse))
        if min(*self.coarse, *self.fine, self.spill, 0) < 0 or self.spill == WORD:
            raise ValueError("masses must not be negative, nor more than fill a word")
        if self.fine and (sum(self.fine) != WORD or len(self.fine) != len(self.coarse)):
            raise ValueError("fine masses must fill a word, one for each cell")

    @classmethod
    def of(cls, weights: Sequence[int], start: int = 0) -> Table:
        """The table nearest to the law proportional to `weights`, integers of any size.

        Its total variation distance from that law is at most `rounding(len(weights))`.
        """
        total = sum(weights)
        parts = [divmod(weight << 64, total) for weight in weights]
        coarse = tuple(part for part, _ in parts)
        spill = WORD - sum(coarse)
        if not spill:
            return cls(start, coarse)
        fine = [(rest << 64) // (spill * total) for _, rest in parts]
        fine[max(range(len(fine)), key=coarse.__getitem__)] += WORD - sum(fine)
        return cls(start, coarse, tuple(fine))

    @cached_property
    def masses(self) -> tuple[int, ...]:
        """Each cell's mass in units of 2**-128; if it spills into itself, of the coarse total."""
        if not self.fine:
            return tuple(mass << 64 for mass in self.coarse)
        return tuple((c << 64) + self.spill * f for c, f in zip(self.coarse, self.fine, strict=True))

    @property
    def total(self) -> int:
        """The sum of the masses."""
        return (WORD << 64) if self.fine else (WORD - self.spill) << 64

    @cached_property
    def mean(self) -> float:
        """Good to a few roundings."""
        return self.start + math.fsum(cell * (mass / self.total) for cell, mass in enumerate(self.masses))

    @cached_property
    def edges(self) -> Words:
        """Cumulative coarse masses; a word belongs to the first cell whose edge lies above it."""
        # An edge at 2**64 does not fit a word and is not needed: no word lies above it.
        return np.array([edge for edge in accumulate(self.coarse) if edge < WORD], dtype=np.uint64)

    @cached_property
    def fine_edges(self) -> Words:
        return np.array([edge for edge in accumulate(self.fine) if edge < WORD], dtype=np.uint64)

    @cached_property
    def guide(self) -> npt.NDArray[np.int32]:
        """The cell of every word with these leading bits, or -1 where the rest decides."""
        first = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
        last = first | np.uint64((1 << (64 - GUIDE_BITS)) - 1)
        low, high = (np.searchsorted(self.edges, ends, side="right") for ends in (first, last))
        return np.where((low == high) & (low < len(self.coarse)), low, -1).astype(np.int32)


def rounding(cells: int) -> float:
    """A bound on the total variation distance of `Table.of` from its law."""
    return float(cells) ** 2 * 2.0**-128
