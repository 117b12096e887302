"""One question, answered by the best protocol of every model of trust, on the same people.

Internal: docs/api.md lists what is public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from headcount.common.calls import checked
from headcount.engines.engine import Rows, engine_for
from headcount.errors import BadArgument, Infeasible, MissingExtra, Refused
from headcount.ledger.allowance import up
from headcount.ledger.ledger import Ledger
from headcount.phrases import Phrase
from headcount.planner.comparison import Comparison, Side
from headcount.planner.planning import crowd_for, plan_for
from headcount.privacy.approximate_dp import ApproximateDP
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.compose import compose
from headcount.privacy.loss import PrivacyLoss
from headcount.privacy.model import Model
from headcount.protocols.base.plan import Plan
from headcount.questions import implied, required
from headcount.questions.question import Question
from headcount.running import carry_out
from headcount.types import Bounds, Data, Labels, PersonIds, Relation, Where


@checked
def compare(
    data: Data,
    task: Question | None = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    neighbours: Relation = "replace",
    column: str | None = None,
    where: Where | None = None,
    unit: PersonIds | None = None,
    max_contributions: int | None = None,
    bounds: Bounds | None = None,
    clip: bool = False,
    categories: Labels | None = None,
    other: bool = False,
    ledger: Ledger | None = None,
) -> Comparison:
    """The price of trust on your data: run the best protocol of every model of trust, side by side.

    Every answer is really drawn and costs (epsilon, delta). The comparison says what all of them
    cost together.

    Parameters
    ----------
    data, column, where, unit, max_contributions
        As for `ask`.
    task : Question, optional
        What is asked; a count unless given.
    epsilon, delta : float
        The privacy budget of each answer.
    neighbours : str
        The adjacency: "replace" or "add-remove".
    bounds, clip
        Ask for a sum instead, as for `sum`.
    categories, other
        Ask for a histogram instead, as for `histogram`.
    ledger : Ledger, optional
        The ledger that is charged: for all answers before the first is drawn, or for none.

    Returns
    -------
    Comparison
        An answer of each model, or why it has none, and what all of them cost together.

    Raises
    ------
    errors.BadData, errors.BadArgument
        If the data do not fit the question, or the arguments each other.
    errors.Unsupported
        If the question cannot be asked under this adjacency.
    errors.Infeasible
        If no model can answer.
    errors.OverBudget
        If less than that is left in the ledger.

    Examples
    --------
    >>> comparison = hc.compare([1] * 300 + [0] * 700, epsilon=1)
    >>> 250 < comparison["central"].value < 350
    True
    >>> print(comparison.together)
    (ε=2, δ=0)
    """
    rows = Rows(data, column=column, where=where, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours(neighbours))
    budget.require_hidden(rows.most or 1)
    asked = _task(task, bounds, clip, categories, other).planned(private=budget.neighbours.hides_size)
    engine = engine_for(data)
    answers = engine.answers(asked, rows)
    crowd = crowd_for(asked, answers.size, rows.most or 1, budget)
    plans: dict[Model, Plan] = {}
    reasons: dict[Model, str] = {}
    for model in Model:
        try:
            plans[model] = plan_for(asked, crowd, budget, model)
        except Refused as refusal:
            reasons[model] = refusal.reason
    if not plans:
        raise Infeasible(Phrase.joined("; ", [Phrase("{}: {}", *each) for each in reasons.items()]))
    answered = carry_out([*plans.values()], answers, engine, ledger=ledger, column=rows.title)
    rules = tuple(rows.rules(asked))
    drawn = {model: replace(each, rules=rules, most=rows.most) for model, each in zip(plans, answered, strict=True)}
    sides = tuple(Side(model, drawn.get(model), reasons.get(model, "")) for model in Model)
    return Comparison(asked, budget, together([*plans.values()]), sides)


def _task(task: Question | None, bounds: Bounds | None, clip: bool, categories: Labels | None, other: bool) -> Question:
    given = [name for name, part in (("bounds", bounds), ("categories", categories)) if part is not None]
    if task is not None and given:
        raise BadArgument(given[0], "is given together with task", "leave one of them out")
    if clip and bounds is None:
        raise BadArgument("clip", "needs bounds", Phrase("give {bounds}, or say it in the task", bounds=(0, 120)))
    if other and categories is None:
        raise BadArgument("other", "needs categories", "name the categories that are not other")
    if task is not None:
        return required("task", task)
    return implied(bounds=bounds, clip=clip, categories=categories, other=other)


def together(plans: Sequence[Plan]) -> Budget:
    """What the plans cost the same people, rounded up: at most the sums of epsilons and deltas."""
    epsilon = sum(Fraction(plan.budget.epsilon) for plan in plans)
    delta = min(sum(Fraction(plan.budget.delta) for plan in plans), Fraction(1, 2))
    try:
        composed = compose([_loss(plan) for plan in plans]).epsilon(float(delta))
    except MissingExtra:
        composed = math.inf
    rounded = math.ceil(composed * 1_000) / 1_000 if math.isfinite(composed) else math.inf
    return Budget(min(up(Fraction(epsilon)), rounded), up(Fraction(delta)), plans[0].budget.neighbours)


def _loss(plan: Plan) -> PrivacyLoss:
    """A sampled histogram, slow to compute, is charged as any mechanism of its budget would be."""
    slow = plan.protocol.model is Model.THRESHOLD and plan.protocol.task.shape.several
    return ApproximateDP(plan.budget) if slow else plan.protocol.loss
