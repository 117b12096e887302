"""Figures of answers: a dot for one number, bars for categories, columns for what has an order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.answers.labels import called
from headcount.figures.intervals import Span, columns, rows

if TYPE_CHECKING:
    from headcount.answers.distribution import DistributionEstimate
    from headcount.answers.estimate import Estimate
    from headcount.answers.number import Number
    from headcount.answers.table import Margin

SHOWN = 40  # bars; the rest is counted in the subtitle
COLUMNS = 60
LINES = "Lines are 95% intervals"


def drawn(estimate: Estimate, target: Any, theme: str, title: str) -> Any:
    """Draw an answer into a file, into bytes or onto axes."""
    if not estimate.protocol.task.shape.several:
        return _number(estimate, target, theme, title)
    return _cells(estimate, target, theme, title)


def _number(estimate: Estimate, target: Any, theme: str, title: str) -> Any:
    task = estimate.protocol.task
    ((value, low, high),) = estimate.shown()
    span = Span(task.name, estimate.value, *estimate.interval(), f"{value}  ({low} to {high})")
    counted = f"{value} {task.unit_words}".strip()
    look: dict[str, Any] = {"title": title or counted, "subtitle": task.about, "xlabel": _unit(estimate)}
    look |= {"caption": _caption(estimate, "The line is the 95% interval"), "percent": task.percent}
    return rows([span], target, theme=theme, from_zero=False, **look)


def _cells(estimate: Estimate, target: Any, theme: str, title: str) -> Any:
    task = estimate.protocol.task
    values, ends = estimate.values.tolist(), estimate.intervals().tolist()
    texts = estimate.shown()
    names = [called(category) for category in estimate.categories]
    every = [
        Span(name, value, low, high, f"{text}  ({left} to {right})")
        for name, value, (low, high), (text, left, right) in zip(names, values, ends, texts, strict=True)
    ]
    most = COLUMNS if task.in_order else SHOWN
    left = len(every) - most
    spans = every if left <= 0 else every[:most] if task.in_order else _largest(every, most)
    beneath = f"The first {most} of {len(every):,}" if task.in_order else f"The largest {most} of {len(every):,}"
    look: dict[str, Any] = {"title": title or task.asks, "subtitle": beneath if left > 0 else "", "theme": theme}
    look |= {"caption": _caption(estimate, f"{LINES}, each for itself"), "percent": task.percent}
    if not spans:
        nothing = Span("", 0.0, math.nan, math.nan, "no category has enough people to be shown")
        return rows([nothing], target, xlabel=_unit(estimate), **look)
    if task.in_order:
        return columns(spans, target, xlabel="", ylabel=_unit(estimate), **look)
    return rows(spans, target, xlabel=_unit(estimate), **look)


def _largest(spans: list[Span], most: int) -> list[Span]:
    kept = {id(span) for span in sorted(spans, key=lambda span: -span.value)[:most]}
    return [span for span in spans if id(span) in kept]


def distribution(estimate: DistributionEstimate, target: Any, theme: str, title: str) -> Any:
    """Draw how many people lie in bins that are wide enough to be seen, and say where the middle is."""
    edges = estimate.edges
    each = max(1, math.ceil((edges.size - 1) / COLUMNS))
    ends = np.append(edges[:-1:each], edges[-1])
    cells = estimate.histogram(ends.tolist())
    spans = [
        Span(f"{low:g}", cell.value, *cell.interval95) for low, cell in zip(ends[:-1].tolist(), cells, strict=True)
    ]
    width = float(ends[1] - ends[0])
    middle = next((found.said for found in estimate.shown_quantiles if found.part == 0.5), "")
    look: dict[str, Any] = {
        "title": title or (f"Half of the people lie below {middle}" if middle else estimate.protocol.task.asks),
        "xlabel": f"value, in bins of {width:g}, each named by its lower edge",
        "ylabel": "people in a bin",
        "caption": _caption(estimate, f"{LINES}, each for itself"),
    }
    return columns(spans, target, theme=theme, **look)


def margin(cells: Margin, target: Any, theme: str, title: str) -> Any:
    """Draw a bar for each cell of a table, under a heading for each label of the first column."""
    records, texts = cells.records(), cells.rows()
    spans = []
    for record, (named, value, ends) in zip(records, texts, strict=True):
        first, *others = map(str, named)
        label, group = (", ".join(others), f"{cells.names[0]}: {first}") if others else (first, "")
        low, high = record["interval95"]
        spans.append(Span(label, record["people"], low, high, f"{value}  ({ends})", group))
    left = len(spans) - SHOWN
    look: dict[str, Any] = {
        "title": title or f"How many people, by {' and '.join(cells.names)}",
        "subtitle": f"The first {SHOWN} of {len(spans):,}" if left > 0 else "",
        "caption": _caption(cells.of, f"{LINES}, each for itself"),
        "xlabel": "people",
    }
    return rows(spans[:SHOWN], target, theme=theme, **look)


def number(part: Number, target: Any, theme: str, title: str) -> Any:
    """Draw a sum of an answer's parts, or a rate: a dot and its interval."""
    text = part.shown()[0]
    span = Span("", part.value, *part.interval(), text)
    look: dict[str, Any] = {"title": title or part.said, "xlabel": "", "percent": "%" in text}
    look["caption"] = f"The line is the 95% interval. {part.guarantee}".strip()
    return rows([span], target, theme=theme, from_zero=False, **look)


def _unit(estimate: Estimate) -> str:
    task = estimate.protocol.task
    return "share of the people" if task.percent else task.unit_words or task.name


def _caption(estimate: Estimate, line: str) -> str:
    return ". ".join(filter(None, [line, estimate.note.capitalize(), ", ".join(map(str, estimate.promises()))]))
