"""Instances that are calibrated for many people: budgets, crowds and tasks that tiny instances are nothing like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question

CATEGORIES = 20
MOST_PEOPLE = 100_000  # where fewer are not enough


@dataclass(frozen=True)
class AtSize:
    """A budget and a crowd; with `many` categories, if categories are counted."""

    epsilon: float
    delta: float
    crowd: Crowd
    many: bool = False

    def budget(self, protocol: Protocol) -> Budget:
        return Budget(self.epsilon, self.delta, protocol.neighbours)

    def task(self, protocol: Protocol) -> Question:
        task = protocol.task
        return Histogram(CATEGORIES) if self.many and task.shape is Shape.ONE_OF else task

    def found(self, protocol: Protocol) -> Protocol:
        """The protocol for this budget. Where the number of people is private, nothing is said of the least of them."""
        private = protocol.neighbours is Neighbours.ADD_REMOVE
        crowd = Crowd(self.crowd.size, corrupt=self.crowd.corrupt) if private else self.crowd
        return _found(type(protocol), self.task(protocol), crowd, self.budget(protocol))


@lru_cache(maxsize=64)
def _found(kind: type[Protocol], task: Question, crowd: Crowd, budget: Budget) -> Protocol:
    """Remembered, because several checks look at the same instances."""
    return calibrate(kind, task, crowd, budget)


ALWAYS = (
    AtSize(2.0, 1e-4, Crowd(1_000)),
    AtSize(0.8, 1e-6, Crowd(2_000)),
)
FURTHER = (
    AtSize(0.3, 1e-9, Crowd(20_000, least=15_000, corrupt=1_000), many=True),
    AtSize(5.0, 1e-12, Crowd(200_000), many=True),
    AtSize(1.0, 1e-5, Crowd(6_000)),
    AtSize(0.1, 1e-7, Crowd(1_000_000, corrupt=10_000), many=True),
    AtSize(1.5, 1e-10, Crowd(60_000, least=40_000)),
    AtSize(3.0, 1e-3, Crowd(500), many=True),
    AtSize(0.5, 1e-8, Crowd(40_000), many=True),
    AtSize(8.0, 1e-6, Crowd(3_000)),
    AtSize(0.2, 1e-5, Crowd(500_000)),
)


def calibrated(protocol: Protocol, situations: tuple[AtSize, ...] = ALWAYS) -> Iterator[tuple[Budget, Protocol]]:
    """An instance for each situation; for the tiny instance's own task, one among more people where few do not do.

    Nothing is claimed where the protocol refuses, and then there is nothing to look at.
    """
    for situation in situations:
        budget = situation.budget(protocol)
        try:
            yield budget, situation.found(protocol)
        except Refused:
            if situation in ALWAYS:
                yield budget, _found(type(protocol), protocol.task, Crowd(MOST_PEOPLE), budget)
