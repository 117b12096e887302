"""Collections on the command line: agree on one, report to it, close it, and get the answer."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from headcount.cli.commands import Commands
from headcount.cli.options import Formats
from headcount.cli.output import Output
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, grid, moment, show, waiting, warn
from headcount.cli.series_output import Cell, Save, require_cell, require_writable, show_series
from headcount.common.atomic_files import write_atomically
from headcount.common.canonical import canonical
from headcount.common.plurals import counted
from headcount.errors import AnswerExposed, BadArgument, Unsupported
from headcount.protocols.base.report_size import KEYS
from headcount.protocols.base.saved import load_plan
from headcount_service.client.limits import Limits

if TYPE_CHECKING:
    from headcount.protocols.base.plan import Plan
    from headcount_service.operator.operator import Operator

collections = Commands(help="Counting over a network: a plan, a shuffler and an analyser.")

Name = Annotated[
    str | None,
    typer.Argument(
        help="The collection's name, or its beginning; with --data it may be left out if only one is under way."
    ),
]
Data = Annotated[Path, typer.Option("--data", help="The folder of headcount serve --data, or of headcount desk.")]
Answer = Annotated[
    str | None,
    typer.Option(
        help="The answer: 1 or 0, a number, or a category; of a table a JSON object with a value for each column. "
        "Everybody on this machine can see it in the list of processes: left out, it is asked for, or read from "
        "standard input."
    ),
]
WHOLE_NAME = 32
MOST_DEVICES = 10_000  # invitations that are made at a time
PERIODS = {"hour": "1h", "day": "1d", "week": "7d"}
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


@collections.command()
def create(
    plan: Annotated[Path, typer.Argument(help="A plan for a collection: headcount advise … --collected --save FILE.")],
    data: Data,
    question: Annotated[str, typer.Option(help="What people are asked.")],
    population: Annotated[str, typer.Option(help="Whose budget pays for it.")] = "people",
    window: Annotated[str, typer.Option(help="How long a batch is open: 90s, 20m, 12h or 7d.")] = "1d",
    batches: Annotated[int, typer.Option(help="How many batches, one after the other; each costs the budget.")] = 1,
    every: Annotated[
        str | None, typer.Option(help="A series: a round every hour, day or week, or every 90s, 20m, 12h or 7d.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="Of a series: how many rounds; the plan's budget is for all of them.")
    ] = None,
    shortfall: Annotated[str, typer.Option(help="If too few report: hold, top-up or purge.")] = "hold",
    holds: Annotated[int, typer.Option(help="How many windows more a batch is held.")] = 3,
    anyone: Annotated[
        bool, typer.Option("--anyone", help="Take reports from strangers, too; otherwise people are invited.")
    ] = False,
    closable: Annotated[
        bool, typer.Option("--closable", help="Its operator may end a batch before the end of its window.")
    ] = False,
    trust_all: Annotated[
        bool, typer.Option("--trust-all", help="Take a plan that counts on everybody to be honest: corrupt = 0.")
    ] = False,
    release_at_close: Annotated[
        bool, typer.Option("--release-at-close", help="The analyser releases a batch as soon as it is delivered.")
    ] = False,
    most: Annotated[int | None, typer.Option(help="How many reports fill a batch; 10,000,000 unless told.")] = None,
    suite: Annotated[str | None, typer.Option(help=f"{' or '.join(KEYS)}; as the plan says, if left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write what a device needs to report.")] = None,
    how: Formats = Format.TABLE,
) -> None:
    """Agree on a collection with both parties. From then on, people may report."""
    held, planned = _operator(data), load_plan(plan)
    if every is not None or rounds is not None:
        window, batches = _series(planned, every, rounds)
        release_at_close = True
    if suite is not None and planned.wire is not None:
        planned = replace(planned, wire=replace(planned.wire, suite=suite))
    agreeing = f"agreeing on {counted(batches, 'batch')}"
    with waiting(agreeing) as status:
        made = held.create(
            planned,
            question=question,
            population=population,
            window=seconds(window),
            batches=batches,
            shortfall=shortfall,
            holds=holds,
            admission="anyone" if anyone else "invited",
            fixed=not closable,
            automatic=release_at_close,
            trust_all=trust_all,
            most=most,
            told=lambda keys: status.update(f"{agreeing}: {keys:,} of {counted(batches, 'key')} to invite with"),
        )
    if out is not None:
        write_atomically(out, canonical(held.offer(made.id)) + "\n")
    crowd = made.plan.protocol.crowd
    facts = {
        "collection": made.id,
        "hash": made.hash,
        "protocol": made.plan.protocol.name,
        "messages": made.wire.messages,
        "bytes": made.report_format(1).upload_bytes,
        "least": crowd.least,
        "corrupt": crowd.corrupt,
        "admission": str(made.admission),
        "fixed": made.fixed,
    }
    table = grid("", "")
    for name, fact in facts.items():
        table.add_row(name, f"{fact:,}" if type(fact) is int else str(fact))
    show({**facts, "foreseen": (foreseen := Limits().foreseen(made))}, how, table)
    if foreseen and how is Format.TABLE:
        warn(foreseen)


@collections.command("show")
def show_collection(
    data: Data, name: Annotated[str | None, typer.Argument(help="One of them.")] = None, how: Formats = Format.TABLE
) -> None:
    """How far collections have come."""
    held = _operator(data)
    states = [held.state(each) for each in ([_named(held, name)] if name else held.names())]
    _tell_silent(states)
    rows = [
        {"collection": told["collection"], **held.asked(told["collection"]), "least": told["least"], **batch}
        for told in states
        for batch in told["batches"]
    ]
    table = grid("collection", "question", "batch", "state", "reports", "of at least", "closes", right=(2, 4, 5))
    for row in rows:
        closes = moment(row["closes"]) if row["closes"] else ""
        added = f" (+{row['added']:,} of nobody)" if row["added"] else ""
        table.add_row(
            row["collection"],
            escape(row["question"]),
            str(row["batch"]),
            row["state"],
            "" if row["reports"] is None else f"{row['reports']:,}{added}",
            f"{row['least']:,}",
            closes,
        )
    show(rows, how, table)


@collections.command()
def report(
    answer: Answer = None,
    name: Name = None,
    device: Annotated[Path, typer.Option(help="Where this device keeps what it sent.")] = Path("device"),
    data: Annotated[Path | None, typer.Option(help="The folder of headcount serve --data or headcount desk.")] = None,
    shuffler: Annotated[str | None, typer.Option(help="The shuffler's address, without a folder.")] = None,
    hash: Annotated[str | None, typer.Option(help="The hash that the collection must have.")] = None,
    invitation: Annotated[str, typer.Option(help="The digits that you were sent.")] = "",
    relay: Annotated[str, typer.Option(help="Somebody's address to send to instead of the shuffler's.")] = "",
    least: Annotated[
        int, typer.Option(help="The fewest honest people among whom this device agrees to be mixed.")
    ] = Limits.least,
    top_up: Annotated[
        bool, typer.Option("--top-up", help="Agree that reports of nobody may take the place of people.")
    ] = False,
    padded: Annotated[
        bool,
        typer.Option("--padded", help="Agree to send the answer without noise, hidden by messages of the shuffler's."),
    ] = False,
    accept_collusion: Annotated[
        bool,
        typer.Option(
            "--accept-collusion", help="Agree that the shuffler and the analyser, working together, learn the answer."
        ),
    ] = False,
    devices: Annotated[
        int | None,
        typer.Option(help="To try it out: this many simulated devices with this answer, which keep nothing."),
    ] = None,
    how: Formats = Format.TABLE,
) -> None:
    """Report as one person's device would: randomise once, seal, send; a repeat sends the same."""
    from headcount_service.client.device import Client

    if (data is None) == (shuffler is None):
        raise BadArgument("--shuffler", "and --data are both given or both missing", "give one of them")
    held = None if data is None else _operator(data)
    address = held.shuffler.address if held else str(shuffler)
    whole, given = _named(held, name), read_answer(given_or_read(answer))
    if devices is not None:
        if invitation:
            raise BadArgument("--invitation", "is given with --devices", "leave it out: they are invited with --data")
        _rehearse(address, whole, given, devices, hash, held, how)
        return
    colluding = math.inf if accept_collusion else Limits.colluding
    reporting = Client(device, Limits(least=least, top_up=top_up, colluding=colluding, padded=padded))
    try:
        receipt = reporting.report(address, whole, given, hash=hash, invitation=invitation, relay=relay)
    except AnswerExposed as refusal:
        raise Unsupported(refusal.reason, "agree to it with --accept-collusion") from None
    show(receipt.to_json(), how, escape(str(receipt)))


