"""Crowds, what is asked of them, and runs of a protocol on them: what predictions are held against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from headcount.core.budget import Budget
from headcount.core.coins import SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import Refused
from headcount.core.field import Values
from headcount.core.histogram import Histogram
from headcount.core.protocol import FEW_VALUES, Protocol
from headcount.core.table import Ints
from headcount.core.task import Count, Fraction, Mean, Sum, Task
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE

RUNS = 20_000
MESSAGES = 2e8  # that all runs may have together, where every person is gone through

EASY, USUAL, STRICT, LARGE = Budget(4.0, 1e-4), Budget(1.0, 1e-6), Budget(0.5, 1e-8), Budget(2.0, 1e-5)


@dataclass(frozen=True, eq=False)
class Situation:
    """A crowd, what is asked of it, and the cells of the answer that are judged, by name."""

    task: Task
    budget: Budget
    values: Values
    judged: Mapping[str, int]
    hardest: bool = False  # whether everybody holds what is hardest for the protocol, instead of these values

    @property
    def people(self) -> int:
        return int(self.values.size)

    @property
    def words(self) -> str:
        bounds = "" if not isinstance(self.task, Sum) else " of numbers from {:g} to {:g}".format(*self.task.bounds)
        whole = "whole " if isinstance(self.task, Sum) and self.task.values <= FEW_VALUES else ""
        bounds = bounds.replace("numbers", f"{whole}numbers")
        told = f", {next(iter(self.judged))}" if self.task.cells == 1 else f", {self.task.cells} categories"
        return f"{self.task.name}{bounds}: {self.people:,} people{told}, {self.budget}"

    @property
    def holders(self) -> dict[int, int]:
        """How many people the error of each judged cell is stated for; of a sum, all of them."""
        truth = self.task.truth(self.values)
        everybody = isinstance(self.task, Sum)
        return {cell: self.people if everybody else round(float(truth[cell])) for cell in self.judged.values()}

    @property
    def exact(self) -> bool:
        """Whether the stated error is that of this very crowd, and not of one that is harder."""
        return self.hardest or not isinstance(self.task, Sum)

    def calibrated(self, cls: type[Protocol]) -> Protocol:
        """With the smallest error for the first of the judged cells."""
        holders = next(iter(self.holders.values()))
        return calibrate(cls, self.task, Crowd(self.people), self.budget, lambda protocol: protocol.rmse(holders))

    def before(self, protocol: Protocol) -> Situation:
        """The same as this protocol meets it."""
        if not self.hardest:
            return self
        return replace(self, values=np.full(self.people, protocol.hardest_value, dtype=np.int64), hardest=True)


def counted(people: int, ones: int, budget: Budget, task: Task | None = None) -> Situation:
    return Situation(task or Count(), budget, np.repeat([0, 1], [people - ones, ones]), {f"{ones:,} ones": 0})


def categorised(people: int, budget: Budget, categories: int = 20) -> Situation:
    """Each category has two thirds of the people of the one before it, and none has nobody."""
    shares = 1.5 ** -np.arange(categories, dtype=np.float64)
    held = np.maximum(1, np.floor(people * shares / shares.sum())).astype(np.int64)
    held[0] += people - held.sum()
    names = {f"{held[cell]:,} in it": cell for cell in (0, categories - 1)}
    return Situation(Histogram(categories), budget, np.repeat(np.arange(categories), held), names)


def spread(people: int, budget: Budget, task: Sum | None = None) -> Situation:
    """Numbers all over the range."""
    task = task or Sum((0.0, 1.0))
    values = np.rint(np.linspace(0.0, task.steps, people)).astype(np.int64)
    return Situation(task, budget, values, {"spread evenly": 0})


def parted(people: int, budget: Budget, task: Sum | None = None) -> Situation:
    """Half of the people at either end."""
    task = task or Sum((0.0, 1.0))
    return Situation(task, budget, np.arange(people) % 2 * task.steps, {"half at either end": 0})


def hardest(people: int, budget: Budget, task: Sum | None = None) -> Situation:
    """Everybody holds the value which is hardest to estimate, by the protocol's own formulas."""
    return replace(spread(people, budget, task), judged={"all hold the hardest value": 0}, hardest=True)


def situations() -> Iterator[Situation]:
    """The grid: every task, small and large budgets, few people and many, dense and sparse."""
    for budget in (EASY, LARGE, USUAL, STRICT):
        for people, ones in (
            (150, 60),
            (1_000, 10),
            (1_000, 400),
            (10_000, 1_200),
            (100_000, 60),
            (1_000_000, 500_000),
        ):
            yield counted(people, ones, budget)
        for people, ones in ((2_000, 150), (50_000, 25_000)):
            yield counted(people, ones, budget, Fraction())
        for people, categories in ((20_000, 20), (1_000_000, 50)):
            yield categorised(people, budget, categories)
    yield categorised(300, EASY, 4)
    yield categorised(500, LARGE, 10)
    yield categorised(1_000, USUAL, 4)
    yield categorised(2_000, USUAL, 20)
    for budget in (EASY, USUAL):
        yield spread(300, budget)
        yield parted(300, budget, Sum((-5.0, 10.0)))
        yield hardest(300, budget)
        yield hardest(500, budget, Sum.whole((0, 4)))
        yield spread(300, budget, Mean.whole((0, 120)))
        yield parted(300, budget, Mean((0.0, 1.0)))
        yield hardest(300, budget, Mean((0.0, 1.0)))
        yield hardest(500, budget, Mean.whole((0, 3)))
    yield spread(1_000, USUAL)
    yield hardest(1_000, STRICT)


def answering(task: Task) -> Iterable[type[Protocol]]:
    return (cls for cls in CATALOGUE if task.name in cls.tasks)


def is_direct(protocol: Protocol) -> bool:
    """Whether it draws its tallies from their law, without touching each person."""
    return type(protocol).sample is not Protocol.sample and protocol.task.values <= FEW_VALUES


def entrant(cls: type[Protocol], situation: Situation, runs: int = RUNS) -> Protocol | None:
    """The protocol as it is judged in a situation; not if it cannot serve, or would send more than we can wait for."""
    try:
        protocol = situation.calibrated(cls)
    except Refused:
        return None
    messages = runs * situation.people * max(1.0, protocol.messages_per_person)
    return protocol if is_direct(protocol) or messages <= MESSAGES else None


def totals(protocol: Protocol, values: Values, runs: int, seed: int) -> Ints:
    """Of released tallies, a row a run, through `sample` wherever values are few enough to be counted."""
    coins = SeededCoins(seed)
    if protocol.task.values > FEW_VALUES:
        return protocol.repeated(values, coins, runs)
    return protocol.sample(np.bincount(values, minlength=protocol.task.values), coins, runs)
