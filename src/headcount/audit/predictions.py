"""Predicted bias, variance and coverage against simulation, for every protocol and every task it answers.

    python -m headcount.audit.predictions [--runs 20000] [--out docs/predictions.md]

Each figure is judged in standard errors of the simulation itself; the command fails if any is off by more than five.
The variance stated for a sum is that of the crowd which is hardest to estimate: any other may have less, and none more.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headcount.core.budget import Budget
from headcount.core.coins import SeededCoins
from headcount.core.cover import covering
from headcount.core.crowd import Crowd
from headcount.core.field import Values
from headcount.core.histogram import Histogram
from headcount.core.law import Floats, Noise
from headcount.core.protocol import FEW_VALUES, Protocol
from headcount.core.tally import Tally
from headcount.core.task import Count, Sum, Task
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE

BUDGETS = (Budget(1.0, 1e-6), Budget(0.5, 1e-8))
CATEGORIES = 20
RUNS = 20_000  # of a protocol that draws its tallies from their law
FEWEST_RUNS = 300  # of one that does not,
MESSAGES = 4e7  # and about how many messages all of its runs may have
MODEST = 5_000  # people, whom such a protocol can go through one by one
LIMIT = 5.0
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Situation:
    """A crowd, what is asked of it, and the cells of the answer that are judged, by name."""

    task: Task
    budget: Budget
    values: Values
    judged: Mapping[str, int]

    @property
    def people(self) -> int:
        return int(self.values.size)

    @property
    def holders(self) -> dict[int, int]:
        """How many people the error of each judged cell is stated for; of a sum, all of them."""
        truth = self.task.truth(self.values)
        everybody = isinstance(self.task, Sum)
        return {cell: self.people if everybody else round(float(truth[cell])) for cell in self.judged.values()}

    def calibrated(self, cls: type[Protocol]) -> Protocol:
        """With the smallest error for the first of the judged cells."""
        holders = next(iter(self.holders.values()))
        return calibrate(cls, self.task, Crowd(self.people), self.budget, lambda protocol: protocol.rmse(holders))


def counted(people: int, ones: int, budget: Budget) -> Situation:
    return Situation(Count(), budget, np.repeat([0, 1], [people - ones, ones]), {f"{ones:,} ones": 0})


def categorised(people: int, budget: Budget) -> Situation:
    """Each category has two thirds of the people of the one before it, and none has nobody."""
    shares = 1.5 ** -np.arange(CATEGORIES, dtype=np.float64)
    held = np.maximum(1, np.floor(people * shares / shares.sum())).astype(np.int64)
    held[0] += people - held.sum()
    names = {f"{held[cell]:,} in a category": cell for cell in (0, CATEGORIES - 1)}
    return Situation(Histogram(CATEGORIES), budget, np.repeat(np.arange(CATEGORIES), held), names)


def spread(people: int, budget: Budget) -> Situation:
    """Real numbers all over the range."""
    task = Sum((0.0, 1.0))
    return Situation(task, budget, task.encoded(np.linspace(0.0, 1.0, people)), {"spread evenly": 0})


def parted(people: int, budget: Budget) -> Situation:
    """Half of the people at either end."""
    task = Sum((0.0, 1.0))
    return Situation(task, budget, task.encoded(np.arange(people) % 2), {"half at either end": 0})


def situations() -> Iterator[Situation]:
    for budget in BUDGETS:
        yield counted(2_000, 150, budget)
        yield counted(10_000, 1_200, budget)
    yield counted(1_000_000, 500_000, BUDGETS[0])
    yield categorised(2_000, BUDGETS[0])
    yield categorised(100_000, BUDGETS[1])
    yield spread(1_000, BUDGETS[0])
    yield parted(1_000, BUDGETS[1])


@dataclass(frozen=True)
class Judged:
    """One cell of a protocol's answer in one situation. The z-scores are (simulated - predicted) in standard errors."""

    protocol: Protocol
    budget: Budget
    cell: str
    runs: int
    predicted_bias: float
    predicted_std: float
    simulated_std: float
    bias_z: float
    variance_z: float
    coverage: float
    coverage_z: float

    @property
    def holds(self) -> bool:
        """Coverage may be too large: an interval on a lattice often is. So may the variance stated for a sum."""
        variance = self.variance_z if isinstance(self.protocol.task, Sum) else abs(self.variance_z)
        return abs(self.bias_z) <= LIMIT and variance <= LIMIT and self.coverage_z >= -LIMIT

    def row(self) -> str:
        cells = [
            self.protocol.name, self.protocol.task.name, f"{self.protocol.crowd.size:,}", self.cell, f"{self.budget}",
            f"{self.runs:,}", f"{round(self.predicted_bias, 6) + 0.0:.4g}", f"{self.bias_z:+.1f}",
            f"{self.predicted_std:.4f}", f"{self.simulated_std:.4f}", f"{self.variance_z:+.1f}", f"{self.coverage:.4f}",
        ]  # fmt: skip
        return "| " + " | ".join(cells) + " |"


HEAD = (
    "| protocol | task | people | judged | budget | runs | predicted bias | z | predicted std | simulated std "
    "| z of it | coverage |",
    "|---|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|",
)


def is_direct(protocol: Protocol) -> bool:
    """Whether it draws its tallies from their law, without touching each person."""
    return type(protocol).sample is not Protocol.sample and protocol.task.values <= FEW_VALUES


