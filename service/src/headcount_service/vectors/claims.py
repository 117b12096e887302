"""Test vectors of privacy claims: each protocol's plan, its delta, and a report's local epsilon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headcount.common.canonical import canonical
from headcount.common.short_decimals import rounded_up
from headcount.errors import Unsupported
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import CUT, Wire
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum

CROWD = Crowd(50_500, 50_000, 500)
PURE, BUDGET = Budget(1.0), Budget(1.0, 1e-6)
LONGEST = 50_000  # characters; tables that are longer are left out
TASKS: tuple[Question, ...] = (Count(), Histogram(5), Sum((0, 10), steps=10))


def claims() -> Iterator[dict[str, Any]]:
    """Plans as told to devices, the delta at the budget's epsilon, and one report's own epsilon."""
    for kind in (each for each in CATALOGUE if each.collectable()):
        task = next((task for task in TASKS if kind.answers(task)), kind.tiny().task)
        try:
            plan = planned(kind, task)
        except Unsupported:  # it would take more messages than a person may be asked to send
            continue
        told = plan.to_json()
        if len(canonical(told)) <= LONGEST:
            delta = rounded_up(plan.loss.delta(plan.budget.epsilon))
            known = {"delta": delta, "alone": plan.protocol.local_epsilon}
            yield {"protocol": kind.name, "plan": told, **known}


def planned(kind: type[Protocol], task: Question) -> Plan:
    budget = PURE if kind.model is Model.LOCAL else BUDGET
    evenly: dict[str, Any] = {"even": True} if "even" in kind.options else {}
    protocol = calibrate(kind, task, CROWD, replace(budget, delta=(1.0 - CUT) * budget.delta), **evenly)
    return Plan(protocol, budget, Wire.of(protocol, budget))
