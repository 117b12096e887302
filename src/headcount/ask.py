"""Questions: from data to an answer by the best protocol, or by the one that is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from headcount.core.budget import SMALLEST_DELTA, Budget, Neighbours
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, BadData, Unsupported
from headcount.core.estimate import Estimate
from headcount.core.histogram import Histogram
from headcount.core.model import Model, parsed_model
from headcount.core.plan import Plan
from headcount.core.protocol import Protocol
from headcount.core.quantity import quantity
from headcount.core.short import rounded_up
from headcount.core.task import Count, Fraction, Mean, Sum, Task
from headcount.engines.choice import engine_for
from headcount.engines.engine import Engine, Rows
from headcount.ledger.ledger import Ledger
from headcount.planner.advice import Advice
from headcount.planner.advise import advise
from headcount.privacy.calibrate import calibrate
from headcount.privacy.certificate import Certificate
from headcount.privacy.certificate import certify as certified
from headcount.protocols import CATALOGUE, named
from headcount.running import carry_out

if TYPE_CHECKING:
    from headcount.proof import Verdict

IMAGINED = 10_000  # people by whom errors are judged where their number is private


def count(
    data: Any, *, epsilon: float, delta: float = 0.0, model: str | None = None, neighbours: str = "replace",
    protocol: str | None = None, column: str | None = None, where: object = None, by: Any = None,
    categories: Any = None, unit: Any = None, max_contributions: int | None = None, clamp: bool = False,
    engine: Engine | None = None, ledger: Ledger | None = None, **parameters: Any,
) -> Estimate:  # fmt: skip
    """How many people hold a one?

    `data` is one 0/1 (or true/false) per person, or a table with `column=`: a frame of pandas, polars or Spark, a file
    or folder (Parquet, CSV, Arrow) by its path, anything with the Arrow stream interface. `where=` says which value
    counts as a one (a missing value then does not): True is compared as a truth value, 1 as a number, "1" as text,
    whatever the others hold (docs/reading.md). `by=` names the column of groups, or is one group per person, and asks
    for each of the `categories` of them; whoever does not hold a one is in `other`. The best protocol of the `model`
    ("shuffle" unless told) is taken, or that named by `protocol=`, whose `parameters` may be fixed too.

    A row is taken for a person. Where people may have several, `unit=` names the column of person ids: each counts
    once, as a one if any of their rows is; or, with `max_contributions=`, so many of a person's rows count, drawn by
    lot, each for itself, and the promise is for all of them together (more than one needs neighbours="add-remove").
    """
    task: Task = Count()
    if by is not None:
        if categories is None:
            raise BadArgument("categories", "is missing", "with by=, name the groups to count in")
        task = Histogram(categories, other=True)
    rows = Rows(data, column=column, where=where, by=by, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    return _answer(task, rows, budget, model, protocol, parameters, ledger, clamp, engine)


def fraction(
    data: Any, *, epsilon: float, delta: float = 0.0, model: str | None = None, neighbours: str = "replace",
    protocol: str | None = None, column: str | None = None, where: object = None, unit: Any = None,
    max_contributions: int | None = None, clamp: bool = False, engine: Engine | None = None,
    ledger: Ledger | None = None, **parameters: Any,
) -> Estimate:  # fmt: skip
    """Which fraction of the people hold a one? Takes the arguments of `count`."""
    rows = Rows(data, column=column, where=where, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    return _answer(Fraction(), rows, budget, model, protocol, parameters, ledger, clamp, engine)


def histogram(
    data: Any, *, epsilon: float, delta: float = 0.0, categories: Any = None, bins: Any = None, bounds: Any = None,
    other: bool = False, fractions: bool = False, model: str | None = None, neighbours: str = "replace",
    protocol: str | None = None, column: str | None = None, unit: Any = None, max_contributions: int | None = None,
    clamp: bool = False, consistent: bool = False, engine: Engine | None = None, ledger: Ledger | None = None,
    **parameters: Any,
) -> Estimate:  # fmt: skip
    """Which category, how often?

    `categories` lists the labels; for numbers, `bins` lists the edges, or says how many equal bins there are between
    the `bounds`. With neither, the labels are whatever people hold, as text, which needs model="central" (or a shuffler
    that drops small counts, "shuffle-threshold"): rare ones are not shown. `other=True` counts whoever is in none of
    the categories apart, `fractions=True` answers in fractions of the people, `consistent=True` brings the counts to
    the nearest ones that are not negative and add up. The rest is as for `count`.
    """
    if bins is None:
        task = Histogram(categories, other=other, fractions=fractions)
    elif categories is None:
        task = Histogram.binned(bins, bounds, other=other, fractions=fractions)
    else:
        raise BadArgument("bins", "is given together with categories", "leave one of them out")
    rows = Rows(data, column=column, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    estimate = _answer(task, rows, budget, model, protocol, parameters, ledger, clamp, engine)
    return estimate.consistent() if consistent else estimate


def sum(
    data: Any, *, bounds: tuple[float, float], epsilon: float, delta: float = 0.0, whole: bool = False,
    clip: bool = False, model: str | None = None, neighbours: str = "replace", protocol: str | None = None,
    column: str | None = None, unit: Any = None, max_contributions: int | None = None, clamp: bool = False,
    engine: Engine | None = None, ledger: Ledger | None = None, **parameters: Any,
) -> Estimate:  # fmt: skip
    """How much do people hold together?

    Every value must lie within `bounds`, which you state without looking at the data; `clip=True` brings those outside
    to the nearer bound instead of refusing them. `whole=True` says that all values are whole numbers, which then need
    no rounding. With `unit=` a person's rows are added up first. The rest is as for `count`.
    """
    rows = Rows(data, column=column, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    task = Sum.whole(bounds, clip=clip) if whole else Sum(bounds, clip=clip)
    return _answer(task, rows, budget, model, protocol, parameters, ledger, clamp, engine)


def mean(
    data: Any, *, bounds: tuple[float, float], epsilon: float, delta: float = 0.0, whole: bool = False,
    clip: bool = False, model: str | None = None, neighbours: str = "replace", protocol: str | None = None,
    column: str | None = None, unit: Any = None, max_contributions: int | None = None, clamp: bool = False,
    engine: Engine | None = None, ledger: Ledger | None = None, **parameters: Any,
) -> Estimate:  # fmt: skip
    """How much do people hold on average? Takes the arguments of `sum`; with `unit=` a person's rows are averaged."""
    rows = Rows(data, column=column, unit=unit, most=max_contributions)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    task = Mean.whole(bounds, clip=clip) if whole else Mean(bounds, clip=clip)
    return _answer(task, rows, budget, model, protocol, parameters, ledger, clamp, engine)