def given_or_read(answer: str | None) -> str:
    """The answer, or else a line of standard input, prompted for and hidden on a terminal."""
    if answer is not None:
        return answer
    if sys.stdin.isatty():
        return getpass("Your answer, which is not shown: ")
    line = sys.stdin.readline()
    if not line:
        raise BadArgument("--answer", "is missing, and standard input is empty", "write one line there, or give it")
    return line.rstrip("\r\n")


def read_answer(text: str) -> Any:
    """The values by column that a JSON object tells; any other text as it is."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, dict) else text


def _rehearse(
    address: str, name: str, answer: Any, devices: int, hash: str | None, held: Operator | None, how: Format
) -> None:
    """Simulated devices, as many as asked for; the operator invites them, where that is needed."""
    from headcount_service.client.simulated import report_all

    if not 1 <= devices <= MOST_DEVICES:
        raise BadArgument("--devices", f"is {devices}", f"use a number from 1 to {MOST_DEVICES:,}")
    needed = held is not None and held.collection(name).admission == "invited"
    invitations = held.invite(name, devices) if held is not None and needed else []
    watch = ProgressBar("devices report")
    receipts = report_all(address, name, [answer] * devices, hash=hash, invitations=invitations, watch=watch)
    states = Counter(receipt.state for receipt in receipts)
    told = ", ".join(f"{number:,} {state}" for state, number in sorted(states.items()))
    show(dict(states), how, f"{devices:,} devices reported: {told}")


@collections.command()
def invite(
    data: Data,
    name: Name = None,
    number: Annotated[int, typer.Option(help="How many.")] = 1,
    how: Formats = Format.TABLE,
) -> None:
    """Invitations to a collection that needs them, each for one report to each batch."""
    held = _operator(data)
    made = held.invite(_named(held, name), number)
    show([{"invitation": each} for each in made], how, "\n".join(made))


@collections.command()
def close(data: Data, name: Name = None, how: Formats = Format.TABLE) -> None:
    """Seal the open batch now and open no other; waits until it is delivered."""
    held = _operator(data)
    with waiting("mixing and delivering"):
        state = held.close(_named(held, name))
    rows = [{"collection": state["collection"], "least": state["least"], **batch} for batch in state["batches"]]
    lines = [f"batch {batch['batch']}: {batch['state']}, {batch['reports']:,} reports" for batch in rows]
    show(rows, how, "\n".join(lines))
    if state["silent"]:
        _tell_silent([state])
        warn("the collection is closed; what is mixed will be delivered as soon as the analyser answers its shuffler")


@collections.command()
def release(
    data: Data,
    name: Name = None,
    batch: Annotated[int, typer.Option(help="Which.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where to write the signed release.")] = None,
    how: Formats = Format.TABLE,
) -> None:
    """The answer of a batch, paid for and signed. Asked again, it is the same to the byte."""
    from headcount_service.cli.releases import Released, hand_over

    held = _operator(data)
    with waiting("opening and counting"):
        told = Released(held.release(_named(held, name), batch))
    hand_over(told, out, how)


@collections.command("series")
def collected_series(
    data: Data,
    name: Name = None,
    cell: Cell = None,
    save: Save = None,
    *,
    output: Output,
) -> None:
    """All released answers of a series: sums so far, changes, a chart, and a file of them."""
    require_writable(save, output)
    held = _operator(data)
    with waiting("asking for the answers"):
        found = held.series(whole := _named(held, name))
    require_cell(cell, found.plan.protocol.task.shape.several, output)
    if not found.answers:
        raise Unsupported("no round has an answer yet", "wait for the first: headcount collection show")
    labels = {str(label): label for answer in found.answers.values() for label in answer.categories}
    shown = None if cell is None else labels.get(cell, cell)
    show_series(found, shown, save, replace(output, title=output.title or held.asked(whole)["question"]))


def _tell_silent(states: Sequence[dict[str, Any]]) -> None:
    """Which party did not answer, so that what is shown is the other one's word alone."""
    for party, problem in {found for state in states for found in state["silent"].items()}:
        warn(f"the {party} does not answer, and what it knows is missing: {problem}")