def runs_of(protocol: Protocol, most: int = RUNS, messages: float = MESSAGES) -> int:
    if is_direct(protocol):
        return most
    affordable = messages / (protocol.crowd.size * max(1.0, protocol.messages_per_person))
    return min(most, max(FEWEST_RUNS, round(affordable)))


def judge(protocol: Protocol, situation: Situation, runs: int, seed: int) -> list[Judged]:
    """Of each judged cell, from the same runs."""
    values, coins = situation.values, SeededCoins(seed)
    if is_direct(protocol):
        totals = protocol.sample(np.bincount(values, minlength=situation.task.values), coins, runs)
    else:
        totals = protocol.repeated(values, coins, runs)
    distinct, where = np.unique(totals, axis=0, return_inverse=True)
    tallies = [Tally(situation.people, row) for row in distinct]
    estimates = np.array([protocol.point(tally) for tally in tallies])
    truth = situation.task.truth(values)
    return [
        _judge(
            protocol, situation, name, estimates[:, cell][where] - truth[cell],
            _covers(protocol, tallies, estimates[:, cell], cell, float(truth[cell]))[where],
        )
        for name, cell in situation.judged.items()
    ]  # fmt: skip


def _judge(protocol: Protocol, situation: Situation, name: str, error: Floats, covers: Floats) -> Judged:
    runs, stated = error.size, isinstance(protocol.task, Sum)
    noise = protocol.noise(situation.holders[situation.judged[name]], situation.people)
    seen = Noise(error, np.full(runs, 1.0 / runs))
    # What is too rare to have been seen is no error of the prediction. For a sum that is another crowd's, and no help.
    laws = (seen,) if stated else (seen, noise)
    coverage = float(covers.mean())
    return Judged(
        protocol=protocol,
        budget=situation.budget,
        cell=name,
        runs=runs,
        predicted_bias=noise.bias,
        predicted_std=noise.std_error,
        simulated_std=seen.std_error,
        bias_z=_z(seen.bias - noise.bias, max(law.std_error for law in laws) / math.sqrt(runs)),
        variance_z=_z(seen.variance - noise.variance, max(_spread(law) for law in laws) / math.sqrt(runs)),
        coverage=coverage,
        coverage_z=(coverage - CONFIDENCE) / math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs),
    )


def _spread(law: Noise) -> float:
    """The standard deviation of the squared distance from the mean."""
    fourth = float(law.masses @ (law.values - law.bias) ** 4) / float(law.masses.sum())
    return math.sqrt(max(fourth - law.variance**2, 0.0))


def _covers(protocol: Protocol, tallies: list[Tally], estimates: Floats, cell: int, truth: float) -> Floats:
    """Whether each estimate's interval holds the truth. It depends on the cell's own estimate alone."""
    different, first, where = np.unique(estimates, return_index=True, return_inverse=True)
    if type(protocol).intervals is not Protocol.intervals:
        ends = np.array([protocol.intervals(tallies[at], CONFIDENCE)[cell] for at in first])
    else:  # the same, without the other cells; all at once where all are equally wide
        parts = [different] if protocol.steady else np.split(different, different.size)
        ends = np.concatenate([covering(protocol, part, tallies[0].reports, CONFIDENCE) for part in parts])
    return np.asarray(((ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9))[where], dtype=np.float64)


def _z(difference: float, standard_error: float) -> float:
    if abs(difference) < 1e-9:
        return 0.0  # but for rounding, which is all that is left where nothing is random
    return difference / standard_error if standard_error else math.copysign(math.inf, difference)


def judgements(runs: int) -> Iterator[Judged]:
    for seed, situation in enumerate(situations()):
        for cls in _answering(situation.task):
            protocol = situation.calibrated(cls)
            if is_direct(protocol) or situation.people <= MODEST:
                yield from judge(protocol, situation, runs_of(protocol, runs), seed)


def _answering(task: Task) -> Iterable[type[Protocol]]:
    return (cls for cls in CATALOGUE if task.name in cls.tasks)


def main() -> None:
    parser = argparse.ArgumentParser(description="Predicted error and coverage against simulation.")
    parser.add_argument("--runs", type=int, default=RUNS, help="at most, of each protocol in each situation")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    order = {cls.name: place for place, cls in enumerate(CATALOGUE)}
    found = sorted(judgements(arguments.runs), key=lambda judged: order[judged.protocol.name])
    lines = [
        "# Predicted and simulated error", "",
        f"Made by `make predictions`: {arguments.runs:,} seeded runs of each protocol that draws its tallies from",
        f"their law; the others go through every person, as often as about {MESSAGES:,.0f} messages allow. z is how",
        "many standard errors of the simulation lie between it and the prediction; coverage is that of the 95%",
        f"interval. Histograms have {CATEGORIES} categories, of which the largest and the smallest are judged. What is",
        "stated for a sum is the error of the crowd that is hardest to estimate: others may have less, none has more.",
        "", *HEAD, *(judged.row() for judged in found), "",
    ]  # fmt: skip
    page = "\n".join(lines)
    if arguments.out:
        arguments.out.write_text(page, encoding="utf-8")
    else:
        print(page)
    wrong = [judged for judged in found if not judged.holds]
    for judged in wrong:
        print(judged.row(), file=sys.stderr)
    print(f"{len(found) - len(wrong)} of {len(found)} predictions hold within {LIMIT:g} standard errors")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