def _answer(
    task: Task, rows: Rows, budget: Budget, model: str | None, name: str | None, parameters: dict[str, Any],
    ledger: Ledger | None, clamp: bool, engine: Engine | None,
) -> Estimate:  # fmt: skip
    budget.require_hidden(rows.most or 1)
    engine = engine or engine_for(rows.data)
    task = ready(task, budget)
    answers = engine.answers(task, rows)
    plan = plan_for(task, asked_of(task, answers.size, rows.most or 1, budget), budget, model, name, parameters)
    (estimate,) = carry_out([plan], answers, engine, ledger=ledger)
    return estimate.clamped() if clamp else estimate


def asked_of(task: Task, people: int, each: int, budget: Budget) -> Crowd:
    """The crowd to plan for: as many people as there are, or nobody in particular where their number is private."""
    if budget.neighbours is Neighbours.ADD_REMOVE:
        return Crowd(1, each=each)
    if not people:
        raise BadData(f"data is empty; a {task.name} needs at least one person")
    return Crowd(people, each=each)


def ready(task: Task, budget: Budget) -> Task:
    """What is to be planned for. Where people may be missing, a person counts from zero, which must be a step.

    Whether numbers are whole is for the caller to say: the data's type may hang on a single person's value.
    """
    private = budget.neighbours is Neighbours.ADD_REMOVE
    if task.per_person and private:
        instead = {"fraction": "count", "mean": "sum"}.get(task.name, "numbers of people")
        what = "a histogram of fractions" if isinstance(task, Histogram) else f"a {task.name}"
        raise Unsupported(f"{what} shows how many people there are; ask for the {instead} instead")
    return task.from_zero() if private and isinstance(task, Sum) else task


