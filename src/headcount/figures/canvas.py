"""The canvas of all figures: one style, and the same bytes for the same figure.

Matplotlib is imported when a figure is drawn, not before, and a user's own settings of it are left
alone. A figure is drawn into a file, into bytes for a notebook, or onto axes that the user has
made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any, Required, TypedDict, TypeVar, Unpack
from warnings import catch_warnings, warn

from headcount.common.printable import printable
from headcount.errors import BadArgument, MissingExtra
from headcount.figures.colours import Theme, theme_called

SUFFIXES = (".svg", ".png", ".pdf")
DOTS = 160  # an inch, in a PNG
MARGIN = 0.12  # inches
POINTS = "offset points"  # in which words stand away from their place
SCRIPTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "PingFang SC"),
    *(
        "Hiragino Sans",
        "Microsoft YaHei",
        "Malgun Gothic",
        "Noto Sans Thai",
        "Noto Sans Devanagari",
        "Arial Unicode MS",
    ),
)
LETTERS = "no font here has all letters of the labels, which are drawn as boxes; install one, as Noto Sans CJK"
WORDS = {"text.parse_math": False}  # labels are words of others, in which a dollar begins no formula
ABOUT: dict[str, dict[str, Any]] = {
    ".svg": {"Creator": "headcount", "Date": None},
    ".png": {"Software": "headcount"},
    ".pdf": {"Creator": "headcount", "CreationDate": None},
}

Target = TypeVar("Target")  # a path, bytes to be written as PNG, or axes of matplotlib


class Framing(TypedDict, total=False):
    """The words around a figure, and its theme.

    The title states the finding, the subtitle its subject, and the caption, below it, what is
    promised.
    """

    title: Required[str]
    subtitle: str
    caption: str
    theme: str


@dataclass(frozen=True)
class Canvas:
    """The figure, its panels from left to right, and the theme to colour them by."""

    figure: Any
    panels: tuple[Any, ...]
    theme: Theme


@contextmanager
def canvas(
    target: Any,
    *,
    size: tuple[float, float] = (8.0, 4.5),
    panels: int = 1,
    together: bool = True,
    rows: int = 1,
    **framing: Unpack[Framing],
) -> Iterator[Canvas]:
    """A figure to draw on, written to its target at the end.

    Panels stand side by side in `rows`, with a shared vertical axis if they are `together`.
    """
    where, chosen = _where(target), theme_called(framing.get("theme", "light"))
    title, subtitle, caption = framing["title"], framing.get("subtitle", ""), framing.get("caption", "")
    mpl = matplotlib()
    if not isinstance(where, Path | BytesIO):
        with mpl.rc_context(WORDS):
            yield _on_axes(where, panels, title, (subtitle, caption), chosen)
        for label in (*where.get_xticklabels(), *where.get_yticklabels()):  # which may be older than that
            label.set_parse_math(False)
        return
    with mpl.rc_context():
        mpl.style.use(["default", _settings(chosen)])
        figure = mpl.figure.Figure(figsize=size)
        low, high = _footed(figure, caption, chosen), _headed(figure, title, subtitle, chosen)
        rest = (0.0, low, 1.0, high - low)
        figure.set_layout_engine("constrained", w_pad=MARGIN, h_pad=MARGIN, wspace=0.03, rect=rest)
        panel = figure.subplots(rows, panels // rows, squeeze=False, sharey=together).ravel()
        yield Canvas(figure, tuple(panel), chosen)
        suffix = where.suffix if isinstance(where, Path) else ".png"
        if isinstance(where, Path):
            where.parent.mkdir(parents=True, exist_ok=True)
        _make_printable(figure)
        about = {"Title": printable(title), **ABOUT[suffix]}
        with catch_warnings(record=True) as caught:
            figure.savefig(where, format=suffix[1:], dpi=DOTS, metadata=about)
        if any(str(each.message).startswith("Glyph") for each in caught):
            warn(LETTERS, stacklevel=2)


def _make_printable(figure: Any) -> None:
    """No label has characters that SVG forbids or that turn the direction of what follows."""
    from matplotlib.text import Text

    for axis in (each for axes in figure.axes for each in (axes.xaxis, axes.yaxis)):
        written = [label.get_text() for label in axis.get_ticklabels()]
        if (shown := [printable(text, keep="\n") for text in written]) != written:
            axis.set_ticklabels(shown)  # which otherwise are written anew
    for words in figure.findobj(Text):
        words.set_text(printable(words.get_text(), keep="\n"))


def matplotlib() -> Any:
    """The library, or a refusal that names the extra it comes with."""
    try:
        import matplotlib as mpl
        import matplotlib.figure
        import matplotlib.style
    except ImportError:
        raise MissingExtra("a figure", "plots") from None
    return mpl


def _where(target: Any) -> Any:
    if isinstance(target, Path | str):
        return destination(target)
    if isinstance(target, BytesIO) or hasattr(target, "transAxes"):
        return target
    raise BadArgument("ax", f"is a {type(target).__name__}", "give axes of matplotlib, or leave it out")


def _on_axes(axes: Any, panels: int, title: str, beneath: tuple[str, ...], theme: Theme) -> Canvas:
    """The user's own axes, with the words that otherwise stand around the figure."""
    if panels != 1:
        raise BadArgument("ax", f"is one panel, and this figure has {panels}", "leave it out")
    width = axes.get_figure().get_size_inches()[0] * axes.get_position().width
    lines = [line for text in beneath for line in balanced(text, max(30, int(15.0 * width))) if line]
    axes.set_title("\n".join(balanced(title, max(30, int(9.0 * width)))), loc="left", weight="bold", parse_math=False)
    look = {"textcoords": POINTS, "fontsize": 7.5, "color": theme.soft, "va": "top", "annotation_clip": False}
    axes.annotate("\n".join(lines), (0.0, 0.0), xytext=(0, -38), xycoords="axes fraction", **look)
    return Canvas(axes.get_figure(), (axes,), theme)


