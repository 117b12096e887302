"""Advice on the command line, a command for each kind of task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.commands import Commands
from headcount.cli.numbers import THOUSANDS, whole
from headcount.cli.options import (
    Categories,
    Corrupt,
    Delta,
    Formats,
    Least,
    Models,
    Needed,
    Neighbours,
    Whole,
    categories_of,
)  # fmt: skip
from headcount.cli.progress import Bar
from headcount.cli.render import Format, advice_table, console, drawable, show, written
from headcount.cli.spelling import spelt
from headcount.core.errors import BadArgument
from headcount.core.histogram import Histogram
from headcount.core.task import Count, Fraction, Mean, Sum, Task
from headcount.planner.advise import advise as advise_on

advisor = Commands(help="Which protocol should I use, and how wrong will it be?")

People = Annotated[
    str | None, typer.Option("--n", help="How many people will report, or a range as 1000..5000; left out, solved for.")
]
Epsilon = Annotated[
    float | None, typer.Option(help="The privacy budget: smaller is more private. Left out, it is solved for.")
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
    typer.Option("--objective", help="rmse, interval, worst-bin, relative or detectable.", show_default="rmse"),
]
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
Drawn = Annotated[Path | None, typer.Option("--plot", help="Draw the options into this PNG or SVG file.")]


def _advise(task: Task, how: Format, save: Path | None, plot: Path | None, **given: Any) -> None:
    if plot is not None:
        drawable("--plot", plot)
    given |= {"n": _people(given["n"]), "ones": _ones(given.get("ones")), "models": given.pop("model") or None}
    advice = advise_on(task, **given, watch=Bar("advising"))
    if how is not Format.TABLE:
        show(advice.to_json(), how, "", advice.to_markdown())
    elif advice.feasible:
        console().print(advice_table(advice))  # without the figures that only JSON has, which take as long again
    best = advice.best  # refused, with what each lacks, if there is none
    if how is Format.TABLE:
        console().print("\n" + spelt(advice.why()), markup=False, highlight=False)
    if save is not None:
        written(how, best.save, save)
    if plot is not None:
        written(how, advice.plot, plot)


def _people(text: str | None) -> Any:
    """A number, also as 1e6 or 1,000,000, or a range with two dots."""
    if text is None:
        return None
    works = "write a number of people, as 10000, 10,000 or 1e4, or a range as 1000..5000"
    ends = [whole("--n", part, works) for part in text.split("..")]
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


def _on_ones(task: Task) -> Any:
    """The advice for a count or a fraction."""

    def command(
        n: People = None, epsilon: Epsilon = None, delta: Delta = 0.0, ones: Ones = None, model: Models = None,
        least: Least = None, corrupt: Corrupt = 0, honest: Honest = None, objective: Judged = None,
        confidence: Confidence = 0.95, max_messages: MostMessages = None, max_bytes: MostBytes = None,
        collected: Collected = False, within: Within = None, neighbours: Neighbours = "replace", save: Saved = None,
        plot: Drawn = None, how: Formats = Format.TABLE,
    ) -> None:  # fmt: skip
        _advise(
            task, how, save, plot, n=n, epsilon=epsilon, delta=delta, ones=ones, model=model, least=least,
            corrupt=corrupt, honest=honest, objective=objective, confidence=confidence, max_messages=max_messages,
            max_bytes=max_bytes, collected=collected, within=within, neighbours=neighbours,
        )  # fmt: skip

    return command


def _on_numbers(kind: type[Sum]) -> Any:
    """The advice for a sum or a mean."""

    def command(
        bounds: Needed, n: People = None, epsilon: Epsilon = None, delta: Delta = 0.0, whole: Whole = False,
        model: Models = None, least: Least = None, corrupt: Corrupt = 0, honest: Honest = None,
        objective: Judged = None, confidence: Confidence = 0.95, max_messages: MostMessages = None,
        max_bytes: MostBytes = None, collected: Collected = False, within: Within = None,
        neighbours: Neighbours = "replace", save: Saved = None, plot: Drawn = None, how: Formats = Format.TABLE,
    ) -> None:  # fmt: skip
        _advise(
            kind.whole(bounds) if whole else kind(bounds), how, save, plot, n=n, epsilon=epsilon, delta=delta,
            model=model, least=least, corrupt=corrupt, honest=honest, objective=objective, confidence=confidence,
            max_messages=max_messages, max_bytes=max_bytes, collected=collected, within=within, neighbours=neighbours,
        )  # fmt: skip

    return command


advisor.command("count", help="Every protocol for a count, ranked by its exact predicted error.")(_on_ones(Count()))
advisor.command("fraction", help="The same, as a fraction of the people.")(_on_ones(Fraction()))
advisor.command("sum", help="Every protocol for a sum of numbers within the bounds.")(_on_numbers(Sum))
advisor.command("mean", help="Every protocol for a mean of numbers within the bounds.")(_on_numbers(Mean))


@advisor.command("histogram")
def advise_histogram(
    n: People = None, epsilon: Epsilon = None, delta: Delta = 0.0, categories: Categories = None, ones: Ones = None,
    model: Models = None, least: Least = None, corrupt: Corrupt = 0, honest: Honest = None, objective: Judged = None,
    confidence: Confidence = 0.95, max_messages: MostMessages = None, max_bytes: MostBytes = None,
    collected: Collected = False, within: Within = None, neighbours: Neighbours = "replace", save: Saved = None,
    plot: Drawn = None, how: Formats = Format.TABLE,
) -> None:  # fmt: skip
    """Every protocol for a histogram; without --categories, for labels that nobody knows beforehand."""
    _advise(
        Histogram(categories_of(categories)), how, save, plot, n=n, epsilon=epsilon, delta=delta, ones=ones,
        model=model, least=least, corrupt=corrupt, honest=honest, objective=objective, confidence=confidence,
        max_messages=max_messages, max_bytes=max_bytes, collected=collected, within=within, neighbours=neighbours,
    )  # fmt: skip
