"""The models of trust, one below the other: a value's way to the answer, and where trust ends."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any

from headcount.figures.canvas import canvas
from headcount.figures.colours import Theme, blend
from headcount.privacy.model import Model

PLACES = ("value", "randomiser", "shuffler", "tally", "release", "analyser")
WIDE, TALL, APART = 1.36, 0.52, 1.62  # inches: of a box, and from one to the next
ROW = 1.38
LEFT = -2.66
SIZE = (11.6, 6.9)


@dataclass(frozen=True)
class Way:
    """What happens at each place, empty where a value passes; where trust ends; what is seen."""

    steps: tuple[str, str, str, str, str, str]
    last: int
    seen: str


WAYS = {
    Model.CENTRAL: Way(
        ("what you hold", "", "", "add up", "add noise", "answer"), 4, "seen by others: the noisy result"
    ),
    Model.THRESHOLD: Way(
        ("what you hold", "speak or not", "mix", "count", "drop what is small", "answer"),
        4,
        "seen by others: counts that are large enough",
    ),
    Model.DUMMIES: Way(
        ("what you hold", "", "mix, add dummies", "count", "add noise", "answer"),
        2,
        "seen by others: all messages and the shuffler's own",
    ),
    Model.SHUFFLE: Way(
        ("what you hold", "add noise", "mix", "count", "", "answer"), 2, "seen by others: all messages, in no order"
    ),
    Model.LOCAL: Way(
        ("what you hold", "add much noise", "", "count", "", "answer"), 1, "seen by others: your very message"
    ),
}


def models_of_trust(path: Path | str, *, theme: str = "light") -> Path:
    """The picture of all of them, from most trust to least."""
    title = "Where trust ends: left of the line somebody must be trusted, right of it anybody may look"
    subtitle = (
        "Noise is added before the line. The sooner it comes, the less must be trusted, and the more noise it takes"
    )
    with canvas(path, title=title, subtitle=subtitle, size=SIZE, theme=theme) as sheet:
        (axes,) = sheet.panels
        axes.set_axis_off()
        axes.set_xlim(LEFT - 0.05, APART * 5 + WIDE / 2 + 0.15)
        axes.set_ylim(-ROW * (len(WAYS) - 1) - 0.8, 1.05)
        for place, name in enumerate(PLACES):
            _heading(axes, name, APART * place, sheet.theme)
        for row, (model, way) in enumerate(WAYS.items()):
            _way(axes, model, way, -ROW * row, sheet.theme)
    return Path(path)


def _heading(axes: Any, name: str, middle: float, theme: Theme) -> None:
    axes.plot([middle - WIDE / 2, middle + WIDE / 2], [0.7, 0.7], color=theme.faint, lw=2.0, solid_capstyle="butt")
    axes.text(middle, 0.78, name, ha="center", va="bottom", fontsize=10.5, color=theme.soft)


def _way(axes: Any, model: Model, way: Way, height: float, theme: Theme) -> None:
    colour, words = theme.models[model], theme.words[model]
    line = APART * way.last + APART / 2.0
    axes.add_patch(
        _box(-WIDE / 2 - 0.12, height - 0.42, line + WIDE / 2 + 0.12, 0.84, blend(colour, theme.paper, 0.84), None)
    )
    axes.text(LEFT, height + 0.17, str(model), fontsize=12.5, weight="bold", color=words, va="center")
    axes.text(LEFT, height - 0.02, _two_lines(f"trusted: {model.trusted}"), fontsize=8.8, color=theme.soft, va="top")
    axes.plot([line, line], [height - 0.5, height + 0.5], color=colour, lw=4.0, solid_capstyle="butt", zorder=4)
    after = way.last >= PLACES.index("release")  # then there is room on the left only
    at, side = (line - 0.08, "right") if after else (line + 0.08, "left")
    axes.text(at, height - 0.47, way.seen, fontsize=9.2, color=words, va="top", ha=side)
    shown = [place for place, step in enumerate(way.steps) if step]
    for one, other in pairwise(shown):
        start, end = APART * one + WIDE / 2 + 0.02, APART * other - WIDE / 2 - 0.02
        arrow = {"arrowstyle": "-|>", "color": theme.soft, "lw": 1.3, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
        axes.annotate("", (end, height), xytext=(start, height), arrowprops=arrow, zorder=3)
    for place in shown:
        noisy = "noise" in way.steps[place] or place == 1 or "drop" in way.steps[place]
        edge = colour if noisy else theme.faint
        face = blend(colour, theme.paper, 0.55) if noisy else theme.paper
        axes.add_patch(_box(APART * place - WIDE / 2, height - TALL / 2, WIDE, TALL, face, edge))
        text = _two_lines(way.steps[place], 13)
        axes.text(APART * place, height, text, ha="center", va="center", fontsize=9.4, color=theme.ink, zorder=6)


def _two_lines(text: str, most: int = 21) -> str:
    return "\n".join(wrap(text, most))


def _box(left: float, low: float, width: float, height: float, face: str, edge: str | None) -> Any:
    from matplotlib.patches import FancyBboxPatch

    round_ = "round,pad=0,rounding_size=0.1"
    return FancyBboxPatch(
        (left, low),
        width,
        height,
        boxstyle=round_,
        facecolor=face,
        edgecolor=edge or "none",
        linewidth=1.2,
        zorder=5 if edge else 1,
    )
