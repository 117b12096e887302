"""A series of people who come in one round, told by one release about all of its rounds.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from headcount.answers.arrivals import ArrivalsEstimate
from headcount.answers.linear import Linear
from headcount.planner.blocks_of_rounds import BlockWidths
from headcount.protocols.base.plan import Plan
from headcount.questions.domains.domain import Label
from headcount.rounds import Series


class ArrivalsInRounds(Series):
    """A series whose rounds, and sums of them, are all sums of the cells of one answer."""

    whole: ArrivalsEstimate

    @classmethod
    def counted(cls, plan: Plan, begins: Sequence[str], asks: str, rules: tuple[str, ...]) -> Self:
        """The series of these rounds, which is paid for."""
        return cls.of_events(plan, begins, BlockWidths((1,), len(begins), 0.0), asks, rules)

    def take_whole(self, whole: ArrivalsEstimate) -> Self:
        """The same with its answer."""
        self.whole = whole
        self._answers = [whole] * self.rounds
        return self

    @property
    def _several(self) -> bool:
        return False

    @property
    def _counts(self) -> str:
        return "people"

    @property
    def _most(self) -> int:
        return self.plan.protocol.crowd.each

    def cumulative(self, last: int | None = None, *, first: int = 1, cell: Label | None = None) -> Linear:
        last, first = self._stretch(last, first)
        return self.linear(dict.fromkeys(range(first, last + 1), 1.0), cell=cell)

    def _so_far(self, last: int, cell: Label | None) -> Linear:
        return self.cumulative(last, cell=cell)

    def linear(self, weights: Mapping[int, float], *, cell: Label | None = None) -> Linear:
        self._require_answers(weights)
        each = np.zeros(self.rounds)
        each[[number - 1 for number in weights]] = [*weights.values()]
        return replace(self.whole.linear(each), promises=(self.promise,))
