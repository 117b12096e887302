"""A protocol under attack: what it claims beside what can be proved against it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from headcount.cli.numbers import WHOLE
from headcount.cli.options import Bounds, Categories, Formats, Neighbours, Params, categories_of, parameters_of
from headcount.cli.render import Format, console, grid, show
from headcount.common.plurals import people
from headcount.errors import BadArgument
from headcount.planner.planning import protocol as planned
from headcount.privacy.budget import Neighbours as Relation
from headcount.privacy.crowd import Crowd
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.protocol import Protocol
from headcount.questions import implied, question_from_json
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question

if TYPE_CHECKING:
    from headcount.audit.attacks.lower_bound import Attack
    from headcount_survey.attacks.independence import IndependenceResult
    from headcount_survey.attacks.replay import Replay

EVERYTHING = "all"
BAR = 40
STEPS = 4  # of a sum's range: its two ends and three values between
PEOPLE = 6
COLUMNS = {"protocol": 30, "task": 9, "n": 2, "delta": 7, "proved": 7, "claimed": 7, "of the claim": 17, "verdict": 8}
ROOM = 104  # for all of them; a narrow terminal does without the task and the bar


@dataclass(frozen=True)
class Audit:
    """Three ways to find fault with one protocol."""

    attack: Attack
    replay: Replay
    independence: IndependenceResult

    @property
    def stands(self) -> bool:
        return not (self.attack.violated or self.replay.leaks or self.independence.dependent)

    @property
    def verdict(self) -> str:
        problems = [
            str(self.attack).removeprefix("VIOLATED: ") if self.attack.violated else "",
            str(self.replay) if self.replay.leaks else "",
            str(self.independence) if self.independence.dependent else "",
        ]
        return "; ".join(filter(None, problems))

    def to_json(self) -> dict[str, Any]:
        return {
            **self.attack.protocol.to_json(),
            **self.attack.to_json(),
            "replay": {"pairs": self.replay.pairs, "found": dict(self.replay.found)},
            "joint": {
                "tests": self.independence.tests,
                "worst": self.independence.worst.what,
                "chance": self.independence.worst.p_value,
            },
            "stands": self.stands,
        }


def audited(protocol: Protocol, **how: Any) -> Audit:
    from headcount.audit.attacks.lower_bound import attack
    from headcount_survey.attacks.independence import find_dependence
    from headcount_survey.attacks.replay import replay

    return Audit(attack(protocol, **how), replay(protocol), find_dependence(protocol))


def audit(
    name: Annotated[str, typer.Argument(help="The protocol, or 'all' for the smallest instance of each.")],
    n: Annotated[
        int | None,
        typer.Option("--n", **WHOLE, help="How many people report; few, so that views repeat."),
    ] = None,
    samples: Annotated[float, typer.Option(help="How often each of the two crowds is run.")] = 1e6,
    epsilon: Annotated[float | None, typer.Option(help="Calibrate to this epsilon first, and to --delta.")] = None,
    delta: Annotated[float | None, typer.Option(help="Where to attack; unless told, where epsilon is 1.")] = None,
    param: Params = None,
    seen: Annotated[
        str, typer.Option(help="What is seen: 'view', one person's 'message', 'released', or what a 'shuffler' sees.")
    ] = "view",
    neighbours: Neighbours = "replace",
    categories: Categories = None,
    bounds: Bounds = None,
    how: Formats = Format.TABLE,
) -> None:
    """Attack a protocol: a lower bound on epsilon beside its claim. Exits with 1 if above it."""
    given: dict[str, Any] = {"seen": seen, "samples": _whole(samples), "delta": delta}
    if name == EVERYTHING:
        if n is not None or epsilon is not None or param or categories or bounds:
            raise BadArgument("name", "is 'all', which takes every instance as it is", "name one protocol instead")
        found = _all(given, how)
    else:
        found = [_one(_protocol(name, n, epsilon, delta, param, neighbours, categories, bounds), given, how)]
    if not all(one.stands for one in found):
        raise typer.Exit(1)


def _whole(samples: float) -> int:
    if not samples.is_integer():
        raise BadArgument("--samples", f"is {samples:g}", "use a whole number, for example 1e6")
    return int(samples)


def _protocol(
    name: str,
    n: int | None,
    epsilon: float | None,
    delta: float | None,
    param: list[str] | None,
    neighbours: str,
    categories: str | None,
    bounds: tuple[float, float] | None,
) -> Protocol:
    """The one described, or the tiny instance where nothing is."""
    cls, parameters = named(name), parameters_of(param)
    if epsilon is None and not parameters:
        if categories or bounds:
            option = "--categories" if categories else "--bounds"
            raise BadArgument(option, "needs parameters or a budget", "add for example --epsilon 1 --delta 1e-2")
        return _tiny(cls, n, Relation(neighbours))
    task: Question | None = None if Shape.BIT in cls.shapes else cls.tiny().task
    if categories or bounds:
        task = implied(categories=categories_of(categories), bounds=bounds)
    if task is not None and task.shape is Shape.AMOUNT and bounds:
        task = question_from_json({**task.to_json(), "steps": STEPS})
    budget: dict[str, Any] = {} if epsilon is None else {"epsilon": epsilon, "delta": delta}
    return planned(name, task, n=PEOPLE if n is None else n, neighbours=neighbours, **budget, **parameters)


def _tiny(cls: type[Protocol], n: int | None, neighbours: Relation) -> Protocol:
    """The smallest instance under this relation; refused where the protocol has none."""
    tinies = {tiny.neighbours: tiny for tiny in reversed(list(cls.tinies()))}
    tiny = tinies.get(neighbours) or replace(cls.tiny(), neighbours=neighbours)
    return tiny if n is None else tiny.among(Crowd(n))


def _one(protocol: Protocol, given: dict[str, Any], how: Format) -> Audit:
    with _screen(console()).status(f"attacking {protocol.name} …"):
        found = audited(protocol, **given)
    show(found.to_json(), how, _report(found))
    if how is Format.TABLE:
        verdict = "The claim stands." if found.stands else f"[red]VIOLATED: {escape(found.verdict)}[/]"
        console().print(f"\n[bold]{verdict}[/]")
    return found


def _report(found: Audit) -> Table:
    run, protocol = found.attack, found.attack.protocol
    parameters = protocol.parameters.items()
    given = ", ".join(f"{name} = {value if isinstance(value, str) else f'{value:.6g}'}" for name, value in parameters)
    crowd = people(max(map(sum, run.pair)))
    words = protocol.neighbours.words
    table = grid("", "", title=f"{protocol.name} ({protocol.model}, {protocol.task.name}, {crowd}, {words})")
    table.add_row("parameters", given)
    table.add_row("claimed", f"epsilon at most [bold]{_number(run.claim)}[/] at delta {run.delta:.4g}")
    table.add_row("proved", f"epsilon at least [bold]{run.epsilon:.4g}[/], wrong with a chance of {run.error:g}")
    if bar := _bar(run, BAR):
        table.add_row("", bar)
    table.add_row("crowds", escape(run.crowds))
    table.add_row("event", escape(run.event))
    first, second = (f"{hits / run.runs:.2%}" for hits in run.hits)
    table.add_row("happens", f"in {first} of the first crowd's runs and {second} of the second's")
    table.add_row("runs", f"{run.samples:,} of each crowd: one half chose the event, the other tested it")
    table.add_row("same coins", escape(str(found.replay)))
    table.add_row("independence", escape(str(found.independence)))
    return table


def _number(epsilon: float) -> str:
    return f"{epsilon:.4g}" if math.isfinite(epsilon) else "nothing"


def _bar(run: Attack, width: int) -> str:
    """How much of the claim could be proved."""
    if not math.isfinite(run.claim) or run.claim <= 0.0:
        return ""
    part = run.epsilon / run.claim
    filled = min(width, round(width * part))
    colour = "red" if run.violated else "green"
    return f"[{colour}]{'█' * filled}[/][dim]{'░' * (width - filled)}[/] {part:.0%}"


def _all(given: dict[str, Any], how: Format) -> list[Audit]:
    """Every tiny instance, a line each as soon as it is known."""
    instances = [tiny for cls in CATALOGUE for tiny in cls.tinies()]
    found: list[Audit] = []
    out = console()
    if how is Format.TABLE:
        out.print(_line(dict(zip(COLUMNS, COLUMNS, strict=True)), out.width, "bold"))
    with _screen(out).status("") as status:
        for place, protocol in enumerate(instances, 1):
            status.update(f"{place} of {len(instances)}: attacking {protocol.name} …")
            found.append(audited(protocol, **given))
            if how is Format.TABLE:
                out.print(_line(_cells(found[-1]), out.width, "" if found[-1].stands else "red"))
    if how is not Format.TABLE:
        show([one.to_json() for one in found], how, "")
        return found
    violated = [one for one in found if not one.stands]
    for one in violated:
        out.print(f"[bold red]VIOLATED: {one.attack.protocol.name}: {escape(one.verdict)}[/]")
    if not violated:
        out.print(f"\n[bold]All {len(found)} claims stand.[/]")
    return found


def _screen(out: Console) -> Console:
    """The stream for progress: never a file."""
    return out if out.is_terminal else Console(stderr=True)


def _cells(found: Audit) -> dict[str, str]:
    run = found.attack
    return {
        "protocol": run.protocol.name,
        "task": run.protocol.task.name,
        "n": f"{max(map(sum, run.pair))}",
        "delta": f"{run.delta:.3g}",
        "proved": f"{run.epsilon:.3f}",
        "claimed": f"{run.claim:.3f}" if math.isfinite(run.claim) else "none",
        "of the claim": _bar(run, 12),
        "verdict": "stands" if found.stands else "VIOLATED",
    }


def _line(cells: dict[str, str], room: int, style: str) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, style=style)
    shown = {name: width for name, width in COLUMNS.items() if room >= ROOM or name not in ("task", "of the claim")}
    for width in shown.values():
        table.add_column(width=width, no_wrap=True, justify="right" if width <= 7 else "left")
    table.add_row(*(cells[name] for name in shown))
    return table
