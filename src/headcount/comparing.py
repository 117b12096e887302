"""One question, answered by the best protocol of every model of trust, on the same people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from headcount.ask import asked_of, plan_for, ready
from headcount.core.budget import Budget, Neighbours
from headcount.core.errors import BadArgument, Infeasible, MissingExtra, Refused
from headcount.core.histogram import Histogram
from headcount.core.loss import PrivacyLoss
from headcount.core.model import Model
from headcount.core.plan import Plan
from headcount.core.task import Count, Sum, Task
from headcount.engines.choice import engine_for
from headcount.engines.engine import Rows
from headcount.ledger.allowance import up
from headcount.ledger.ledger import Ledger
from headcount.planner.comparison import Comparison, Side
from headcount.privacy.any_mechanism import AnyMechanism
from headcount.privacy.compose import compose
from headcount.running import carry_out


def compare(
    data: Any, task: Task | None = None, *, epsilon: float, delta: float = 0.0, neighbours: str = "replace",
    column: str | None = None, where: object = None, unit: Any = None, max_contributions: int | None = None,
    bounds: Any = None, clip: bool = False, categories: Any = None, other: bool = False, ledger: Ledger | None = None,
) -> Comparison:  # fmt: skip
    """The price of trust on your own data: the best protocol of every model of trust is run, side by side.

    The task is a count unless told; `bounds` asks for a sum and `categories` for a histogram, with `clip` and `other`
    as for `sum` and `histogram`. `column`, `where` and `unit` are as for `count`. Every answer is really drawn and
    costs (epsilon, delta): the comparison says what all of them cost together. With a ledger, all are charged before
    the first is drawn, or none.
    """
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    budget.require_hidden(max_contributions or 1)
    asked = _task(task, bounds, clip, categories, other)
    asked, engine = ready(asked, budget), engine_for(data)
    answers = engine.answers(asked, Rows(data, column=column, where=where, unit=unit, most=max_contributions))
    crowd = asked_of(asked, answers.size, max_contributions or 1, budget)
    plans: dict[Model, Plan] = {}
    reasons: dict[Model, str] = {}
    for model in Model:
        try:
            plans[model] = plan_for(asked, crowd, budget, model)
        except Refused as refusal:
            reasons[model] = str(refusal)
    if not plans:
        raise Infeasible("; ".join(f"{model}: {reason}" for model, reason in reasons.items()))
    drawn = dict(zip(plans, carry_out([*plans.values()], answers, engine, ledger=ledger), strict=True))
    sides = tuple(Side(model, drawn.get(model), reasons.get(model, "")) for model in Model)
    return Comparison(asked, budget, together(list(plans.values())), sides)


def _task(task: Task | None, bounds: Any, clip: bool, categories: Any, other: bool) -> Task:
    given = [
        name for name, part in (("task", task), ("bounds", bounds), ("categories", categories)) if part is not None
    ]
    if len(given) > 1:
        raise BadArgument(given[1], f"is given together with {given[0]}", "leave one of them out")
    if clip and bounds is None:
        raise BadArgument("clip", "needs bounds", "give bounds=(0, 120), or say it in the task")
    if other and categories is None:
        raise BadArgument("other", "needs categories", "name the categories that are not other")
    if task is not None:
        if not isinstance(task, Task):
            raise BadArgument("task", f"is {task!r}", "use for example hc.Mean((0, 120))")
        return task
    if bounds is not None:
        return Sum(bounds, clip=clip)
    return Count() if categories is None else Histogram(categories, other=other)


def together(plans: Sequence[Plan]) -> Budget:
    """What all the plans cost the same people, rounded up: never more than the sums of their epsilons and deltas."""
    epsilon = sum(Fraction(plan.budget.epsilon) for plan in plans)
    delta = min(sum(Fraction(plan.budget.delta) for plan in plans), Fraction(1, 2))
    try:
        composed = compose([_loss(plan) for plan in plans]).epsilon(float(delta))
    except MissingExtra:
        composed = math.inf
    rounded = math.ceil(composed * 1_000) / 1_000 if math.isfinite(composed) else math.inf
    return Budget(min(up(Fraction(epsilon)), rounded), up(Fraction(delta)), plans[0].budget.neighbours)


def _loss(plan: Plan) -> PrivacyLoss:
    """A sampled histogram's curve takes a minute to follow; it is charged as any mechanism of its budget would be."""
    slow = plan.protocol.model is Model.THRESHOLD and isinstance(plan.protocol.task, Histogram)
    return AnyMechanism(plan.budget) if slow else plan.protocol.loss