@collections.command()
def destroy(
    data: Data, name: Name = None, yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False
) -> None:
    """Forget reports, messages, keys and answers at both parties. Charges remain."""
    held = _operator(data)
    whole = _named(held, name, under_way=False)  # of several, none is destroyed that was not named
    if not yes and not typer.confirm(f"Destroy all that is kept of {whole}?"):
        raise typer.Exit(1)
    held.destroy(whole)
    print(f"{whole} is destroyed")


def _series(plan: Plan, every: str | None, rounds: int | None) -> tuple[str, int]:
    """The window and number of batches; refuses a plan not budgeted for that many rounds."""
    if every is None:
        raise BadArgument("--every", "is missing", "say how long a round is: --every week")
    if plan.rounds == 1:
        works = "plan for all rounds: headcount advise … --collected --rounds 52"
        raise BadArgument("--every", "asks round after round, and the budget of this plan is for one round", works)
    rounds = plan.rounds if rounds is None else rounds
    if rounds > plan.rounds:
        raise BadArgument(
            "--rounds",
            f"is {rounds:,}, and the budget of this plan is for {plan.rounds:,} rounds",
            f"plan for all of them: headcount advise … --collected --rounds {rounds}",
        )
    return PERIODS.get(every, every), rounds


def seconds(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,8})([smhd]?)", text.strip())
    if not found:
        raise BadArgument("--window", f"is {text!r}", "use for example 90s, 20m, 12h or 7d")
    return int(found[1]) * SECONDS[found[2] or "s"]


def _named(held: Operator | None, name: str | None, *, under_way: bool = True) -> str:
    """The collection meant: by whole name, by prefix, or as the only one present or under way."""
    if name is not None and (held is None or len(name) == WHOLE_NAME):
        return name
    if held is None:
        raise BadArgument("name", "is missing", "without a folder, give the collection's name as you were told it")
    found = [each for each in held.names() if each.startswith(name or "")]
    if not found:
        raise BadArgument("name", _said(name), "there is no such collection: see headcount collection show")
    if name is None and len(found) > 1 and under_way:
        found = held.under_way() or found
    if len(found) != 1:
        raise BadArgument(
            "name",
            f"{_said(name)}, and {len(found)} collections could be meant",
            "give the first letters of one: see headcount collection show",
        )
    return found[0]


def _said(name: str | None) -> str:
    return "is missing" if name is None else f"is {name!r}"


def _operator(folder: Path) -> Operator:
    from headcount_service.operator.operator import Operator

    return Operator.open(folder)
