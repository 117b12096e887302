"""How many messages does it take to come close to the central error?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.errors import Refused
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
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum
from headcount_survey.study import Finding, Study

BUDGET = Budget(1.0, 1e-6)
CATEGORIES = 100
PEOPLE = (1_000, 10_000, 100_000, 1_000_000)
OVERHEADS = tuple(np.geomspace(0.005, 2.0, 14).tolist())
TASKS: dict[str, tuple[Question, str]] = {  # and who answers it with a central analyser
    "correlated-count": (Count(), "geometric"),
    "correlated-histogram": (Histogram(CATEGORIES), "geometric"),
    "almost-central-sum": (Sum((0.0, 1.0)), "laplace"),
    "split-and-mix": (Sum((0.0, 1.0)), "laplace"),
}
SHARED = "split-and-mix"


class Messages(Study):
    name: ClassVar[str] = "messages"
    question: ClassVar[str] = "How many messages does it take to come close to the error of a trusted analyser?"
    source: ClassVar[str] = "survey of mean estimation: almost central accuracy in almost a single message"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        people, overheads = (PEOPLE[1::2], (0.13, 1.0)) if quick else (PEOPLE, OVERHEADS)
        grid = [(name, n) for name in TASKS for n in people]
        rows = [row for name, n in watch(grid) for row in _rows(name, n, overheads)]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def _rows(name: str, n: int, overheads: tuple[float, ...]) -> Iterator[dict[str, Any]]:
    task, central = TASKS[name]
    crowd = Crowd(n)
    best = calibrate(named(central), task, crowd, BUDGET).rmse()
    for overhead in (None,) if name == SHARED else overheads:
        chosen: dict[str, Any] = {} if overhead is None else {"overhead": overhead}
        try:
            protocol: Protocol = calibrate(named(name), task, crowd, BUDGET, **chosen)
        except Refused:
            continue
        yield {
            "protocol": name,
            "people": n,
            "overhead": overhead,
            "messages": protocol.messages_per_person,
            "extra": protocol.messages_per_person - 1.0,
            "rmse": protocol.rmse(),
            "central": best,
            "ratio": protocol.rmse() / best,
            "accounting": protocol.loss.kind,
        }


def _near(rows: list[dict[str, Any]], name: str, ratio: float, n: int) -> dict[str, Any]:
    """The cheapest of those that come as close as that, or the closest."""
    own = [row for row in rows if row["protocol"] == name and row["people"] == n]
    close = [row for row in own if row["ratio"] <= ratio]
    return min(close, key=lambda r: r["messages"]) if close else min(own, key=lambda r: r["ratio"])


def _answer(rows: list[dict[str, Any]]) -> str:
    few, many = (f(row["people"] for row in rows) for f in (min, max))
    counts = [row for row in rows if row["protocol"] == "correlated-count"]
    totals = {n: _near(rows, "correlated-count", 1.15, n)["extra"] * n for n in (few, many)}
    finest, coarsest = (f(row["overhead"] for row in counts if row["people"] == many) for f in (min, max))
    fine, coarse = (next(r for r in counts if r["people"] == many and r["overhead"] == o) for o in (finest, coarsest))
    bins, sums, shares = (
        {n: _near(rows, name, 1.2, n) for n in (few, many)}
        for name in ("correlated-histogram", "almost-central-sum", SHARED)
    )
    return (
        f"For a count it takes a fixed number for the whole crowd: at epsilon = {BUDGET.epsilon:g}, delta = "
        f"{BUDGET.delta:g} some {number(totals[few])} extra messages in all bring {few:,} people within 15% of the "
        f"central error, and {number(totals[many])} bring {many:,} there, so that a large crowd sends hardly more "
        f"than one each. The closer, the dearer: {finest:.1%} above the central error costs "
        f"{number(fine['extra'] * many)} in all, {coarsest:.0%} costs {number(coarse['extra'] * many)}. A histogram "
        f"of {CATEGORIES} categories pays that for every category ({number(bins[few]['messages'])} messages a person "
        f"for {few:,} people at {number(bins[few]['ratio'])} times the central error, "
        f"{number(bins[many]['messages'])} for {many:,} at {number(bins[many]['ratio'])}). A sum of real numbers "
        f"pays for every level it is rounded to: almost-central-sum sends {number(sums[few]['messages'])} each among "
        f"{few:,} people and {number(sums[many]['messages'])} among {many:,} for {sums[few]['ratio']:.2f} and "
        f"{sums[many]['ratio']:.2f} times the central error, where splitting into shares takes "
        f"{number(shares[few]['messages'])} and {number(shares[many]['messages'])} for {shares[few]['ratio']:.2f} and "
        f"{shares[many]['ratio']:.2f} times."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    cells = []
    for name in TASKS:
        for n in dict.fromkeys(row["people"] for row in rows):
            shown = [_near(rows, name, ratio, n) for ratio in (1.05, 1.2, 1.5)]
            texts = [f"{number(row['messages'])} (× {row['ratio']:.2f})" for row in shown]
            cells.append((name, f"{n:,}", *texts))
    headings = ("protocol", "people", "within 5%", "within 20%", "within 50%")
    title = "Messages a person to come so close to the central error, and in brackets how close"
    return TextTable(headings, tuple(cells), frozenset({1, 2, 3, 4}), title)


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    titles = {
        "correlated-count": "a count",
        "correlated-histogram": f"a histogram of {CATEGORIES} categories",
        "almost-central-sum": "a sum; circles: split and mix",
    }
    panels = []
    for name, title in titles.items():
        curves = []
        for n in dict.fromkeys(row["people"] for row in rows):
            points, shared = (
                sorted((r["extra"], r["ratio"]) for r in rows if r["protocol"] == other and r["people"] == n)
                for other in (name, SHARED)
            )
            seen = shared if name == "almost-central-sum" else []
            curves.append(Line(f"{n:,} people", points, measured=seen, first=True))
        up = Axis("error, in parts of the central error", log=True, low=0.97, high=4.5)
        fewest = min(x for line in curves for x, _ in line.points)
        across = Axis("messages a person beyond the first", log=True, low=fewest / 1.6)
        panels.append(Panel(curves, across, up, title, [Note("", y=1.0)]))
    return lines(
        panels,
        path,
        theme=theme,
        columns=3,
        title="A large crowd counts as well as a trusted analyser for hardly a message more",
        subtitle=f"epsilon = {BUDGET.epsilon:g}, delta = {BUDGET.delta:g}; the dotted line is the central error",
    )
