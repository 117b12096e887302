"""Which local frequency oracle is best, for how many categories and which epsilon?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import RULE, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.histogram import Histogram
from headcount_survey.study import Finding, Study

PEOPLE = 10_000
ORACLES = (
    "generalised-response",
    "basic-rappor",
    "optimised-unary",
    "local-hashing",
    "hadamard-response",
    "subset-selection",
)
HUES = dict(zip(ORACLES, ("sampling", "dummies", "central noise", "flipped bits", "hashing", "local"), strict=True))
EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
CATEGORIES = (2, 4, 6, 10, 16, 32, 100, 316, 1_000, 10_000, 100_000)
MANY, ONE = 100, 1.0  # categories and epsilon at which the others are varied
RUNS = 8_000  # times categories
SHARES = tuple(i / 20 for i in range(21))


class LocalOracles(Study):
    name: ClassVar[str] = "local-oracles"
    question: ClassVar[str] = "Which local protocol counts categories best, and from how many categories on?"
    source: ClassVar[str] = "Wang, Blocki, Li and Jha 2017: direct encoding is best below 3 e^epsilon + 2 categories"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        grid = {(ONE, d, 0.0) for d in (CATEGORIES[1:-1:3] if quick else CATEGORIES)}
        grid |= {(e, MANY, 0.0) for e in EPSILONS[:: 2 if quick else 1]}
        grid |= {(ONE, MANY, share) for share in SHARES[:: 4 if quick else 1]}
        tried = {(ONE, d, 0.0) for d in ((32,) if quick else (4, 32, 316))}
        rows = [
            {
                "epsilon": e,
                "categories": d,
                "share": share,
                "protocol": name,
                "error": error(name, e, d, share),
                "measured": measured(name, e, d) if (e, d, share) in tried else None,
            }
            for e, d, share in watch(sorted(grid | tried))
            for name in ORACLES
        ]
        return Finding(_answer(rows), rows, _sheet(), partial(_draw, rows))


@lru_cache(maxsize=512)
def oracle(name: str, epsilon: float, categories: int) -> Protocol:
    """Calibrated for a category that nobody holds, as most of many are."""
    given = Histogram(categories), Crowd(PEOPLE), Budget(epsilon)
    return calibrate(named(name), *given, lambda protocol: protocol.rmse(0))


def error(name: str, epsilon: float, categories: int, share: float = 0.0) -> float:
    """The error of a category that this share of the people hold."""
    return oracle(name, epsilon, categories).rmse(round(share * PEOPLE))


def measured(name: str, epsilon: float, categories: int) -> float:
    """The same for a category that nobody holds, simulated: all others hold one."""
    seen = oracle(name, epsilon, categories).simulate(
        np.zeros(PEOPLE, dtype=np.int64), runs=max(60, RUNS // categories), seed=1
    )
    return float(np.sqrt(np.mean(seen.errors[:, 1:] ** 2)))


def crossing(epsilon: float, other: str = "optimised-unary") -> int:
    """The fewest categories at which the other beats sending the category itself."""
    low, high = 2, 4
    while error("generalised-response", epsilon, high) <= error(other, epsilon, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        worse = error("generalised-response", epsilon, middle) > error(other, epsilon, middle)
        low, high = (low, middle) if worse else (middle, high)
    return high


def turning(epsilon: float) -> float:
    """The share of people from which basic RAPPOR beats the optimised code for a category.

    Both variances are straight lines in the share, and RAPPOR's is level."""
    plain, none, everybody = (
        error(name, epsilon, MANY, share) ** 2
        for name, share in (("basic-rappor", 0.0), ("optimised-unary", 0.0), ("optimised-unary", 1.0))
    )
    return (plain - none) / (everybody - none)


def _digits(value: float) -> float:
    return float(f"{value:.9g}")


def rule(epsilon: float) -> float:
    return 3.0 * math.exp(epsilon) + 2.0


