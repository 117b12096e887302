"""Parts of a whole, one after the other: each begins where the one before it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from headcount.figures.canvas import POINTS, Framing, Target, canvas
from headcount.figures.colours import blend

ROW = 0.3  # inches


@dataclass(frozen=True)
class Step:
    """A part from one share to another; `left` is what nobody has taken yet."""

    label: str
    low: float
    high: float
    text: str
    left: bool = False


def steps(
    parts: Sequence[Step],
    target: Target,
    *,
    xlabel: str,
    **framing: Unpack[Framing],
) -> Target:
    """Draw a row for each part from the top, on an axis of shares from nothing to all."""
    size = (8.4, 1.6 + ROW * len(parts))
    with canvas(target, size=size, **framing) as sheet:
        (axes,), chosen = sheet.panels, sheet.theme
        taken = chosen.families["central noise"]
        for row, part in enumerate(parts):
            colour = blend(chosen.soft, chosen.paper, 0.6) if part.left else blend(taken, chosen.paper, 0.15)
            axes.barh(-row, part.high - part.low, left=part.low, height=0.62, color=colour, linewidth=0, zorder=2)
            if row:
                axes.plot([part.low, part.low], [1 - row, -row], color=chosen.soft, lw=0.7, zorder=1)
            beside, side = (part.low, "right") if part.high > 0.9 and part.low > 0.1 else (part.high, "left")
            words = {"va": "center", "ha": side, "fontsize": 9.5, "color": chosen.ink}
            shift = -6 if side == "right" else 6
            axes.annotate(part.text, (beside, -row), xytext=(shift, 0), textcoords=POINTS, **words)
        axes.set_xlim(0.0, 1.0 if any(part.low > 0.1 for part in parts) else 1.12)
        axes.set_ylim(0.35 - len(parts), 0.65)
        axes.set_yticks([-row for row in range(len(parts))], [part.label for part in parts], color=chosen.ink)
        shares = (0.0, 0.25, 0.5, 0.75, 1.0)
        axes.set_xticks(shares, [f"{share:.0%}" for share in shares])
        axes.tick_params(length=0, pad=6)
        axes.grid(axis="x", color=chosen.faint)
        axes.spines[["top", "right", "bottom", "left"]].set_visible(False)
        axes.set_xlabel(xlabel)
    return target
