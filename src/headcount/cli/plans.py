"""Plans on the command line: make one, run it on a file, and write it down for the registry of deployments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headcount import ask
from headcount.cli.files import read
from headcount.cli.ledger import ledger_of
from headcount.cli.options import (
    Bounds,
    Categories,
    Clamp,
    Column,
    Corrupt,
    Delta,
    Epsilon,
    File,
    Formats,
    Least,
    LedgerFile,
    ModelName,
    Neighbours,
    Params,
    People,
    ProtocolName,
    Unit,
    Where,
    Whole,
    WitnessFile,
    categories_of,
    parameters_of,
)  # fmt: skip
from headcount.cli.render import Format, estimate_table, show
from headcount.core.budget import Budget
from headcount.core.errors import BadArgument
from headcount.core.histogram import Histogram
from headcount.core.plan import Plan
from headcount.core.task import Sum, Task
from headcount.planner.advise import advise
from headcount.protocols import TASKS
from headcount.protocols.saved import load_plan

PlanFile = Annotated[Path, typer.Argument(help="The plan's file.")]
Text = str | None


def task_called(name: str, categories: str | None, bounds: tuple[float, float] | None, whole: bool) -> Task:
    """The task of this name, with what it needs to know."""
    kind = TASKS.get(name)
    if kind is None:
        raise BadArgument("task", f"is {name!r}", f"use one of {', '.join(TASKS)}")
    if issubclass(kind, Sum):
        if bounds is None:
            raise BadArgument("--bounds", f"is missing for a {name}", "use for example --bounds 0 120")
        return kind.whole(bounds) if whole else kind(bounds)
    if bounds is not None:
        raise BadArgument("--bounds", f"is given for a {name}", "leave it out, or ask for a sum or a mean")
    if issubclass(kind, Histogram):
        return Histogram(categories_of(categories))
    if categories is not None:
        raise BadArgument("--categories", f"is given for a {name}", "leave it out, or ask for a histogram")
    return kind()


def make(
    task: Annotated[str, typer.Argument(help="count, fraction, sum, mean or histogram.")],
    n: People, epsilon: Epsilon, out: Annotated[Path, typer.Option(help="Where to write the plan.")],
    delta: Delta = 0.0, categories: Categories = None, bounds: Bounds = None, whole: Whole = False,
    model: ModelName = None, protocol: ProtocolName = None, param: Params = None, least: Least = None,
    corrupt: Corrupt = 0, neighbours: Neighbours = "replace",
) -> None:  # fmt: skip
    """Choose a protocol for a question and write the plan down, to be run, certified or registered later."""
    asked = task_called(task, categories, bounds, whole)
    if protocol is not None:
        made = ask.protocol(
            protocol, asked, n=n, epsilon=epsilon, delta=delta, least=least, corrupt=corrupt, neighbours=neighbours,
            **parameters_of(param),
        )  # fmt: skip
        plan = Plan(made, Budget(epsilon, delta, made.neighbours))
    elif param:
        raise BadArgument("--param", "is given without --protocol", "say which protocol it is a parameter of")
    else:
        plan = advise(
            asked, n=n, epsilon=epsilon, delta=delta, least=least, corrupt=corrupt, neighbours=neighbours,
            models=[model or "shuffle"],
        ).best  # fmt: skip
    plan.save(out)
    print(
        f"{plan.protocol.name} for {task} among {n:,} people at {plan.budget}, {plan.budget.neighbours.words}, "
        f"{plan.protocol.model} model\nwritten to {out}; run it with: headcount run {out} FILE --column NAME"
    )


def run(
    plan: PlanFile, file: File, column: Column, where: Where = None, unit: Unit = None, clamp: Clamp = False,
    ledger: LedgerFile = None, witness: WitnessFile = None, how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Run exactly this plan on a file."""
    loaded = load_plan(plan)
    task = loaded.protocol.task
    labelled = isinstance(task, Histogram) and not task.edges and not isinstance(task.categories, range)
    numbers = labelled and not task.open and not isinstance(task.categories[0], str)
    names = [name for name in (column, unit) if name is not None]
    frame = read(file, names, [column] if labelled and not numbers else [])
    answered = ask.run(loaded, frame, column=column, where=where, unit=unit, ledger=ledger_of(ledger, witness))
    answered = answered.clamped() if clamp else answered
    show(answered.to_json(), how, estimate_table(answered))


def export(
    plan: PlanFile,
    name: Annotated[str, typer.Option(help="What the published answer is called.")],
    curator: Annotated[str, typer.Option(help="Who publishes it.")],
    curator_type: Annotated[str, typer.Option(help="What they are: government, industry or nonprofit.")],
    published: Annotated[str, typer.Option(help="When it was published first, as YYYY-MM-DD.")],
    description: Annotated[Text, typer.Option(help="What the answer is, in a sentence or two.")] = None,
    use: Annotated[Text, typer.Option(help="What it is for.")] = None,
    region: Annotated[Text, typer.Option(help="Whom it is about.")] = None,
    sector: Annotated[Text, typer.Option(help="Of the economy: technology, healthcare, education …")] = None,
    unit: Annotated[Text, typer.Option(help="What one report stands for, if not a person.")] = None,
    releases: Annotated[str, typer.Option(help="'one release' or 'many releases'.")] = "one release",
    data_source: Annotated[Text, typer.Option(help="Whether new data come in: static or dynamic.")] = None,
    later: Annotated[Text, typer.Option(help="What else the same people will be asked.")] = None,
    prepared: Annotated[Text, typer.Option(help="How the data were prepared.")] = None,
    kept: Annotated[Text, typer.Option(help="How the data are kept, and who may see them.")] = None,
    justification: Annotated[Text, typer.Option(help="Why this budget and this model of trust.")] = None,
    author: Annotated[list[str] | None, typer.Option(help="Who fills in the record; may be repeated.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="A page that describes it; may be repeated.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the record; it is printed otherwise.")] = None,
) -> None:
    """Write a plan down as a draft for the OpenDP registry of deployments, in YAML."""
    record = load_plan(plan).to_registry(
        name=name, curator=curator, curator_type=curator_type, published=published, description=description, use=use,
        region=region, sector=sector, unit=unit, releases=releases, data_source=data_source, later=later,
        prepared=prepared, kept=kept, justification=justification, authors=author or (), sources=source or (),
    )  # fmt: skip
    if out is None:
        print(record, end="")
        return
    record.save(out)
    left = f"; {len(record.todo)} places are left to be filled in, marked TODO" if record.todo else ""
    print(f"written to {out}{left}")
