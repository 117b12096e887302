"""The grid of crowds and budgets where predictions meet simulation, and the protocols in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from headcount.audit.conformance.scenarios import (
    Scenario,
    count_scenario,
    hardest_scenario,
    histogram_scenario,
    samples_directly,
    spread_scenario,
)
from headcount.errors import Refused
from headcount.privacy.budget import Budget
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Fraction
from headcount.questions.distribution import Distribution
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from headcount.questions.table import Table

PAIRS = [("plan", "age"), ("plan", "sex"), ("age", "sex")]
RUNS = 20_000
MESSAGES = 2e8  # that all runs may have together, where every person is gone through

EASY, USUAL, STRICT, LARGE = Budget(4.0, 1e-4), Budget(1.0, 1e-6), Budget(0.5, 1e-8), Budget(2.0, 1e-5)


def parted(people: int, budget: Budget, task: Sum | None = None) -> Scenario:
    """Half of the people at either end."""
    task = task or Sum((0.0, 1.0))
    return Scenario(task, budget, np.arange(people) % 2 * task.steps, {"half at either end": 0})


def situations() -> Iterator[Scenario]:
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
            yield count_scenario(people, ones, budget)
        for people, ones in ((2_000, 150), (50_000, 25_000)):
            yield count_scenario(people, ones, budget, Fraction())
        for people, categories in ((20_000, 20), (1_000_000, 50)):
            yield histogram_scenario(people, budget, categories)
    yield histogram_scenario(300, EASY, 4)
    yield histogram_scenario(500, LARGE, 10)
    yield histogram_scenario(1_000, USUAL, 4)
    yield histogram_scenario(2_000, USUAL, 20)
    for budget in (EASY, USUAL):
        yield spread_scenario(300, budget)
        yield parted(300, budget, Sum((-5.0, 10.0)))
        yield hardest_scenario(300, budget)
        yield hardest_scenario(500, budget, Sum.whole((0, 4)))
        yield spread_scenario(300, budget, Mean.whole((0, 120)))
        yield parted(300, budget, Mean((0.0, 1.0)))
        yield hardest_scenario(300, budget, Mean((0.0, 1.0)))
        yield hardest_scenario(500, budget, Mean.whole((0, 3)))
    yield spread_scenario(1_000, USUAL)
    yield hardest_scenario(1_000, STRICT)
    for budget in (EASY, USUAL):
        yield histogram_scenario(3_000, budget, 16, Distribution((0.0, 16.0), 16, radices=(4, 4)))
    yield histogram_scenario(3_000, USUAL, 18, Table({"plan": 3, "age": 3, "sex": 2}, measured=PAIRS))


def answering(task: Question) -> Iterable[type[Protocol]]:
    return (cls for cls in CATALOGUE if cls.answers(task))


def entrant(cls: type[Protocol], situation: Scenario, runs: int = RUNS) -> Protocol | None:
    """The protocol as judged in a situation; None if it cannot serve, or would send too much."""
    try:
        protocol = situation.calibrated(cls)
    except Refused:
        return None
    messages = runs * situation.people * max(1.0, protocol.messages_per_person)
    return protocol if samples_directly(protocol) or messages <= MESSAGES else None
