"""Advice on the command line, a command for each kind of task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from headcount.cli.options import (
    Categories,
    Corrupt,
    Delta,
    Epsilon,
    Formats,
    Least,
    Models,
    Needed,
    Neighbours,
    Ones,
    People,
    Whole,
    categories_of,
)  # fmt: skip
from headcount.cli.render import Format, advice_table, show
from headcount.core.histogram import Histogram
from headcount.core.task import Count, Fraction, Mean, Sum, Task
from headcount.planner.advise import advise as advise_on

advisor = typer.Typer(help="Which protocol should I use, and how wrong will it be?", no_args_is_help=True)


def _advise(task: Task, how: Format, **given: Any) -> None:
    advice = advise_on(task, **given)
    show(advice.to_json(), how, advice_table(advice))
    if how is Format.TABLE and advice.feasible:
        print("\n" + advice.why())


def _on_ones(task: Task) -> Callable[..., None]:
    """The advice for a count or a fraction."""

    def command(
        n: People, epsilon: Epsilon, delta: Delta = 0.0, ones: Ones = None, model: Models = None, least: Least = None,
        corrupt: Corrupt = 0, neighbours: Neighbours = "replace", how: Formats = Format.TABLE,
    ) -> None:  # fmt: skip
        _advise(
            task, how, n=n, epsilon=epsilon, delta=delta, ones=ones, models=model, least=least, corrupt=corrupt,
            neighbours=neighbours,
        )  # fmt: skip

    return command


def _on_numbers(kind: type[Sum]) -> Callable[..., None]:
    """The advice for a sum or a mean."""

    def command(
        n: People, bounds: Needed, epsilon: Epsilon, delta: Delta = 0.0, whole: Whole = False, model: Models = None,
        least: Least = None, corrupt: Corrupt = 0, neighbours: Neighbours = "replace", how: Formats = Format.TABLE,
    ) -> None:  # fmt: skip
        _advise(
            kind.whole(bounds) if whole else kind(bounds), how, n=n, epsilon=epsilon, delta=delta, models=model,
            least=least, corrupt=corrupt, neighbours=neighbours,
        )  # fmt: skip

    return command


advisor.command("count", help="Every protocol for a count, ranked by its exact predicted error.")(_on_ones(Count()))
advisor.command("fraction", help="The same, as a fraction of the people.")(_on_ones(Fraction()))
advisor.command("sum", help="Every protocol for a sum of numbers within the bounds.")(_on_numbers(Sum))
advisor.command("mean", help="Every protocol for a mean of numbers within the bounds.")(_on_numbers(Mean))


@advisor.command("histogram")
def advise_histogram(
    n: People, epsilon: Epsilon, delta: Delta = 0.0, categories: Categories = None, ones: Ones = None,
    model: Models = None, least: Least = None, corrupt: Corrupt = 0, neighbours: Neighbours = "replace",
    how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Every protocol for a histogram; without --categories, for labels that nobody knows beforehand."""
    _advise(
        Histogram(categories_of(categories)), how, n=n, epsilon=epsilon, delta=delta, ones=ones, models=model,
        least=least, corrupt=corrupt, neighbours=neighbours,
    )  # fmt: skip
