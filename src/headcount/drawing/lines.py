"""Lines: what is computed as a line, what was measured as circles on it, bounds dashed, rules dotted.

Every line is called by its name where it ends, and one thing has one colour in all panels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias

from headcount.drawing.axis import Axis
from headcount.drawing.canvas import apart, canvas
from headcount.drawing.colours import Theme, blend, dashes_of, family_of

ROW = 0.165  # inches between two lines of labels
WIDTH, ALONE = 3.9, 5.0  # inches of a panel, and of one that has no neighbour
HEIGHT = 3.2
LETTERS = 28  # in a line of a label
BOUND: tuple[float, ...] = (4.5, 2.0)
RULE: tuple[float, ...] = (1.2, 1.6)
SOLID: tuple[float, ...] = ()
HUES = ("central noise", "flipped bits", "dummies", "local", "sampling", "shares", "cancelling", "hashing")

Points: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points in the order of x, and those that were measured.

    `hue` is a protocol, a family, "ink", "soft", or anything that is to have one colour of its own; the label unless
    told. A protocol has its own dashes too. `dots` are for what exists only at the points, as at whole numbers.
    """

    label: str
    points: Points
    hue: str = ""
    dashes: tuple[float, ...] | None = None
    measured: Points = ()
    dots: bool = False
    first: bool = False  # called by its name where it begins

    @property
    def key(self) -> str:
        return self.hue or self.label


@dataclass(frozen=True)
class Note:
    """Words at a place. At an x alone they stand along a thin line upwards, at a y alone along a level one.

    `at` is where on the line, from 0 to 1; with `to`, the note names the stretch from x that far.
    """

    text: str
    x: float | None = None
    y: float | None = None
    at: float = 0.02
    to: float | None = None


@dataclass(frozen=True)
class Panel:
    lines: Sequence[Line]
    across: Axis
    up: Axis
    title: str = ""
    notes: Sequence[Note] = ()

    def seen(self, points: Points) -> list[tuple[float, float]]:
        """Those that there is a place for on both axes."""
        return [(x, y) for x, y in points if self.across.shows(x) and self.up.shows(y)]


