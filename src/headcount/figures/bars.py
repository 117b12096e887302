"""Horizontal bars, a protocol each, grouped by model of trust."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from headcount.figures.canvas import POINTS, Framing, Target, canvas, decades, number
from headcount.figures.colours import Theme, blend
from headcount.privacy.model import Model

LETTERS = 66  # of a heading that fits
WIDE = 30.0  # times: lengths further apart need a logarithmic axis


@dataclass(frozen=True)
class Bar:
    """A protocol's bar: its length, or None where there is nothing to show and the note says why.

    `dim` is for what could serve but should not; `best` is the one to choose; `dot` is a single
    answer's place on the same axis.
    """

    label: str
    model: Model
    value: float | None = None
    note: str = ""
    dim: bool = False
    dot: float | None = None
    best: bool = False


def bars(
    rows: Sequence[Bar],
    target: Target,
    *,
    xlabel: str,
    unit: str = "",
    sign: str = "± ",
    **framing: Unpack[Framing],
) -> Target:
    """Draws the rows from the top in the given order, under model headings, on an axis from zero.

    It is logarithmic, and says so, if the longest bar would leave nothing to see of the shortest.
    `unit` follows every number, as in "people"; `sign` goes before it.
    """
    models = list(dict.fromkeys(row.model for row in rows))
    groups = [(model, [row for row in rows if row.model is model]) for model in models]
    lines = len(rows) + 0.95 * len(groups)
    values = [value for row in rows for value in (row.value, row.dot) if value is not None and math.isfinite(value)]
    lengths = [row.value for row in rows if row.value and math.isfinite(row.value)]
    low = 10.0 ** math.floor(math.log10(min(lengths, default=1.0)))
    high = max([*values, *lengths, 0.0]) or 1.0
    log = high > WIDE * min(lengths, default=high)
    with canvas(target, size=(8.4, 1.35 + 0.3 * lines), **framing) as sheet:
        (axes,) = sheet.panels
        if log:
            axes.set_xscale("symlog", linthresh=low, linscale=0.45)
        axes.set_xlim(0.0, high * (high / low) ** 0.22 * 1.1 if log else high * 1.35)
        down, marks, names = 0.0, [], []
        for model, members in groups:
            words = {"color": sheet.theme.words[model], "fontsize": 9.5, "weight": "bold", "va": "center"}
            words |= {"bbox": {"facecolor": sheet.theme.paper, "edgecolor": "none", "pad": 0.5}}
            heading = f"{model}: you trust {model.trusted}"
            words["fontsize"] = min(9.5, 9.5 * LETTERS / len(heading))
            axes.text(0.0, -down, heading, clip_on=False, **words)
            down += 0.95
            for row in members:
                _draw_row(axes, row, -down, sheet.theme, unit, sign)
                marks.append(-down)
                names.append(row.label)
                down += 1.0
        axes.set_ylim(-down + 0.35, 0.55)
        axes.set_yticks(marks, names)
        for text, row in zip(axes.get_yticklabels(), [row for _, group in groups for row in group], strict=True):
            text.set_color(sheet.theme.soft if row.dim or row.value is None else sheet.theme.ink)
            text.set_weight("bold" if row.best else "normal")
        ticks = [0.0, *decades(low, high)] if log else [tick for tick in axes.get_xticks() if tick <= 1.1 * high]
        axes.set_xticks(ticks, [number(tick) for tick in ticks])
        axes.tick_params(axis="both", length=0, pad=6)
        axes.minorticks_off()
        axes.grid(axis="x")
        axes.spines[["bottom", "left"]].set_visible(False)
        axes.set_xlabel(f"{xlabel} (logarithmic scale)" if log else xlabel)
    return target


def _draw_row(axes: Any, row: Bar, height: float, theme: Theme, unit: str, sign: str) -> None:
    words: dict[str, Any] = {"va": "center", "fontsize": 9.5, "textcoords": POINTS}
    if row.value is None:
        axes.annotate(row.note, (0.0, height), xytext=(4, 0), color=theme.soft, style="italic", **words)
        return
    colour = blend(theme.models[row.model], theme.paper, 0.62 if row.dim else 0.0)
    axes.barh(height, row.value, height=0.62, color=colour, linewidth=0)
    end = row.value
    if row.dot is not None:
        axes.plot(row.dot, height, "o", ms=6.5, color=theme.ink, mec=theme.paper, mew=1.2, zorder=3, clip_on=False)
        end = max(end, row.dot)
    note = "◀ recommended" if row.best else row.note
    text = f"{sign}{number(row.value)}" + (f" {unit}" if unit else "") + (f"   {note}" if note else "")
    look = {"color": theme.soft if row.dim else theme.ink, "weight": "bold" if row.best else "normal", **words}
    axes.annotate(text, (end, height), xytext=(8, 0), **look)
