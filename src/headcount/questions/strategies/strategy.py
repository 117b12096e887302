"""The base class of strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints

SAME = 11  # digits to which equal coefficients agree


class Strategy(ABC):
    """Families of cells, in each of which a code touches one, and least squares from noisy cells back to codes.

    A protocol counts the people of every cell with an error of its own, of which the errors here are linear functions:
    `rebuilt` is unbiased whatever the noise, and best where all cells have the same variance.
    """

    codes: int  # how many there are

    @property
    @abstractmethod
    def families(self) -> int:
        """How many cells a code touches."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many cells there are."""

    @property
    def parts(self) -> int:
        """How many numbers are rebuilt: one for each code, unless a strategy says otherwise."""
        return self.codes

    @abstractmethod
    def cells(self, value: Field) -> tuple[Field, ...]:
        """The cells that a code touches, one in each family."""

    @abstractmethod
    def counts(self, held: Ints) -> Ints:
        """How many people are in each cell, from how many hold each code."""

    @abstractmethod
    def rebuilt(self, cells: Floats, people: int) -> Floats:
        """How many people hold each code, or are in each other part, from noisy cells: their axis is the last one."""

    @abstractmethod
    def coefficients(self, weights: Floats) -> Floats:
        """How much each cell counts in the sum of the rebuilt parts with these weights."""

    def prefix(self, parts: int) -> tuple[Floats, Ints]:
        """The coefficients of the first parts' sum: each different one, and how many cells have it."""
        weights = np.zeros(self.parts)
        weights[:parts] = 1.0
        return distinct(self.coefficients(weights))

    @property
    def typical(self) -> tuple[Floats, Ints]:
        """The coefficients of an answer that is like most: the people in the first half of the parts."""
        return self.prefix(max(1, self.parts // 2))


def distinct(coefficients: Floats) -> tuple[Floats, Ints]:
    """The distinct coefficients but 0, and how often each occurs."""
    scale = float(np.abs(coefficients).max(initial=0.0))
    if not scale:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    found, times = np.unique(np.round(coefficients / scale, SAME), return_counts=True)
    return found[found != 0.0] * scale, times[found != 0.0]
