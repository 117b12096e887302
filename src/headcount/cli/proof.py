"""Certificates on the command line: make one of a plan, and prove or refute one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from headcount.certifying import verify as proved
from headcount.cli.commands import part_of_service
from headcount.cli.numbers import WHOLE
from headcount.cli.options import (
    Bounds,
    Categories,
    Corrupt,
    Delta,
    Formats,
    Least,
    Neighbours,
    Params,
    Whole,
    parameters_of,
    task_for,
)
from headcount.cli.render import Format, console, grid, show
from headcount.common.atomic_files import read_text
from headcount.common.printable import printable
from headcount.errors import BadArgument
from headcount.planner.planning import protocol as planned
from headcount.privacy.budget import Budget
from headcount.protocols.base.certificate import certify as certified
from headcount.protocols.base.plan import Plan
from headcount.protocols.base.saved import load_plan

if TYPE_CHECKING:
    from headcount.proof import Verdict

COLOURS = {"proved": "green", "refuted": "red", "cannot prove": "yellow"}
CODES = {"proved": 0, "refuted": 1, "cannot prove": 2}
FORGED = 3
RELEASE = "headcount release "  # how the format of a release begins


def certify(
    name: Annotated[str, typer.Argument(help="The protocol, or the file of a plan.")],
    out: Annotated[Path, typer.Option(help="Where to write the certificate.")],
    n: Annotated[int | None, typer.Option("--n", **WHOLE, help="How many people will report.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The privacy budget of a protocol.")] = None,
    delta: Delta = 0.0,
    categories: Categories = None,
    bounds: Bounds = None,
    whole: Whole = False,
    least: Least = None,
    corrupt: Corrupt = 0,
    neighbours: Neighbours = "replace",
    param: Params = None,
) -> None:
    """Write down the claim of a plan or of a protocol calibrated here, for all to prove again."""
    if name.endswith(".json"):
        given = (n, epsilon, delta, categories, bounds, whole, least, corrupt, param)
        if any(option not in (None, 0, False, []) for option in given) or neighbours != "replace":
            works = "leave out all but --out"
            raise BadArgument("name", f"{name} is a plan, which says everything else by itself", works)
        plan = load_plan(name)
    else:
        if n is None or epsilon is None:
            works = "give both, or the .json file of a plan"
            raise BadArgument("--n" if n is None else "--epsilon", f"is missing for {name}", works)
        task = task_for(name, categories, bounds, whole)
        protocol = planned(
            name,
            task,
            n=n,
            epsilon=epsilon,
            delta=delta,
            least=least,
            corrupt=corrupt,
            neighbours=neighbours,
            **parameters_of(param),
        )
        plan = Plan(protocol, Budget(epsilon, delta, protocol.neighbours))
    certificate = certified(plan)
    certificate.save(out)
    print(f"{certificate!r}\nwritten to {out}; prove it with: headcount verify {out}")
    if not plan.protocol.provable:
        print("its accounting is a bound by a theorem that the proofs do not know: it can hardly be proved again")


def verify(
    file: Annotated[Path, typer.Argument(help="The certificate, or the signed release of a collection.")],
    signed_by: Annotated[
        str | None, typer.Option("--signed-by", help="Of a release: the public key that must have signed it.")
    ] = None,
    effort: Annotated[
        int | None,
        typer.Option(
            **WHOLE, help="The most work, in units of about a microsecond, before it gives up; 3e7 unless told."
        ),
    ] = None,
    how: Formats = Format.TABLE,
) -> None:
    """Prove a certificate again, independently of the code behind it; check who signed a release.

    Exit code 0: proved; 1: refuted; 2: neither; 3: a release is forged, or signed by another.
    """
    from headcount.errors import Forged

    try:
        told = _released(file)
        if signed_by is not None:
            _require_signed(told, signed_by)
    except Forged as refusal:
        print(f"headcount: {printable(str(refusal))}", file=sys.stderr)
        raise typer.Exit(FORGED) from None
    if told is not None and how is Format.TABLE:
        console().print(_releases().release_table(told))
        console().print(_signature(signed_by), highlight=False, soft_wrap=True)
    verdict = proved(file if told is None else told.content["certificate"], effort=effort)
    if how is not Format.TABLE or verdict.points:
        signed = {} if told is None else {"signed_by": told.analyser}
        show({**verdict.to_json(), **signed}, how, _table(verdict))
    if how is Format.TABLE:
        console().print(_sentence(verdict), highlight=False, soft_wrap=True)
    raise typer.Exit(CODES[verdict.answer])


def _require_signed(told: Any, by: str) -> None:
    from headcount.errors import Forged

    if told is None:
        raise BadArgument(
            "--signed-by", "is given, and the file is no release", "leave it out: nobody signs the others"
        )
    if told.analyser != by:
        raise Forged("release", f"was signed by {told.analyser}, and not by {by}", "do not rely on it")


def _signature(by: str | None) -> str:
    asked = "whose key you gave" if by else "whose key stands above; with --signed-by KEY it must be the one you know"
    return f"[bold green]SIGNED[/]: the release is as it was signed by the analyser {asked}."


def _releases() -> Any:
    return part_of_service("releases", "the release of a collection")


def _released(file: Path) -> Any:
    """The release in this file, its signature checked; None if it is something else."""
    try:
        content = json.loads(read_text(file, "a certificate"))
    except BadArgument:
        raise
    except (ValueError, RecursionError):
        return None
    release = isinstance(content, dict) and str(content.get("format")).startswith(RELEASE)
    return _releases().Released.read(file) if release else None


def _table(verdict: Verdict) -> Table:
    table = grid("epsilon", "claimed delta", "true delta, at least", "at most", "")
    for point in sorted(verdict.points, key=lambda point: point.epsilon):
        colour = COLOURS[point.answer]
        numbers = (point.delta, point.truth.low, point.truth.high)
        table.add_row(
            f"{float(point.epsilon):g}",
            *(f"{float(number):.9g}" for number in numbers),
            f"[{colour}]{point.answer}[/{colour}]",
        )
    return table


def _sentence(verdict: Verdict) -> str:
    colour = COLOURS[verdict.answer]
    text = f"[bold {colour}]{verdict.answer.upper()}[/]: {escape(verdict.because)}."
    if verdict.of:
        text += f"\nThis is about the {escape(verdict.of)}."
        if verdict.unproved:
            text += f"\nNot looked at, and so not proved: {escape(', '.join(verdict.unproved))}."
        if verdict.answer == "cannot prove":
            text += "\nThat does not make it false: a bound, for one, rests on a theorem, which is not proved here."
    if (witness := verdict.witness) is not None:
        here, there = (float(chance) for chance in witness.truth.chances)
        text += (
            f"\nAt epsilon={float(witness.epsilon):g}, {escape(witness.truth.crowds)}: some event has a chance of at "
            f"least {here:.9g} with one crowd and at most {there:.9g} with the other, which is delta "
            f"{float(witness.truth.low):.6g} where {float(witness.delta):.6g} is claimed."
        )
    return text