def _sheet() -> TextTable:
    headings = (
        "epsilon",
        "3 e^ε + 2",
        "optimised-unary wins from",
        "subset-selection wins from",
        f"best for {MANY} categories",
        "its error",
        "basic-rappor beats optimised-unary from a share of",
    )
    cells = []
    for epsilon in EPSILONS:
        best = min(ORACLES, key=lambda name: error(name, epsilon, MANY))
        share = turning(epsilon)
        cells.append(
            (
                f"{epsilon:g}",
                f"{rule(epsilon):.1f}",
                f"{crossing(epsilon):,}",
                f"{crossing(epsilon, 'subset-selection'):,}",
                best,
                number(error(best, epsilon, MANY)),
                f"{share:.0%}" if share < 1.0 else "never",
            )
        )
    return TextTable(headings, tuple(cells), frozenset({0, 1, 2, 3, 5, 6}))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    off = max(abs(crossing(epsilon) - (math.floor(rule(epsilon)) + 1)) for epsilon in EPSILONS)
    seen = [row for row in rows if row["measured"] is not None]
    apart = max(abs(row["measured"] / row["error"] - 1.0) for row in seen)
    empty = [row for row in rows if not row["share"]]
    many = {row["protocol"]: row["error"] for row in empty if (row["epsilon"], row["categories"]) == (ONE, MANY)}
    points = {(row["epsilon"], row["categories"]) for row in empty}
    first = sum(
        min((r for r in empty if (r["epsilon"], r["categories"]) == point), key=lambda r: _digits(r["error"]))["error"]
        >= _digits(error("subset-selection", *point)) * (1.0 - 1e-6)
        for point in points
    )
    return (
        "To send the category itself is better than the optimised unary code below 3 e^epsilon + 2 categories, and "
        f"not from there on: the computed crossing is off by {off or 'nothing'} at any of {len(EPSILONS)} epsilons. "
        f"Subset selection, which becomes that very protocol for few categories, is the best or as good at {first} of "
        f"{len(points)} points; with {MANY} categories at epsilon {ONE:g} it errs by "
        f"{number(many['subset-selection'])} of {PEOPLE:,} people, the worst of the six "
        f"({max(many, key=lambda name: many[name])}) by {number(max(many.values()))}. The ranking is about a category "
        f"that nobody holds: for one that more than {turning(ONE):.0%} of the people hold, basic RAPPOR beats the code "
        f"that was optimised. Simulated errors lie within {apart:.1%}."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def panel(key: str, fixed: dict[str, float], seen: bool) -> list[Line]:
        chosen = [row for row in rows if all(row[name] == value for name, value in fixed.items())]
        return [
            Line(
                name,
                [(row[key], row["error"]) for row in chosen if row["protocol"] == name],
                HUES[name],
                measured=[(r[key], r["measured"]) for r in chosen if seen and r["protocol"] == name and r["measured"]],
            )
            for name in ORACLES
        ]

    few, error = rule(ONE), Axis("error, people", log=True)
    panels = [
        Panel(
            panel("categories", {"epsilon": ONE, "share": 0.0}, True),
            Axis("categories", log=True),
            error,
            "Held by nobody, ε = 1",
            [Note(f"{few:.1f} categories", few, at=0.98)],
        ),
        Panel(
            panel("epsilon", {"categories": MANY, "share": 0.0}, False),
            Axis("epsilon", log=True),
            error,
            f"Held by nobody, {MANY} categories",
        ),
        Panel(
            panel("share", {"epsilon": ONE, "categories": MANY}, False),
            Axis("share of the people who hold it", shares=True),
            Axis("error, people (axis from 150)", low=150.0, high=230.0),
            f"Held by more, ε = 1, {MANY} categories",
            [Note("RAPPOR = optimised", turning(ONE))],
        ),
        Panel(
            [
                Line(
                    "3 $e^ε$ + 2",
                    [(e, rule(e)) for e in EPSILONS],
                    "ink",
                    RULE,
                    [(e, float(crossing(e))) for e in EPSILONS],
                )
            ],
            Axis("epsilon"),
            Axis("categories", log=True),
            "From how many on the optimised code wins",
        ),
    ]
    return lines(
        panels,
        path,
        title="Few categories: send yours. Many: anything but that. Frequent ones: it depends",
        subtitle=f"Local counts of one category, {PEOPLE:,} people, rms error. Circles: simulated, or computed",
        theme=theme,
    )
