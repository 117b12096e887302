"""Which algorithm should company A use? Three made-up crowds, by papers' constants and exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.audit.conformance.scenarios import count_scenario, released_totals
from headcount.errors import Refused
from headcount.planner.advice import Advice
from headcount.planner.advise import advise
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.programme.tally import Tally
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount_survey.pages.situations import RUNS

BUDGET = Budget(1.0, 1e-6)
NOTES = ("zsum", "sample-threshold")  # the two algorithms between which the company hesitates
LIMIT = 5.0
TRUST = {
    "a shuffler": (Model.SHUFFLE, Model.LOCAL),
    "a shuffler that drops small counts": (Model.THRESHOLD, Model.SHUFFLE, Model.LOCAL),
    "the analyser": tuple(Model),
    "nobody": (Model.LOCAL,),
}


@dataclass(frozen=True)
class Answer:
    """A plan, or why there is none, and its root mean square error, predicted and simulated."""

    by: str
    name: str
    protocol: Protocol | None
    predicted: float = math.inf
    simulated: float = math.inf
    z: float = 0.0
    why: str = ""

    @property
    def spent(self) -> float:
        """The epsilon that it really costs."""
        return self.protocol.loss.epsilon(BUDGET.delta) if self.protocol else math.nan


@dataclass(frozen=True)
class Case:
    """A made-up crowd of `people`, with a number of ones."""

    title: str
    people: int
    ones: int
    runs: int = RUNS

    def _answer(self, by: str, protocol: Protocol, why: str = "") -> Answer:
        """Simulated too: the z compares the mean squares."""
        people = count_scenario(self.people, self.ones, BUDGET)
        tallies = released_totals(protocol, people.values, self.runs, self.ones)
        errors = np.array([protocol.point(Tally(self.people, row))[0] for row in tallies]) - self.ones
        noise, squares = protocol.noise(self.ones, self.people), errors**2
        predicted = float(noise.masses @ noise.values**2) / float(noise.masses.sum())
        fourth = float(noise.masses @ noise.values**4) / float(noise.masses.sum())
        spread = max(float(squares.std()), math.sqrt(max(0.0, fourth - predicted**2))) / math.sqrt(self.runs)
        z = (float(squares.mean()) - predicted) / spread if spread else 0.0
        rmse = protocol.rmse(self.ones)
        return Answer(by, protocol.name, protocol, rmse, math.sqrt(float(squares.mean())), z, why)

    @cached_property
    def papers(self) -> list[Answer]:
        """The protocols with the parameters of the papers' closed forms."""
        found, crowd = [], Crowd(self.people)
        for name in NOTES:
            cls = named(name)
            try:
                found.append(self._answer("the papers' constants", cls(crowd=crowd, **cls.published(BUDGET, crowd))))
            except Refused:
                found.append(Answer("the papers' constants", name, None, why=f"needs {published_need():,} people"))
        return found

    @cached_property
    def exact(self) -> list[Answer]:
        """The same two, with the least noise that the budget really asks for."""
        plans = [
            calibrate(named(name), Count(), Crowd(self.people), BUDGET, lambda plan: plan.rmse(self.ones))
            for name in NOTES
        ]
        return [self._answer("exact accounting", plan) for plan in plans]

    @cached_property
    def advised(self) -> dict[str, Answer]:
        """The advised plan for each model of trust, from the whole catalogue."""
        found = {}
        for trust, models in TRUST.items():
            advice = self._advice(models)
            found[trust] = self._answer(f"the advisor, trusting {trust}", advice.best.protocol, advice.why())
        return found

    def _advice(self, models: tuple[Model, ...]) -> Advice:
        budget, trusted = BUDGET, [str(model) for model in models]
        return advise(
            Count(), n=self.people, epsilon=budget.epsilon, delta=budget.delta, ones=self.ones, models=trusted
        )

    @property
    def answers(self) -> Iterator[Answer]:
        return iter([*self.papers, *self.exact, *self.advised.values()])

    @cached_property
    def paper(self) -> Answer:
        """The choice by the papers' constants."""
        return min(self.papers, key=lambda answer: answer.predicted)

    @cached_property
    def better(self) -> Answer:
        """The better of the same two by exact accounting."""
        return min(self.exact, key=lambda answer: answer.predicted)

    @property
    def best(self) -> Answer:
        return self.advised["a shuffler"]

    @property
    def shrinks(self) -> float:
        return self.paper.predicted / self.best.predicted

    @property
    def confirmed(self) -> bool:
        return all(abs(answer.z) <= LIMIT for answer in self.answers)


CASES = (
    Case("I. Few people, many of whom hold a one", 1_000, 400),
    Case("II. Very many people, hardly any of whom holds a one", 1_000_000, 60),
    Case("III. In between, where the two are roughly equal", 10_000, 350),
)


def published_need() -> int:
    """The fewest people for zsum's closed form: its chance is a half there, and falls with n."""
    return math.ceil(2.0 * float(named("zsum").published(BUDGET, Crowd(1))["gamma"]))
