"""Errors as they came out in simulation, with what was predicted drawn over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from headcount.figures.canvas import POINTS, Framing, canvas, log_axis, number
from headcount.figures.colours import Theme, blend
from headcount.privacy.model import Model
from headcount.programme.law import Floats, Noise

BINS = 44  # about as many
FAR = 5e-4  # of the predicted law lies beyond either end of the axis
SIZE = (10.4, 4.2)


@dataclass(frozen=True, eq=False)
class Runs:
    """The errors of repeated runs, and the law that was predicted for them."""

    errors: Floats
    law: Noise


@dataclass(frozen=True)
class Size:
    """The typical error in a crowd: predicted, and over repeated runs, with standard error."""

    people: int
    predicted: float
    simulated: float
    doubt: float


def simulated(
    runs: Runs,
    sizes: Sequence[Size],
    path: Path | str,
    *,
    model: Model,
    unit: str = "people",
    **framing: Unpack[Framing],
) -> Path:
    """Draw how often each error came out, left, and the typical one among more people, right."""
    with canvas(path, size=SIZE, panels=2, together=False, **framing) as sheet:
        left, right = sheet.panels
        _shares(left, runs, sheet.theme.models[model], sheet.theme, unit)
        _growth(right, sizes, sheet.theme.models[model], sheet.theme, unit)
    return Path(path)


def edges(law: Noise, runs: int) -> Floats:
    """The edges of bins of whole steps of the law, each with the same number of values."""
    order = np.argsort(law.values)
    values, reached = law.values[order], np.cumsum(law.masses[order])
    low, high = values[np.searchsorted(reached, FAR)], values[np.searchsorted(reached, reached[-1] - FAR)]
    step = float(np.median(np.diff(values))) if values.size > 1 else 1.0
    most = min(BINS, 2.0 * math.sqrt(runs))
    width = step * max(1, math.ceil((high - low) / (step * most)))
    count = math.ceil((high - low + step) / width) + 2
    return np.asarray(low - step / 2.0 - width + width * np.arange(count + 1), dtype=np.float64)


def _shares(axes: Any, runs: Runs, colour: str, theme: Theme, unit: str) -> None:
    cuts = edges(runs.law, runs.errors.size)
    seen = np.histogram(runs.errors, cuts)[0] / runs.errors.size
    predicted = np.histogram(runs.law.values, cuts, weights=runs.law.masses)[0]
    middles, width = (cuts[1:] + cuts[:-1]) / 2.0, cuts[1] - cuts[0]
    axes.bar(middles, seen, width=0.9 * width, color=blend(colour, theme.paper, 0.3), linewidth=0, zorder=2)
    axes.plot(middles, predicted, color=theme.ink, lw=1.4, zorder=3)
    axes.plot(middles, predicted, "o", ms=2.6, color=theme.ink, zorder=3)
    half = runs.law.half_width()
    top = 1.3 * max(seen.max(), predicted.max())
    axes.set_ylim(0.0, top)
    axes.set_xlim(min(cuts[0], -half - width), max(cuts[-1], half + width))
    for end in (-half, half):
        axes.plot([end, end], [0.0, 0.84 * top], color=theme.soft, lw=0.9, dashes=(3, 2), zorder=1)
    axes.annotate(
        "",
        (half, 0.84 * top),
        xytext=(-half, 0.84 * top),
        arrowprops={"arrowstyle": "<->", "color": theme.soft, "lw": 0.9, "shrinkA": 0, "shrinkB": 0},
    )
    axes.text(0.0, 0.865 * top, f"95 of 100 within ± {number(half)}", ha="center", color=theme.ink, fontsize=9.5)
    axes.set_xlabel(f"error, in {unit}")
    axes.set_ylabel("how often")
    axes.set_title(f"One answer, {runs.errors.size:,} simulated runs", weight="bold")
    axes.yaxis.set_major_formatter(_percent())
    axes.grid(axis="y")
    axes.tick_params(length=3)


def _growth(axes: Any, sizes: Sequence[Size], colour: str, theme: Theme, unit: str) -> None:
    people = [size.people for size in sizes]
    line = axes.plot(people, [size.predicted for size in sizes], "o-", ms=2.6, color=theme.ink, lw=1.4, zorder=4)[0]
    dots = axes.errorbar(
        people,
        [size.simulated for size in sizes],
        yerr=[2.0 * size.doubt for size in sizes],
        fmt="o",
        ms=7,
        color=colour,
        mec=theme.paper,
        mew=1.0,
        ecolor=colour,
        elinewidth=1.6,
        capsize=0,
        zorder=3,
    )
    lowest = (min(size.predicted, size.simulated - 2.0 * size.doubt) for size in sizes)
    low = max(min(lowest), 1e-3)
    high = max(max(size.predicted, size.simulated + 2.0 * size.doubt) for size in sizes)
    middle = math.sqrt(low * high)
    log_axis(axes.xaxis, 0.8 * min(people), 1.25 * max(people))
    axes.set_xticks(people, [number(size) for size in people])
    log_axis(axes.yaxis, min(low / 1.3, middle / 4.0), max(high * 1.3, middle * 4.0))
    last = sizes[-1]
    up = 12 if last.predicted >= sizes[0].predicted else -19  # where the line does not pass
    axes.annotate(
        f"{number(last.predicted)} among {last.people:,}",
        (last.people, last.predicted),
        xytext=(0, up),
        textcoords=POINTS,
        ha="right",
        fontsize=9.5,
        color=theme.ink,
    )
    axes.set_xlabel("people")
    axes.set_ylabel(f"size of a typical error, in {unit}")
    axes.set_title("Among more people", weight="bold")
    axes.legend([dots, line], ["simulated", "predicted"], loc="lower left", frameon=False, fontsize=9.5)
    axes.grid(axis="y")
    axes.tick_params(length=3)


def _percent() -> Any:
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1.0, decimals=None)
