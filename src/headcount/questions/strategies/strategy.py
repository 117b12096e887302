"""The base class of strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Self, TypeAlias, cast

import numpy as np

from headcount.programme.brick import Brick
from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints

SAME = 11  # digits to which equal coefficients agree

Terms: TypeAlias = tuple[
    tuple[Floats, Ints], ...
]  # for each law of errors the coefficients, and how many cells have each


class Strategy(ABC):
    """Families of cells, in each of which a code touches one, and least squares back to codes.

    A protocol counts the people of every cell with an error of its own, of which the errors here
    are linear functions: `rebuilt` is unbiased whatever the noise, and best where cells have the
    relative variances that it was told.
    """

    codes: int  # how many there are
    noise: tuple[float, ...]  # the variance of a cell of each family, relative to the first; none if all are equal

    @property
    def words(self) -> str:
        """What its cells are, where there is a choice."""
        return ""

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

    @property
    @abstractmethod
    def sizes_of_families(self) -> Sequence[int]:
        """How many cells there are in each; they follow one after the other."""

    def under(self, noise: Sequence[float]) -> Self:
        """The same for cells with these relative variances, one for each family."""
        return self if set(noise) == {1.0} else replace(cast(Any, self), noise=tuple(noise))

    @cached_property
    def laws(self) -> tuple[int, ...]:
        """One family of each law: those of equal variance have the same."""
        return tuple(self.noise.index(own) for own in dict.fromkeys(self.noise)) or (0,)

    @abstractmethod
    def cells(self, value: Field) -> tuple[Field, ...]:
        """The cells that a code touches, one in each family."""

    def weighted(self, value: Field) -> Brick:
        """What a person sends where cells count them by weights: a message for each time."""
        raise NotImplementedError

    def square(self, events: int, *, replaced: bool) -> int:
        """The squared L2 sensitivity to a person with these events, where cells have weights."""
        raise NotImplementedError

    @abstractmethod
    def counts(self, held: Ints) -> Ints:
        """How many people are in each cell, from how many hold each code."""

    @abstractmethod
    def rebuilt(self, cells: Floats, people: int) -> Floats:
        """The people at each code, or in each other part, from noisy cells (on the last axis)."""

    @abstractmethod
    def coefficients(self, weights: Floats) -> Floats:
        """How much each cell counts in the sum of the rebuilt parts with these weights."""

    def squares(self, weights: Floats) -> Floats:
        """Of each part the square of what its people count in this sum, beside what is known:
        nothing where that is not the part's alone to tell, so that their sum is at most that of
        everybody's squares."""
        return np.zeros_like(weights)

    def terms(self, weights: Floats) -> Terms:
        """The coefficients of this sum of parts: each different one, and how many cells have it."""
        found = self.coefficients(weights)
        if not self.noise:
            return (distinct(found),)
        levels = np.split(found, [*accumulate(self.sizes_of_families)][:-1])
        alike = (
            [level for level, own in zip(levels, self.noise, strict=True) if own == self.noise[law]]
            for law in self.laws
        )
        return tuple(distinct(np.concatenate(each)) for each in alike)

    def prefix(self, parts: int) -> Terms:
        """The coefficients of the first parts' sum."""
        weights = np.zeros(self.parts)
        weights[:parts] = 1.0
        return self.terms(weights)

    @property
    def typical(self) -> Terms:
        """The coefficients of a typical answer: the people in the first half of the parts."""
        return self.prefix(max(1, self.parts // 2))


def distinct(coefficients: Floats) -> tuple[Floats, Ints]:
    """The distinct coefficients but 0, and how often each occurs."""
    scale = float(np.abs(coefficients).max(initial=0.0))
    if not scale:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    found, times = np.unique(np.round(coefficients / scale, SAME), return_counts=True)
    return found[found != 0.0] * scale, times[found != 0.0]
