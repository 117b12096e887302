"""Scatter charts of two costs, coloured by model of trust, with labelled protocols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from headcount.figures.canvas import POINTS, Framing, Target, apart, canvas, decades, log_axis, number
from headcount.figures.colours import Theme
from headcount.privacy.model import Model

LINE = 0.17  # inches between two labels
SIZE = (9.4, 5.6)
INCHES = 4.2  # of the vertical axis
LETTER = 0.085  # inches, about
ONE = 1.02  # labels of whatever costs no more than this stand at the left


@dataclass(frozen=True)
class Dots:
    """A protocol's choices in the order of x; `best` marks those on the Pareto front."""

    label: str
    model: Model
    points: Sequence[tuple[float, float]]
    best: Sequence[bool]


def tradeoffs(
    every: Sequence[Dots],
    target: Target,
    *,
    xlabel: str,
    ylabel: str,
    **framing: Unpack[Framing],
) -> Target:
    """Draw the points, filled on the Pareto front. Both axes are logarithmic."""
    with canvas(target, size=SIZE, **framing) as sheet:
        (axes,), chosen = sheet.panels, sheet.theme
        across = [x for dots in every for x, _ in dots.points]
        up = [y for dots in every for _, y in dots.points]
        left, right = _ends(min(across), max(across))
        log_axis(axes.xaxis, left, right)
        ticks = decades(min(across), 1.6 * max(across))
        axes.set_xticks(ticks, [number(tick) for tick in ticks])
        log_axis(axes.yaxis, min(up) / 1.5, max(up) * 1.6)
        for dots in every:
            _draw_dots(axes, dots, chosen)
        on_left = {dots.label: dots.points[-1][0] <= ONE and not covers(axes, dots, every) for dots in every}
        for side in (True, False):
            _label_dots(axes, [dots for dots in every if on_left[dots.label] is side], side, chosen)
        for line, model in enumerate(dict.fromkeys(dots.model for dots in every)):
            about = {"ha": "right", "va": "top", "fontsize": 8.5, "transform": axes.transAxes}
            words = f"{model}: you trust {model.trusted.split(',')[0]}"
            axes.text(0.995, 0.99 - 0.05 * line, words, color=chosen.words[model], **about)
        axes.grid()
        axes.tick_params(length=3)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
    return target


def _draw_dots(axes: Any, dots: Dots, theme: Theme) -> None:
    colour = theme.models[dots.model]
    if len(dots.points) > 1:
        axes.plot(*zip(*dots.points, strict=True), color=colour, lw=1.2, alpha=0.6, zorder=2)
    for point, best in zip(dots.points, dots.best, strict=True):
        face = colour if best else theme.paper
        axes.plot(*point, "o", ms=6.5, mfc=face, mec=colour, mew=1.4, zorder=3)


def _ends(low: float, high: float) -> tuple[float, float]:
    """The limits of the horizontal axis, with space for labels on either side."""
    left, right = math.log(low) - 0.3, math.log(max(high, 2.0)) + 0.3
    right += 0.3 * (right - left)
    return math.exp(min(left, -0.42 * right / 0.58) if low <= ONE else left), math.exp(right)


def covers(axes: Any, dots: Dots, every: Sequence[Dots]) -> bool:
    """Whether the label left of its only point would cover another protocol's points or line."""
    if len(dots.points) > 1:
        return False
    end, (width, height) = _part(axes, dots.points[0]), (LETTER * len(dots.label) / SIZE[0] + 0.04, LINE / INCHES)
    for other in every:
        places = [_part(axes, point) for point in other.points] if other is not dots else []
        for (x, y), (u, v) in zip(places, [*places[1:], *places[-1:]], strict=True):
            between = [(x + (u - x) * i / 20.0, y + (v - y) * i / 20.0) for i in range(21)]
            if any(0.01 < end[0] - a < width and abs(end[1] - b) < height for a, b in between):
                return True
    return False


def _part(axes: Any, point: tuple[float, float]) -> tuple[float, float]:
    """How far along either axis, from 0 to 1."""
    across, up = axes.transAxes.inverted().transform(axes.transData.transform(point))
    return float(across), float(up)


def _label_dots(axes: Any, every: list[Dots], left: bool, theme: Theme) -> None:
    """At the cheapest point on the left; at the most accurate one on the right."""
    ends = [dots.points[0 if left else -1] for dots in every]
    wanted = [_part(axes, end)[1] for end in ends]
    for dots, end, place in zip(every, ends, apart(wanted, LINE / INCHES, 0.0, 1.0), strict=True):
        line = {"arrowstyle": "-", "color": theme.soft, "lw": 0.6, "shrinkA": 0, "shrinkB": 4}
        line["relpos"] = (1.0, 0.5) if left else (0.0, 0.5)
        x = _part(axes, end)[0] + (-0.035 if left else 0.03)
        style = {"fontsize": 9, "color": theme.words[dots.model], "zorder": 4, "annotation_clip": False}
        style["ha"] = "right" if left and x > 0.15 else "left"
        if len(dots.points) > 1 and left:  # where it begins, away from the others
            shift = {"xytext": (-7, -1) if x > 0.15 else (2, 9), "textcoords": POINTS}
            axes.annotate(dots.label, end, va="center", **shift, **style)
            continue
        axes.annotate(
            dots.label, end, xytext=(x, place), textcoords=axes.transAxes, va="center", arrowprops=line, **style
        )
