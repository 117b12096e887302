"""Columns of a table, each with its domain, as people declare them and as JSON has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

from headcount.errors import BadArgument
from headcount.phrases import Phrase
from headcount.questions.domains.bins import Bins
from headcount.questions.domains.categories import Categories, Listed
from headcount.questions.domains.intervals import Intervals
from headcount.questions.domains.periods import PERIODS, Periods, are_days

WORKS = Phrase(
    "name each column with its labels, or its bins: for example {columns}",
    columns={"sex": ["f", "m"], "age": {"bins": [0, 18, 65, 120]}},
)
FORMS: dict[frozenset[str], Callable[[Mapping[str, Any]], Listed]] = {
    frozenset({"categories"}): lambda told: Categories(
        told["categories"], told.get("other", False), spelled=told.get("spelled", False)
    ),
    frozenset({"edges"}): lambda told: Bins(tuple(told["edges"]), told.get("other", False)),
    frozenset({"bins"}): lambda told: _binned(told),
    frozenset({"bounds", "bins"}): lambda told: _binned(told),
    frozenset({"starts", "period"}): lambda told: Periods(
        tuple(told["starts"]), told["period"], told.get("other", False), dates=told.get("dates")
    ),
}
OPTIONS = {"other", "clip", "missing", "dates", "spelled"}


def declared_columns(given: Any) -> tuple[tuple[str, Listed], ...]:
    """Names and domains, from a mapping or from what `columns_to_json` wrote down."""
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
        pairs = [_pair(each) for each in given]
    else:
        raise BadArgument("columns", f"is {given!r}", WORKS)
    if not pairs or not all(isinstance(name, str) and name for name, _ in pairs):
        raise BadArgument("columns", "do not have names each", WORKS)
    if len({name for name, _ in pairs}) < len(pairs):
        raise BadArgument("columns", "has a name twice", "name each column once")
    return tuple((name, _domain(name, told)) for name, told in pairs)


def columns_to_json(columns: Iterable[tuple[str, Listed]]) -> list[dict[str, Any]]:
    """What `declared_columns` reads."""
    return [{"column": name, **domain.to_json()} for name, domain in columns]


def _pair(each: Any) -> tuple[Any, Any]:
    if isinstance(each, Mapping) and "column" in each:
        return each["column"], {name: part for name, part in each.items() if name != "column"}
    if isinstance(each, tuple) and len(each) == 2:
        return each
    raise BadArgument("columns", "is not a mapping from names to what they hold", WORKS)


def _domain(name: str, told: Any) -> Listed:
    if isinstance(told, Listed):
        return told
    if not isinstance(told, Mapping):
        return Categories(told)
    form = FORMS.get(frozenset(told) - OPTIONS)
    if form is None:
        raise BadArgument("columns", f"does not say what {name!r} holds", WORKS)
    made = form(told)
    unfit = {"clip", "other", "dates", "spelled"}.intersection(told) - {each.name for each in fields(made)}  # type: ignore[arg-type]
    if unfit:
        works = "clip is for equal bins, other for categories and edges, dates for days, spelled for yes and no"
        raise BadArgument("columns", f"says {min(unfit)} of {name!r}, which cannot have it", works)
    return made if told.get("missing") is None else made.with_missing(told["missing"])


def _binned(told: Mapping[str, Any]) -> Listed:
    """Periods and other stretches of days, bins of numbers, or equal bins between any bounds."""
    bins, bounds, other, dates = (told.get(name) for name in ("bins", "bounds", "other", "dates"))
    if (isinstance(bins, str) and bins in PERIODS) or (bounds is None and are_days(bins)):
        return Periods.of(bins, bounds, other=bool(other), dates=dates)
    if bounds is None:
        return Bins.of(bins, other=bool(other))
    return Intervals.of(tuple(bounds), bins, clip=told.get("clip", False), dates=dates)
