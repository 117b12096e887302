"""Why does the constant of additive noise have a five in it?"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.common.root_finding import crossing
from headcount.figures.axis import Axis
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount_survey.study import Finding, Study

LAST = 3.0
CAPTION = (
    "Above, the notes' two plots in one: α − ε/√5 is positive on all of (0, 1] and α − ε/√4 "
    "negative, where α = tanh(ε/2). Below, the smallest c with α ≥ ε/√c, also beyond: it is above "
    "four for every ε, and five serves up to the second line."
)


class WhyFive(Study):
    name: ClassVar[str] = "why-five"
    question: ClassVar[str] = "Why is alpha compared with epsilon over the root of five?"
    source: ClassVar[str] = "notes on shuffle privacy: where the root of five comes from, and which way it is used"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons = np.linspace(0.0, LAST, 31 if quick else 121)[1:].tolist()
        rows = [_row(round(epsilon, 6)) for epsilon in watch(epsilons)]
        shown = [row for row in rows if row["epsilon"] in {0.1, 0.5, 1.0, 1.5, 2.0, 3.0}]
        names = ("epsilon", "alpha", "root_five", "half", "needed")
        cells = [(*(f"{row[name]:.4g}" for name in names), str(row["whole"])) for row in shown]
        headings = ("ε", "α", "ε/√5", "ε/√4", "c needed at this ε", "whole c up to here")
        sheet = TextTable(headings, tuple(cells), frozenset(range(6)))
        return Finding(_answer(rows), rows, sheet, partial(_draw, rows), caption=CAPTION)


def alpha(epsilon: float) -> float:
    """The share by which a count may miss its mean with a likelihood ratio within e^epsilon."""
    return math.tanh(epsilon / 2.0)


def needed(epsilon: float) -> float:
    """The smallest c with alpha >= epsilon / sqrt(c) here; it grows, so it suffices below too."""
    return (epsilon / alpha(epsilon)) ** 2


def reach(c: float) -> float:
    """The epsilon up to which c is enough."""
    return crossing(lambda e: c - needed(e), (1e-9, c - 4.0), (50.0, c - needed(50.0)), tight=0.0)


def _row(epsilon: float) -> dict[str, Any]:
    c = needed(epsilon)
    return {
        "epsilon": epsilon,
        "alpha": alpha(epsilon),
        "root_five": epsilon / math.sqrt(5.0),
        "half": epsilon / 2.0,
        "needed": c,
        "whole": math.ceil(c),
    }


def _answer(rows: list[dict[str, Any]]) -> str:
    inside = [row for row in rows if row["epsilon"] <= 1.0]
    below = all(row["root_five"] < row["alpha"] < row["half"] for row in inside)
    rises = all(a["needed"] < b["needed"] for a, b in pairwise(rows))
    c = needed(1.0)
    return (
        "α is not chosen: it must be tanh(ε/2), so that ln((1+α)/(1−α)) is ε itself. To "
        "write the noise in powers of ε one wants a constant c with α at least ε/√c. "
        f"{'The c that is needed rises with ε' if rises else 'The c that is needed does not always rise'}, "
        f"from 4 at 0 to {c:.3f} at 1, so {math.ceil(c)} is the smallest whole number that serves all of [0, 1]: "
        f"there {'ε/√5 < α < ε/2 everywhere' if below else 'the order of the three changes'}, not "
        "the other way about as the notes have it. Ten times that is the 50 in the paper's 50 ln(2/δ)/ε²; "
        f"{10 * c:.1f} would do. Five goes on to serve up to ε = {reach(5.0):.3f}, and no further: six serves "
        f"to {reach(6.0):.3f}."
    )


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    inside = [row for row in rows if row["epsilon"] <= 1.0]
    plots = {"root_five": "α − ε/√5", "half": "α − ε/√4"}
    curves = [
        Line(label, [(0.0, 0.0), *((row["epsilon"], row["alpha"] - row[name]) for row in inside)])
        for name, label in plots.items()
    ]
    gaps = [y for curve in curves for _, y in curve.points]
    noted = Panel(
        curves,
        Axis("ε", low=0.0, high=1.0),
        Axis("difference", low=1.1 * min(gaps), high=1.5 * max(gaps)),
        "The notes' two plots",
        [Note("", y=0.0)],
    )
    needs = [Line("(ε/α)²", [(0.0, 4.0), *((row["epsilon"], row["needed"]) for row in rows)])]
    levels = [Note("five", y=5.0, at=0.75), Note("four is too small for any ε", y=4.0, at=0.5)]
    ends = [Note("the paper's range ends", x=1.0, at=0.98), Note("five fails from here", x=reach(5.0), at=0.98)]
    steps = Panel(
        needs,
        Axis("ε", low=0.0),
        Axis("smallest c that serves", low=3.5, high=1.04 * rows[-1]["needed"]),
        "The constant c",
        [*levels, *ends],
    )
    return lines(
        [noted, steps],
        path,
        title="Five is the smallest whole number that serves every ε up to one",
        theme=theme,
        subtitle="α = tanh(ε/2) against ε/√5 and ε/√4, and the c for which α is ε/√c",
        columns=1,
    )
