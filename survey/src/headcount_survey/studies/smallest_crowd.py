"""How many people does a budget take, by the notes' rule and exactly?"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.questions.count import Count
from headcount_survey.study import Finding, Study

DELTAS = (0.05, 1e-6)
EPSILONS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class SmallestCrowd(Study):
    name: ClassVar[str] = "smallest-crowd"
    question: ClassVar[str] = "How many people must there be before additive binomial noise can hide one of them?"
    source: ClassVar[str] = "notes on which algorithm to use: n of at least 100 ln(2/delta) / epsilon^2"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons = EPSILONS[::5] if quick else EPSILONS
        grid = [(delta, epsilon) for delta in DELTAS for epsilon in epsilons]
        rows = [{"delta": d, "epsilon": e, "rule": rule(e, d), "exact": exactly(e, d)} for d, e in watch(grid)]
        cells = [tuple(f"{row[name]:,g}" for name in ("delta", "epsilon", "rule", "exact")) for row in rows]
        sheet = TextTable(("delta", "epsilon", "by the notes' rule", "exactly"), tuple(cells), frozenset(range(4)))
        return Finding(_answer(rows), rows, sheet, partial(_draw, rows))


def rule(epsilon: float, delta: float) -> int:
    return math.ceil(100.0 * math.log(2.0 / delta) / epsilon**2)


def exactly(epsilon: float, delta: float) -> int | None:
    """The fewest for whom the budget is met and the answer is better than a guess."""
    return smallest_crowd(named("zsum"), Count(), Crowd(1), Budget(epsilon, delta))


def _answer(rows: list[dict[str, Any]]) -> str:
    ratios = [row["rule"] / row["exact"] for row in rows]
    last = rows[-1]
    return (
        f"The rule asks for {number(min(ratios))} to {number(max(ratios))} times as many people as it takes. At "
        f"epsilon = {last['epsilon']:g} and delta = {last['delta']:g} it says {last['rule']:,}, and {last['exact']:,} "
        "are enough for an answer better than a guess: the rule bounds the tails of a binomial, which can be summed."
    )


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    people = [row[name] for row in rows for name in ("rule", "exact")]
    up = Axis("people needed", log=True, low=min(people) / 1.5, high=max(people) * 1.5)
    panels = [
        Panel(
            [
                Line(label, [(row["epsilon"], row[name]) for row in rows if row["delta"] == delta])
                for name, label in (("rule", "the notes' rule"), ("exact", "exactly"))
            ],
            Axis("epsilon", log=True),
            up,
            f"delta = {delta:g}",
        )
        for delta in DELTAS
    ]
    title = "Far fewer people are enough than the notes' rule asks for"
    return lines(panels, path, title=title, subtitle="A count with additive binomial noise (zsum)", theme=theme)
