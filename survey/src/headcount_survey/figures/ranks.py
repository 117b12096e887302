"""Names down the side, panels beside each other: predictions as strokes, runs as dots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from headcount.figures.canvas import POINTS, Framing, canvas, log_axis, number
from headcount.figures.colours import Theme, blend
from headcount.privacy.model import Model

ROW = 0.29  # inches


@dataclass(frozen=True)
class Cell:
    """The stroke's place and the dot's; without a stroke a note, there or behind the number."""

    value: float | None
    dot: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Rank:
    """One name, and a cell for each panel. `dim` is for what is there for comparison."""

    label: str
    model: Model
    cells: Sequence[Cell]
    dim: bool = False


def ranks(
    rows: Sequence[Rank],
    titles: Sequence[str],
    path: Path | str,
    *,
    xlabel: str,
    low: float | None = None,
    **framing: Unpack[Framing],
) -> Path:
    """Draw these rows in order, under a heading per model, on one logarithmic axis per panel."""
    models = list(dict.fromkeys(row.model for row in rows))
    values = [v for row in rows for cell in row.cells for v in (cell.value, cell.dot) if v]
    low = min(values) / 1.5 if low is None else low
    high = max(values) * (max(values) / low) ** 0.3
    lines = len(rows) + 0.9 * len(models)
    size = (2.2 + 3.3 * len(titles), 1.5 + ROW * lines)
    with canvas(path, size=size, panels=len(titles), **framing) as sheet:
        for panel, (axes, name) in enumerate(zip(sheet.panels, titles, strict=True)):
            log_axis(axes.xaxis, low, high)
            axes.patch.set_visible(False)  # headings reach over into the next panel
            axes.set_zorder(len(titles) - panel)
            axes.set_title(name, weight="bold")
            axes.set_xlabel(xlabel)
            heights = _placed(axes, rows, models, sheet.theme, headed=panel == 0)
            for row, height in zip(rows, heights, strict=True):
                _cell(axes, row, row.cells[panel], height, low, sheet.theme)
            axes.tick_params(axis="both", length=0, pad=6)
            axes.grid(axis="x")
            axes.spines[["bottom", "left"]].set_visible(False)
    return Path(path)


def _placed(axes: Any, rows: Sequence[Rank], models: list[Model], theme: Theme, *, headed: bool) -> list[float]:
    down, heights = 0.0, {}
    for model in models:
        if headed:
            axes.annotate(
                f"{model}: you trust {model.trusted}",
                (0.0, -down),
                xycoords=axes.get_yaxis_transform(),
                va="center",
                color=theme.words[model],
                fontsize=9.5,
                weight="bold",
                annotation_clip=False,
                in_layout=False,
                bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 0.5},
            )
        down += 0.9
        for row in (row for row in rows if row.model is model):
            heights[id(row)] = -down
            down += 1.0
    found = [heights[id(row)] for row in rows]
    axes.set_ylim(-down + 0.4, 0.5)
    axes.set_yticks(found, [row.label for row in rows])
    if headed:
        for text, row in zip(axes.get_yticklabels(), rows, strict=True):
            text.set_color(theme.soft if row.dim else theme.ink)
    return found


def _cell(axes: Any, row: Rank, cell: Cell, height: float, low: float, theme: Theme) -> None:
    words = {"va": "center", "fontsize": 9, "textcoords": POINTS, "in_layout": False}
    if cell.value is None:
        axes.annotate(cell.note, (low, height), xytext=(4, 0), color=theme.soft, style="italic", **words)
        return
    colour = blend(theme.models[row.model], theme.paper, 0.55 if row.dim else 0.0)
    axes.plot([low, cell.value], [height, height], color=blend(colour, theme.paper, 0.5), lw=1.4, zorder=2)
    axes.plot([cell.value] * 2, [height - 0.33, height + 0.33], color=colour, lw=4.0, solid_capstyle="butt", zorder=2.5)
    end = max(cell.value, low)
    if cell.dot is not None:
        axes.plot(cell.dot, height, "o", ms=5.5, color=theme.ink, mec=theme.paper, mew=1.1, zorder=3, clip_on=False)
        end = max(end, cell.dot)
    text = number(cell.value) + (f"  {cell.note}" if cell.note else "")
    axes.annotate(text, (end, height), xytext=(8, 0), color=theme.soft if row.dim else theme.ink, **words)
