r"""Zero-sum multisets (atoms), which hide the messages of almost central sums [GKMPS21].

To send i is to send i ones, up to atoms: {-1, 1} and {i, -ceil(i/2), -floor(i/2)} for i beyond.
With $c_i$ the number of each atom that has to be added to $i \cdot \{1\}$ to give $\{i\}$:
$c_1 = 0$, $c_{-1} = e_{\{-1,1\}}$ and
$c_i = e_{s_i} - c_{-\lceil i/2\rceil} - c_{-\lfloor i/2\rfloor}$. If the noise on atom s costs
$1/2t_s$ of an epsilon for each atom more or fewer, then a value changed costs no more than that
epsilon as long as the weights t *dominate*: $\sum_s |c_{s,i}|/t_s \le 1$ for every value i = 2 ..
top. Values are positive, so atoms i < -ceil(top/2) are of no use.

The published weights are $t_s = \lceil \Gamma/|i| \rceil$ and $\Gamma$ for {-1, 1}, with
$\Gamma = top (\lceil\log_2 top\rceil + 1)$: a value is halved $\log_2$ times, and natural
logarithms dominate hardly anything from top = 6 on.

[GKMPS21] Ghazi, Kumar, Manurangsi, Pagh and Sinha, Differentially Private Aggregation in the
Shuffle Model: Almost Central Accuracy in Almost a Single Message, ICML 2021.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.errors import BadArgument
from headcount.programme.law import Floats
from headcount.programme.table import Ints


@dataclass(frozen=True)
class ZeroSumSets:
    """The atoms for sums of values 0 .. top, named by their element i, and -1 for {-1, 1}."""

    top: int

    def __post_init__(self) -> None:
        if self.top < 1:
            raise BadArgument("top", f"is {self.top}", "use the largest value, at least 1")

    @cached_property
    def names(self) -> tuple[int, ...]:
        return (-1, *range(2, self.top + 1), *range(-2, -((self.top + 1) // 2) - 1, -1))

    @cached_property
    def elements(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_halves(name) for name in self.names)

    @cached_property
    def columns(self) -> dict[int, dict[int, int]]:
        """The coefficients $c_i$, by atom, for every i that atoms are made of."""
        columns: dict[int, dict[int, int]] = {1: {}, -1: {-1: 1}}
        for name in sorted(self.names[1:], key=abs):
            column = {name: 1}
            for half in _halves(name)[1:]:
                for atom, count in columns[half].items():
                    column[atom] = column.get(atom, 0) - count
            columns[name] = column
        return columns

    def entries(self, place: Mapping[int, int]) -> tuple[Ints, Ints, Ints]:
        """The nonzero coefficients: place of the atom, value and size."""
        columns = ((value, self.columns[value]) for value in range(2, self.top + 1))
        found = [(place[name], value, abs(c)) for value, column in columns for name, c in column.items() if c]
        atom, value, size = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return atom, value, size

    @cached_property
    def _entries(self) -> tuple[Ints, Ints, Ints]:
        """The nonzero coefficients by the atom's number and the value less two."""
        atom, value, size = self.entries({name: at for at, name in enumerate(self.names)})
        return atom, value - 2, size

    def loads(self, weights: Floats) -> Floats:
        """The sum over atoms of |c|/t for each value from 2; weights dominate if all are <= 1."""
        atom, value, size = self._entries
        return np.asarray(np.bincount(value, size / weights[atom], minlength=self.top - 1), dtype=np.float64)

    def published(self) -> Floats:
        gamma = self.top * (math.ceil(math.log2(self.top)) + 1)
        return np.ceil(gamma / np.abs(np.array(self.names, dtype=np.float64)))


def _halves(name: int) -> tuple[int, ...]:
    if name == -1:
        return (-1, 1)
    return name, -math.ceil(name / 2), -math.floor(name / 2)
