"""Lines and dots for studies: what is computed as lines, called by their names where they end; what is seen as dots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from headcount.drawing.canvas import apart, canvas, decades, log_axis, number
from headcount.drawing.colours import DASHES, FAMILIES, SHUFFLED, Theme, blend, dashes_of

HUES = ("central noise", "flipped bits", "dummies", "local", "sampling", "shares", "cancelling", "hashing")
LINE = 0.17  # inches between two lines of labels
WIDTH, HEIGHT = 3.9, 4.9  # inches: of a panel without its labels, and of the figure
BESIDE = 28  # letters in a line of a label

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points in the order of x; with `dots`, one of the things that were seen. No label if the colour says it all.

    Lines of the same `hue` have the same colour in all panels; it is the label unless told.
    """

    label: str
    points: Points
    dots: bool = False
    hue: str = ""
    dashes: int = 0
    first: bool = False  # called by its name where it begins


@dataclass(frozen=True)
class Axis:
    """A label, and a scale: plain unless `log`; with `shares`, in percent."""

    label: str
    log: bool = False
    shares: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Note:
    """A thin line across the panel at this place, and words along it: upright at an x, or level at a y."""

    text: str
    x: float | None = None
    y: float | None = None
    at: float = 0.97  # where the words end (upright), or begin (level), in parts of the panel


@dataclass(frozen=True)
class Graph:
    lines: Sequence[Line]
    across: Axis
    up: Axis
    title: str = ""
    notes: Sequence[Note] = ()


def graphs(
    panels: Sequence[Graph], path: Path | str, *, title: str, subtitle: str = "", theme: str = "light",
    labels: float = 1.75,
) -> Path:  # fmt: skip
    """The panels side by side. `labels` is the room for the lines' names at the right of each, in inches."""
    size = (0.7 + (WIDTH + labels) * len(panels), HEIGHT)
    with canvas(
        path, title=title, subtitle=subtitle, size=size, theme=theme, panels=len(panels), together=False
    ) as sheet:
        colours = _colours(panels, sheet.theme)
        for axes, panel in zip(sheet.panels, panels, strict=True):
            _drawn(axes, panel, colours, sheet.theme)
    return Path(path)


def _colours(panels: Sequence[Graph], theme: Theme) -> dict[str, str]:
    """Protocols have their own colours; everything else gets the next one that is left."""
    hues = dict.fromkeys(line.hue or line.label for panel in panels for line in panel.lines)
    known = {name for members in FAMILIES.values() for name in members}
    rest = [hue for hue in hues if not _protocol(hue, known)]
    own = {hue: theme.of(hue) for hue in hues if _protocol(hue, known)}
    return own | {hue: theme.families[HUES[i % len(HUES)]] for i, hue in enumerate(rest)}


def _protocol(hue: str, known: set[str]) -> bool:
    return hue.removeprefix(SHUFFLED) in known


def _drawn(axes: Any, panel: Graph, colours: Mapping[str, str], theme: Theme) -> None:
    places = [point for line in panel.lines for point in line.points if all(map(math.isfinite, point))]
    _scaled(axes.xaxis, panel.across, [x for x, _ in places], tight=True)
    _scaled(axes.yaxis, panel.up, [y for _, y in places])
    for note in panel.notes:
        _noted(axes, note, theme)
    for line in panel.lines:
        colour = colours[line.hue or line.label]
        drawn = [(x, y) for x, y in line.points if math.isfinite(y)]
        if line.dots:
            look = {"ms": 5.0, "color": colour, "mec": theme.paper, "mew": 0.8, "zorder": 4, "clip_on": False}
            axes.plot(*zip(*drawn, strict=True), "o", **look)
        elif drawn:
            (stroke,) = axes.plot(*zip(*drawn, strict=True), color=colour, zorder=3)
            dashes = DASHES[line.dashes] if line.hue or line.dashes else dashes_of(line.label) if _named(line) else ()
            stroke.set_dashes(dashes or (None, None))
    _labelled(axes, panel, colours, theme)
    axes.grid(axis="y")
    axes.tick_params(length=3)
    axes.set_xlabel(panel.across.label)
    axes.set_ylabel(panel.up.label)
    if panel.title:
        axes.set_title(panel.title, weight="bold")


