"""What a protocol costs, on the command line."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from headcount.cli.numbers import WHOLE
from headcount.cli.options import Bounds, Categories, Formats, Neighbours, Ones, Params, People, parameters_of, task_for
from headcount.cli.render import Format, grid, show
from headcount.common.short_decimals import COMPARED, compared, rounded_up
from headcount.errors import BadArgument
from headcount.planner.planning import protocol as planned
from headcount.privacy.budget import SMALLEST_DELTA, SMALLEST_EPSILON, Budget
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.base.report_size import wire_messages


def price(
    name: Annotated[str, typer.Argument(help="The protocol.")],
    n: People,
    param: Params = None,
    epsilon: Annotated[float | None, typer.Option(help="Price delta at this epsilon.")] = None,
    delta: Annotated[float | None, typer.Option(help="Price epsilon at this delta; with both, calibrate.")] = None,
    honest: Annotated[int | None, typer.Option(**WHOLE, help="How many of them can be relied upon.")] = None,
    neighbours: Neighbours = "replace",
    ones: Ones = None,
    categories: Categories = None,
    bounds: Bounds = None,
    how: Formats = Format.TABLE,
) -> None:
    """What a protocol costs at given parameters: delta at an epsilon, or epsilon at a delta."""
    if epsilon is None and delta is None:
        raise BadArgument("--epsilon", "is missing, and --delta too", "give one of them, for example --epsilon 1")
    both: dict[str, Any] = {"epsilon": epsilon, "delta": delta} if epsilon is not None and delta is not None else {}
    if honest is not None and not 1 <= honest <= n:
        raise BadArgument("--honest", f"is {honest}", f"use a number from 1 to n, which is {n:,}")
    if ones is not None and not 0 <= ones <= n:
        raise BadArgument("--ones", f"is {ones}", f"use a number from 0 to n, which is {n:,}")
    Budget(1.0 if epsilon is None else epsilon, 0.0 if delta is None else delta)
    task = task_for(name, categories, bounds)
    protocol = planned(name, task, n=n, least=honest, neighbours=neighbours, **both, **parameters_of(param))
    priced = _price(protocol, epsilon, delta, ones)
    table = grid("", "")
    for key, value in {**priced, "rmse": protocol.rmse(ones) * protocol.task.width}.items():
        table.add_row(key, _words(value))
    show(priced, how, table)


def _price(protocol: Protocol, epsilon: float | None, delta: float | None, ones: int | None) -> dict[str, Any]:
    """The figures in JSON, to digits identical on every machine; promises are rounded up."""
    at = protocol.loss.epsilon(delta or 0.0) if epsilon is None else epsilon
    finite = math.isfinite(at)
    messages: int | None = 1
    left = delta or (protocol.loss.delta(at) if finite else 0.0)
    if protocol.model.from_devices and finite:
        spent = Budget(max(at, SMALLEST_EPSILON), max(left, SMALLEST_DELTA) if left else 0.0)
        messages = wire_messages(protocol, spent)
    at = rounded_up(at, COMPARED) if finite and epsilon is None else at
    return {
        "protocol": protocol.name,
        "parameters": protocol.to_json()["parameters"],
        "epsilon": at if finite else None,
        "delta": rounded_up(protocol.loss.delta(at), COMPARED) if finite else delta,
        "delta_slack": rounded_up(protocol.loss.delta_slack(at), COMPARED) if finite else None,
        "neighbours": str(protocol.neighbours),
        "accounting": protocol.loss.kind,
        "epsilon_at_least": protocol.loss.epsilon_at_least(left) if finite else None,
        "std_error": compared(protocol.error(ones).std_error * protocol.task.width),
        "messages_per_person": compared(protocol.messages_per_person),
        "liar": None if messages is None else protocol.reach(messages).to_json(protocol.task.cells),
    }


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_words(part)}" for name, part in value.items() if part is not None)
    return "none is enough" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
