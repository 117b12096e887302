"""Lines of any kind: what is known as a line, what was measured as dots on it, bounds thin and dashed.

Every line is called by its name where it ends. What it looks like is said by the study: a colour by the protocol or the
family it belongs to, dashes for a bound or a rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any, Literal, TypeAlias

from headcount.drawing.canvas import apart, canvas, decades, log_axis, number
from headcount.drawing.colours import Theme, blend

ROW = 0.16  # inches between two lines of labels
PANEL = (3.9, 3.1)  # inches of the axes
WORDS = 1.75  # inches for the labels at their right
LETTERS = 25  # of a line of a label
BOUND = (4.0, 2.0)
RULE = (1.2, 1.6)
LONG = 1e7  # numbers so long that fewer of them fit below an axis

Scale: TypeAlias = Literal["log", "plain", "percent"]
Points: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points in the order of x, and those that were measured. `hue` is a protocol, a family, "ink" or "soft"."""

    label: str
    points: Points
    hue: str = "ink"
    dashes: tuple[float, ...] = ()
    measured: Points = ()

    def colour(self, theme: Theme) -> str:
        plain = {"ink": theme.ink, "soft": theme.soft}
        return plain.get(self.hue) or theme.families.get(self.hue) or theme.of(self.hue)


@dataclass(frozen=True)
class Panel:
    """Axes with their lines. `at` are places on the horizontal axis to point out, each with a few words.

    The words stand at the foot of the panel, or at its top where the lines leave room there.
    """

    lines: Sequence[Line]
    xlabel: str
    ylabel: str
    title: str = ""
    across: Scale = "log"
    up: Scale = "log"
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    at: Sequence[tuple[float, str]] = ()
    top: bool = False


def lines(
    panels: Sequence[Panel], path: Path | str, *, title: str, subtitle: str = "", theme: str = "light", columns: int = 2
) -> Path:
    """Draws the panels, so many side by side."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    size = (0.5 + (0.75 + PANEL[0] + WORDS) * columns, 0.75 + (PANEL[1] + 0.95) * rows)
    with canvas(
        path, title=title, subtitle=subtitle, size=size, theme=theme, panels=columns * rows, rows=rows, together=False
    ) as sheet:
        for axes, panel in zip(sheet.panels, panels, strict=False):
            _drawn(axes, panel, sheet.theme)
        for axes in sheet.panels[len(panels) :]:
            axes.set_visible(False)
    return Path(path)


def _drawn(axes: Any, panel: Panel, theme: Theme) -> None:
    places = [point for line in panel.lines for point in (*line.points, *line.measured) if _finite(point)]
    _scaled(axes.xaxis, panel.across, panel.xlim, [x for x, _ in places], 1.0)
    _scaled(axes.yaxis, panel.up, panel.ylim, [y for _, y in places], 1.25)
    for place, words in panel.at:
        axes.axvline(place, color=theme.soft, lw=0.8, dashes=RULE, zorder=1)
        style = {"fontsize": 8.5, "color": theme.soft, "rotation": 90, "ha": "right"}
        style |= {"va": "top" if panel.top else "bottom"}
        foot = (place, 0.98 if panel.top else 0.02)
        axes.annotate(
            words, foot, xycoords=axes.get_xaxis_transform(), xytext=(-2, 0), textcoords="offset points", **style
        )  # fmt: skip
    for line in panel.lines:
        colour, points = line.colour(theme), [point for point in line.points if _finite(point)]
        if points:
            (drawn,) = axes.plot(*zip(*points, strict=True), color=colour, zorder=3, lw=1.4 if line.dashes else 2.0)
            drawn.set_dashes(line.dashes or (None, None))
        for x, y in line.measured:
            axes.plot(x, y, "o", ms=5.5, mfc=theme.paper, mec=colour, mew=1.5, zorder=4, clip_on=False)
    _named(axes, panel, theme)
    axes.grid(axis="y")
    axes.tick_params(length=3)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    if panel.title:
        axes.set_title(panel.title, weight="bold")


def _named(axes: Any, panel: Panel, theme: Theme) -> None:
    """At the right, at the height where each line leaves the panel, or as near as there is room."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    across, up = _share(panel.across, left, right), _share(panel.up, low, high)
    called: list[tuple[Line, tuple[float, float], str]] = []
    for line in panel.lines:
        inside = [
            (x, y)
            for x, y in (*line.points, *([] if line.points else line.measured))
            if _finite((x, y)) and left <= x <= right * 1.0001 and low <= y <= high * 1.0001
        ]
        if line.label and inside:
            called.append((line, inside[-1], fill(line.label, LETTERS)))
    room = [0.5 + 0.5 * (1 + text.count("\n")) for _, _, text in called]  # in lines
    heights = _heights([up(end[1]) for _, end, _ in called], room, ROW / PANEL[1])
    for (line, end, text), place in zip(called, heights, strict=True):
        colour = line.colour(theme)
        link = {"arrowstyle": "-", "color": blend(colour, theme.paper, 0.35), "lw": 0.8, "shrinkA": 1, "shrinkB": 0}
        axes.annotate(
            text, (across(end[0]), up(end[1])), xycoords=axes.transAxes, xytext=(1.04, place),
            textcoords=axes.transAxes, va="center", fontsize=8.8, color=blend(colour, theme.ink, 0.35),
            arrowprops={**link, "relpos": (0.0, 0.5)}, annotation_clip=False, linespacing=1.05,
        )  # fmt: skip


def _heights(wanted: list[float], room: list[float], row: float) -> list[float]:
    """Where the labels stand: as many slots as they have lines, kept in order."""
    slots = [place for place, lines in zip(wanted, room, strict=True) for _ in range(max(1, round(2 * lines) - 1))]
    found = iter(apart(slots, row, 0.0, 1.0))
    heights = []
    for lines in room:
        taken = [next(found) for _ in range(max(1, round(2 * lines) - 1))]
        heights.append(sum(taken) / len(taken))
    return heights


def _finite(point: tuple[float, float]) -> bool:
    return math.isfinite(point[0]) and math.isfinite(point[1])


def _share(scale: Scale, low: float, high: float) -> Callable[[float], float]:
    """How far along an axis something lies."""
    if scale == "log":
        return lambda place: math.log(place / low) / math.log(high / low)
    return lambda place: (place - low) / (high - low)


def _scaled(axis: Any, scale: Scale, limits: tuple[float, float] | None, places: list[float], room: float) -> None:
    name, axes = axis.axis_name, axis.axes
    if scale == "log":
        low, high = limits or (min(places) / room, max(places) * room)
        log_axis(axis, low, high)
        if name == "x" and high >= LONG:
            ticks = decades(low, high, most=4)
            axes.set_xticks(ticks, [number(tick) for tick in ticks])
        return
    low, high = limits or (min(0.0, *places), max(places) * (1.0 + (room - 1.0) / 5.0))
    getattr(axes, f"set_{name}lim")(low, high)
    if scale == "percent":
        ticks = [low + (high - low) * i / 5 for i in range(6)]
        getattr(axes, f"set_{name}ticks")(ticks, [f"{number(100 * tick)}%" for tick in ticks])