def plan_for(
    task: Task, crowd: Crowd, budget: Budget, model: str | None, name: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Plan:  # fmt: skip
    """The plan for such a crowd: the best of the model, or of the protocol of this name."""
    trusted = named(name).model if name else parsed_model(model or Model.SHUFFLE)
    if budget.neighbours is Neighbours.ADD_REMOVE and trusted is not Model.CENTRAL:
        raise Unsupported("neighbours='add-remove' needs model='central'; elsewhere the number of people is public")
    if name is not None:
        cls = named(name)
        if model is not None and parsed_model(model) is not cls.model:
            raise BadArgument("model", f"is {model!r}, but {name} is of the {cls.model} model", "leave one of them out")
        return Plan(calibrate(cls, task, crowd, budget, **parameters), budget)
    if parameters:
        unknown = next(iter(parameters))
        raise BadArgument(unknown, "is not known here", "a parameter of a protocol needs protocol= to say which")
    return _best(task, crowd, budget, parsed_model(model or Model.SHUFFLE))


def _best(task: Task, crowd: Crowd, budget: Budget, trusted: Model) -> Plan:
    serving = [cls for cls in CATALOGUE if cls.model is trusted and task.name in cls.tasks]
    if not serving:
        raise Unsupported(f"no protocol of the {trusted} model answers a {task.name}")
    if isinstance(task, Histogram) and task.open and not any(cls.unknown_keys for cls in serving):
        raise BadArgument(
            "categories", "is missing", f"the {trusted} model needs them; or use model='central' for unknown labels"
        )
    if budget.delta == 0.0 and not any(cls.pure for cls in serving):
        raise BadArgument("delta", f"is 0, which the {trusted} model cannot give", "use for example delta=1e-6")
    private = budget.neighbours is Neighbours.ADD_REMOVE
    best = advise(
        task, n=IMAGINED if private else crowd.size, epsilon=budget.epsilon, delta=budget.delta,
        neighbours=budget.neighbours, models=[trusted], max_contributions=crowd.each,
    ).best  # fmt: skip
    return Plan(best.protocol.among(crowd), budget) if private else best


def protocol(
    name: str, task: Task | None = None, *, n: int, epsilon: float | None = None, delta: float | None = None,
    neighbours: str = "replace", least: int | None = None, corrupt: int = 0, **parameters: Any,
) -> Protocol:  # fmt: skip
    """A protocol by name: calibrated to (epsilon, delta), or with the parameters of its paper, to be priced."""
    cls, crowd = named(name), Crowd(n, n if least is None else least, corrupt)
    if task is None:
        if "count" not in cls.tasks:
            raise BadArgument("task", "is missing", f"give one: {name} answers {' or '.join(sorted(cls.tasks))}")
        task = Count()
    if epsilon is not None:
        budget = Budget(epsilon, delta or 0.0, Neighbours.parse(neighbours))
        return calibrate(cls, task, crowd, budget, **parameters)
    if delta is not None:
        raise BadArgument("epsilon", "is missing while delta is given", "give both to calibrate, neither to price")
    return _given(cls, task, crowd, neighbours, parameters)


def certify(what: Plan | Advice | Protocol | Estimate, *, epsilon: float | None = None) -> Certificate:
    """What proves a claim, as one JSON file for whoever does not take our word for it.

    Of a plan, of the best plan of an advice, of the plan behind an answer, or of a protocol at this epsilon.
    """
    if isinstance(what, Advice):
        what = what.best
    if isinstance(what, Estimate):
        if what.budget is None:
            raise BadArgument("what", "is an answer without a plan", "give the protocol, and epsilon=")
        what = Plan(what.protocol, what.budget)
    if isinstance(what, Protocol):
        if epsilon is None:
            raise BadArgument("epsilon", "is missing", "say at which epsilon the protocol's delta is to be proved")
        delta = rounded_up(what.loss.delta(epsilon))
        what = Plan(what, Budget(epsilon, max(delta, SMALLEST_DELTA) if delta else 0.0, what.neighbours))
    if not isinstance(what, Plan):
        raise BadArgument("what", f"is a {type(what).__name__}", "give a plan, an advice, an answer or a protocol")
    return certified(what)


def verify(certificate: Certificate | str | Path | dict[str, Any], *, effort: int | None = None) -> Verdict:
    """Proves a certificate again, or one in a file: from the report programme alone, in ball arithmetic.

    The answer is "proved", "refuted" with a witness, or "cannot prove" with the reason. Whoever wrote the certificate
    chose how long a proof takes: after so much `effort`, in units of about a microsecond, it is given up. Unless told
    that is half a minute's work.
    """
    from headcount.proof import DEFAULT_EFFORT
    from headcount.proof import verify as proved

    works = "use a positive whole number of units, about a microsecond each"
    most = DEFAULT_EFFORT if effort is None else quantity("effort", effort, works)
    if most != int(most) or most < 1:
        raise BadArgument("effort", f"is {most:g}", works)
    if isinstance(certificate, Certificate):
        return proved(certificate.to_json(), int(most))
    if isinstance(certificate, dict):
        return proved(certificate, int(most))
    if not isinstance(certificate, str | Path):
        raise BadArgument("certificate", f"is a {type(certificate).__name__}", "give the file of a certificate")
    try:
        return proved(Path(certificate).read_text(encoding="utf-8"), int(most))
    except (OSError, UnicodeDecodeError) as problem:
        raise BadArgument("certificate", f"cannot be read: {problem}", "give the file of a certificate") from None


def _given(cls: type[Protocol], task: Task, crowd: Crowd, neighbours: str, parameters: dict[str, Any]) -> Protocol:
    needed, allowed = cls.parameter_names()
    for name in parameters:
        if name not in allowed:
            raise BadArgument(name, f"is not a parameter of {cls.name}", f"it has {', '.join(allowed)}")
    for name in needed:
        if name not in parameters:
            raise BadArgument(name, f"is missing for {cls.name}", "give it, or epsilon and delta to calibrate")
    return cls(task=task, crowd=crowd, neighbours=Neighbours.parse(neighbours), **parameters)
