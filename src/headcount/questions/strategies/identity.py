"""A cell for each code."""

from __future__ import annotations

from dataclasses import dataclass

from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.strategies.strategy import Strategy


@dataclass(frozen=True)
class Identity(Strategy):
    """The strategy of a histogram: a code is its cell."""

    codes: int
    noise: tuple[float, ...] = ()

    @property
    def families(self) -> int:
        return 1

    @property
    def size(self) -> int:
        return self.codes

    @property
    def sizes_of_families(self) -> tuple[int, ...]:
        return (self.codes,)

    def cells(self, value: Field) -> tuple[Field, ...]:
        return (value,)

    def counts(self, held: Ints) -> Ints:
        return held

    def rebuilt(self, cells: Floats, people: int) -> Floats:
        return cells

    def coefficients(self, weights: Floats) -> Floats:
        return weights
