r"""What no protocol can do, however many people: come closer to the truth than the budget allows.

Let m people hold something else: they are replaced, in m steps from neighbour to neighbour, or leave and others come,
in 2m. If 2w < m, the intervals of half-width w around both truths have nothing in common, so that a coverage c needs,
after k steps,
$$c \le e^{k\epsilon}(1 - c) + \delta\,(1 + e^\epsilon + \dots + e^{(k-1)\epsilon}).$$
"""

from __future__ import annotations

import math

from headcount.errors import Infeasible
from headcount.planner.objective import Objective
from headcount.planner.option import number
from headcount.privacy.budget import Budget
from headcount.questions.domains.domain import REBUILT
from headcount.questions.question import Question

MOST_PEOPLE = 10.0**10  # more than there are
MOST_APART = 10_000  # people: as good a bound as is needed
ROUNDED = 1e-9  # relatively: nothing is refused that is as close as that to the bound


def least_half_width(budget: Budget, confidence: float) -> float:
    """In people: no protocol's interval is narrower in all crowds larger than its width."""
    grown, lost, times = 1.0, 0.0, math.exp(budget.epsilon)
    each = 2 if budget.neighbours.hides_size else 1
    for steps in range(each * MOST_APART):
        grown, lost = grown * times, lost + budget.delta * grown
        if confidence <= grown * (1.0 - confidence) + lost:
            return (steps // each) / 2.0
    return MOST_APART / 2.0


def require_reachable(
    question: Question, budget: Budget, objective: Objective, confidence: float, within: float
) -> None:
    """Refuse a half-width that no protocol has, with any number of people."""
    if objective not in (Objective.INTERVAL, Objective.WORST_BIN) or question.shape in REBUILT or question.paired:
        return
    least = (1.0 - ROUNDED) * least_half_width(budget, confidence) * question.unit(int(MOST_PEOPLE))
    if within < least:
        problem = f"no protocol comes within {number(within)} with this budget, however many people there are"
        raise Infeasible(problem, f"use a larger budget, or allow more than {number(least)}")
