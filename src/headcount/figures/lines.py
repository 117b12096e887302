"""Line charts: computed values as lines, measured ones as circles, bounds dashed, rules dotted.

Every line is labelled where it ends, unless told where, and one thing has one colour in all panels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Unpack

from headcount.figures.axis import Axis
from headcount.figures.canvas import POINTS, Framing, Target, apart, balanced, canvas
from headcount.figures.colours import Theme, blend, dashes_of, family_of
from headcount.figures.line_labels import LETTER, ROW, FreeSpace, Spot, last_visible

WIDTH, ALONE = 3.9, 5.0  # inches of a panel, and of one that has no neighbour
HEIGHT = 3.2
LETTERS = 28  # in a line of a label
EARLY = 0.9  # a line that ends before this part of the width is named there, if there is room
BOUND: tuple[float, ...] = (4.5, 2.0)
RULE: tuple[float, ...] = (1.2, 1.6)
SOLID: tuple[float, ...] = ()
HUES = ("central noise", "flipped bits", "dummies", "local", "sampling", "shares", "cancelling", "hashing")

Points: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """Points in the order of x, and those that were measured.

    `hue` is a protocol, a family, "ink", "soft", or anything that is to have one colour of its own;
    the label unless told. A protocol has its own dashes too. `dots` are for what exists only at the
    points, as at whole numbers.
    """

    label: str
    points: Points
    hue: str = ""
    dashes: tuple[float, ...] | None = None
    measured: Points = ()
    dots: bool = False
    first: bool = False  # called by its name where it begins
    at: Spot | None = None  # where its name begins, if neither end is a good place
    steep: bool = False  # its name is written upwards there

    @property
    def key(self) -> str:
        return self.hue or self.label

    @property
    def inside(self) -> bool:
        """Whether its label stands within the panel and not to its right."""
        return self.first or self.at is not None


@dataclass(frozen=True)
class Note:
    """Words at a place. At an x alone they stand along a thin vertical line, at a y a level one.

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

    def parts(self, points: Points, across: Spot, up: Spot) -> list[Spot]:
        """Points as parts of the panel, from 0 to 1 along either axis."""
        return [(self.across.part(x, across), self.up.part(y, up)) for x, y in points]

    def seen(self, points: Points) -> list[tuple[float, float]]:
        """The points that have a place on both axes."""
        return [(x, y) for x, y in points if self.across.shows(x) and self.up.shows(y)]


def lines(panels: Sequence[Panel], target: Target, *, columns: int = 2, **framing: Unpack[Framing]) -> Target:
    """Draw the panels, `columns` side by side."""
    columns = min(columns, len(panels))
    rows = math.ceil(len(panels) / columns)
    labels = [[row for line in panel.lines if not line.inside for row in _wrapped(line)] for panel in panels]
    words = 0.25 + 0.072 * max((len(row) for panel in labels for row in panel), default=0)
    height = max(HEIGHT, ROW * max(map(len, labels)))
    size = (0.5 + (0.75 + (WIDTH if columns > 1 else ALONE) + words) * columns, 0.75 + (height + 0.95) * rows)
    with canvas(target, size=size, panels=columns * rows, rows=rows, together=False, **framing) as sheet:
        hues = colours(panels, sheet.theme)
        for axes, panel in zip(sheet.panels, panels, strict=False):
            _draw_panel(axes, panel, hues, sheet.theme)
            _label_lines(axes, panel, hues, (WIDTH if columns > 1 else ALONE, height), sheet.theme)
        for axes in sheet.panels[len(panels) :]:
            axes.set_visible(False)
    return target


def colours(panels: Sequence[Panel], theme: Theme) -> dict[str, str]:
    """The colour of every hue: own colours for protocols and families, else the next free one."""
    hues = dict.fromkeys(line.key for panel in panels for line in panel.lines)
    own = {"ink": theme.ink, "soft": theme.soft, **theme.families}
    own |= {hue: theme.of(hue) for hue in hues if family_of(hue)}
    taken = {hue if hue in theme.families else family_of(hue) for hue in hues}
    left = [theme.families[family] for family in HUES if family not in taken] or [theme.families[name] for name in HUES]
    others = [hue for hue in hues if hue not in own]
    return own | {hue: left[i % len(left)] for i, hue in enumerate(others)}