def destination(path: Path | str, argument: str = "path") -> Path:
    """The file to write, refused if its format is unknown. Its folder is made on writing."""
    target = Path(path)
    if target.suffix not in SUFFIXES:
        works = f"use a name that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise BadArgument(argument, f"is {target.name!r}", works)
    if target.is_dir():
        raise BadArgument(argument, f"is {target.name!r}, a folder", f"use a file in it, as {target.name}/figure.svg")
    return target


def _headed(figure: Any, title: str, subtitle: str, theme: Theme) -> float:
    """Write title and subtitle at the upper left; returns the share of the height left below."""
    width, height = figure.get_size_inches()
    down = 0.14
    for text, points, weight, colour in ((title, 13.0, "bold", theme.ink), (subtitle, 10.0, "normal", theme.soft)):
        for line in balanced(text, int((width - 2 * MARGIN) * (120.0 if weight == "bold" else 136.0) / points)):
            at = (MARGIN / width, 1.0 - down / height)
            figure.text(*at, line, fontsize=points, weight=weight, color=colour, ha="left", va="top")
            down += points * 1.42 / 72.0
    return float(1.0 - down / height)


def _footed(figure: Any, caption: str, theme: Theme) -> float:
    """Write the caption at the lower left; returns the part of the height that it takes."""
    width, height = figure.get_size_inches()
    lines = balanced(caption, int((width - 2 * MARGIN) * 136.0 / 8.0))
    up = 0.1
    for line in reversed(lines):
        figure.text(MARGIN / width, up / height, line, fontsize=8.0, color=theme.soft, ha="left", va="bottom")
        up += 8.0 * 1.35 / 72.0
    return float(up / height) if lines else 0.0


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


def _others() -> list[str]:
    """The fonts for other scripts that this machine has: a letter is looked for in each in turn."""
    from matplotlib.font_manager import fontManager

    there = {font.name for font in fontManager.ttflist}
    return [name for name in SCRIPTS if name in there]


def _settings(theme: Theme) -> dict[str, Any]:
    return {
        "figure.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "text.color": theme.ink,
        **WORDS,
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
        "font.family": ["DejaVu Sans", *_others()],
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
    """Heights for labels that want to stand at `places`: in order, `least` apart, moved minimally.

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
