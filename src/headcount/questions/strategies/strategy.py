"""The base class of strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod

from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints


class Strategy(ABC):
    """Families of cells, in each of which a code touches one, and least squares from noisy cells back to codes.

    A protocol counts the people of every cell with an error of its own, of which the errors here are linear functions:
    `rebuilt` is unbiased whatever the noise, and best where all cells have the same variance.
    """

    @property
    @abstractmethod
    def families(self) -> int:
        """How many cells a code touches."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many cells there are."""

    @abstractmethod
    def cells(self, value: Field) -> tuple[Field, ...]:
        """The cells that a code touches, one in each family."""

    @abstractmethod
    def counts(self, held: Ints) -> Ints:
        """How many people are in each cell, from how many hold each code."""

    @abstractmethod
    def rebuilt(self, cells: Floats, people: int) -> Floats:
        """How many people hold each code, from noisy cells: the last axis is that of the cells."""

    @abstractmethod
    def coefficients(self, weights: Floats) -> Floats:
        """How much each cell counts in the sum of the rebuilt codes with these weights."""

    @property
    def spread(self) -> float:
        """The standard error of an answer, on average over all that is asked for, if that of a cell is one."""
        return 1.0
