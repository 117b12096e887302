"""Curves and points on logarithmic axes, each called by its name where it ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.drawing.canvas import apart, canvas, log_axis, number
from headcount.drawing.colours import Theme, blend, dashes_of

LINE = 0.165  # inches between two labels
WIDTH = 5.2  # inches of a panel


@dataclass(frozen=True)
class Curve:
    """A protocol's points in the order of x."""

    label: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Chart:
    """A panel of curves. Shares run along a plain axis in percent, everything else along a logarithmic one."""

    curves: Sequence[Curve]
    xlabel: str
    ylabel: str
    title: str = ""
    shares: bool = False
    plain: bool = False  # whether the vertical axis is plain too


def charts(panels: Sequence[Chart], path: Path | str, *, title: str, subtitle: str = "", theme: str = "light") -> Path:
    """Draws the panels side by side, with labels at the right of each."""
    height = max(4.4, 1.5 + LINE * max(len(panel.curves) for panel in panels))
    size = (0.9 + (WIDTH + 1.9) * len(panels), height)
    with canvas(
        path, title=title, subtitle=subtitle, size=size, theme=theme, panels=len(panels), together=False
    ) as sheet:
        for axes, panel in zip(sheet.panels, panels, strict=True):
            _curves(axes, panel, height - 1.5, sheet.theme)
    return Path(path)


def _curves(axes: Any, panel: Chart, inches: float, theme: Theme) -> None:
    places = [point for curve in panel.curves for point in curve.points if all(map(math.isfinite, point))]
    _scaled(axes, panel, [x for x, _ in places], [y for _, y in places])
    for curve in panel.curves:
        drawn = [(x, y) for x, y in curve.points if math.isfinite(y)]
        lines = axes.plot(*zip(*drawn, strict=True), color=theme.of(curve.label), zorder=3)
        lines[0].set_dashes(dashes_of(curve.label) or (None, None))
    ends = [next((x, y) for x, y in reversed(curve.points) if math.isfinite(y)) for curve in panel.curves]
    low, high = axes.get_ylim()
    scale = (lambda y: (y - low) / (high - low)) if panel.plain else lambda y: math.log(y / low) / math.log(high / low)
    heights = apart([scale(y) for _, y in ends], LINE / inches, 0.0, 1.0)
    right = max(x for x, _ in places)
    for curve, end, place in zip(panel.curves, ends, heights, strict=True):
        line = {"arrowstyle": "-", "color": blend(theme.of(curve.label), theme.paper, 0.3), "lw": 0.8, "shrinkA": 1}
        line |= {"shrinkB": 0, "relpos": (0.0, 0.5)}
        text = curve.label if end[0] == right else f"{curve.label}, to {_place(end[0], panel.shares)}"
        axes.annotate(
            text, end, xytext=(1.05, place), textcoords=axes.transAxes, va="center", fontsize=9, color=theme.ink,
            arrowprops=line, annotation_clip=False,
        )  # fmt: skip
    axes.grid(axis="y")
    axes.tick_params(length=3)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    if panel.title:
        axes.set_title(panel.title, weight="bold")


def _scaled(axes: Any, panel: Chart, across: list[float], up: list[float]) -> None:
    if panel.shares:
        ticks = [share for i in range(11) if min(across) <= (share := i / 10) <= max(across)]
        axes.set_xlim(min(across), max(across))
        axes.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks])
    else:
        log_axis(axes.xaxis, min(across), max(across))
    if panel.plain:
        axes.set_ylim(0.0, 1.05 * max(up))
    else:
        log_axis(axes.yaxis, min(up) / 1.25, max(up) * 1.25)


def _place(x: float, share: bool) -> str:
    return f"{x:.0%}" if share else number(x)
