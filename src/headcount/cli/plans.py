"""Plans on the command line: run one on a file, and write it for the registry of deployments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headcount.cli.files import engine_called, table
from headcount.cli.ledger import Charged, keep_count
from headcount.cli.options import (
    Clamp,
    EngineName,
    File,
    MaxContributions,
    OnEngine,
    Unit,
    Where,
    where_of,
)
from headcount.cli.output import Output
from headcount.cli.render import estimate_table, show
from headcount.protocols.base.saved import load_plan
from headcount.running import run as carry_out

PlanFile = Annotated[Path, typer.Argument(help="The plan's file.")]
Text = str | None
OneColumn = Annotated[
    Text, typer.Option("--column", help="The column of people's answers, unless the plan names them.")
]


def run(
    plan: PlanFile,
    file: File,
    column: OneColumn = None,
    where: Where = None,
    unit: Unit = None,
    max_contributions: MaxContributions = None,
    clamp: Clamp = False,
    *,
    charged: Charged,
    engine: OnEngine = EngineName.HERE,
    output: Output,
) -> None:
    """Run exactly this plan on a file. Plans are written by: headcount advise … --save plan.json"""
    output.require_drawable()
    loaded = load_plan(plan)
    on = engine_called(engine)
    read = [*loaded.protocol.task.reads, column, unit]
    frame = table(file, [name for name in read if name is not None], on)
    book = charged.opened()
    answered = carry_out(
        loaded,
        frame,
        column=column,
        where=where_of(where),
        unit=unit,
        max_contributions=max_contributions,
        engine=on,
        ledger=book,
    )
    answered = answered.clamped() if clamp else answered
    show(answered.to_json(), output.how, estimate_table(answered))
    keep_count(file, answered, book)
    output.draw(answered)


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
        name=name,
        curator=curator,
        curator_type=curator_type,
        published=published,
        description=description,
        use=use,
        region=region,
        sector=sector,
        unit=unit,
        releases=releases,
        data_source=data_source,
        later=later,
        prepared=prepared,
        kept=kept,
        justification=justification,
        authors=author or (),
        sources=source or (),
    )
    if out is None:
        print(record, end="")
        return
    record.save(out)
    left = f"; {len(record.todo)} places are left to be filled in, marked TODO" if record.todo else ""
    print(f"written to {out}{left}")
