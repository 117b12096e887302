"""Maps of a plane with two logarithmic axes: each region's owner, labelled where it is widest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from headcount.figures.canvas import POINTS, Framing, Target, canvas, log_axis, number
from headcount.figures.colours import Theme, blend
from headcount.figures.region_labels import LabelSpace

FADED = 0.78  # how far what is of no use goes towards the paper
SOLID = 0.25
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Mark:
    """A crowd to point out."""

    label: str
    n: int
    ones: int


@dataclass(frozen=True, eq=False)
class Region:
    """One panel: the owner of each point, a row per number of ones; where that is worth having."""

    title: str
    owners: npt.NDArray[Any]  # names, empty for nobody
    clear: Mask
    words: Mapping[str, str] = field(default_factory=dict)  # what to call the owners
    nobody: str = "nobody"
    line: Sequence[tuple[float, float]] = ()
    begins: tuple[int, str] | None = None  # a number of people, and what begins there


def regions(
    panels: Sequence[Region],
    n: Sequence[int],
    ones: Sequence[int],
    target: Target,
    *,
    marks: Sequence[Mark] = (),
    **framing: Unpack[Framing],
) -> Target:
    """Draw the panels side by side over the same axes; more ones than people are hatched."""
    size = (1.2 + 4.3 * len(panels), 5.6)
    with canvas(target, size=size, panels=len(panels), **framing) as sheet:
        for axes, panel in zip(sheet.panels, panels, strict=True):
            log_axis(axes.xaxis, n[0], n[-1])
            log_axis(axes.yaxis, ones[0], ones[-1])
            axes.set_title(panel.title, weight="bold")
            axes.set_xlabel("how many people report")
            axes.tick_params(length=3)
            _colour_regions(axes, panel, n, ones, sheet.theme)
            _label_regions(axes, panel, LabelSpace(n, ones), marks, sheet.theme)
        sheet.panels[0].set_ylabel("how many of them are a yes")
    return target


def _colour_regions(axes: Any, panel: Region, n: Sequence[int], ones: Sequence[int], theme: Theme) -> None:
    owners, clear = _filled(panel, n, ones)
    shades = np.full((*owners.shape, 3), _parts(theme.faint))
    for owner in _names(owners):
        for seen, towards in ((clear, SOLID), (~clear, FADED)):
            shades[(owners == owner) & seen] = _parts(blend(theme.of(owner), theme.paper, towards))
    heights = _heights(panel.line, n, ones)
    axes.pcolormesh(np.broadcast_to(_edges(n), heights.shape), heights, shades, linewidth=0, rasterized=True)
    top = 1.05 * ones[-1]
    axes.fill_between([1, top], [1, top], [top, top], facecolor=theme.paper, hatch="////", edgecolor=theme.faint, lw=0)
    for line in _pieces(panel.line, n):
        axes.plot(*zip(*line, strict=True), color=theme.ink, lw=2.0, zorder=4)


def _label_regions(axes: Any, panel: Region, room: LabelSpace, marks: Sequence[Mark], theme: Theme) -> None:
    """Label marks first, then lines, then the regions where there is space left."""
    small = {"fontsize": 8.5, "color": theme.ink, "zorder": 6, "in_layout": False}
    for mark in (mark for mark in marks if room.n[0] <= mark.n <= room.n[-1]):
        left = mark.n > np.sqrt(room.n[0] * room.n[-1])
        axes.plot(mark.n, mark.ones, "o", ms=7, color=theme.ink, mec=theme.paper, mew=1.3, zorder=6, clip_on=False)
        near: dict[str, Any] = {
            "xytext": (-8 if left else 8, 0),
            "textcoords": POINTS,
            "ha": "right" if left else "left",
        }
        axes.annotate(mark.label, (mark.n, mark.ones), va="center", **near, **small)
        room.take(mark.n, mark.ones, mark.label, -0.5 if left else 0.5)
    if panel.line:
        place, height = panel.line[-1]
        text = f"equal errors at {number(height)} ones"
        near = {"xytext": (-5, 5), "textcoords": POINTS, "ha": "right", "va": "bottom"}
        axes.annotate(text, (place, height), **near, **small)
        room.take(place, height, text, -0.5, lines=3)
    if panel.begins and panel.begins[0] > room.n[0] * (room.n[-1] / room.n[0]) ** 0.15:
        place, text = panel.begins
        low = room.ones[0] * (room.ones[-1] / room.ones[0]) ** 0.03
        near = {"xytext": (-4, 0), "textcoords": POINTS, "ha": "right", "va": "bottom", "rotation": 90}
        axes.annotate(text, (place, low), **near, **{**small, "color": theme.soft})
        room.take(place, low, text, -0.5, lines=2, upright=True)
    possible = np.array(room.ones)[:, None] <= np.array(room.n)[None, :]
    soft = {"color": theme.soft, "fontsize": 9}
    if room.ones[-1] > 10 * room.n[0]:
        about = {"va": "top", "style": "italic", "transform": axes.transAxes}
        axes.text(0.03, 0.97, "more ones\nthan people", **about, **soft)
        room.take(room.n[0], room.ones[-1], "more ones", 0.5, lines=6)
    _write(axes, panel.nobody, room, (panel.owners == "") & possible, soft, ~possible)
    for owner in _names(panel.owners):
        where = (panel.owners == owner) & panel.clear
        look = {"color": theme.ink, "fontsize": 10, "weight": "bold"}
        _write(axes, panel.words.get(owner, owner), room, where, look, ~possible)
    _write(axes, "too few ones to be seen", room, (panel.owners != "") & possible & ~panel.clear, soft)


def _write(
    axes: Any, text: str, room: LabelSpace, where: Mask, look: dict[str, Any], beside: Mask | None = None
) -> None:
    """Write in the region if the words fit, upright if need be; else beside it, with a line."""
    style = {**look, "zorder": 5, "linespacing": 1.3, "in_layout": False, "ha": "center", "va": "center"}
    for turned in (False, True):
        if (place := room.place(where, text, upright=turned)) is not None:
            axes.text(*place, text, rotation=90 * turned, **style)
            return
    if beside is None or np.count_nonzero(where) <= 2:
        return
    target = room.middle(where)
    if (place := room.place(beside, text, near=target)) is not None:
        line = {"arrowstyle": "-", "color": look["color"], "lw": 0.9, "shrinkA": 1, "shrinkB": 0}
        words = axes.annotate(text, target, xytext=place, arrowprops=line, **style)
        words.set_path_effects(_halo(axes.get_facecolor()))


def _halo(colour: Any) -> list[Any]:
    """An outline, so that words can be read on hatching and on lines."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3.5, foreground=colour)]


