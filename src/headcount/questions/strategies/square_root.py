r"""The square root of summation: cells are weighted sums of the past; all sums err alike.

With A the lower triangle of ones, A = F F for the Toeplitz matrix of the coefficients of
$(1-z)^{-1/2}$, $f_0 = 1,\; f_k = f_{k-1}(1 - 1/2k)$. A cell is the noisy value of $\sum_{s \le t}
F_{t-s} x_s$ with whole weights $F_k \approx 128 f_k$, so that nothing has a fraction before it is
released; a sum of periods is then a weighted sum of cells that were released before its end, with
the coefficients of $1/((1-z)F(z))$.

One event changes all cells from its period on, by F. What noise on all of them hides is a matter of
the length of that vector, as in the matrix mechanism [HUU23].

[HUU23] Henzinger, Upadhyay and Upadhyay, Almost Tight Error Bounds on Differentially Private
Continual Counting, SODA 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from headcount.programme.brick import All, Brick, Copies, Each, Emit
from headcount.programme.field import Field
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.questions.strategies.over_time import OverTime

MOST_PERIODS = 2_048  # whose weights are written into programmes


@dataclass(frozen=True)
class SquareRoot(OverTime):
    """Cells with weights in multiples of 1/`fine`; the last code is of people in no period."""

    codes: int
    fine: int
    noise: tuple[float, ...] = ()
    words = "weighted sums"

    @property
    def families(self) -> int:
        return self.periods

    @property
    def size(self) -> int:
        return self.periods

    @cached_property
    def weights(self) -> Ints:
        """By how much somebody counts in the cell of their period, and in those after it."""
        each = np.arange(1, self.periods, dtype=np.float64)
        exact = np.concatenate([[1.0], np.cumprod(1.0 - 0.5 / each)])
        return np.asarray(np.maximum(np.rint(self.fine * exact), 1.0), dtype=np.int64)

    def cells(self, value: Field) -> tuple[Field, ...]:
        raise NotImplementedError("cells have weights")

    def weighted(self, value: Field) -> Brick:
        """Weights that fall slowly come in runs; cells after the last period are of none."""
        runs, after = [], 0
        for weight, same in groupby(self.weights.tolist()):
            many = sum(1 for _ in same)
            cell = value + after + Field.named("later")
            within = (cell // self.periods) * -weight + weight  # which is 0 from the end of the periods on
            runs.append(Each("later", many, Copies(within, Emit(cell % self.periods))))
            after += many
        return All(*runs)

    def counts(self, held: Ints) -> Ints:
        return np.asarray(np.convolve(held[: self.periods], self.weights)[: self.periods])

    @cached_property
    def _inverse(self) -> Floats:
        """The coefficients of 1/F(z)."""
        found = np.zeros(self.periods)
        found[0] = 1.0 / self.weights[0]
        for k in range(1, self.periods):
            found[k] = -float(self.weights[1 : k + 1] @ found[k - 1 :: -1]) / self.weights[0]
        return found

    @property
    def sizes_of_families(self) -> tuple[int, ...]:
        return (self.periods,)

    def rebuilt(self, cells: Floats, people: int) -> Floats:
        so_far = np.cumsum(self._inverse)
        rows = [np.convolve(row, so_far)[: self.periods] for row in cells.reshape(-1, self.periods)]
        return np.reshape(rows, cells.shape)

    def of_periods(self, weights: Floats) -> Floats:
        return np.convolve(weights[::-1], self._inverse)[: self.periods][::-1]

    @cached_property
    def prefix_variances(self) -> Floats:
        return np.cumsum(np.cumsum(self._inverse) ** 2)

    def square(self, events: int, *, replaced: bool) -> int:
        """The squared L2 sensitivity: of a person with this many events.

        One event is the worst in the first period, as later ones change fewer cells, and several
        are all in that one. If replaced, one event moves by some number of periods, or away;
        several are bounded by what they and what they become change, whose products are not
        negative.
        """
        own = int(self.weights @ self.weights)
        if not replaced:
            return events**2 * own
        return max([own, *map(self._moved, range(1, self.periods))]) if events == 1 else 2 * events**2 * own

    def _moved(self, by: int) -> int:
        """The squared length of the change when a first-period event moves on by these periods."""
        change = self.weights.copy()
        change[by:] -= self.weights[:-by]
        return int(change @ change)
