"""Simulated scenarios: a crowd, its question, and runs of a protocol, to judge predictions by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.programme.field import Values
from headcount.programme.table import Ints
from headcount.protocols.base.predicted import FEW_VALUES
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum


@dataclass(frozen=True, eq=False)
class Scenario:
    """A crowd, what is asked of it, and the cells of the answer that are judged, by name."""

    task: Question
    budget: Budget
    values: Values
    judged: Mapping[str, int]
    hardest: bool = False  # everybody holds what is hardest for the protocol, instead of these values

    @property
    def people(self) -> int:
        return int(self.values.size)

    @property
    def words(self) -> str:
        ends, whole = (self.task.low, self.task.low + self.task.width), "whole " * (self.task.values <= FEW_VALUES)
        bounds = f" of {whole}numbers from {ends[0]:g} to {ends[1]:g}" if self._adds else ""
        told = f", {next(iter(self.judged))}" if self.task.cells == 1 else f", {self._cells}"
        return f"{self.task.name}{bounds}: {self.people:,} people{told}, {self.budget}"

    @property
    def _cells(self) -> str:
        if self.task.shape is Shape.K_OF:
            return f"{self.task.values} codes in {self.task.cells} cells"
        return f"{self.task.cells} categories"

    @property
    def _adds(self) -> bool:
        return self.task.shape is Shape.AMOUNT

    @property
    def holders(self) -> dict[int, int]:
        """How many people the error of each judged cell is stated for; of a sum, all of them."""
        truth = self.task.truth(self.values)
        return {cell: self.people if self._adds else round(float(truth[cell])) for cell in self.judged.values()}

    @property
    def exact(self) -> bool:
        """Whether the stated error is that of this very crowd, and not of one that is harder."""
        return self.hardest or not self._adds

    def calibrated(self, cls: type[Protocol]) -> Protocol:
        """The protocol with the smallest error for the first of the judged cells."""
        holders = next(iter(self.holders.values()))
        return calibrate(cls, self.task, Crowd(self.people), self.budget, lambda protocol: protocol.rmse(holders))

    def before(self, protocol: Protocol) -> Scenario:
        """The scenario for this protocol: with the values hardest for it, if asked for."""
        if not self.hardest:
            return self
        return replace(self, values=np.full(self.people, protocol.hardest_value, dtype=np.int64), hardest=True)


def count_scenario(people: int, ones: int, budget: Budget, task: Question | None = None) -> Scenario:
    return Scenario(task or Count(), budget, np.repeat([0, 1], [people - ones, ones]), {f"{ones:,} ones": 0})


def histogram_scenario(people: int, budget: Budget, categories: int = 20, task: Question | None = None) -> Scenario:
    """Each category has two thirds of the people of the one before it, and none has nobody; of
    families of cells, the first one is judged."""
    task = task or Histogram(categories)
    shares = 1.5 ** -np.arange(categories, dtype=np.float64)
    held = np.maximum(1, np.floor(people * shares / shares.sum())).astype(np.int64)
    held[0] += people - held.sum()
    values = np.repeat(np.arange(categories), held)
    truth = task.truth(values)
    last = task.strategy.sizes_of_families[0] if task.shape is Shape.K_OF else task.cells
    return Scenario(task, budget, values, {f"{truth[cell]:,.0f} in it": cell for cell in (0, last - 1)})


def spread_scenario(people: int, budget: Budget, task: Question | None = None) -> Scenario:
    """People hold numbers evenly spread over the range."""
    task = task or Sum((0.0, 1.0))
    values = np.rint(np.linspace(0.0, (task.values - 1), people)).astype(np.int64)
    return Scenario(task, budget, values, {"spread evenly": 0})


def hardest_scenario(people: int, budget: Budget, task: Question | None = None) -> Scenario:
    """Everybody holds the value which is hardest to estimate, by the protocol's own formulas."""
    return replace(spread_scenario(people, budget, task), judged={"all hold the hardest value": 0}, hardest=True)


def samples_directly(protocol: Protocol) -> bool:
    """Whether the protocol samples tallies from their law, without drawing each person's report."""
    return type(protocol).sample is not Protocol.sample and protocol.task.values <= FEW_VALUES


def released_totals(protocol: Protocol, values: Values, runs: int, seed: int) -> Ints:
    """Totals of released tallies, a row per run, through `sample` where values are few."""
    coins = SeededCoins(seed)
    if protocol.task.values > FEW_VALUES:
        return protocol.repeated(values, coins, runs)
    return protocol.sample(np.bincount(values, minlength=protocol.task.values), coins, runs)
