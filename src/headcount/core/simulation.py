"""Repeated runs, for whoever wants to see the error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from headcount.core.law import Floats


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
        """Of the cell where it is largest."""
        means = np.mean(self.errors, axis=0)
        return float(means[np.argmax(np.abs(means))])

    @property
    def std(self) -> float:
        """Of the average cell."""
        return float(np.sqrt(np.mean(np.var(self.values, axis=0))))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(np.mean(self.errors**2)))

    def __repr__(self) -> str:
        return (
            f"{len(self.values):,} runs: bias {self.bias:+.3g}, standard deviation {self.std:.4g} "
            f"(seed {self.seed}: not private)"
        )
