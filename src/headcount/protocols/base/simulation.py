"""Simulation: repeated runs with seeded coins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from headcount.programme.law import Floats
from headcount.programme.tally import Batch

if TYPE_CHECKING:
    from headcount.programme.coins import Coins
    from headcount.programme.field import Values
    from headcount.programme.table import Ints
    from headcount.protocols.base.protocol import Protocol

TOGETHER = 1 << 20  # messages drawn at a time, of several runs


@dataclass(frozen=True, eq=False)
class Simulation:
    """Estimates from repeated runs with seeded coins: a row a run, a column a cell."""

    truth: Floats
    values: Floats
    seed: int

    @property
    def errors(self) -> Floats:
        return self.values - self.truth

    @property
    def bias(self) -> float:
        """The bias of the cell where it is largest."""
        means = np.mean(self.errors, axis=0)
        return float(means[np.argmax(np.abs(means))])

    @property
    def std(self) -> float:
        """The standard deviation of the average cell."""
        return float(np.sqrt(np.mean(np.var(self.values, axis=0))))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean(self.errors**2)))

    def __repr__(self) -> str:
        return (
            f"{len(self.values):,} runs: bias {self.bias:+.3g}, standard deviation {self.std:.4g} "
            f"(seed {self.seed}: not private)"
        )


def repeated(protocol: Protocol, values: Values, coins: Coins, runs: int) -> Ints:
    """Totals of released tallies, a row a run, through every person's randomiser."""
    each = max(1, int(TOGETHER / (max(1, values.size) * max(1.0, protocol.messages_per_person))))
    rows = []
    for start in range(0, runs, each):
        many = min(each, runs - start)
        sent, owners = protocol.attributed(np.tile(values, many), np.repeat(np.arange(many), values.size), coins)
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners[order], np.arange(many + 1)).tolist()
        batches = (Batch(values.size, sent[order[a:b]]) for a, b in pairwise(cuts))
        rows += [protocol.release(protocol.tally(batch), coins).totals for batch in batches]
    return np.array(rows)