def _draw_panel(axes: Any, panel: Panel, hues: Mapping[str, str], theme: Theme) -> None:
    places = [point for line in panel.lines for point in panel.seen([*line.points, *line.measured])]
    panel.across.divide(axes.xaxis, [x for x, _ in places], tight=True)
    panel.up.divide(axes.yaxis, [y for _, y in places], tight=False)
    for note in panel.notes:
        _write_note(axes, note, theme)
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


def _label_lines(axes: Any, panel: Panel, hues: Mapping[str, str], size: Spot, theme: Theme) -> None:
    """Label lines: beside the end where a line ends early and there is space, else at the right."""
    across, up = axes.get_xlim(), axes.get_ylim()
    room, called = _room(panel, across, up, size), []
    for line in panel.lines:
        points = panel.seen(line.points or line.measured)
        style = {"fontsize": 9, "color": blend(hues[line.key], theme.ink, 0.6), "annotation_clip": False}
        if line.label and points and line.at:
            style |= {"textcoords": POINTS, "rotation": 90 if line.steep else 0}
            style |= {"ha": "center", "va": "bottom"} if line.steep else {"va": "center"}
            axes.annotate(line.label, line.at, xytext=(0, 0), **style)
        elif line.label and points and line.first:
            style |= {"rotation": 40, "ha": "left", "va": "bottom", "in_layout": False}
            axes.annotate(line.label, points[0], xytext=(-3, 3), textcoords=POINTS, **style)
        elif line.label and (end := last_visible(panel.parts(points, across, up))):
            text, style = _wrapped(line), style | {"linespacing": 1.1, "va": "center", "textcoords": axes.transAxes}
            early = end[0] < EARLY
            if early and (place := room.beside((end[0] * size[0], end[1] * size[1]), text)):
                at = (place[0] / size[0], place[1] / size[1])
                paper = {"facecolor": theme.paper, "edgecolor": "none", "pad": 0.5, "alpha": 0.8}
                style |= {"bbox": paper, "zorder": 5}
                axes.annotate("\n".join(text), end, xytext=at, xycoords=axes.transAxes, **style)
            else:
                hue, dots = (theme.soft, (0, (1, 3))) if early else (hues[line.key], "-")  # not to look like the line
                link: dict[str, Any] = {"arrowstyle": "-", "color": blend(hue, theme.paper, 0.3), "lw": 0.8, "ls": dots}
                link |= {"relpos": (0.0, 0.5), "shrinkA": 1, "shrinkB": 3 if line.dots else 0}
                called.append((text, end, style | {"arrowprops": link}))
    found = iter(apart([end[1] for text, end, _ in called for _ in text], ROW / size[1], 0.0, 1.0))
    for text, end, style in called:
        place = (1.05, sum(next(found) for _ in text) / len(text))
        axes.annotate("\n".join(text), end, xytext=place, xycoords=axes.transAxes, **style)


def _room(panel: Panel, across: Spot, up: Spot, size: Spot) -> FreeSpace:
    """The panel's free space, with its lines, circles and notes taken."""
    room = FreeSpace(size)
    for line in panel.lines:
        for points, joined in ((line.points, True), (line.measured, False)):
            seen = panel.parts(panel.seen(points), across, up)
            places = [(x * size[0], y * size[1]) for x, y in seen]
            for run in [places] if joined else [[place] for place in places]:
                room.draw(run)
    for note in panel.notes:
        long = LETTER * max(map(len, note.text.split("\n")))
        x = None if note.x is None else panel.across.part(note.x, across) * size[0]
        y = None if note.y is None else panel.up.part(note.y, up) * size[1]
        if x is not None and y is not None:
            room.write((x, y - ROW, x + long, y + ROW))
        elif x is not None and note.to is None:
            low = note.at * size[1] - (long if note.at > 0.5 else 0.0)
            room.write((x - 0.22, low, x, low + long))
            room.draw([(x, 0.0), (x, size[1])])
        elif y is not None:
            room.write((note.at * size[0], y, note.at * size[0] + long, y + 0.22))
            room.draw([(0.0, y), (size[0], y)])
    return room


def _wrapped(line: Line) -> list[str]:
    return balanced(line.label, LETTERS)


def _write_note(axes: Any, note: Note, theme: Theme) -> None:
    look = {"fontsize": 8.5, "color": theme.soft, "zorder": 5, "in_layout": False, "textcoords": POINTS}
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
