"""What a person may answer, in the words of whoever is asked."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from headcount.core.errors import BadArgument, BadData
from headcount.core.histogram import Histogram
from headcount.core.reading import column
from headcount.core.task import REAL_STEPS, Sum, Task

SHOWN = 20  # categories in a refusal


def encoded(task: Task, answer: Any) -> npt.NDArray[Any]:
    """One answer as the task has it; refused, without quoting it, if the question does not take it."""
    try:
        return task.encoded(column([answer]))
    except BadData:
        raise BadArgument("answer", "is not one that the question takes", f"answer with {possible(task)}") from None


def possible(task: Task) -> str:
    """All answers that a question takes."""
    if isinstance(task, Histogram):
        if task.edges:
            return f"a number from {task.edges[0]:g} to {task.edges[-1]:g}"
        if isinstance(task.categories, range):
            return f"a whole number from 0 to {len(task.categories) - 1:,}"
        named = [str(category) for category in task.categories or ()]
        more = f" or one of {len(named) - SHOWN:,} others" if len(named) > SHOWN else ""
        return f"one of: {', '.join(named[:SHOWN])}{more}"
    if isinstance(task, Sum):
        whole = "whole number" if task.steps < REAL_STEPS and task.width == task.steps else "number"
        return f"a {whole}" + ("" if task.clip else f" from {task.bounds[0]:g} to {task.bounds[1]:g}")
    return "1 for yes or 0 for no"
