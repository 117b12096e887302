"""What has been spent on one crowd. A question that would exceed the budget is refused before anything is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Lock
from typing import Literal

import numpy as np

from headcount.core.budget import Budget, Neighbours
from headcount.core.errors import BadArgument, OverBudget, Unsupported
from headcount.core.law import Floats
from headcount.core.loss import PrivacyLoss
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.privacy.compose import compose


@dataclass(frozen=True, eq=False)
class AnyMechanism(PrivacyLoss):
    """The worst that (epsilon, delta) allows: everything with chance delta, else a randomised response at epsilon."""

    budget: Budget
    kind: Literal["exact", "bound"] = "bound"

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        pure, delta = self.budget.epsilon, self.budget.delta
        high = -np.expm1(np.minimum(epsilon - pure, 0.0)) / (1.0 + math.exp(-pure))
        worst = delta + (1.0 - delta) * high
        return worst, worst


class Ledger:
    """The budget of one crowd for all the questions it is asked."""

    def __init__(self, *, epsilon: float, delta: float = 0.0, neighbours: str = "replace") -> None:
        self.budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
        self._losses: list[PrivacyLoss] = []
        self._lock = Lock()

    @property
    def spent(self) -> float:
        """The epsilon of all answers so far together, at the ledger's delta; rounded up."""
        return _epsilon(self._losses, self.budget.delta)

    @property
    def remaining(self) -> float:
        return max(0.0, self.budget.epsilon - self.spent)

    @property
    def questions(self) -> int:
        return len(self._losses)

    def would_cost(
        self, question: Plan | Protocol | None = None, *, epsilon: float | None = None, delta: float = 0.0
    ) -> float:
        """How much `spent` would grow by this question, or by any mechanism with this (epsilon, delta)."""
        if question is None:
            if epsilon is None:
                raise BadArgument("question", "is missing", "give a plan, a protocol, or epsilon= and delta=")
            loss: PrivacyLoss = AnyMechanism(Budget(epsilon, delta, self.budget.neighbours))
        else:
            loss = self._loss(question)
        return _epsilon([*self._losses, loss], self.budget.delta) - self.spent

    def charge(self, question: Plan | Protocol) -> None:
        """Spends what the question costs, or refuses and spends nothing."""
        loss = self._loss(question)
        with self._lock:
            together = _epsilon([*self._losses, loss], self.budget.delta)
            if together > self.budget.epsilon:
                raise OverBudget(
                    f"this question would bring the ledger to epsilon={together:.4g} at delta={self.budget.delta:g}, "
                    f"over its {self.budget.epsilon:g}; {self.spent:.4g} is spent. Ask with a smaller epsilon"
                )
            self._losses.append(loss)

    def _loss(self, question: Plan | Protocol) -> PrivacyLoss:
        protocol = question.protocol if isinstance(question, Plan) else question
        if protocol.neighbours is not self.budget.neighbours:
            raise Unsupported(
                f"the ledger counts in neighbours='{self.budget.neighbours}' and the question in "
                f"'{protocol.neighbours}'; use one relation for both"
            )
        return protocol.loss

    def __repr__(self) -> str:
        return (
            f"Ledger: {self.spent:.4g} of {self.budget} spent on {self.questions} questions, {self.budget.neighbours}"
        )


def _epsilon(losses: list[PrivacyLoss], delta: float) -> float:
    """Of all losses together: the sum of the pure ones, or the composition's where that is less."""
    if not losses:
        return 0.0
    pure = sum(loss.epsilon(0.0) for loss in losses)
    return min(pure, compose(losses).epsilon(delta)) if delta else pure
