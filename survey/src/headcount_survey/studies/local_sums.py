"""Which local protocol sums numbers best, for which epsilon and which data?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.sum_and_mean import Sum
from headcount_survey.study import Finding, Study

PEOPLE = 10_000
EPSILONS = (0.2, 0.3, 0.5, 0.6, 0.8, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
ONE = 2.0  # the epsilon at which the data are varied
VALUES = tuple(i / 20 for i in range(21))
HUES = {"duchi": "sampling", "piecewise": "central noise", "hybrid": "local"}


class LocalSums(Study):
    name: ClassVar[str] = "local-sums"
    question: ClassVar[str] = "Which local protocol sums numbers best, and does it depend on the numbers?"
    source: ClassVar[str] = "Duchi, Jordan and Wainwright 2018; Wang et al. 2019, whose hybrid begins at epsilon 0.61"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons, values = (EPSILONS[::4], VALUES[::10]) if quick else (EPSILONS, VALUES)
        grid = [(epsilon, None) for epsilon in epsilons] + [(ONE, value) for value in values]
        rows = [_row(name, epsilon, value, quick) for epsilon, value in watch(grid) for name in VARIANCES]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def duchi(epsilon: float, x: float) -> float:
    """The variance of one report about x in [-1, 1], on that scale."""
    return 1.0 / math.tanh(epsilon / 2.0) ** 2 - x**2


def piecewise(epsilon: float, x: float) -> float:
    more = math.expm1(epsilon / 2.0)
    return x**2 / more + (more + 4.0) / (3.0 * more**2)


def hybrid(epsilon: float, x: float) -> float:
    """Piecewise with chance 1 - e^(-epsilon/2), or not at all where that is not worth it."""
    part = -math.expm1(-epsilon / 2.0)
    mixed = part * piecewise(epsilon, x) + (1.0 - part) * duchi(epsilon, x)
    return mixed if mixed < worst(duchi, epsilon) else duchi(epsilon, x)


VARIANCES: dict[str, Callable[[float, float], float]] = {"duchi": duchi, "piecewise": piecewise, "hybrid": hybrid}


def worst(variance: Callable[[float, float], float], epsilon: float) -> float:
    """Over x: all are level or highest in the middle or at the ends."""
    return max(variance(epsilon, 0.0), variance(epsilon, 1.0))


def crossing(first: Callable[[float], float], second: Callable[[float], float]) -> float:
    """The epsilon at which the first error stops being the smaller."""
    low, high = 0.05, 8.0
    while high - low > 1e-9:
        middle = (low + high) / 2.0
        low, high = (middle, high) if first(middle) < second(middle) else (low, middle)
    return high


def begins() -> float:
    """The epsilon from which the mixture beats Duchi's bit alone, each at its worst number."""

    def mixed(epsilon: float) -> float:
        part = -math.expm1(-epsilon / 2.0)
        return part * piecewise(epsilon, 0.0) + (1.0 - part) * duchi(epsilon, 0.0)

    return crossing(lambda epsilon: duchi(epsilon, 0.0), mixed)


def overtaken() -> float:
    """The epsilon from which the piecewise protocol beats Duchi's, each at its worst number."""
    return crossing(partial(worst, duchi), partial(worst, piecewise))


@lru_cache(maxsize=64)
def protocol(name: str, epsilon: float) -> Protocol:
    return calibrate(named(name), Sum((0, 1)), Crowd(PEOPLE), Budget(epsilon))


def _row(name: str, epsilon: float, value: float | None, quick: bool) -> dict[str, Any]:
    """A row for people at the value, or the worst one. A sum over [0, 1] has variance 1/4."""
    variance, chosen = VARIANCES[name], protocol(name, epsilon)
    formula = worst(variance, epsilon) if value is None else variance(epsilon, 2.0 * value - 1.0)
    seen = None
    if value in (0.0, 0.5, 1.0):
        seen = chosen.simulate(np.full(PEOPLE, value), runs=200 if quick else 1_000, seed=1).std
    return {
        "epsilon": epsilon,
        "value": value,
        "protocol": name,
        "formula": math.sqrt(PEOPLE * formula / 4.0),
        "headcount": chosen.rmse() if value is None else None,
        "measured": seen,
    }


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    cells = [
        (
            f"{row['epsilon']:g}",
            "the worst" if row["value"] is None else f"{row['value']:g}",
            row["protocol"],
            *("" if row[key] is None else number(row[key]) for key in ("formula", "headcount", "measured")),
        )
        for row in rows
    ]
    headings = ("epsilon", "everybody holds", "protocol", "error by formula", "stated here", "simulated")
    return TextTable(headings, tuple(cells), frozenset({0, 3, 4, 5}))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    rounding = max(row["headcount"] / row["formula"] - 1.0 for row in rows if row["headcount"])
    ends = {row["protocol"]: row["formula"] for row in rows if row["value"] == 0.0}
    middle = {row["protocol"]: row["formula"] for row in rows if row["value"] == 0.5}
    always = sum(piecewise(epsilon, 1.0) < duchi(epsilon, 1.0) for epsilon in EPSILONS)
    off = max(abs(row["measured"] / row["formula"] - 1.0) for row in rows if row["measured"])
    return (
        f"Up to epsilon {begins():.4f} one bit (duchi) cannot be improved by mixing, from there on the hybrid is the "
        f"best for the worst data; the piecewise protocol alone overtakes the bit only at {overtaken():.3f}, and at "
        f"the ends of the range at {always or 'none'} of {len(EPSILONS)} epsilons up to {EPSILONS[-1]:g}. It does "
        f"depend on the data: at epsilon {ONE:g} the piecewise protocol errs by {number(middle['piecewise'])} if "
        f"everybody holds the middle and by {number(ends['piecewise'])} at an end, the bit by "
        f"{number(middle['duchi'])} and {number(ends['duchi'])}, and the hybrid by {number(middle['hybrid'])} whatever "
        f"they hold. Simulation agrees within {off:.1%}, and what is stated here lies at most {rounding:.1%} above the "
        "formulas, because numbers are rounded to a grid before they are sent."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def worst_case(name: str) -> Line:
        points = [(r["epsilon"], r["formula"]) for r in rows if r["value"] is None and r["protocol"] == name]
        return Line(name, points, HUES[name])

    def by_value(name: str) -> Line:
        chosen = [row for row in rows if row["value"] is not None and row["protocol"] == name]
        seen = [(row["value"], row["measured"]) for row in chosen if row["measured"]]
        return Line(name, [(row["value"], row["formula"]) for row in chosen], HUES[name], measured=seen)

    marks = [Note("the hybrid begins", begins()), Note("piecewise = duchi", overtaken())]
    panels = [
        Panel(
            [worst_case(name) for name in HUES],
            Axis("epsilon", log=True),
            Axis("error of the sum, people", log=True),
            "Worst data",
            marks,
        ),
        Panel(
            [by_value(name) for name in HUES],
            Axis("what everybody holds", low=0.0, high=1.0),
            Axis("error of the sum, people"),
            f"By the data, ε = {ONE:g}",
        ),
    ]
    return lines(
        panels,
        path,
        title="A bit for little privacy loss, a number for more, and the mixture for any data",
        subtitle=f"Local sums of numbers in [0, 1], {PEOPLE:,} people, root mean square error. Circles: simulated",
        theme=theme,
    )
