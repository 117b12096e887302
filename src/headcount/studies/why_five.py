"""Why does the constant of additive noise have a five in it?"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.core.root import crossing
from headcount.drawing.axis import Axis
from headcount.drawing.lines import Line, Note, Panel, lines
from headcount.planner.competitors import Watch
from headcount.planner.sheet import Sheet
from headcount.studies.study import Finding, Study

LAST = 3.0


class WhyFive(Study):
    name: ClassVar[str] = "why-five"
    question: ClassVar[str] = "Why is alpha compared with epsilon over the root of five?"
    source: ClassVar[str] = "notes on shuffle privacy: where the root of five comes from, and which way it is used"

    def run(self, quick: bool = False, watch: Watch = iter) -> Finding:
        epsilons = np.linspace(0.0, LAST, 31 if quick else 121)[1:].tolist()
        rows = [_row(round(epsilon, 6)) for epsilon in watch(epsilons)]
        shown = [row for row in rows if row["epsilon"] in {0.1, 0.5, 1.0, 1.5, 2.0, 3.0}]
        names = ("epsilon", "alpha", "root_five", "half", "needed")
        cells = [(*(f"{row[name]:.4g}" for name in names), str(row["whole"])) for row in shown]
        headings = ("epsilon", "alpha", "epsilon / √5", "epsilon / 2", "c needed at this epsilon", "whole c up to here")
        return Finding(_answer(rows), rows, Sheet(headings, tuple(cells), frozenset(range(6))), partial(_drawn, rows))


def alpha(epsilon: float) -> float:
    """The share by which a count may miss its mean while the likelihood ratio stays within e^epsilon."""
    return math.tanh(epsilon / 2.0)


def needed(epsilon: float) -> float:
    """The smallest c with alpha >= epsilon / sqrt(c) here; it grows, so that it is also enough for all smaller ones."""
    return (epsilon / alpha(epsilon)) ** 2


def reach(c: float) -> float:
    """The epsilon up to which c is enough."""
    return crossing(lambda e: c - needed(e), (1e-9, c - 4.0), (50.0, c - needed(50.0)), tight=0.0)


def _row(epsilon: float) -> dict[str, Any]:
    c = needed(epsilon)
    return {
        "epsilon": epsilon, "alpha": alpha(epsilon), "root_five": epsilon / math.sqrt(5.0), "half": epsilon / 2.0,
        "needed": c, "whole": math.ceil(c),
    }  # fmt: skip


def _answer(rows: list[dict[str, Any]]) -> str:
    inside = [row for row in rows if row["epsilon"] <= 1.0]
    below = all(row["root_five"] < row["alpha"] < row["half"] for row in inside)
    rises = all(a["needed"] < b["needed"] for a, b in pairwise(rows))
    c = needed(1.0)
    return (
        "Alpha is not chosen: it must be tanh(epsilon/2), so that ln((1+alpha)/(1-alpha)) is epsilon itself. To "
        "write the noise in powers of epsilon one wants a constant c with alpha at least epsilon/√c. "
        f"{'The c that is needed rises with epsilon' if rises else 'The c that is needed does not always rise'}, "
        f"from 4 at 0 to {c:.3f} at 1, so {math.ceil(c)} is the smallest whole number that serves all of [0, 1]: "
        f"there {'epsilon/√5 < alpha < epsilon/2 everywhere' if below else 'the order of the three changes'}, not "
        "the other way about as the notes have it. Ten times that is the 50 in the paper's 50 ln(2/delta)/epsilon²; "
        f"{10 * c:.1f} would do. Five goes on to serve up to epsilon = {reach(5.0):.3f}, and no further: six serves "
        f"to {reach(6.0):.3f}."
    )


def _drawn(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    names = {"half": "1/2", "alpha": "alpha / epsilon", "root_five": "1/√5"}
    first = {"half": 0.5, "alpha": 0.5, "root_five": 1.0 / math.sqrt(5.0)}
    curves = [
        Line(label, [(0.0, first[name]), *((row["epsilon"], row[name] / row["epsilon"]) for row in rows)])
        for name, label in names.items()
    ]
    ends = [Note("the paper's range ends", x=1.0), Note("five fails from here", x=reach(5.0))]
    size = Panel(
        curves,
        Axis("epsilon", low=0.0),
        Axis("in parts of epsilon", low=0.3, high=0.52),
        "alpha between its bounds",
        ends,
    )
    most = rows[-1]["needed"]
    needs = [Line("(epsilon / alpha)²", [(0.0, 4.0), *((r["epsilon"], r["needed"]) for r in rows)], hue=names["alpha"])]
    levels = [Note("five", y=5.0, at=0.75), Note("four is too small for any epsilon", y=4.0, at=0.43)]
    steps = Panel(
        needs, Axis("epsilon", low=0.0), Axis("smallest c that serves", low=3.5, high=1.04 * most), "the constant c",
        [*levels, *(Note("", x=note.x) for note in ends)],
    )  # fmt: skip
    return lines(
        [size, steps], path, title="Five is the smallest whole number that serves every epsilon up to one", theme=theme,
        subtitle="alpha = tanh(epsilon/2) against epsilon/√5 and epsilon/2, and the c for which it is epsilon/√c",
    )  # fmt: skip
