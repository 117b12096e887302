r"""Margins of a table: a person touches one cell of each measured margin; smaller margins follow.

The table's attributes have $n_i$ values each. Counts of a margin $A$ are a sum of parts in orthogonal residual spaces
$S \subseteq A$: what centring along every attribute of $S$ leaves, and is even along all others. A measured margin with
cells of variance 1 tells the part in each $S \subseteq A$ with the variance $\prod_{j \in A \setminus S} n_j$, whatever
the other parts are, so that least squares is an average in each space by itself: with
$1/\tau_S = \sum_{A \supseteq S} 1/\prod_{j \in A \setminus S} n_j$, $p_S = \prod_{i \in S} (1 - 1/n_i)$,
$$\mathrm{Var}(\hat x_A) = \sum_{S \subseteq A} \tau_S\, p_S \prod_{j \in A \setminus S} n_j^{-2}$$
for each cell of a margin, measured or not. Where the number of people is public, $\tau_\emptyset = 0$. Rebuilt margins
agree with each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, groupby

import numpy as np

from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.strategies.strategy import Strategy, Terms

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Margins(Strategy):
    """The margins of a table with attributes of these sizes: those asked for, and those measured.

    Codes are the cells of the whole table, the last attribute's changing fastest. What is rebuilt
    are the cells of all `margins`, one after the other. With a `public` number of people their sum
    is known.
    """

    sizes: tuple[int, ...]
    asked: tuple[Axes, ...]
    measured: tuple[Axes, ...]
    public: bool = True
    noise: tuple[float, ...] = ()

    @property
    def codes(self) -> int:  # type: ignore[override]
        return math.prod(self.sizes)

    @cached_property
    def margins(self) -> tuple[Axes, ...]:
        """The margins asked for and all below them, the smallest first."""
        return below(self.asked)

    @cached_property
    def starts(self) -> Mapping[Axes, int]:
        """Where the cells of each margin begin among what is rebuilt."""
        return dict(zip(self.margins, accumulate(map(self.cells_of, self.margins), initial=0), strict=False))

    def cells_of(self, margin: Axes) -> int:
        """How many cells a margin has."""
        return math.prod(self.sizes[axis] for axis in margin)

    def shape_of(self, margin: Axes) -> tuple[int, ...]:
        """How many values each of its attributes has."""
        return tuple(self.sizes[axis] for axis in margin)

    @property
    def families(self) -> int:
        return len(self.measured)

    @cached_property
    def size(self) -> int:
        return sum(self.sizes_of_families)

    @property
    def sizes_of_families(self) -> tuple[int, ...]:
        return tuple(map(self.cells_of, self.measured))

    @cached_property
    def parts(self) -> int:
        return sum(map(self.cells_of, self.margins))

    def cells(self, value: Field) -> tuple[Field, ...]:
        starts = accumulate(map(self.cells_of, self.measured[:-1]), initial=0)
        return tuple(self._cell(value, margin, start) for margin, start in zip(self.measured, starts, strict=True))

    def _cell(self, value: Field, margin: Axes, start: int) -> Field:
        first, *others = _runs(margin)
        found = self._digit(value, first)
        for run in others:
            found = found * self.cells_of(run) + self._digit(value, run)
        return found + start if start else found

    def _digit(self, value: Field, run: Axes) -> Field:
        """Attributes that stand side by side in the table are read together."""
        after = math.prod(self.sizes[run[-1] + 1 :])
        digit = value // after if after > 1 else value
        return digit % self.cells_of(run) if run[0] else digit

    def counts(self, held: Ints) -> Ints:
        table, axes = held.reshape(self.sizes), range(len(self.sizes))
        sums = (table.sum(axis=tuple(axis for axis in axes if axis not in margin)) for margin in self.measured)
        return np.concatenate([each.ravel() for each in sums])

    @cached_property
    def variances(self) -> Mapping[Axes, float]:
        """The variance of each residual space's part, relative to a residual cell of variance 1."""
        spaces = below(self.margins) if self.public else ((), *below(self.margins))
        return {space: 1.0 / math.fsum(self._told(space)) for space in spaces}

    def _told(self, space: Axes) -> Iterator[float]:
        pairs = zip(self.measured, self.tells, strict=True)
        return (tells / self._summed(margin, space) for margin, tells in pairs if set(space) <= set(margin))

    @property
    def tells(self) -> tuple[float, ...]:
        """How much a cell of each measured margin tells: the reciprocal of its variance."""
        return tuple(1.0 / own for own in self.noise) or (1.0,) * self.families

    def _summed(self, margin: Axes, space: Axes) -> int:
        """How many cells of the margin there are to one of the space."""
        return self.cells_of(margin) // self.cells_of(space)

    def variance(self, margin: Axes) -> float:
        """The variance of each rebuilt cell of a margin, if the measured cells have variance 1."""
        inside = ((space, tau) for space, tau in self.variances.items() if set(space) <= set(margin))
        return math.fsum(
            tau * math.prod(1.0 - 1.0 / self.sizes[axis] for axis in space) / self._summed(margin, space) ** 2
            for space, tau in inside
        )

    @cached_property
    def mean_variance(self) -> float:
        """Over the margins that are asked for, of a cell of each."""
        return math.fsum(map(self.variance, self.margins)) / len(self.margins)

    def rebuilt(self, cells: Floats, people: int) -> Floats:
        found = self._spread(self._gathered(cells, self.measured, self.tells), self.margins)
        if not self.public:
            return found
        sizes = [*map(self.cells_of, self.margins)]
        return np.asarray(found + np.repeat(people / np.array(sizes, dtype=np.float64), sizes))

    def coefficients(self, weights: Floats) -> Floats:
        """The same steps in the other direction: they are their own transposes."""
        every = (1.0,) * len(self.margins)
        return self._spread(self._gathered(weights, self.margins, every), self.measured, self.tells)

    def squares(self, weights: Floats) -> Floats:
        """Of the sum of cells of a single margin."""
        found = np.zeros_like(weights)
        used = [margin for margin in self.margins if weights[self._of(margin)].any()]
        if len(used) == 1 and self.public:
            cells = weights[self._of(used[0])]
            found[self._of(used[0])] = (cells - cells.mean()) ** 2
        return found

    def _of(self, margin: Axes) -> slice:
        """A margin's cells among what is rebuilt."""
        return slice(self.starts[margin], self.starts[margin] + self.cells_of(margin))

    def _gathered(self, tables: Floats, margins: Sequence[Axes], tells: Sequence[float]) -> dict[Axes, Floats]:
        """Each residual space's part, times its variance: tables weighted by what they tell."""
        ends = [*accumulate(map(self.cells_of, margins))][:-1]
        found: dict[Axes, Floats] = {}
        for margin, table, own in zip(margins, np.split(tables, ends, axis=-1), tells, strict=True):
            shaped = (own * table).reshape(*tables.shape[:-1], *self.shape_of(margin))
            first = shaped.ndim - len(margin)
            for space in self.variances:
                if set(space) <= set(margin):
                    gone = tuple(first + place for place, axis in enumerate(margin) if axis not in space)
                    part = shaped.sum(axis=gone) / self._summed(margin, space)
                    found[space] = found[space] + part if space in found else part
        return {space: self.variances[space] * _centred(part, len(space)) for space, part in found.items()}

    def _spread(self, parts: Mapping[Axes, Floats], margins: Sequence[Axes], times: Sequence[float] = ()) -> Floats:
        """Tables of these margins, each part spread evenly over what it does not distinguish."""
        found = []
        for margin, factor in zip(margins, times or (1.0,) * len(margins), strict=True):
            table = np.zeros(self.shape_of(margin))
            for space, part in parts.items():
                if set(space) <= set(margin):
                    lead, shape = part.shape[: part.ndim - len(space)], self._even(margin, space)
                    table = table + part.reshape(*lead, *shape) / self._summed(margin, space)
            found.append(factor * table.reshape(*table.shape[: table.ndim - len(margin)], -1))
        return np.concatenate(found, axis=-1)

    def _even(self, margin: Axes, space: Axes) -> tuple[int, ...]:
        """The shape of a part, along the axes of a margin."""
        return tuple(self.sizes[axis] if axis in space else 1 for axis in margin)

    def cell(self, margin: Axes) -> Floats:
        """The weights of a margin's first cell, whose error has the law of all others."""
        weights = np.zeros(self.parts)
        weights[self.starts[margin]] = 1.0
        return weights

    @property
    def typical(self) -> Terms:
        """A cell of one of the largest margins."""
        return self.terms(self.cell(self.margins[-1]))


def below(margins: Iterable[Axes]) -> tuple[Axes, ...]:
    """These margins and all below them, but for that of everybody; the smallest first."""
    found = {part for margin in margins for many in range(1, len(margin) + 1) for part in combinations(margin, many)}
    return tuple(sorted(found, key=lambda each: (len(each), each)))


def maximal(margins: Iterable[Axes]) -> tuple[Axes, ...]:
    """The margins that no other one contains, in order."""
    different = sorted(set(margins), key=lambda each: (len(each), each))
    return tuple(each for each in different if not any(set(each) < set(other) for other in different))


def _runs(margin: Axes) -> list[Axes]:
    """Attributes that follow each other in the table, together."""
    return [tuple(axis for _, axis in run) for _, run in groupby(enumerate(margin), key=lambda each: each[1] - each[0])]


def _centred(table: Floats, axes: int) -> Floats:
    """What is left of a table without its mean along each of the last axes."""
    for axis in range(table.ndim - axes, table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
