"""Lines on plain axes, or a logarithmic vertical one: laws and bounds, each called by its name beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.drawing.canvas import apart, canvas, log_axis, number
from headcount.drawing.colours import Theme, blend

LINE = 0.18  # inches between two labels
WIDTH = 4.6  # inches of a panel
HUES = ("flipped bits", "central noise", "dummies", "local", "sampling", "shares")


@dataclass(frozen=True)
class Line:
    """Points in the order of x. `dots` marks each of them, for what exists at whole numbers only."""

    label: str
    points: Sequence[tuple[float, float]]
    dots: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """Lines together. The band is a stretch of the horizontal axis, with its name; notes begin at a place."""

    lines: Sequence[Line]
    xlabel: str
    ylabel: str
    title: str = ""
    log: bool = False  # the vertical axis
    wide: bool = False  # the horizontal axis is logarithmic
    band: tuple[float, float, str] | None = None
    notes: Sequence[tuple[float, float, str]] = ()


def lines(panels: Sequence[Panel], path: Path | str, *, title: str, subtitle: str = "", theme: str = "light") -> Path:
    """Draws the panels side by side; a label has the same colour in all of them."""
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    room = 0.35 + 0.075 * max(map(len, labels))
    size = (0.9 + (WIDTH + room) * len(panels), 4.4)
    with canvas(
        path, title=title, subtitle=subtitle, size=size, theme=theme, panels=len(panels), together=False
    ) as sheet:
        hues = {label: sheet.theme.families[HUES[i % len(HUES)]] for i, label in enumerate(labels)}
        for axes, panel in zip(sheet.panels, panels, strict=True):
            _drawn(axes, panel, hues, sheet.theme)
    return Path(path)


def _drawn(axes: Any, panel: Panel, hues: dict[str, str], theme: Theme) -> None:
    places = [(x, y) for line in panel.lines for x, y in line.points if math.isfinite(y) and (y > 0 or not panel.log)]
    _scaled(axes, panel, [x for x, _ in places], [y for _, y in places])
    low, high = axes.get_ylim()
    ends = []
    for line in panel.lines:
        points = [(x, y) for x, y in line.points if math.isfinite(y) and (y > 0 or not panel.log)]
        look = {"color": hues[line.label], "zorder": 3, "clip_on": not line.dots}
        style = (5, 2) if line.dashed else (None, None)
        axes.plot(*zip(*points, strict=True), lw=1.0 if line.dots else 2.0, dashes=style, **look)
        if line.dots:
            axes.plot(*zip(*points, strict=True), "o", ms=4.5, mec=theme.paper, mew=0.7, **look)
        ends.append(next((x, y) for x, y in reversed(points) if low <= y <= high))
    _named(axes, panel, ends, hues, theme)
    if panel.band:
        first, last, name = panel.band
        axes.axvspan(first, last, color=blend(theme.soft, theme.paper, 0.86), zorder=0, lw=0)
        words = {"ha": "center", "va": "top", "fontsize": 9, "color": theme.soft}
        axes.text((first + last) / 2.0, 0.985, name, transform=axes.get_xaxis_transform(), **words)
    for x, y, text in panel.notes:
        axes.text(x, y, text, ha="left", va="center", fontsize=9, color=theme.soft)
    axes.grid(axis="y")
    axes.tick_params(length=3)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    if panel.title:
        axes.set_title(panel.title, weight="bold")


def _named(axes: Any, panel: Panel, ends: list[tuple[float, float]], hues: dict[str, str], theme: Theme) -> None:
    low, high = axes.get_ylim()
    if panel.log:
        wanted = [math.log(y / low) / math.log(high / low) for _, y in ends]
    else:
        wanted = [(y - low) / (high - low) for _, y in ends]
    for line, end, place in zip(panel.lines, ends, apart(wanted, LINE / 3.0, 0.0, 1.0), strict=True):
        rule = {"arrowstyle": "-", "color": blend(hues[line.label], theme.paper, 0.3), "lw": 0.8, "shrinkA": 1}
        rule |= {"shrinkB": 3 if line.dots else 0, "relpos": (0.0, 0.5)}
        about = {"va": "center", "fontsize": 9, "color": theme.ink, "annotation_clip": False, "arrowprops": rule}
        axes.annotate(line.label, end, xytext=(1.04, place), textcoords=axes.transAxes, **about)


def _scaled(axes: Any, panel: Panel, across: list[float], up: list[float]) -> None:
    left, right = min(across), max(across)
    if panel.wide:
        log_axis(axes.xaxis, left, right)
    else:
        axes.set_xlim(left - 0.02 * (right - left), right + 0.02 * (right - left))
    whole = any(line.dots for line in panel.lines)
    ticks = [tick for tick in axes.get_xticks() if left <= tick <= right and not (whole and tick % 1)]
    axes.set_xticks(ticks, [number(tick) for tick in ticks])
    if panel.log:
        log_axis(axes.yaxis, min(up) / 1.5, max(up) * 1.5)
        ticks = _powers(min(up), max(up)) or list(axes.get_yticks())
        axes.set_yticks(ticks, [_power(tick) for tick in ticks])
    else:
        spread = max(up) - min(0.0, *up)
        axes.set_ylim(min(0.0, *up) - 0.03 * spread, max(up) + 0.08 * spread)
        ticks = [tick for tick in axes.get_yticks() if min(0.0, *up) <= tick <= max(up) + 0.08 * spread]
        axes.set_yticks(ticks, [number(tick) for tick in ticks])


def _powers(low: float, high: float) -> list[float]:
    """Round powers of ten, at most nine of them; none if there are fewer than three."""
    first, last = math.ceil(math.log10(low / 1.5)), math.floor(math.log10(high * 1.5))
    step = next(step for step in (1, 2, 3, 5, 10, 20, 30, 50, 100) if (last - first) / step < 9)
    powers = [10.0**power for power in range(first, last + 1) if power % step == 0]
    return powers if len(powers) > 2 else []


def _power(tick: float) -> str:
    power = math.log10(tick)
    return f"$10^{{{round(power)}}}$" if power < -3.5 and abs(power - round(power)) < 1e-6 else number(tick)
