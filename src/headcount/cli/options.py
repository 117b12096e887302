"""Options that commands share, and the parsing of their text."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.numbers import DECIMAL, WHOLE, looks_whole, whole
from headcount.cli.render import Format
from headcount.errors import BadArgument
from headcount.protocols import named
from headcount.questions import implied, implying
from headcount.questions.domains.domain import Shape
from headcount.questions.domains.periods import PERIODS
from headcount.questions.question import Question
from headcount.questions.reading import EXACT
from headcount.questions.times import LENGTHS, moment

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


class EngineName(StrEnum):
    """Engines by name."""

    HERE = "here"
    SPARK = "spark"


Epsilon = Annotated[float, typer.Option(**DECIMAL, help="The privacy budget: smaller is more private. 1 is common.")]
Delta = Annotated[
    float, typer.Option(**DECIMAL, help="The chance that the promise fails: far below 1/n, for example 1e-6.")
]
Neighbours = Annotated[str, typer.Option(help="What must not show: 'replace' one answer, or 'add-remove' one person.")]
Params = Annotated[list[str] | None, typer.Option("--param", help="A parameter of the protocol, as name=value.")]
Formats = Annotated[Format, typer.Option("--format", help="How to print the answer.")]
File = Annotated[
    str,
    typer.Argument(help="A Parquet, CSV or Arrow file with a row per person; a folder of them, or a glob in quotes."),
]
OnEngine = Annotated[EngineName, typer.Option("--engine", help="Where the work is done: here, or on Spark.")]
Column = Annotated[str, typer.Option(help="The column that holds people's answers.")]
Where = Annotated[
    list[str] | None,
    typer.Option(
        help="The value that counts as yes, if the column is not 0/1, or several between commas: true or false, a "
        "number as in 1, -2 or 2.5, or text, which is everything else (007, Yes).",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="What a missing value counts as, instead of being refused: no, other, category (one of its own) or, for "
        "sums, a number; or drop, where the number of people is private. Of several columns: --missing plan=other.",
    ),
]
Spelled = Annotated[bool, typer.Option(help="Read yes and no in any spelling (Yes, y, T, on, 1).")]
Blanks = Annotated[
    list[str] | None,
    typer.Option(help="Text that means nothing, as in NA,- between commas: it is missing, as blank text is."),
]
Synonyms = Annotated[
    list[str] | None,
    typer.Option(help="Other words for the same, as in Germany=germany,Deutschland (repeatable)."),
]
Numbers = Annotated[
    str | None,
    typer.Option(
        help="How text writes numbers, by one of these examples: 1,234.50 or 1.234,50 or '1 234,50' or \"1'234.50\"; a "
        "currency may stand before or after."
    ),
]
By = Annotated[list[str] | None, typer.Option(help="A column of groups, for an answer in each of them (repeatable).")]
Unit = Annotated[str | None, typer.Option(help="The column of person ids, if a person may have several rows.")]
MaxContributions = Annotated[int | None, typer.Option(**WHOLE, help="How many of a person's rows count; with --unit.")]
ModelName = Annotated[
    str | None,
    typer.Option("--model", help="Who adds the noise: central, unless told. With another, devices are simulated."),
]
ProtocolName = Annotated[str | None, typer.Option("--protocol", help="A protocol by name instead of the best one.")]
Clamp = Annotated[bool, typer.Option(help="Bring the answer into the possible range; it is then no longer unbiased.")]
Categories = Annotated[
    str | None,
    typer.Option(
        help="The categories, separated by commas: numbers where each of them is one (1,2,3), text otherwise; or how "
        "many there are, called 0, 1, 2 …"
    ),
]
Bounds = Annotated[tuple[float, float] | None, typer.Option(help="The smallest and the largest possible value.")]
Clip = Annotated[bool, typer.Option(help="Bring values outside the bounds to the nearer one instead of refusing them.")]
People = Annotated[int, typer.Option("--n", **WHOLE, help="How many people will report.")]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="A model you can trust: central, shuffle, … (repeated, or separated by commas)."),
]
Least = Annotated[int | None, typer.Option(**WHOLE, help="The fewest reports a release may have.")]
Corrupt = Annotated[int, typer.Option(**WHOLE, help="How many of those may lie or collude.")]
Ones = Annotated[
    int | None,
    typer.Option(**WHOLE, help="About how many hold a one, or are in the category; left out, the worst case counts."),
]
Other = Annotated[bool, typer.Option(help="Count people in none of the categories apart.")]
WitnessFile = Annotated[
    Path | None, typer.Option("--witness", help="A second file, in another place, that tells if charges are missing.")
]
Whole = Annotated[bool, typer.Option(help="Whether the values are whole numbers.")]


def parameters_of(pairs: list[str] | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, text = pair.partition("=")
        if name in parameters:
            raise BadArgument("--param", f"names {name} twice", "give each parameter once")
        try:
            parameters[name] = text if ";" in text else float(text)  # the rows of a matrix have semicolons between
        except ValueError:
            equals = ""
        if not equals:
            raise BadArgument("--param", f"is {pair!r}", "write name=number, for example gamma=0.0725")
    return parameters


def categories_of(text: str | None) -> Any:
    """Labels, or how many: 1,000 is not two labels, nor 1e3 one."""
    if text is None:
        return None
    if looks_whole(text):
        return whole("--categories", text)
    labels = [label.strip() for label in text.split(",")]
    numbers = [number_of(label) for label in labels]
    return labels if None in numbers else numbers


def groups_of(texts: list[str] | None) -> Any:
    """Labels of one column of groups, or of several by their names."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return categories_of(texts[0])
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, labels = text.partition("=")
        if not equals or name in found:
            works = "write each column once, as in --categories plan=free,pro"
            raise BadArgument("--categories", f"is {text!r}", works)
        found[name] = categories_of(labels)
    return found


