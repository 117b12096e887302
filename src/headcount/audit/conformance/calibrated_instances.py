"""Protocols calibrated for large crowds: budgets, crowds and tasks far from tiny instances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from headcount.errors import Refused
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question

CATEGORIES = 20
MOST_PEOPLE = 100_000  # where fewer are not enough


@dataclass(frozen=True)
class CalibrationCase:
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
        """The protocol calibrated for this case. Where the number of people is private, no least
        number of reports is stated."""
        private = protocol.neighbours.hides_size
        crowd = Crowd(self.crowd.size, corrupt=self.crowd.corrupt) if private else self.crowd
        return _calibrated(type(protocol), self.task(protocol), crowd, self.budget(protocol))


@lru_cache(maxsize=64)
def _calibrated(kind: type[Protocol], task: Question, crowd: Crowd, budget: Budget) -> Protocol:
    """Cached, because several checks use the same instances."""
    return calibrate(kind, task, crowd, budget)


CORE_CASES = (CalibrationCase(2.0, 1e-4, Crowd(1_000)), CalibrationCase(0.8, 1e-6, Crowd(2_000)))
FURTHER_CASES = (
    CalibrationCase(0.3, 1e-9, Crowd(20_000, least=15_000, corrupt=1_000), many=True),
    CalibrationCase(5.0, 1e-12, Crowd(200_000), many=True),
    CalibrationCase(1.0, 1e-5, Crowd(6_000)),
    CalibrationCase(0.1, 1e-7, Crowd(1_000_000, corrupt=10_000), many=True),
    CalibrationCase(1.5, 1e-10, Crowd(60_000, least=40_000)),
    CalibrationCase(3.0, 1e-3, Crowd(500), many=True),
    CalibrationCase(0.5, 1e-8, Crowd(40_000), many=True),
    CalibrationCase(8.0, 1e-6, Crowd(3_000)),
    CalibrationCase(0.2, 1e-5, Crowd(500_000)),
)


def calibrated_instances(
    protocol: Protocol, situations: tuple[CalibrationCase, ...] = CORE_CASES
) -> Iterator[tuple[Budget, Protocol]]:
    """An instance for each case; for a core case that is refused, one of the tiny instance's own
    task with `MOST_PEOPLE` people.

    Where the protocol refuses another case it claims nothing, and there is nothing to check.
    """
    for situation in situations:
        budget = situation.budget(protocol)
        try:
            yield budget, situation.found(protocol)
        except Refused:
            if situation in CORE_CASES:
                yield budget, _calibrated(type(protocol), protocol.task, Crowd(MOST_PEOPLE), budget)
