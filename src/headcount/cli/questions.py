"""The questions on the command line: count, fraction, histogram, sum and mean of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

import headcount.ask as ask
from headcount.cli.files import EngineName, engine_called, table
from headcount.cli.ledger import ledger_of
from headcount.cli.options import (
    Bounds,
    Categories,
    Clamp,
    Clip,
    Column,
    Delta,
    Epsilon,
    File,
    Formats,
    LedgerFile,
    MaxContributions,
    ModelName,
    Needed,
    Neighbours,
    OnEngine,
    Other,
    Params,
    ProtocolName,
    Unit,
    Where,
    Whole,
    WitnessFile,
    bins_of,
    categories_of,
    parameters_of,
    where_of,
)
from headcount.cli.render import Format, estimate_table, show
from headcount.core.estimate import Estimate


def _answer(verb: Callable[..., Estimate], typed: dict[str, Any]) -> None:
    """The answer to a question whose arguments are called as the command's options are."""
    file, column, how = typed.pop("file"), typed["column"], typed.pop("how")
    typed["engine"] = engine_called(typed["engine"])
    typed["ledger"] = ledger_of(typed["ledger"], typed.pop("witness"))
    named = [name for name in (column, typed["unit"], typed.get("by")) if name is not None]
    if "bins" in typed:
        typed["bins"] = bins_of(typed["bins"])
    if "categories" in typed:
        typed["categories"] = categories_of(typed["categories"])
    if "where" in typed:
        typed["where"] = where_of(typed["where"])
    data = table(file, named, typed["engine"])
    estimate = verb(data, **parameters_of(typed.pop("param")), **typed)
    show(estimate.to_json(), how, estimate_table(estimate))


def count(
    file: File, column: Column, epsilon: Epsilon, delta: Delta = 0.0, where: Where = None,
    by: Annotated[str | None, typer.Option(help="The column of groups, to count in each.")] = None,
    categories: Categories = None, unit: Unit = None, max_contributions: MaxContributions = None,
    model: ModelName = None, neighbours: Neighbours = "replace", protocol: ProtocolName = None, param: Params = None,
    clamp: Clamp = False, ledger: LedgerFile = None, witness: WitnessFile = None, engine: OnEngine = EngineName.HERE,
    how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """How many people hold a one?"""
    _answer(ask.count, locals())


def fraction(
    file: File, column: Column, epsilon: Epsilon, delta: Delta = 0.0, where: Where = None, unit: Unit = None,
    max_contributions: MaxContributions = None, model: ModelName = None, neighbours: Neighbours = "replace",
    protocol: ProtocolName = None, param: Params = None, clamp: Clamp = False, ledger: LedgerFile = None,
    witness: WitnessFile = None, engine: OnEngine = EngineName.HERE, how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Which fraction of the people hold a one?"""
    _answer(ask.fraction, locals())


def histogram(
    file: File, column: Column, epsilon: Epsilon, delta: Delta = 0.0, categories: Categories = None,
    bins: Annotated[str | None, typer.Option(help="For numbers: the edges, or how many bins within --bounds.")] = None,
    bounds: Bounds = None, other: Other = False,
    fractions: Annotated[bool, typer.Option(help="Answer in fractions of the people.")] = False,
    consistent: Annotated[bool, typer.Option(help="The nearest counts that add up; no longer unbiased.")] = False,
    unit: Unit = None, max_contributions: MaxContributions = None, model: ModelName = None,
    neighbours: Neighbours = "replace", protocol: ProtocolName = None, param: Params = None, clamp: Clamp = False,
    ledger: LedgerFile = None, witness: WitnessFile = None, engine: OnEngine = EngineName.HERE,
    how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Which category, how often?"""
    _answer(ask.histogram, locals())


def total(
    file: File, column: Column, bounds: Needed, epsilon: Epsilon, delta: Delta = 0.0, whole: Whole = False,
    clip: Clip = False, unit: Unit = None, max_contributions: MaxContributions = None, model: ModelName = None,
    neighbours: Neighbours = "replace", protocol: ProtocolName = None, param: Params = None, clamp: Clamp = False,
    ledger: LedgerFile = None, witness: WitnessFile = None, engine: OnEngine = EngineName.HERE,
    how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """How much do people hold together?"""
    _answer(ask.sum, locals())


def mean(
    file: File, column: Column, bounds: Needed, epsilon: Epsilon, delta: Delta = 0.0, whole: Whole = False,
    clip: Clip = False, unit: Unit = None, max_contributions: MaxContributions = None, model: ModelName = None,
    neighbours: Neighbours = "replace", protocol: ProtocolName = None, param: Params = None, clamp: Clamp = False,
    ledger: LedgerFile = None, witness: WitnessFile = None, engine: OnEngine = EngineName.HERE,
    how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """How much do people hold on average?"""
    _answer(ask.mean, locals())
