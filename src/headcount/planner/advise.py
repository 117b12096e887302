"""Which algorithm should I use? Every protocol that could serve, calibrated, with its exact predicted error."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from headcount.core.budget import Budget, Neighbours
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument, Refused
from headcount.core.model import Model, parsed_model
from headcount.core.protocol import Protocol
from headcount.core.task import COUNTS, Task
from headcount.planner.advice import Advice, Candidate, Misfit, Option
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE, TASKS


def advise(
    task: Task | str, *, n: int, epsilon: float, delta: float = 0.0, ones: int | None = None,
    neighbours: str = "replace", models: Collection[str] | str | None = None, least: int | None = None,
    corrupt: int = 0,
) -> Advice:  # fmt: skip
    """Plans ranked by their predicted error, across the models of trust; those that cannot serve say what they lack.

    `ones` is how many people are expected to hold a one (in a histogram, to be in the category of interest); left out,
    each protocol is judged by its worst case.
    """
    if isinstance(task, str):
        task = _named(task)
    crowd = Crowd(n, n if least is None else least, corrupt)
    budget = Budget(epsilon, delta, Neighbours.parse(neighbours))
    if ones is not None and (ones != int(ones) or not 0 <= ones <= n):
        raise BadArgument("ones", f"is {ones}", f"use a whole number from 0 to n, which is {n:,}")
    models = [models] if isinstance(models, str) else models
    trusted = {parsed_model(model) for model in models} if models else set(Model)
    options = [
        _option(protocol, task, crowd, budget, ones)
        for protocol in CATALOGUE
        if task.name in protocol.tasks and protocol.model in trusted
    ]
    ranked = sorted(options, key=lambda option: option.rank)
    return Advice(task=task, crowd=crowd, budget=budget, ones=ones, options=tuple(ranked))


def _named(task: str) -> Task:
    if task not in COUNTS:
        works = "use hc.Count(), hc.Sum(bounds), hc.Mean(bounds) or hc.Histogram(categories)"
        raise BadArgument("task", f"is {task!r}", works)
    return TASKS[task]()


@lru_cache(maxsize=1 << 10)
def _option(cls: type[Protocol], task: Task, crowd: Crowd, budget: Budget, ones: int | None) -> Option:
    shared: dict[str, Any] = {"kind": cls, "task": task, "crowd": crowd, "budget": budget}
    try:
        protocol = calibrate(cls, task, crowd, budget, lambda candidate: candidate.rmse(ones))
    except Refused as refusal:
        return Misfit(**shared, refusal=str(refusal))
    return Candidate(**shared, protocol=protocol, noise=protocol.error(ones))
