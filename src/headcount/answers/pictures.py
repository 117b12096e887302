"""Figures of answers: a dot for one number, bars for categories, columns for what has an order."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.answers.labels import called
from headcount.figures.curves import CurveColumn, curve
from headcount.figures.intervals import Span, columns, rows
from headcount.figures.picture import Pictured
from headcount.figures.ticks import OF, spread_out

if TYPE_CHECKING:
    from headcount.answers.cell import Cell
    from headcount.answers.distribution import DistributionEstimate
    from headcount.answers.estimate import Estimate
    from headcount.answers.margin import Margin
    from headcount.answers.number import Number

SHOWN = 40  # bars; the rest is counted in the subtitle
COLUMNS = 400  # of what has an order
MERGED = 60  # columns of a distribution, whose bins are merged for that
_NUMBER = re.compile(r"-?[0-9.]+")
LINES = "Lines are 95% intervals"


@dataclass(frozen=True, eq=False)
class InOrder(Pictured):
    """The cells of an answer in an order of one's own, to be drawn."""

    answer: Estimate
    cells: Sequence[Cell]

    def draw(self, target: Any, theme: str, title: str) -> object:
        beneath = f"The first {SHOWN} of {len(self.cells):,}" if len(self.cells) > SHOWN else ""
        return draw(self.answer, target, theme, title, self.cells[:SHOWN], beneath)


def draw(
    estimate: Estimate, target: Any, theme: str, title: str, cells: Sequence[Cell] | None = None, beneath: str = ""
) -> Any:
    """Draw an answer to a file, bytes or axes; of several values, these cells in this order."""
    if not estimate.protocol.task.shape.several:
        return _number(estimate, target, theme, title)
    return _cells(estimate, target, theme, title, cells, beneath)


def _number(estimate: Estimate, target: Any, theme: str, title: str) -> Any:
    task = estimate.protocol.task
    value, low, high = written(estimate.shown()[0], percent=task.percent)
    span = Span(task.name, estimate.value, *estimate.interval(), f"{value}  ({low} to {high})")
    counted = f"{value} {estimate.in_its_words(task.unit_words)}".strip()
    look: dict[str, Any] = {"title": title or counted, "subtitle": task.about, "xlabel": _unit(estimate)}
    look |= {"caption": _caption(estimate, "The line is the 95% interval"), "percent": task.percent}
    return rows([span], target, theme=theme, from_zero=False, **look)


def _cells(estimate: Estimate, target: Any, theme: str, title: str, cells: Sequence[Cell] | None, beneath: str) -> Any:
    task, values, ends = estimate.protocol.task, estimate.values.tolist(), estimate.intervals().tolist()
    parts = zip(estimate.categories, values, ends, estimate.shown(), strict=True)
    spans = [
        _span(called(name), value, span, written(shown, percent=task.percent)) for name, value, span, shown in parts
    ]
    in_order = task.in_order and cells is None
    if cells is not None:
        known = {span.label: span for span in spans}
        spans = [known[called(cell.category)] for cell in cells]
    elif len(spans) > (most := COLUMNS if in_order else SHOWN):
        kept = range(most) if in_order else sorted(np.argsort(-estimate.group_sizes, kind="stable")[:most].tolist())
        largest = estimate.in_its_words("Those with the most people:")
        beneath = f"{'The first' if in_order else largest} {most} of {len(spans):,}"
        spans = [spans[place] for place in kept]
    look: dict[str, Any] = {"title": title or estimate.in_its_words(task.asks), "subtitle": beneath, "theme": theme}
    look |= {"caption": _caption(estimate, f"{LINES}, each for itself"), "percent": task.percent}
    if not spans:
        nothing = Span("", 0.0, math.nan, math.nan, estimate.in_its_words("no category has enough people to be shown"))
        return rows([nothing], target, xlabel=_unit(estimate), **look)
    if in_order:
        return columns(spans, target, xlabel="", ylabel=_unit(estimate), **look)
    return rows(spans, target, xlabel=_unit(estimate), **look)


def written(shown: tuple[str, str, str], *, percent: bool) -> tuple[str, str, str]:
    """A value and its ends as the axis has them; words stay as they are."""
    value, low, high = (
        f"{Decimal(each).scaleb(2):f}%" if percent and _NUMBER.fullmatch(each) else each for each in shown
    )
    return value, low, high


def _span(name: str, value: float, ends: list[float], shown: tuple[str, str, str]) -> Span:
    """A value that is not known has words instead, which tell why; its interval is everything."""
    text, left, right = shown
    low, high = ends
    return Span(name, value, low, high, text if math.isnan(value) else f"{text}  ({left} to {right})")


def distribution(estimate: DistributionEstimate, target: Any, theme: str, title: str) -> Any:
    """Draw how many people lie in bins that are wide enough to be seen and, where their number is
    public, the curve of those below a value; and say where the middle is."""
    edges, axis = estimate.places, estimate.axis
    kept = spread_out(edges, MERGED)
    found = [(edges[low], edges[high], estimate.within_bins(low, high)) for low, high in pairwise(kept)]
    width = axis.long(edges[kept[1]] - edges[0])
    middle = next((found.said for found in estimate.shown_quantiles if found.part == 0.5), "")
    marks = [(axis.place(each.value) or 0.0, each.part) for each in estimate.shown_quantiles]
    band = (
        [] if estimate.n is None else [(place, *row) for place, row in zip(edges, estimate.band()[:, 1:], strict=True)]
    )
    look: dict[str, Any] = {
        "title": title
        or estimate.in_its_words(f"Half of the people lie below {middle}" if middle else estimate.protocol.task.asks),
        "ticks": OF[axis.called](edges[0], edges[-1]),
        "xlabel": f"value; a column is {width} wide",
        "caption": _caption(estimate, f"{LINES}, each for itself; the band covers the whole curve" if band else LINES),
    }
    drawn = [CurveColumn(low, high, part.value, *part.interval()) for low, high, part in found]
    return curve(drawn, band, marks, target, people=estimate.in_its_words("people"), theme=theme, **look)


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
    note = "; ".join(filter(None, [cells.of.protocol.task.about, cells.of.nearly]))
    look: dict[str, Any] = {
        "title": title or f"How many people, by {' and '.join(cells.names)}",
        "subtitle": f"The first {SHOWN} of {len(spans):,}" if left > 0 else "",
        "caption": _caption(cells.of, f"{LINES}, each for itself", note),
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
    return estimate.in_its_words("share of the people" if task.percent else task.unit_words or task.name)


def _caption(estimate: Estimate, line: str, note: str | None = None) -> str:
    parts = [line, estimate.note if note is None else note, estimate.told, ", ".join(estimate.promises())]
    return ". ".join(f"{part[0].upper()}{part[1:]}" for part in parts if part)
