"""Values with their intervals: rows from the top, or columns from the left if they are ordered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Unpack

from headcount.figures.canvas import POINTS, Framing, Target, canvas
from headcount.figures.colours import Theme, blend

ROW, HEADING = 0.3, 0.95  # inches of a row, and rows of a heading
WIDE, TALL = 8.4, 3.6
LETTER = 0.078  # inches, about
LABELS = 26  # columns that have a label each
LONGEST = 34  # letters of a label
PLACES = 9  # digits after the point of a tick, at most


@dataclass(frozen=True)
class Span:
    """A value, its interval, and how both are written.

    `group` is a heading that it stands under, `hue` a colour of the theme: "model" names or
    "answer".
    """

    label: str
    value: float
    low: float
    high: float
    text: str = ""
    group: str = ""
    hue: str = ""

    @property
    def named(self) -> str:
        return self.label if len(self.label) <= LONGEST else f"{self.label[: LONGEST - 1]}…"


def rows(
    spans: Sequence[Span],
    target: Target,
    *,
    xlabel: str,
    percent: bool = False,
    from_zero: bool = True,
    mark: float = 0.0,
    **framing: Unpack[Framing],
) -> Target:
    """Draw a row for each value in the order given: a bar from zero with a line for its interval.

    Not `from_zero`, a value is a dot: for one that is far from zero and exact. `mark` is a place to
    compare with, such as that of no change.
    """
    headings = sum(1 for group, _ in groupby(span.group for span in spans) if group)
    lines = len(spans) + HEADING * headings
    size = (WIDE, 1.5 + ROW * lines + (0.25 if len(spans) == 1 else 0.0))
    with canvas(target, size=size, **framing) as sheet:
        (axes,), chosen = sheet.panels, sheet.theme
        low, high = _ends(spans, from_zero)
        room = LETTER * max(len(span.text) for span in spans) / (0.72 * WIDE) + 0.05
        axes.set_xlim(low, high + (high - low) * room / (1.0 - min(room, 0.7)))
        down, marks = 0.0, list[float]()
        for group, members in groupby(spans, key=lambda span: span.group):
            if group:
                words = {"transform": axes.get_yaxis_transform(), "color": chosen.ink, "va": "center", "clip_on": False}
                axes.text(0.005, -down, group, weight="bold", fontsize=9.5, **words)
                down += HEADING
            for span in members:
                _row(axes, span, -down, chosen, from_zero)
                marks.append(-down)
                down += 1.0
        if low < mark < high:
            axes.axvline(mark, color=chosen.soft, lw=0.9, zorder=1)
        axes.set_ylim(-down + 0.35, 0.65)
        axes.set_yticks(marks, [span.named for span in spans], color=chosen.ink)
        axes.tick_params(axis="y", length=0, pad=6)
        _set_ticks(axes.xaxis, (low, high), spans, percent)
        axes.grid(axis="x", color=chosen.faint)
        axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
        axes.set_xlabel(xlabel)
    return target


def columns(
    spans: Sequence[Span],
    target: Target,
    *,
    xlabel: str,
    ylabel: str,
    percent: bool = False,
    **framing: Unpack[Framing],
) -> Target:
    """Draw a column for each value from the left, for bins and times; a colour for each group."""
    groups = list(dict.fromkeys(span.group for span in spans))
    labels = list(dict.fromkeys(span.label for span in spans))
    size = (WIDE, TALL + 1.2)
    with canvas(target, size=size, **framing) as sheet:
        (axes,), chosen = sheet.panels, sheet.theme
        hues = [*chosen.families.values()]
        wide = (0.9 if len(labels) > LABELS else 0.78) / len(groups)
        for span in spans:
            place = labels.index(span.label) + (groups.index(span.group) - (len(groups) - 1) / 2.0) * wide
            colour = hues[groups.index(span.group) % len(hues)] if len(groups) > 1 else _colour(span, chosen)
            axes.bar(place, span.value, width=wide * 0.94, color=colour, linewidth=0, zorder=2)
            if math.isfinite(span.high - span.low):
                _whisker(axes, (place, place), (span.low, span.high), chosen, thin=len(spans) > LABELS)
        low, high = _ends(spans, from_zero=True)
        axes.set_ylim(low, high + 0.06 * (high - low))
        axes.set_xlim(-0.6, len(labels) - 0.4)
        every = max(1, math.ceil(len(labels) / LABELS))
        upright = LETTER * max(map(len, labels)) * len(labels) / every > 0.82 * WIDE
        look: dict[str, Any] = {"rotation": 90 if upright else 0, "color": chosen.ink}
        named = [at for at, label in enumerate(labels) if at % every == 0 or label.startswith("(")]  # (other), always
        axes.set_xticks(named, [labels[at] for at in named], **look)
        axes.axhline(0.0, color=chosen.soft, lw=0.9, zorder=3)
        if len(groups) > 1:
            for place, group in enumerate(groups):
                at = (1.0, 1.0 - 0.055 * place)
                words = {"ha": "right", "va": "top", "weight": "bold", "fontsize": 9.5}
                axes.text(*at, group, transform=axes.transAxes, color=hues[place % len(hues)], **words)
        _set_ticks(axes.yaxis, (low, high), spans, percent)
        axes.grid(axis="y", color=chosen.faint)
        axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
    return target


def _row(axes: Any, span: Span, height: float, theme: Theme, from_zero: bool) -> None:
    colour = _colour(span, theme)
    if from_zero:
        axes.barh(height, span.value, height=0.62, color=blend(colour, theme.paper, 0.25), linewidth=0, zorder=2)
    end = span.value
    if math.isfinite(span.high - span.low):
        _whisker(axes, (span.low, span.high), (height, height), theme)
        end = span.high if math.isnan(end) else max(end, span.high)
    if not from_zero:
        axes.plot(span.value, height, "o", ms=7, color=colour, mec=theme.paper, mew=1.2, zorder=4)
    words = {"va": "center", "fontsize": 9.5, "color": theme.ink}
    axes.annotate(span.text, (max(end, 0.0) if from_zero else end, height), xytext=(8, 0), textcoords=POINTS, **words)


def _whisker(axes: Any, across: tuple[float, float], up: tuple[float, float], theme: Theme, thin: bool = False) -> None:
    mark = "|" if up[0] == up[1] else "_"
    look = {"color": theme.ink, "lw": 0.8 if thin else 1.4, "marker": "" if thin else mark, "ms": 7, "mew": 1.4}
    axes.plot(across, up, solid_capstyle="butt", zorder=3, **look)


def _colour(span: Span, theme: Theme) -> str:
    of_models = {str(model): colour for model, colour in theme.models.items()}
    return of_models.get(span.hue, theme.families["central noise"])


def _ends(spans: Sequence[Span], from_zero: bool) -> tuple[float, float]:
    """The axis: from the lowest to the highest finite end, with zero if bars stand on it."""
    ends = [end for span in spans for end in (span.low, span.value, span.high) if math.isfinite(end)]
    low, high = min([*ends, *([0.0] if from_zero else [])]), max([*ends, *([0.0] if from_zero else [])])
    room = (high - low) or max(1.0, abs(high)) * 0.1
    return (low - (0.05 * room if low < 0.0 or not from_zero else 0.0)), high + 0.05 * room


def _set_ticks(axis: Any, ends: tuple[float, float], spans: Sequence[Span], percent: bool) -> None:
    """Ticks at whole numbers where all values are such: nobody is half a person."""
    (low, high), locator = ends, axis.get_major_locator()
    ticks = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
    if not percent and all(float(span.value).is_integer() for span in spans):
        ticks = [tick for tick in ticks if float(tick).is_integer()] or ticks
    ticks = ticks[:: max(1, math.ceil(len(ticks) / 7))]
    places = next((places for places in range(PLACES) if all(_ends_there(tick, places) for tick in ticks)), PLACES)
    places = max(0, places - 2) if percent else places
    names = [f"{100.0 * tick:.{places}f}%" if percent else f"{tick + 0.0:,.{places}f}" for tick in ticks]
    getattr(axis.axes, f"set_{axis.axis_name}ticks")(ticks, names)
    axis.set_tick_params(length=0, pad=6)


def _ends_there(tick: float, places: int) -> bool:
    """Whether a tick has no digits beyond these places: rounded, its label would be misplaced."""
    return math.isclose(tick, round(tick, places), rel_tol=1e-9, abs_tol=1e-12)