def _named(line: Line) -> bool:
    return _protocol(line.label, {name for members in FAMILIES.values() for name in members})


def _labelled(axes: Any, panel: Graph, colours: Mapping[str, str], theme: Theme) -> None:
    called = [line for line in panel.lines if line.label and not line.dots and line.points]
    for line in (line for line in called if line.first):
        about = {"rotation": 40, "ha": "left", "va": "bottom", "fontsize": 9, "color": theme.ink, "in_layout": False}
        axes.annotate(line.label, line.points[0], xytext=(-3, 3), textcoords="offset points", **about)
    named = [line for line in called if not line.first]
    low, high = axes.get_ylim()
    ends = [next((x, y) for x, y in reversed(line.points) if math.isfinite(y)) for line in named]
    texts = [wrap(line.label, BESIDE) for line in named]
    least = LINE * max((len(text) for text in texts), default=1) / (HEIGHT - 1.5)
    places = apart([_part(min(max(y, low), high), low, high, panel.up.log) for _, y in ends], least, 0.0, 1.0)
    for line, text, end, place in zip(named, texts, ends, places, strict=True):
        colour = colours[line.hue or line.label]
        arrow = {"arrowstyle": "-", "color": blend(colour, theme.paper, 0.3), "lw": 0.8, "shrinkA": 1, "shrinkB": 0}
        end = (end[0], min(max(end[1], low), high))
        axes.annotate(
            "\n".join(text), end, xytext=(1.06, place), textcoords=axes.transAxes, va="center", fontsize=9,
            color=theme.ink, arrowprops=arrow | {"relpos": (0.0, 0.5)}, annotation_clip=False, linespacing=1.15,
        )  # fmt: skip


def _part(value: float, low: float, high: float, log: bool) -> float:
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def _noted(axes: Any, note: Note, theme: Theme) -> None:
    look = {"fontsize": 8.5, "color": theme.soft, "zorder": 5, "in_layout": False}
    look |= {"bbox": {"facecolor": theme.paper, "edgecolor": "none", "pad": 1.0, "alpha": 0.85}}
    rule = {"color": theme.soft, "lw": 0.9, "ls": (0, (2, 2)), "zorder": 2}
    if note.x is not None:
        axes.axvline(note.x, **rule)
        mixed = axes.get_xaxis_transform()
        axes.annotate(
            note.text, (note.x, note.at), xycoords=mixed, xytext=(-4, 0), textcoords="offset points", rotation=90,
            ha="right", va="top", **look,
        )  # fmt: skip
    if note.y is not None:
        axes.axhline(note.y, **rule)
        at = note.at if note.at < 0.97 else 0.02
        axes.annotate(
            note.text, (at, note.y), xycoords=axes.get_yaxis_transform(), xytext=(0, 3),
            textcoords="offset points", ha="left", va="bottom", **look,
        )  # fmt: skip


def _scaled(axis: Any, scale: Axis, values: list[float], *, tight: bool = False) -> None:
    low = min(values) if scale.low is None else scale.low
    high = max(values) if scale.high is None else scale.high
    if scale.log:
        room = 1.0 if tight else (high / low) ** 0.04 * 1.02
        low, high = (low if scale.low is not None else low / room), (high if scale.high is not None else high * room)
        log_axis(axis, low, high)
        if decades(low, high) and (low < 1e-4 or high > 5e6):
            ticks = decades(low, high, 7)
            getattr(axis.axes, f"set_{axis.axis_name}ticks")(ticks, [_power(tick) for tick in ticks])
    else:
        low = 0.0 if scale.low is None and not tight and low > 0.0 else low
        room = 0.0 if tight or scale.high is not None else 0.05 * (high - low)
        getattr(axis.axes, f"set_{axis.axis_name}lim")(low, high + room)
        if scale.shares:
            axis.set_major_formatter(lambda value, _: f"{round(100 * value, 6):g}%")
        else:
            axis.set_major_formatter(lambda value, _: number(value))
        return
    if scale.shares:
        axis.set_major_formatter(lambda value, _: f"{round(100 * value, 8):g}%")


def _power(value: float) -> str:
    exponent = round(math.log10(value))
    return number(value) if -3 <= exponent <= 3 else f"$10^{{{exponent}}}$"
