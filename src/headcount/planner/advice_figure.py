"""The figure of an advice: a bar for each option, grouped by model of trust."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headcount.errors import Infeasible
from headcount.figures.bars import Bar, bars
from headcount.figures.canvas import Target
from headcount.planner.option import CalibratedOption, number
from headcount.privacy.model import Model

if TYPE_CHECKING:
    from headcount.planner.advice import Advice


def draw(advice: Advice, target: Target, theme: str, title: str) -> Target:
    """Draw an advice into a file, into bytes or onto axes: what was solved for, or else the
    half-width of each option."""
    length, look = _question(advice)
    models = sorted({option.kind.model for option in advice.feasible}, key=list(Model).index)
    rows = [
        Bar(option.name, model, length(option), dim=not option.proportionate, best=option is advice.feasible[0])
        for model in models
        for option in advice.feasible
        if option.kind.model is model and math.isfinite(length(option))
    ]
    if not rows:
        _ = advice.best  # says why there is nothing to draw
        raise Infeasible("every interval is too wide to be told", "there is nothing to draw")
    look["title"] = title or look["title"]
    return bars(rows, target, subtitle=advice.title, theme=theme, **look)


def _question(advice: Advice) -> tuple[Callable[[CalibratedOption], float], dict[str, Any]]:
    """The length of an option's bar, and the words around it."""
    unit = advice.task.unit_words
    what = advice.task.each
    wish = "" if advice.within is None else f"{number(advice.within)}{f' {unit}' if unit else ''}"
    if advice.solved == "epsilon":
        title, label = f"How much epsilon it takes to tell {what} within {wish}", "smallest epsilon that is enough"
        look = {"title": title, "xlabel": f"{label}; a shorter bar is more private", "sign": "ε = "}
        return lambda option: option.situation.budget.epsilon, look
    if advice.solved == "n":
        title = f"How many people it takes to tell {what} within {wish}"
        look = {"title": title, "xlabel": "fewest people who are enough", "sign": "", "unit": "people"}
        return lambda option: float(option.situation.crowd.size), look
    often = f"{100 * advice.situation.confidence:.4g} of 100 answers"
    look = {
        "title": f"How far off {what} may be, by what you trust",
        "unit": unit,
        "xlabel": f"{often} are off by no more than the bar" + (f", in {unit}" if unit else ""),
    }
    return lambda option: option.half_width, look