def limits_of(texts: tuple[str, str] | None) -> Any:
    """Two numbers or two days."""
    if texts is None:
        return None
    try:
        return tuple(float(text) for text in texts)
    except ValueError:
        return texts


def missing_of(texts: list[str] | None) -> Any:
    """The declaration of --missing: words and numbers, or these by column."""
    if not texts:
        return None
    by_column = [text.rpartition("=") for text in texts if "=" in text]
    if not by_column:
        return [*map(_word_or_number, texts)]
    if len(by_column) < len(texts) or len({name for name, _, _ in by_column}) < len(texts):
        raise BadArgument("--missing", "names some columns, or one twice", "name each, as in --missing plan=other")
    return {name: _word_or_number(word) for name, _, word in by_column}


def _word_or_number(text: str) -> str | float:
    return text if (number := number_of(text.strip())) is None else number


def blanks_of(texts: list[str] | None) -> list[str] | None:
    """The declaration of --blanks: texts between commas."""
    return [text for several in texts for text in several.split(",")] if texts else None


def synonyms_of(texts: list[str] | None) -> dict[str, list[str]] | None:
    """The declaration of --synonyms: labels, and other words for each."""
    found: dict[str, list[str]] = {}
    for text in texts or []:
        label, equals, words = text.partition("=")
        if not equals or label in found:
            works = "write each label once, as in --synonyms Germany=germany,Deutschland"
            raise BadArgument("--synonyms", f"is {text!r}", works)
        found[label] = words.split(",")
    return found or None


def where_of(texts: list[str] | None) -> list[bool | float | str] | None:
    """The declaration of --where, typed by spelling, not by data: truth values, numbers or text."""
    return [_where(text) for several in texts for text in several.split(",")] if texts else None


def _where(text: str) -> bool | float | str:
    if text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    return _word_or_number(text)


def number_of(text: str) -> float | None:
    """A number as usually written; one too large for doubles to distinguish is kept as text."""
    if not NUMBER.fullmatch(text) or abs(float(text)) >= EXACT:
        return None
    return float(text) if "." in text else int(text)


def bins_of(text: str | None) -> Any:
    if text is None:
        return None
    if text.strip() in (*PERIODS, *LENGTHS):
        return text.strip()
    try:
        return int(text) if text.strip().isdigit() else [float(edge) for edge in text.split(",")]
    except ValueError:
        days = text.split(",")
        if all(moment(day) is not None for day in days):
            return days
        works = "write edges as 0,18,65,120, a number of bins, or one of day, week, month, quarter, year"
        raise BadArgument("--bins", f"is {text!r}", works) from None


def columns_of(declared: list[str]) -> dict[str, Any]:
    """Columns as they are written: sex=f,m, region=9, age=0:18:65, age=0:120/12,
    hired=2026-01-01:2026-12-31/month; with + at the end, others apart."""
    return dict(_column_of(text) for text in declared)


def _column_of(text: str) -> tuple[str, Any]:
    name, equals, told = text.partition("=")
    works = "write name=labels, as in sex=f,m, or name=edges, as in age=0:18:65 or age=0:120/12"
    if not equals or not name.strip() or not told.strip("+ "):
        raise BadArgument("--columns", f"is {text!r}", works)
    other = {"other": True} if told.endswith("+") else {}
    told = told.removesuffix("+")
    written, _, many = told.partition("/")
    edges = [_edge_of(each.strip()) for each in written.split(":")]
    if len(edges) < 2 or None in edges:
        return name.strip(), {"categories": categories_of(told), **other}
    if not many:
        return name.strip(), {"bins": edges, **other}
    if many in (*PERIODS, *LENGTHS):
        return name.strip(), {"bounds": edges, "bins": many, **other}
    if len(edges) > 2 or not looks_whole(many) or other:
        raise BadArgument("--columns", f"is {text!r}", works)
    return name.strip(), {"bounds": edges, "bins": whole("--columns", many)}


def _edge_of(text: str) -> float | str | None:
    """A number or a day; None where it is neither."""
    return text if moment(text) is not None else number_of(text)


def task_for(
    name: str, categories: str | None, bounds: tuple[float, float] | None, whole: bool = False
) -> Question | None:
    """The question that the options imply, for a protocol that may need one of them."""
    shapes = named(name).shapes
    if Shape.BIT not in shapes and not categories and not bounds:
        missing = implying(shapes)[0]
        raise BadArgument(f"--{missing}", f"is missing for {name}", "use for example --categories 100, or --bounds 0 1")
    if not categories and not bounds:
        return None
    return implied(categories=categories_of(categories), bounds=bounds, whole=whole)
