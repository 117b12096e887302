"""What a comparison ranges over: protocols, models, questions and grids, parsed from names and
ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from headcount.common.quantity import quantity
from headcount.errors import BadArgument, Infeasible
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.question import Question

Names = Collection[str] | str | None
WORKS = "use two numbers, the smaller first"
Progress = Callable[[list[Any]], Iterable[Any]]  # goes through a list, and may show how far it has come


def matching_protocols(task: Question, models: Names, protocols: Names) -> list[type[Protocol]]:
    """The catalogue's protocols that answer the task, of these models and of any names given."""
    kinds = CATALOGUE if protocols is None else [named(name) for name in _several("protocols", protocols)]
    wanted = parsed_models(models)
    found = [kind for kind in kinds if kind.answers(task) and kind.model in wanted]
    if not found:
        raise Infeasible(f"none of these protocols answers a {task.name} in these models", "use fewer conditions")
    return found


def parsed_models(models: Names) -> set[Model]:
    """The models of these names; without any names, all of them."""
    return set(Model) if models is None else {Model(model) for model in _several("models", models)}


def log_grid(argument: str, ends: tuple[float, float], points: int, least: float, most: float) -> list[float]:
    """A logarithmic grid, ends included."""
    try:
        low, high = (float(end) for end in ends)
    except (TypeError, ValueError):
        raise BadArgument(argument, f"is {ends!r}", WORKS) from None
    if not least <= low < high <= most:
        works = f"{WORKS}, from {least:g} to {most:,.15g}"
        raise BadArgument(argument, f"is ({low:g}, {high:g})", works)
    works = "use a whole number from 2 to 1,000"
    if not 2 <= quantity("points", points, works) <= 1_000 or points != int(points):
        raise BadArgument("points", f"is {points}", works)
    return [low, *np.geomspace(low, high, int(points))[1:-1].tolist(), high]


def integer_log_grid(argument: str, ends: tuple[float, float], points: int, most: float) -> list[int]:
    """A logarithmic grid of distinct integers."""
    return sorted({round(place) for place in log_grid(argument, ends, points, 1.0, most)})


def _several(argument: str, names: Collection[str] | str) -> list[str]:
    """The names of a list, or of a comma-separated text."""
    listed = [names] if isinstance(names, str) else names
    if not isinstance(listed, Collection) or not all(isinstance(name, str) for name in listed):
        raise BadArgument(argument, f"is {names!r}", "give a name, or a list of them")
    if not listed:
        raise BadArgument(argument, "is empty", "name at least one, or leave it out for all of them")
    return [name.strip() for one in listed for name in one.split(",")]
