"""Questions to the advisor: what is asked of whom, what may be trusted, and what people hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from headcount.audit.conformance.scenarios import released_totals
from headcount.planner.advice import Advice
from headcount.planner.advise import advise
from headcount.privacy.budget import Budget
from headcount.privacy.model import Model
from headcount.programme.field import Values
from headcount.programme.law import Floats
from headcount.programme.tally import Tally
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count, Fraction
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from headcount_survey.pages.situations import STRICT, USUAL

ALL = tuple(Model)
NOT_CENTRAL = (Model.SHUFFLE, Model.LOCAL)
DROPS = (Model.THRESHOLD, Model.SHUFFLE)
LOCAL = (Model.LOCAL,)


@dataclass(frozen=True)
class Asked:
    """A question to the advisor, with the people per category, or with a one; none for sums."""

    task: Question
    people: int
    budget: Budget
    trusted: tuple[Model, ...] = ALL
    held: tuple[int, ...] = ()
    objective: str = "rmse"

    def advice(self) -> Advice:
        ones = None if not self.held else self.held[0] if len(self.held) == 1 else list(self.held)
        return advise(
            self.task,
            n=self.people,
            epsilon=self.budget.epsilon,
            delta=self.budget.delta,
            ones=ones,
            models=[str(model) for model in self.trusted],
            objective=self.objective,
        )

    def values(self, protocol: Protocol, held: tuple[int, ...]) -> Values:
        """People's values; for sums, everybody's is the hardest for the protocol."""
        if self.task.shape is Shape.AMOUNT:
            return np.full(self.people, protocol.hardest_value, dtype=np.int64)
        if self.task.shape.several:
            return np.repeat(np.arange(len(held)), held)
        return np.repeat([0, 1], [self.people - held[0], held[0]])

    def errors(self, protocol: Protocol, runs: int, seed: int, held: tuple[int, ...]) -> Floats:
        """Errors in people, a row a run."""
        values = self.values(protocol, held)
        distinct, where = np.unique(released_totals(protocol, values, runs, seed), axis=0, return_inverse=True)
        points = np.array([protocol.point(Tally(values.size, row)) for row in distinct])
        return np.asarray((points - self.task.truth(values))[where], dtype=np.float64)

    @property
    def words(self) -> str:
        what = f"{self.task.cells} bins, " if self.task.shape.several else ""
        what += f"{self.held[0]:,} ones, " if len(self.held) == 1 else ""
        trusted = "any" if self.trusted == ALL else " or ".join(self.trusted)
        return f"{self.task.name}, {what}{self.people:,} people, {self.budget}, {trusted}"


def grid() -> Iterator[Asked]:
    for budget in (USUAL, STRICT):
        for people, ones in ((1_000, 400), (1_000, 10), (10_000, 200), (1_000_000, 60)):
            for trusted in (ALL, NOT_CENTRAL, DROPS):
                yield Asked(Count(), people, budget, trusted, (ones,))
        yield Asked(Count(), 100_000, budget, DROPS, (0,))
        yield Asked(Fraction(), 5_000, budget, NOT_CENTRAL, (1_000,))
        for trusted in (ALL, NOT_CENTRAL, LOCAL):
            yield Asked(Histogram(10), 2_000, budget, trusted, _falling(2_000, 10))
        for objective in ("interval", "detectable"):
            yield Asked(Count(), 2_000, budget, ALL, (100,), objective)
            yield Asked(Count(), 2_000, budget, NOT_CENTRAL, (100,), objective)
        for objective in ("interval", "worst-bin"):
            yield Asked(Histogram(10), 2_000, budget, NOT_CENTRAL, _falling(2_000, 10), objective)
        yield Asked(Histogram(50), 20_000, budget, (Model.CENTRAL, *DROPS), _falling(20_000, 50), "worst-bin")
        for trusted in (ALL, NOT_CENTRAL, LOCAL):
            yield Asked(Sum((0.0, 1.0)), 500, budget, trusted)
        yield Asked(Sum.whole((0, 4)), 500, budget, NOT_CENTRAL, (), "interval")
        yield Asked(Mean((0.0, 120.0)), 500, budget, NOT_CENTRAL)


def _falling(people: int, bins: int) -> tuple[int, ...]:
    """Each bin has two thirds of the people of the one before it; the last ones are empty."""
    shares = 1.5 ** -np.arange(bins, dtype=np.float64)
    held = np.floor(people * shares / shares.sum() - 5.0).clip(0.0).astype(np.int64)
    held[0] += people - held.sum()
    return tuple(held.tolist())