def _filled(panel: Region, n: Sequence[int], ones: Sequence[int]) -> tuple[npt.NDArray[Any], Mask]:
    """Owners and clarity, border cells coloured as those below; the protruding part is covered."""
    owners, clear = panel.owners.copy(), panel.clear.copy()
    for column, people in enumerate(n):
        row = int(np.searchsorted(ones, people, side="right"))
        for cells in (owners, clear):
            cells[row : row + 2, column] = cells[max(0, row - 1), column]
    return owners, clear


def _pieces(line: Sequence[tuple[float, float]], n: Sequence[int]) -> list[list[tuple[float, float]]]:
    """The line in pieces: of several crossings of an n, all first ones, all second ones, etc."""
    at = {people: [height for place, height in line if place == people] for people in n}
    pieces: list[list[tuple[float, float]]] = []
    for rank in range(max(map(len, at.values()), default=0)):
        piece: list[tuple[float, float]] = []
        for people, heights in at.items():
            if rank < len(heights):
                piece.append((people, heights[rank]))
            elif piece:
                pieces.append(piece)
                piece = []
        pieces += [piece] if piece else []
    return pieces


def _names(owners: npt.NDArray[Any]) -> list[str]:
    return sorted({str(name) for name in owners.ravel().tolist() if name})


def _edges(places: Sequence[int]) -> list[float]:
    """The edges of cells around these places, halfway by ratio; the outermost at the places."""
    inner = [float(np.sqrt(a * b)) for a, b in pairwise(places)]
    return [float(places[0]), *inner, float(places[-1])]


def _heights(line: Sequence[tuple[float, float]], n: Sequence[int], ones: Sequence[int]) -> npt.NDArray[np.float64]:
    """The cells' corners: halfway between two numbers of ones, or at the line if between them."""
    columns = np.log(np.repeat(np.array(_edges(ones))[:, None], len(n), axis=1))
    for place, height in line:
        row = int(np.searchsorted(ones, height))
        if 0 < row < len(ones):
            columns[row, n.index(int(place))] = np.log(height)
    inner = (columns[:, 1:] + columns[:, :-1]) / 2.0
    return np.asarray(np.exp(np.hstack([columns[:, :1], inner, columns[:, -1:]])))


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return red, green, blue