def lines(
    panels: Sequence[Panel], path: Path | str, *, title: str, subtitle: str = "", theme: str = "light", columns: int = 2
) -> Path:
    """Draws the panels, so many side by side."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    labels = [[row for line in panel.lines if not line.first for row in _wrapped(line)] for panel in panels]
    words = 0.25 + 0.072 * max((len(row) for panel in labels for row in panel), default=0)
    height = max(HEIGHT, ROW * max(map(len, labels)))
    size = (0.5 + (0.75 + (WIDTH if columns > 1 else ALONE) + words) * columns, 0.75 + (height + 0.95) * rows)
    with canvas(
        path, title=title, subtitle=subtitle, size=size, theme=theme, panels=columns * rows, rows=rows, together=False
    ) as sheet:
        hues = colours(panels, sheet.theme)
        for axes, panel in zip(sheet.panels, panels, strict=False):
            _drawn(axes, panel, hues, sheet.theme)
            _named(axes, panel, hues, height, sheet.theme)
        for axes in sheet.panels[len(panels) :]:
            axes.set_visible(False)
    return Path(path)


def colours(panels: Sequence[Panel], theme: Theme) -> dict[str, str]:
    """Protocols and families have their own; everything else gets the next that nothing in the figure has."""
    hues = dict.fromkeys(line.key for panel in panels for line in panel.lines)
    own = {"ink": theme.ink, "soft": theme.soft, **theme.families}
    own |= {hue: theme.of(hue) for hue in hues if family_of(hue)}
    taken = {hue if hue in theme.families else family_of(hue) for hue in hues}
    left = [theme.families[family] for family in HUES if family not in taken] or [theme.families[name] for name in HUES]
    others = [hue for hue in hues if hue not in own]
    return own | {hue: left[i % len(left)] for i, hue in enumerate(others)}


def _drawn(axes: Any, panel: Panel, hues: Mapping[str, str], theme: Theme) -> None:
    places = [point for line in panel.lines for point in panel.seen([*line.points, *line.measured])]
    panel.across.divide(axes.xaxis, [x for x, _ in places], tight=True)
    panel.up.divide(axes.yaxis, [y for _, y in places], tight=False)
    for note in panel.notes:
        _noted(axes, note, theme)
    for line in panel.lines:
        colour, points = hues[line.key], panel.seen(line.points)
        dashes = line.dashes if line.dashes is not None else dashes_of(line.key) if family_of(line.key) else SOLID
        if points:
            thin = line.dots or (line.dashes or SOLID) in (BOUND, RULE)
            (stroke,) = axes.plot(*zip(*points, strict=True), color=colour, lw=1.4 if thin else 2.0, zorder=3)
            stroke.set_dashes(dashes or (None, None))
        solid, hollow = {"mfc": colour, "mec": theme.paper, "mew": 0.7}, {"mfc": theme.paper, "mec": colour, "mew": 1.4}
        for dotted, look in ((points if line.dots else [], solid), (panel.seen(line.measured), hollow)):
            for x, y in dotted:
                axes.plot(x, y, "o", ms=5.2, zorder=4, clip_on=False, **look)
    axes.grid(axis="y")
    axes.tick_params(length=3)
    if panel.title:
        axes.set_title(panel.title, weight="bold")


def _named(axes: Any, panel: Panel, hues: Mapping[str, str], height: float, theme: Theme) -> None:
    """At the right, at the height where each line leaves the panel, or as near as there is room."""
    across, up = axes.get_xlim(), axes.get_ylim()
    called: list[tuple[Line, tuple[float, float], list[str]]] = []
    for line in panel.lines:
        points = panel.seen(line.points or line.measured)
        style = {"fontsize": 9, "color": blend(hues[line.key], theme.ink, 0.6), "annotation_clip": False}
        if line.label and points and line.first:
            style |= {"rotation": 40, "ha": "left", "va": "bottom", "in_layout": False}
            axes.annotate(line.label, points[0], xytext=(-3, 3), textcoords="offset points", **style)
        elif inside := [(x, y) for x, y in points if line.label and _within(x, across) and _within(y, up)]:
            called.append((line, inside[-1], _wrapped(line)))
    slots = [panel.up.part(y, up) for _, (_, y), text in called for _ in text]
    found = iter(apart(slots, ROW / height, 0.0, 1.0))
    for line, (x, y), text in called:
        place = sum(next(found) for _ in text) / len(text)
        link = {"arrowstyle": "-", "color": blend(hues[line.key], theme.paper, 0.3), "lw": 0.8, "relpos": (0.0, 0.5)}
        link |= {"shrinkA": 1, "shrinkB": 3 if line.dots else 0}
        axes.annotate(
            "\n".join(text), (x, min(max(y, up[0]), up[1])), xytext=(1.05, place), textcoords=axes.transAxes,
            va="center", fontsize=9, color=blend(hues[line.key], theme.ink, 0.6), arrowprops=link,
            annotation_clip=False, linespacing=1.1,
        )  # fmt: skip


def _wrapped(line: Line) -> list[str]:
    return wrap(line.label, LETTERS)


def _within(value: float, ends: tuple[float, float]) -> bool:
    slack = 1e-6 * (ends[1] - ends[0])
    return ends[0] - slack <= value <= ends[1] + slack


def _noted(axes: Any, note: Note, theme: Theme) -> None:
    look = {"fontsize": 8.5, "color": theme.soft, "zorder": 5, "in_layout": False, "textcoords": "offset points"}
    look |= {"bbox": {"facecolor": theme.paper, "edgecolor": "none", "pad": 1.0, "alpha": 0.8}}
    rule = {"color": theme.soft, "lw": 0.9, "ls": (0, (2.0, 2.0)), "zorder": 2}
    if note.x is not None and note.to is not None:
        axes.axvspan(note.x, note.to, color=blend(theme.soft, theme.paper, 0.86), zorder=0, lw=0)
        middle = ((note.x + note.to) / 2.0, 0.985)
        look |= {"xycoords": axes.get_xaxis_transform(), "bbox": None}
        axes.annotate(note.text, middle, xytext=(0, 0), ha="center", va="top", **look)
    elif note.x is not None and note.y is not None:
        axes.annotate(note.text, (note.x, note.y), xytext=(0, 0), ha="left", va="center", **look)
    elif note.x is not None:
        axes.axvline(note.x, **rule)
        look |= {"xycoords": axes.get_xaxis_transform(), "rotation": 90, "ha": "right"}
        axes.annotate(note.text, (note.x, note.at), xytext=(-4, 0), va="top" if note.at > 0.5 else "bottom", **look)
    elif note.y is not None:
        axes.axhline(note.y, **rule)
        look |= {"xycoords": axes.get_yaxis_transform(), "ha": "left", "va": "bottom"}
        axes.annotate(note.text, (note.at, note.y), xytext=(0, 3), **look)
