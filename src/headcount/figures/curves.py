"""A distribution: columns for its bins and, below, the people beneath each value, with a band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from headcount.figures.canvas import Framing, Target, canvas, number
from headcount.figures.colours import Theme, blend
from headcount.figures.ticks import Ticks

WIDE, ONE, TWO = 8.4, 4.6, 6.6
LETTER = 0.078  # inches, about


@dataclass(frozen=True)
class CurveColumn:
    """A bin from one place to another, and how many people are in it, with an interval."""

    start: float
    end: float
    value: float
    low: float
    high: float


def curve(
    columns: Sequence[CurveColumn],
    band: Sequence[tuple[float, float, float, float]],
    marks: Sequence[tuple[float, float]],
    target: Target,
    *,
    ticks: Ticks,
    xlabel: str,
    people: str = "people",
    **framing: Unpack[Framing],
) -> Target:
    """Draw the columns and, if there is a band of rows (place, part, low, high), the curve of the
    parts below them. The `marks` are places that parts of the people lie beneath."""
    alone = not band or hasattr(target, "transAxes")
    size, panels = (WIDE, ONE if alone else TWO), 1 if alone else 2
    with canvas(target, size=size, panels=panels, rows=panels, together=False, **framing) as sheet:
        _columns(sheet.panels[0], columns, people, sheet.theme)
        if not alone:
            _curve(sheet.panels[1], band, marks, people, sheet.theme)
        for axes in sheet.panels:
            axes.set_xlim(columns[0].start, columns[-1].end)
            _set_ticks(axes, ticks)
            axes.grid(axis="y", color=sheet.theme.faint)
            axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
            axes.tick_params(axis="both", length=0, pad=6)
        sheet.panels[-1].set_xlabel(xlabel)
    return target


def _columns(axes: Any, columns: Sequence[CurveColumn], people: str, theme: Theme) -> None:
    colour = theme.families["central noise"]
    middles = [(each.start + each.end) / 2.0 for each in columns]
    widths = [0.9 * (each.end - each.start) for each in columns]
    axes.bar(middles, [each.value for each in columns], width=widths, color=colour, linewidth=0, zorder=2)
    low, high = [each.low for each in columns], [each.high for each in columns]
    axes.vlines(middles, low, high, color=theme.ink, lw=0.9, zorder=3)
    axes.axhline(0.0, color=theme.soft, lw=0.9, zorder=3)
    axes.set_ylabel(f"{people} in a column")
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(lambda value, _: number(value) if value >= 0.0 else f"−{number(-value)}")


def _curve(
    axes: Any,
    band: Sequence[tuple[float, float, float, float]],
    marks: Sequence[tuple[float, float]],
    people: str,
    theme: Theme,
) -> None:
    colour = theme.families["central noise"]
    places, parts, low, high = (list(each) for each in zip(*band, strict=True))
    axes.fill_between(places, low, high, color=blend(colour, theme.paper, 0.6), linewidth=0, zorder=2)
    axes.plot(places, parts, color=colour, lw=1.6, zorder=3)
    for place, part in marks:
        axes.plot([places[0], place, place], [part, part, 0.0], color=theme.soft, lw=0.9, ls=(0, (4, 3)), zorder=1)
        axes.plot(place, part, "o", ms=4.5, color=theme.ink, mew=0, zorder=4)
    axes.set_ylim(0.0, 1.02)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_ylabel(f"{people} below")


def _set_ticks(axes: Any, ticks: Ticks) -> None:
    wide = LETTER * sum(len(text) + 2 for _, text in ticks) > 0.88 * WIDE
    axes.set_xticks([place for place, _ in ticks], [text for _, text in ticks], rotation=30 if wide else 0)
