"""Predicted bias, variance and coverage against simulation, for every protocol.

    python -m headcount.audit.predictions [--runs 20000] [--out docs/predictions.md]

Each figure is judged in standard errors of the simulation itself; the command fails if any is off by more than five.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from headcount.core.budget import Budget
from headcount.core.coins import SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.protocol import Protocol
from headcount.core.tally import Tally
from headcount.core.task import Count
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE

SITUATIONS = ((2_000, 150), (10_000, 1_200), (1_000_000, 500_000))
BUDGETS = (Budget(1.0, 1e-6), Budget(0.5, 1e-8))
LIMIT = 5.0
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Judged:
    """One protocol in one situation. The z-scores are (simulated - predicted) in standard errors."""

    protocol: Protocol
    budget: Budget
    ones: int
    predicted_bias: float
    predicted_std: float
    simulated_std: float
    bias_z: float
    variance_z: float
    coverage: float
    coverage_z: float

    @property
    def holds(self) -> bool:
        """Coverage may only be too large: an interval on a lattice often is."""
        return abs(self.bias_z) <= LIMIT and abs(self.variance_z) <= LIMIT and self.coverage_z >= -LIMIT

    def row(self) -> str:
        cells = [
            self.protocol.name, f"{self.protocol.crowd.size:,}", f"{self.ones:,}", f"{self.budget}",
            f"{round(self.predicted_bias, 6):.4g}", f"{self.bias_z:+.1f}", f"{self.predicted_std:.4f}",
            f"{self.simulated_std:.4f}", f"{self.variance_z:+.1f}", f"{self.coverage:.4f}",
        ]  # fmt: skip
        return "| " + " | ".join(cells) + " |"


HEAD = (
    "| protocol | people | ones | budget | predicted bias | z | predicted std | simulated std | z of it | coverage |",
    "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|",
)


def judge(protocol: Protocol, budget: Budget, ones: int, runs: int, seed: int) -> Judged:
    people = protocol.crowd.size
    totals = protocol.sample(np.array([people - ones, ones]), SeededCoins(seed), runs)
    distinct, where = np.unique(totals, axis=0, return_inverse=True)
    tallies = [Tally(people, row) for row in distinct]
    error = np.array([protocol.point(tally)[0] for tally in tallies])[where] - ones
    noise = protocol.noise(ones, people)
    centred = error - error.mean()
    variance = float(np.mean(centred**2))
    spread = math.sqrt(max(float(np.mean(centred**4)) - variance**2, 0.0) / runs)
    ends = [protocol.intervals(tally, CONFIDENCE)[0] for tally in tallies]
    covers = [low - 1e-9 <= ones <= high + 1e-9 for low, high in ends]
    coverage = float(np.mean(np.array(covers)[where]))
    return Judged(
        protocol=protocol,
        budget=budget,
        ones=ones,
        predicted_bias=noise.bias,
        predicted_std=noise.std_error,
        simulated_std=math.sqrt(variance),
        bias_z=_z(float(error.mean()) - noise.bias, math.sqrt(variance / runs)),
        variance_z=_z(variance - noise.variance, spread),
        coverage=coverage,
        coverage_z=(coverage - CONFIDENCE) / math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs),
    )


def _z(difference: float, standard_error: float) -> float:
    if standard_error == 0.0:
        return 0.0 if abs(difference) < 1e-9 else math.inf
    return difference / standard_error


def judgements(runs: int) -> Iterator[Judged]:
    for seed, (cls, budget, (people, ones)) in enumerate(product(CATALOGUE, BUDGETS, SITUATIONS)):
        protocol = calibrate(cls, Count(), Crowd(people), budget, partial(_error, ones))
        yield judge(protocol, budget, ones, runs, seed)


def _error(ones: int, protocol: Protocol) -> float:
    return protocol.rmse(ones)


def main() -> None:
    parser = argparse.ArgumentParser(description="Predicted error and coverage against simulation.")
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found = list(judgements(arguments.runs))
    lines = [
        "# Predicted and simulated error", "",
        f"Made by `make predictions`: {arguments.runs:,} seeded runs of each. z is how many standard errors of the",
        "simulation lie between it and the prediction; coverage is that of the 95% interval.", "",
        *HEAD, *(judged.row() for judged in found), "",
    ]  # fmt: skip
    page = "\n".join(lines)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    else:
        print(page)
    wrong = [judged for judged in found if not judged.holds]
    print(f"{len(found) - len(wrong)} of {len(found)} predictions hold within {LIMIT:g} standard errors")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
