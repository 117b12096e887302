"""How does the error of a histogram grow with the number of its bins, in each model of trust?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.errors import Infeasible
from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.histogram import Histogram
from headcount_survey.studies import one_data_set as survey
from headcount_survey.study import Finding, Study

BUDGET = Budget(1.0, 1e-6)
PEOPLE, MANY = 100_000, 1_000  # MANY bins where the crowd is varied
BINS = (2, 5, 10, 30, 100, 300, 1_000, 10_000, 100_000, 1_000_000)
CROWDS = (10**4, 10**5, 10**6, 10**7)
TRIED = (10, 100, 1_000)  # bins, of which the worst is also simulated
RUNS = 200
CONFIDENCE = 0.95
SPARED = 128  # no threshold here lies higher
LOOKS: dict[str, tuple[str, tuple[float, ...]]] = {
    "geometric": ("central noise", ()),
    "stability-histogram": ("central noise", BOUND),
    "correlated-histogram": ("cancelling", ()),
    "poisson-histogram": ("dummies", ()),
    "almost-one-message-histogram": ("hashing", ()),
    "blanket-histogram": ("flipped bits", ()),
    "hadamard-response": ("local", ()),
    "generalised-response": ("local", BOUND),
}


class Separation(Study):
    name: ClassVar[str] = "separation"
    question: ClassVar[str] = "How does a histogram's error grow with its bins, in each model of trust?"
    source: ClassVar[str] = "the notes' question whether histograms are easier than sums; Balcer and Cheu 2020"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        bins, crowds, tried = (BINS[2::3], CROWDS[:2], TRIED[:1]) if quick else (BINS, CROWDS, TRIED)
        runs = RUNS // 4 if quick else RUNS
        grid = {(d, PEOPLE) for d in (*bins, BINS[-1], *tried)} | {(MANY, n) for n in crowds}
        rows = [
            found
            for d, n in watch(sorted(grid))
            for name in LOOKS
            if (found := _row(name, d, n, runs if n == PEOPLE and d in tried else 0)) is not None
        ]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def _row(name: str, bins: int, people: int, runs: int) -> dict[str, Any] | None:
    try:
        protocol = calibrate(named(name), Histogram(bins), Crowd(people), BUDGET)
    except Infeasible:
        return None
    return {
        "bins": bins,
        "people": people,
        "protocol": name,
        "model": str(protocol.model),
        "bin": hardest(protocol),
        "worst": worst(protocol),
        "measured": measured(protocol, runs) if runs else None,
        "messages": protocol.messages_per_person,
    }


def worst(protocol: Protocol) -> float:
    """The error that no bin exceeds with this confidence: each bin is trusted that much more often.

    Where a bin that nobody holds has no error at all, no more bins can err than there are
    people."""
    people, bins = protocol.crowd.size, protocol.task.cells
    erring = min(bins, people) if _spares(protocol) else bins
    each = CONFIDENCE ** (1.0 / erring) if protocol.independent else 1.0 - (1.0 - CONFIDENCE) / erring
    return max(protocol.noise(truth, people).half_width(each) for truth in _truths(protocol))


def hardest(protocol: Protocol) -> float:
    """The error of the bin that is hardest to estimate."""
    return max(protocol.size_of_error(truth, protocol.crowd.size) for truth in _truths(protocol))


def _spares(protocol: Protocol) -> bool:
    """Whether a bin that nobody holds has no error."""
    return protocol.size_of_error(0, protocol.crowd.size) == 0.0


def _truths(protocol: Protocol) -> set[int]:
    """The hardest bin is empty or full; with a threshold, one of those just below it."""
    return {0, protocol.crowd.size, *(range(SPARED) if _spares(protocol) else ())}


def measured(protocol: Protocol, runs: int) -> float:
    """The same by simulation, for a crowd in which small bins are more frequent."""
    values = np.floor(protocol.task.cells * survey.numbers(protocol.crowd.size)).astype(int)
    seen = protocol.simulate(values, runs=runs, seed=1)
    return float(np.quantile(np.abs(seen.errors).max(axis=1), CONFIDENCE))


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    headings = ("bins", "people", "protocol", "model", "a bin", "every bin, 95%", "simulated", "messages")
    cells = [
        (
            f"{row['bins']:,}",
            f"{row['people']:,}",
            row["protocol"],
            row["model"],
            number(row["bin"]),
            number(row["worst"]),
            "" if row["measured"] is None else number(row["measured"]),
            f"{row['messages']:,.4g}",
        )
        for row in rows
    ]
    return TextTable(headings, tuple(cells), frozenset({0, 1, 4, 5, 6, 7}))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    at = {(row["bins"], row["protocol"]): row for row in rows if row["people"] == PEOPLE}
    few, many = min(row["bins"] for row in rows), max(row["bins"] for row in rows)
    central = min(at[many, name]["worst"] for name in ("geometric", "stability-histogram"))
    almost, local, single = (
        at[many, name] for name in ("almost-one-message-histogram", "hadamard-response", "blanket-histogram")
    )
    seen = [row["measured"] / row["worst"] for row in rows if row["measured"] is not None]
    return (
        f"With {PEOPLE:,} people and {many:,} bins, every bin of a trusted analyser is within {number(central)} people "
        f"of the truth (95%), of a shuffler within {number(almost['worst'])} at {number(almost['messages'])} messages "
        f"a person, and without trust within {number(local['worst'])}. From {few} bins on, the local error grows "
        f"{number(local['worst'] / at[few, 'hadamard-response']['worst'])} times, all of it for having to be right "
        "everywhere; a single bin's does not grow at all. Centrally it stops growing: a bin that nobody holds is not "
        "touched (stability-histogram), so that the number of people counts and not the number of bins. One message "
        f"each costs a shuffler the separation: {number(single['worst'])}, because the liars are shared out among all "
        "bins. A histogram is no easier than a sum, and only logarithmically harder. These limits are for the hardest "
        f"crowd; in the one that was simulated the worst bin came to {min(seen):.2f} to {max(seen):.2f} times as much."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def drawn(key: str, value: str, fixed: dict[str, int], most: float = math.inf) -> list[Line]:
        found = []
        for name, (hue, dashes) in LOOKS.items():
            chosen = [r for r in rows if r["protocol"] == name and all(r[k] == v for k, v in fixed.items())]
            points = [(float(r[key]), r[value]) for r in sorted(chosen, key=lambda r: r[key]) if r[value] <= most]
            seen = [(float(r[key]), r["measured"]) for r in chosen if value == "worst" and r["measured"] is not None]
            found.append(Line(name, points, hue, dashes, seen if key == "bins" else ()))
        return found

    here = {"people": PEOPLE}
    local = [(float(d), math.sqrt(PEOPLE)) for d in (BINS[0], BINS[-1])]
    bins = Axis("bins", log=True)
    panels = [
        Panel(
            drawn("bins", "worst", here),
            bins,
            Axis("error of the worst bin, people", log=True, low=5.0, high=1e5),
            "All bins at once, 95%",
        ),
        Panel(
            [*drawn("bins", "bin", here), Line("√n", local, "soft", RULE)],
            bins,
            Axis("error of a bin, people", log=True, low=2.0, high=1e5),
            "One bin, root mean square",
        ),
        Panel(
            drawn("people", "worst", {"bins": MANY}),
            Axis("people", log=True),
            Axis("error of the worst bin, people", log=True),
            f"{MANY:,} bins, by the crowd",
        ),
        Panel(
            [line for line in drawn("bins", "messages", here) if line.points[-1][1] > 1.001],
            bins,
            Axis("messages a person", log=True),
            "What it takes",
        ),
    ]
    return lines(
        panels,
        path,
        title="Bins separate the models: logarithms with trust, roots of the crowd without",
        subtitle=f"Histograms of {PEOPLE:,} people, {BUDGET}. Lines: the hardest crowd. Circles: a simulated one",
        theme=theme,
    )
