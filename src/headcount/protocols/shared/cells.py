"""Counts in cells: a person is in one cell per family of a strategy, or by weights in many."""

from __future__ import annotations

from collections.abc import Callable

from headcount.programme.brick import All, Brick, Emit
from headcount.programme.field import Field
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question


def touched(task: Question) -> int:
    """The number of cells that a person is in."""
    return task.strategy.families if task.shape.several else 1


def one_of_each(task: Question, value: Field, send: Callable[[Field], Brick] = Emit) -> Brick:
    """The messages of a person about each cell that they are in."""
    if task.shape is Shape.WEIGHTED:
        return task.strategy.weighted(value)
    sent = [send(cell) for cell in task.strategy.cells(value)]
    return sent[0] if len(sent) == 1 else All(*sent)
