"""From data to an answer: take in, randomise, tally, release, estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headcount.core.budget import Budget, Neighbours
from headcount.core.coins import Coins, SecretCoins
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, Unsupported
from headcount.core.estimate import Estimate
from headcount.core.plan import Plan
from headcount.core.protocol import Model, Protocol
from headcount.core.tally import Tally
from headcount.core.task import Count, Task
from headcount.engines.engine import Engine
from headcount.engines.intake import people
from headcount.engines.memory import MemoryEngine
from headcount.planner.advise import advise, parsed_model
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE, named


def run(plan: Plan, data: Any, *, engine: Engine | None = None, coins: Coins | None = None) -> Estimate:
    """The plan on this data: every person's randomiser, the tally, the release, the estimate with its guarantee."""
    coins = coins or SecretCoins()
    tally = (engine or MemoryEngine()).tally(plan, data, coins)
    estimate = plan.protocol.estimate(plan.protocol.release(tally, coins))
    if plan.protocol.neighbours is Neighbours.ADD_REMOVE:
        estimate = replace(estimate, tally=Tally(0, estimate.tally.totals))  # how many reported is private itself
    return replace(estimate, budget=plan.budget, secret=coins.secret)


def count(
    data: Any, *, epsilon: float, delta: float = 0.0, model: str | None = None, neighbours: str = "replace",
    protocol: str | None = None, column: str | None = None, where: object = None, unit: Any = None, clamp: bool = False,
    **parameters: Any,
) -> Estimate:  # fmt: skip
    """How many people hold a one?

    `data` is one 0/1 (or true/false) per person, or a frame with `column=`; `where=` says which value counts as a one
    (a missing value then does not). `unit=` names the column of person ids where people may have several rows: each
    counts once, as a one if any row is. The best protocol of the `model` ("shuffle" unless told) is taken, or that
    named by `protocol=`, whose `parameters` may be fixed too.
    """
    values = people(data, column=column, where=where, unit=unit)
    plan = _plan(Count(), values, Budget(epsilon, delta, Neighbours.parse(neighbours)), model, protocol, parameters)
    estimate = run(plan, values)
    return estimate.clamped() if clamp else estimate


def _plan(
    task: Task, values: Any, budget: Budget, model: str | None, name: str | None, parameters: dict[str, Any]
) -> Plan:
    """The plan for these values. Of them it may know only how many there are, and not even that under add-remove."""
    task.encoded(values[:1])  # an empty column is refused before a plan is made for nobody
    n = values.size
    if budget.neighbours is Neighbours.ADD_REMOVE:
        if (named(name).model if name else parsed_model(model or Model.SHUFFLE)) is not Model.CENTRAL:
            raise Unsupported("neighbours='add-remove' needs model='central'; elsewhere the number of people is public")
        n = 1
    if name is not None:
        cls = named(name)
        if model is not None and parsed_model(model) is not cls.model:
            raise BadArgument("model", f"is {model!r}, but {name} is of the {cls.model} model", "leave one of them out")
        return Plan(calibrate(cls, task, Crowd(n), budget, **parameters), budget)
    if parameters:
        unknown = next(iter(parameters))
        raise BadArgument(unknown, "is not known here", "a parameter of a protocol needs protocol= to say which")
    trusted = parsed_model(model or Model.SHUFFLE)
    if budget.delta == 0.0 and not any(cls.pure for cls in CATALOGUE if cls.model is trusted):
        raise BadArgument("delta", f"is 0, which the {trusted} model cannot give", "use for example delta=1e-6")
    chosen = advise(
        task, n=n, epsilon=budget.epsilon, delta=budget.delta, neighbours=budget.neighbours, models=[trusted]
    )
    return chosen.best


def fraction(data: Any, **arguments: Any) -> Estimate:
    """Which fraction of the people hold a one? Takes the arguments of `count`."""
    if Neighbours.parse(arguments.get("neighbours", "replace")) is Neighbours.ADD_REMOVE:
        raise Unsupported("a fraction shows how many people there are; use count, or neighbours='replace'")
    number = count(data, **arguments)
    return replace(number, value=number.value / number.tally.reports, per_person=True)


def protocol(
    name: str, task: Task | None = None, *, n: int, epsilon: float | None = None, delta: float | None = None,
    neighbours: str = "replace", least: int | None = None, corrupt: int = 0, **parameters: Any,
) -> Protocol:  # fmt: skip
    """A protocol by name: calibrated to (epsilon, delta), or with the parameters of its paper, to be priced."""
    cls, crowd = named(name), Crowd(n, n if least is None else least, corrupt)
    if epsilon is not None:
        return calibrate(
            cls, task or Count(), crowd, Budget(epsilon, delta or 0.0, Neighbours.parse(neighbours)), **parameters
        )
    if delta is not None:
        raise BadArgument("epsilon", "is missing while delta is given", "give both to calibrate, neither to price")
    return _given(cls, task or Count(), crowd, neighbours, parameters)


def _given(cls: type[Protocol], task: Task, crowd: Crowd, neighbours: str, parameters: dict[str, Any]) -> Protocol:
    needed, allowed = cls.parameter_names()
    for name in parameters:
        if name not in allowed:
            raise BadArgument(name, f"is not a parameter of {cls.name}", f"it has {', '.join(allowed)}")
    for name in needed:
        if name not in parameters:
            raise BadArgument(name, f"is missing for {cls.name}", "give it, or epsilon and delta to calibrate")
    return cls(task=task, crowd=crowd, neighbours=Neighbours.parse(neighbours), **parameters)
