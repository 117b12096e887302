"""Plans for a question, a crowd and a budget: by a model's best protocol or a named one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from headcount.common.calls import checked
from headcount.errors import BadArgument, BadData, Unsupported
from headcount.phrases import Phrase
from headcount.planner.advise import advise
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget, Neighbours
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question

IMAGINED = 10_000  # people by whom errors are judged where their number is private


def crowd_for(task: Question, people: int, each: int, budget: Budget) -> Crowd:
    """The crowd to plan for; a nominal one where the number of people is private."""
    if budget.neighbours.hides_size:
        return Crowd(1, each=each)
    if not people:
        raise BadData("data is empty", f"a {task.name} needs at least one person")
    return Crowd(people, each=each)


def plan_for(
    task: Question,
    crowd: Crowd,
    budget: Budget,
    model: str | None,
    name: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Plan:
    """The plan for such a crowd: the best of the model, or of the protocol of this name."""
    cls = named(name) if name else None
    trusted = cls.model if cls else Model(model or Model.CENTRAL)
    if budget.neighbours.hides_size and trusted not in (Model.CENTRAL, Model.DUMMIES):
        raise Unsupported(
            Phrase("{neighbours} needs {model} or 'shuffle-dummies'", neighbours="add-remove", model="central"),
            "elsewhere the number of people is public, or, with a shuffler that drops small counts, must be planned "
            "for, by advice whose plan is then run",
        )
    if cls is not None:
        if model is not None and Model(model) is not trusted:
            raise BadArgument("model", f"is {model!r}, but {name} is of the {trusted} model", "leave one of them out")
        return Plan(calibrate(cls, task, crowd, budget, **parameters), budget)
    if parameters:
        raise BadArgument("parameters", "needs protocol", "name the protocol whose parameters they are")
    return _best(task, crowd, budget, trusted)


def _best(task: Question, crowd: Crowd, budget: Budget, trusted: Model) -> Plan:
    serving = [cls for cls in CATALOGUE if cls.model is trusted and cls.answers(task)]
    if not serving and task.shape is Shape.KEY:
        works = Phrase("the {} model needs them; or use {model} for unknown labels", trusted, model="central")
        raise BadArgument("categories", "is missing", works)
    if not serving:
        raise Unsupported(f"no protocol of the {trusted} model answers a {task.name}")
    if budget.delta == 0.0 and not any(cls.pure for cls in serving):
        cannot = (
            "and labels that nobody listed need more"
            if task.shape is Shape.KEY
            else f"which the {trusted} model cannot give"
        )
        raise BadArgument("delta", f"is 0, {cannot}", Phrase("use for example {delta}", delta=1e-6))
    private = budget.neighbours.hides_size
    best = advise(
        task,
        n=IMAGINED if private else crowd.size,
        epsilon=budget.epsilon,
        delta=budget.delta,
        neighbours=budget.neighbours,
        models=[trusted],
        max_contributions=crowd.each,
    ).best
    return Plan(best.protocol.among(crowd), budget) if private else best


@checked
def protocol(
    name: str,
    task: Question | None = None,
    *,
    n: int,
    epsilon: float | None = None,
    delta: float | None = None,
    neighbours: str = "replace",
    least: int | None = None,
    corrupt: int = 0,
    **parameters: Any,
) -> Protocol:
    """A protocol by name: calibrated to a budget, or with given parameters and computable loss.

    Parameters
    ----------
    name : str
        Of a protocol of the catalogue, for example "zsum".
    task : Question, optional
        What is asked; a count unless given.
    n : int
        People who are expected.
    epsilon, delta : float, optional
        The privacy budget to calibrate to. Without epsilon, the parameters must be given.
    neighbours : str
        The adjacency: "replace" or "add-remove".
    least, corrupt : int
        Reports without which nothing is released (all unless given), and how many of them may come
        from people who do not follow the protocol.
    parameters
        Parameters of the protocol that are fixed, such as `gamma`.

    Returns
    -------
    Protocol
        The mechanism; `loss` is what it costs.

    Raises
    ------
    errors.BadArgument
        If an argument is missing, not known or out of range.
    errors.Unsupported
        If the protocol does not answer this question, or not under this adjacency.
    errors.Infeasible
        If it cannot meet the budget with `n` people.
    errors.OverBudget
        If it is not within the budget with the parameters that are fixed.

    Examples
    --------
    >>> calibrated = hc.protocol("zsum", n=1_000, epsilon=1, delta=1e-6)
    >>> calibrated.loss.delta(1) <= 1e-6
    True
    >>> given = hc.protocol("zsum", n=1_000, gamma=0.04)
    >>> 1e-7 < given.loss.delta(1) < 2e-7
    True
    """
    cls, crowd = named(name), Crowd(n, n if least is None else least, corrupt)
    if task is None:
        if Shape.BIT not in cls.shapes:
            raise BadArgument("task", "is missing", f"give one: {name} answers {' or '.join(cls.question_names())}")
        task = Count()
    if epsilon is not None:
        budget = Budget(epsilon, delta or 0.0, Neighbours(neighbours))
        return calibrate(cls, task, crowd, budget, **parameters)
    if delta is not None:
        raise BadArgument("epsilon", "is missing while delta is given", "give both to calibrate, neither to price")
    return _given(cls, task, crowd, neighbours, parameters)


def _given(cls: type[Protocol], task: Question, crowd: Crowd, neighbours: str, parameters: dict[str, Any]) -> Protocol:
    needed, allowed = cls.parameter_names()
    for name in parameters:
        if name not in allowed:
            raise BadArgument(name, f"is not a parameter of {cls.name}", f"it has {', '.join(allowed)}")
    for name in needed:
        if name not in parameters:
            raise BadArgument(name, f"is missing for {cls.name}", "give it, or epsilon and delta to calibrate")
    return cls(task=task, crowd=crowd, neighbours=Neighbours(neighbours), **parameters)
