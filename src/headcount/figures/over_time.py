"""Values round after round, each with its interval: a panel above the other for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from headcount.figures.canvas import Framing, Target, canvas, number
from headcount.figures.colours import Theme

WIDE, TALL = 8.4, 2.0
MANY = 40  # rounds, from which on intervals are a band
NAMED = 9  # rounds that are named along the axis


@dataclass(frozen=True)
class Course:
    """A quantity over time: for each round its number, value and interval."""

    label: str
    points: Sequence[tuple[int, float, float, float]]


def over_time(
    courses: Sequence[Course],
    target: Target,
    *,
    names: Sequence[str] = (),
    **framing: Unpack[Framing],
) -> Target:
    """Draw all courses below each other. `names` are the rounds' names, numbers from 1 if empty."""
    size = (WIDE, 1.3 + TALL * len(courses))
    panels = len(courses)
    with canvas(target, size=size, panels=panels, rows=panels, together=False, **framing) as sheet:
        last = max(at for course in courses for at, *_ in course.points)
        hues = [*sheet.theme.families.values()]
        for place, (axes, course) in enumerate(zip(sheet.panels, courses, strict=True)):
            _draw_course(axes, course, hues[place % len(hues)], sheet.theme, last)
            _label_rounds(axes, last, names, sheet.theme, bottom=place == len(courses) - 1)
    return target


def _draw_course(axes: Any, course: Course, colour: str, theme: Theme, last: int) -> None:
    at, values, low, high = (list(column) for column in zip(*course.points, strict=True))
    if last >= MANY:
        axes.fill_between(at, low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
        axes.plot(at, values, color=colour, lw=1.4, marker="o", ms=2.4, zorder=3)
    else:
        axes.vlines(at, low, high, color=colour, lw=1.6, zorder=2)
        for ends in (low, high):
            axes.plot(at, ends, "_", ms=8, color=colour, mew=1.6, zorder=2)
        axes.plot(at, values, "o", ms=3.6, color=theme.ink, mew=0, zorder=3)
    if min(low) < 0.0 < max(high):
        axes.axhline(0.0, color=theme.soft, lw=0.9, zorder=1)
    axes.set_title(course.label)
    axes.grid(axis="y", color=theme.faint)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="both", length=0)
    axes.locator_params(axis="y", nbins=5)
    axes.yaxis.set_major_formatter(lambda value, _: number(value) if value >= 0.0 else f"−{number(-value)}")


def _label_rounds(axes: Any, last: int, names: Sequence[str], theme: Theme, *, bottom: bool) -> None:
    axes.set_xlim(0.4, last + 0.6)
    every = -(-last // NAMED)
    shown = range(1, last + 1, every)
    axes.set_xticks([*shown], [names[at - 1] if names else str(at) for at in shown] if bottom else [""] * len(shown))
    if bottom:
        axes.set_xlabel("rounds, by when they begin" if names else "round")
        axes.tick_params(axis="x", colors=theme.ink)
