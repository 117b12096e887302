"""Advice on the command line, a command for each question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.commands import Commands
from headcount.cli.numbers import THOUSANDS, WHOLE, whole
from headcount.cli.options import Corrupt, Delta, Least, Models, Neighbours
from headcount.cli.output import Output
from headcount.cli.posing import posing
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, advice_table, console, sheet_table, show, write_file
from headcount.cli.spelling import Flags
from headcount.errors import BadArgument
from headcount.phrases import said
from headcount.planner.advise import advise as advise_on
from headcount.questions import QUESTIONS
from headcount.questions.question import Question

advisor = Commands(help="Which protocol should I use, and how wrong will it be?")

People = Annotated[
    str | None, typer.Option("--n", help="How many people will report, or a range as 1000..5000; left out, solved for.")
]
Epsilon = Annotated[
    float | None, typer.Option(help="The privacy budget: smaller is more private. Left out, it is solved for.")
]
Rounds = Annotated[
    int, typer.Option(help="How often the same people are asked: the budget is for all of it, the plan for one round.")
]
Contributes = Annotated[
    int | None,
    typer.Option(**WHOLE, help="In how many rounds a person counts at most, 1 as to sign up: tell sums of rounds."),
]
Windows = Annotated[
    int | None,
    typer.Option(
        **WHOLE,
        help="Also tell what is promised if the budget of all these rounds is given anew this often.",
    ),
]
Ones = Annotated[
    str | None,
    typer.Option(
        help="About how many hold a one: 200, or 0:90,500:10 with weights, uniform, or unknown (the worst case)."
    ),
]
Honest = Annotated[
    float | None, typer.Option(help="Instead: which fraction of the reports can be relied upon, as 0.9.")
]
Judged = Annotated[
    str | None,
    typer.Option("--objective", help="rmse, interval, worst-bin, relative, detectable or robust.", show_default="rmse"),
]
Liars = Annotated[int, typer.Option("--liars", **WHOLE, help="Against how many an answer is to be robust.")]
Confidence = Annotated[float, typer.Option(help="Of the interval: 0.95 is 19 times out of 20.")]
MostMessages = Annotated[float | None, typer.Option("--max-messages", help="The most messages a person may send.")]
MostBytes = Annotated[float | None, typer.Option("--max-bytes", help="The most bytes a person may send.")]
Collected = Annotated[
    bool, typer.Option("--collected", help="From real devices: messages are sealed, and everybody sends as many.")
]
Within = Annotated[
    float | None, typer.Option(help="How close the answer must be: solves for what was left out, --epsilon or --n.")
]
Saved = Annotated[Path | None, typer.Option("--save", help="Write the best plan to this file.")]


def advise(
    question: Question,
    context: typer.Context,
    n: People = None,
    epsilon: Epsilon = None,
    delta: Delta = 0.0,
    rounds: Rounds = 1,
    contributes: Contributes = None,
    windows: Windows = None,
    ones: Ones = None,
    models: Models = None,
    least: Least = None,
    corrupt: Corrupt = 0,
    honest: Honest = None,
    objective: Judged = None,
    liars: Liars = 1,
    confidence: Confidence = 0.95,
    max_messages: MostMessages = None,
    max_bytes: MostBytes = None,
    collected: Collected = False,
    within: Within = None,
    neighbours: Neighbours = "replace",
    save: Saved = None,
    *,
    output: Output,
) -> None:
    """Ranks every protocol for the question by its exact predicted error."""
    spelling = Flags(context.command)
    output.require_drawable()
    if windows is not None and output.how is not Format.TABLE:
        raise BadArgument("--windows", "is told as a table alone", "leave out --format, or --windows")
    advice = advise_on(
        question,
        n=_people(n),
        epsilon=epsilon,
        delta=delta,
        rounds=rounds,
        contributes=contributes,
        ones=_ones(ones),
        models=models or None,
        least=least,
        corrupt=corrupt,
        honest=honest,
        objective=objective,
        liars=liars,
        confidence=confidence,
        max_messages=max_messages,
        max_bytes=max_bytes,
        collected=collected,
        within=within,
        neighbours=neighbours,
        watch=ProgressBar("advising"),
    )
    if output.how is not Format.TABLE:
        show(advice.to_json(), output.how, "", advice.to_markdown())
    elif advice.feasible:
        console().print(advice_table(advice, spelling))  # figures that only JSON has take as long again
    best = advice.best  # refused, with what each lacks, if there is none
    if output.how is Format.TABLE:
        console().print("\n" + said(advice.why(), spelling), markup=False, highlight=False)
        if windows is not None:
            console().print(sheet_table(best.refreshed(windows)))
    if save is not None:
        write_file(output.how, best.save, save)
    output.draw(advice)


def _people(text: str | None) -> Any:
    """A number, also as 1e6 or 1,000,000, or a range with two dots."""
    if text is None:
        return None
    works = "write a number of people, as 10000, 10,000 or 1e4, or a range as 1000..5000"
    ends = [whole("n", part, works) for part in text.split("..")]
    if len(ends) > 2 or ends != sorted(ends):
        raise BadArgument("n", f"is {text!r}", works)
    return ends[0] if len(ends) == 1 else tuple(ends)


def _ones(text: str | None) -> Any:
    if text is None or text in {"unknown", "uniform"}:
        return text
    works = "write a number, several as 10,20,30, or numbers with weights as 0:90,500:10"
    if THOUSANDS.fullmatch(text):
        clear = f"write {text.replace(',', '')}, or {text.replace(',', ', ')!r} for several"
        raise BadArgument("--ones", f"is {text!r}, which may be one number or several", clear)
    if ":" not in text:
        numbers = [whole("--ones", part, works) for part in text.split(",")]
        return numbers[0] if len(numbers) == 1 else numbers
    pairs = [part.partition(":") for part in text.split(",")]
    weights = {whole("--ones", number, works): _weight(weight, works) for number, _, weight in pairs}
    if len(weights) < len(pairs):
        raise BadArgument("--ones", f"is {text!r}, where a number has two weights", "give each number once")
    return weights


def _weight(text: str, works: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadArgument("--ones", f"has the weight {text!r}", works) from None


for kind in QUESTIONS.values():
    advisor.command(kind.name, help=f"Every protocol that answers: {(kind.__doc__ or '').partition('?')[0].lower()}?")(
        posing(kind, advise)
    )
