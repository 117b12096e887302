"""The canvas of all figures: one style, and the same bytes for the same figure.

Matplotlib is imported when a figure is drawn, not before, and a user's own settings of it are left
alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from headcount.errors import BadArgument, MissingExtra
from headcount.figures.colours import Theme, theme_called

SUFFIXES = (".svg", ".png")
DOTS = 160  # an inch, in a PNG
MARGIN = 0.12  # inches


@dataclass(frozen=True)
class Canvas:
    """The figure, its panels from left to right, and the theme to colour them by."""

    figure: Any
    panels: tuple[Any, ...]
    theme: Theme


@contextmanager
def canvas(
    path: Path | str,
    *,
    title: str,
    subtitle: str = "",
    size: tuple[float, float] = (8.0, 4.5),
    panels: int = 1,
    theme: str = "light",
    together: bool = True,
    rows: int = 1,
) -> Iterator[Canvas]:
    """A figure to draw on, written to its file at the end. The title states the finding, the
    subtitle its subject.

    Panels stand side by side in `rows`, with a shared vertical axis if they are `together`.
    """
    target, chosen = destination(path), theme_called(theme)
    try:
        import matplotlib as mpl
        from matplotlib import style
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("a figure", "plots") from None
    with mpl.rc_context():
        style.use(["default", _settings(chosen)])
        figure = Figure(figsize=size)
        below = (0.0, 0.0, 1.0, _headed(figure, title, subtitle, chosen))
        figure.set_layout_engine("constrained", w_pad=MARGIN, h_pad=MARGIN, wspace=0.03, rect=below)
        panel = figure.subplots(rows, panels // rows, squeeze=False, sharey=together).ravel()
        yield Canvas(figure, tuple(panel), chosen)
        target.parent.mkdir(parents=True, exist_ok=True)
        about = {"Creator": "headcount", "Date": None} if target.suffix == ".svg" else {"Software": "headcount"}
        figure.savefig(target, format=target.suffix[1:], dpi=DOTS, metadata={"Title": title, **about})


def destination(path: Path | str, argument: str = "path") -> Path:
    """The file to write, refused if its format is unknown. Its folder is made when the figure is
    written."""
    target = Path(path)
    if target.suffix not in SUFFIXES:
        raise BadArgument(argument, f"is {target.name!r}", f"use a name that ends in {' or '.join(SUFFIXES)}")
    if target.is_dir():
        raise BadArgument(argument, f"is {target.name!r}, a folder", f"use a file in it, as {target.name}/figure.svg")
    return target


def _headed(figure: Any, title: str, subtitle: str, theme: Theme) -> float:
    """Write title and subtitle at the upper left; returns the part of the height that is left
    below."""
    width, height = figure.get_size_inches()
    down = 0.14
    for text, points, weight, colour in ((title, 13.0, "bold", theme.ink), (subtitle, 10.0, "normal", theme.soft)):
        for line in balanced(text, int((width - 2 * MARGIN) * (120.0 if weight == "bold" else 136.0) / points)):
            at = (MARGIN / width, 1.0 - down / height)
            figure.text(*at, line, fontsize=points, weight=weight, color=colour, ha="left", va="top")
            down += points * 1.42 / 72.0
    return float(1.0 - down / height)


def balanced(text: str, letters: int) -> list[str]:
    """The text wrapped into as few lines as possible, of nearly equal length."""
    least = max(map(len, text.split()), default=1)
    lines = wrap(text, max(letters, least), break_on_hyphens=False)
    for fewer in range(letters, least - 1, -1):
        narrower = wrap(text, fewer, break_on_hyphens=False)
        if len(narrower) > len(lines):
            break
        lines = narrower
    return lines


def _settings(theme: Theme) -> dict[str, Any]:
    return {
        "figure.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "text.color": theme.ink,
        "axes.labelcolor": theme.soft,
        "axes.titlecolor": theme.ink,
        "xtick.color": theme.soft,
        "ytick.color": theme.soft,
        "axes.edgecolor": theme.soft,
        "grid.color": theme.faint,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.8,
        "axes.axisbelow": True,
        "grid.linewidth": 0.8,
        "font.family": "DejaVu Sans",
        "font.size": 10.0,
        "axes.labelsize": 10.0,
        "axes.titlesize": 11.0,
        "axes.titlelocation": "left",
        "axes.titlepad": 9.0,
        "hatch.linewidth": 0.6,
        "hatch.color": theme.faint,
        "svg.hashsalt": "headcount",
        "svg.fonttype": "path",
        "path.simplify": True,
        "lines.linewidth": 2.0,
        "lines.solid_capstyle": "round",
    }


def number(value: float) -> str:
    """Three significant digits, with thousands separators."""
    if value == 0.0:
        return "0"
    if not math.isfinite(value):
        return "∞"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(places, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decades(low: float, high: float, most: int = 9) -> list[float]:
    """Powers of ten from `low` to `high`, at most about `most` of them."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return [10.0**power for power in range(first, last + 1) if power % step == 0]


def log_axis(axis: Any, low: float, high: float) -> None:
    """A logarithmic axis whose ticks are plain numbers. `axis` is axes.xaxis or axes.yaxis."""
    name, axes = axis.axis_name, axis.axes
    getattr(axes, f"set_{name}scale")("log")
    ticks = decades(low, high)
    if len(ticks) < 3:
        for multiples in ((1, 2, 5), (1, 1.2, 1.5, 2, 3, 5, 7)):
            within = {m * p for p in decades(low / 10, high) for m in multiples if low <= m * p <= high}
            ticks = sorted({*ticks, *within}) if len(ticks) < 3 else ticks
    getattr(axes, f"set_{name}lim")(low, high)
    getattr(axes, f"set_{name}ticks")(ticks, [number(tick) for tick in ticks])
    axis.set_minor_locator(_no_ticks())


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def apart(places: list[float], least: float, low: float = -math.inf, high: float = math.inf) -> list[float]:
    """Heights for labels that want to stand at `places`: in the same order, `least` apart, moved as
    little as possible.

    Touching neighbours are moved as a group, centred on where its members want to be.
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    groups: list[tuple[float, int]] = []  # the middle, and how many
    for i in order:
        middle, size = places[i], 1
        while groups and middle - groups[-1][0] < least * (size + groups[-1][1]) / 2.0:
            before, members = groups.pop()
            middle, size = (middle * size + before * members) / (size + members), size + members
        half = least * (size - 1) / 2.0
        groups.append((max(low + half, min(high - half, middle)), size))
    heights = [middle + least * (j - (size - 1) / 2.0) for middle, size in groups for j in range(size)]
    found = [0.0] * len(places)
    for i, height in zip(order, heights, strict=True):
        found[i] = height
    return found
