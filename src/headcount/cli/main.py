"""The command line. A refused request says why, on one line, and exits with code 2."""

from __future__ import annotations

import math
import sys
from typing import Annotated, Any

import typer

import headcount
import headcount.ask as ask
from headcount.cli.advise import advisor
from headcount.cli.audit import audit
from headcount.cli.collection import collections
from headcount.cli.commands import Commands
from headcount.cli.compare import compare
from headcount.cli.demo import demonstrate
from headcount.cli.explain import explain
from headcount.cli.frontier import draw_map, frontiers
from headcount.cli.lake import lake
from headcount.cli.ledger import ledgers
from headcount.cli.numbers import WHOLE
from headcount.cli.options import (
    Bounds,
    Categories,
    Delta,
    Epsilon,
    Formats,
    Neighbours,
    Ones,
    Params,
    People,
    parameters_of,
    task_for,
)
from headcount.cli.parties import desk, keys, parties, serve, tokens
from headcount.cli.plans import export, run
from headcount.cli.proof import certify, verify
from headcount.cli.questions import count, fraction, histogram, mean, total
from headcount.cli.render import Format, grid, show
from headcount.cli.spelling import as_typed, flags_of
from headcount.cli.study import studies
from headcount.cli.web import web
from headcount.core.budget import Budget
from headcount.core.errors import BadArgument, Refused
from headcount.core.protocol import Protocol
from headcount.protocols import CATALOGUE

app = Commands(help="Count people without learning about any one of them.", add_completion=False)
app.add_typer(advisor, name="advise")
app.add_typer(frontiers, name="frontier")
app.command("map")(draw_map)
app.add_typer(ledgers, name="ledger")
app.add_typer(studies, name="study")
app.command()(serve)
app.command()(web)
app.add_typer(collections, name="collection")
app.add_typer(lake, name="batch")
app.add_typer(parties, name="party")
app.add_typer(keys, name="keys")
app.add_typer(tokens, name="tokens")
app.command()(desk)
app.command()(audit)


app.command()(count)
app.command()(fraction)
app.command()(histogram)
app.command("sum")(total)
app.command()(mean)


@app.command()
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
    """What a protocol costs at given parameters, exactly."""
    if epsilon is None and delta is None:
        raise BadArgument("--epsilon", "is missing, and --delta too", "give one of them, for example --epsilon 1")
    both: dict[str, Any] = {"epsilon": epsilon, "delta": delta} if epsilon is not None and delta is not None else {}
    if honest is not None and not 1 <= honest <= n:
        raise BadArgument("--honest", f"is {honest}", f"use a number from 1 to n, which is {n:,}")
    if ones is not None and not 0 <= ones <= n:
        raise BadArgument("--ones", f"is {ones}", f"use a number from 0 to n, which is {n:,}")
    Budget(1.0 if epsilon is None else epsilon, 0.0 if delta is None else delta)
    task = task_for(name, categories, bounds)
    protocol = ask.protocol(name, task, n=n, least=honest, neighbours=neighbours, **both, **parameters_of(param))
    priced = _price(protocol, epsilon, delta, ones)
    table = grid("", "")
    for key, value in {**priced, "rmse": protocol.rmse(ones) * protocol.task.width}.items():
        table.add_row(key, _words(value))
    show(priced, how, table)


def _price(protocol: Protocol, epsilon: float | None, delta: float | None, ones: int | None) -> dict[str, Any]:
    at = protocol.loss.epsilon(delta or 0.0) if epsilon is None else epsilon
    finite = math.isfinite(at)
    return {
        "protocol": protocol.name,
        "parameters": protocol.to_json()["parameters"],
        "epsilon": at if finite else None,
        "delta": protocol.loss.delta(at) if finite else delta,
        "delta_slack": protocol.loss.delta_slack(at) if finite else None,
        "neighbours": str(protocol.neighbours),
        "accounting": protocol.loss.kind,
        "std_error": protocol.error(ones).std_error * protocol.task.width,
        "messages_per_person": protocol.messages_per_person,
    }


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_words(part)}" for name, part in value.items())
    return "none is enough" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


app.command()(compare)
app.command()(run)
app.command()(certify)
app.command()(verify)
app.command()(export)
app.command(context_settings={"ignore_unknown_options": True})(explain)  # options are words, too


@app.command()
def protocols(how: Formats = Format.TABLE) -> None:
    """The catalogue."""
    rows = [protocol.describe() for protocol in CATALOGUE]
    table = grid("name", "model", "tasks", "parameters", "relations", "collectable", "reference")
    for row in rows:
        table.add_row(*(", ".join(cell) if isinstance(cell, list) else _yes(cell) for cell in row.values()))
    show(rows, how, table)


def _yes(cell: Any) -> str:
    return {True: "yes", False: "no"}[cell] if isinstance(cell, bool) else str(cell)


@app.command()
def demo(
    people: Annotated[int, typer.Option(**WHOLE, help="How many people to simulate.")] = 2_000,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    how: Formats = Format.TABLE,
) -> None:
    """Simulated people report over the network of this machine; the answer is released, signed and proved."""
    demonstrate(people=people, epsilon=epsilon, delta=delta, how=how)


def _version(asked: bool) -> None:
    if asked:
        print(headcount.__version__)
        raise typer.Exit


@app.callback()
def everything(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="The installed version.")
    ] = False,
) -> None:
    """Count people without learning about any one of them."""


def main() -> None:
    try:
        app()
    except Refused as refusal:
        print(f"headcount: {as_typed(refusal, flags_of(_command(sys.argv[1:])))}", file=sys.stderr)
        sys.exit(2)


def _command(words: list[str]) -> Any:
    """The command that the words begin with."""
    command: Any = typer.main.get_command(app)
    for word in words:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    return command
