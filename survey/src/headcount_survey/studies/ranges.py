"""Which tree is best for ranges: how many children has a node, and from how many bins on?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.programme.tally import Tally
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.distribution import Distribution
from headcount_survey.study import Finding, Study

PEOPLE = 10_000
EPSILON, DELTA = 1.0, 1e-6
BINS = (16, 64, 256, 1_024, 4_096, 16_384, 65_536)
BRANCHES = (2, 4, 8, 16, 64, 4_096)  # of all of which 4,096 is a power
SEVERAL = 4_096
MODELS = {
    "geometric": "central noise",
    "discrete-gaussian": "sampling",
    "hashed-histogram": "dummies",
    "oracle-by-lot": "local",
}
TRIED, RUNS = 64, 400


class Ranges(Study):
    name: ClassVar[str] = "ranges"
    question: ClassVar[str] = "Which tree tells ranges best, and from how many bins on is it better than single bins?"
    source: ClassVar[str] = (
        "Hay, Rastogi, Miklau and Suciu 2010: a binary tree with least squares; Qardaji, Yang and Li 2013: more "
        "children are better; Cormode, Kulkarni and Srivastava 2019: the same where nobody is trusted"
    )

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        bins = BINS[:3] if quick else BINS
        grid = [(name, count, kind) for name in MODELS for count in bins for kind in ("single bins", "binary", "best")]
        grid += [(name, SEVERAL, str(branch)) for name in MODELS for branch in BRANCHES if not quick]
        rows = [_row(*point) for point in watch(grid)]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_drawn, rows))


def _row(name: str, bins: int, kind: str) -> dict[str, Any]:
    found = planned(name, bins, kind)
    tried = name == "geometric" and bins == TRIED and not kind.isdigit()
    return {
        "protocol": name,
        "bins": bins,
        "tree": kind,
        "radices": "x".join(map(str, found.task.strategy.radices)),  # type: ignore[attr-defined]
        "error": error(found),
        "measured": measured(found) if tried else None,
        "messages": found.messages_per_person,
    }


@lru_cache(maxsize=512)
def planned(name: str, bins: int, kind: str) -> Protocol:
    """The plan for a typical range: single bins, a tree of two, of these, or of best radices."""
    radices = None if kind == "best" else (bins,) if kind == "single bins" else _even(bins, kind)
    task = Distribution((0, bins), bins, radices=radices)
    return calibrate(named(name), task, Crowd(PEOPLE), Budget(EPSILON, DELTA))


def _even(bins: int, kind: str) -> tuple[int, ...]:
    branch = 2 if kind == "binary" else int(kind)
    return (branch,) * round(math.log(bins, branch))


def error(found: Protocol) -> float:
    """The root mean square over all ranges, in people, for the truth that makes it largest."""
    return found.error_of_answer()


def measured(found: Protocol) -> float:
    """The same of answers that are drawn."""
    bins = found.task.values
    held = np.bincount(np.arange(PEOPLE) % bins, minlength=bins)
    truth, squares = np.append(0, np.cumsum(held)), []
    for totals in found.sample(held, SeededCoins(1), RUNS):
        answer = found.estimate(Tally(PEOPLE, totals, released=True))
        off = np.append(0.0, np.cumsum(answer.people)) - truth
        squares.append(float(off.size * (off @ off) - off.sum() ** 2) / math.comb(off.size, 2))  # of all pairs of edges
    return math.sqrt(math.fsum(squares) / RUNS)


def _errors(rows: Sequence[dict[str, Any]], name: str, kind: str) -> dict[int, float]:
    return {row["bins"]: row["error"] for row in rows if (row["protocol"], row["tree"]) == (name, kind)}


def _branches(rows: Sequence[dict[str, Any]], name: str) -> dict[int, float]:
    chosen = (row for row in rows if row["protocol"] == name and row["tree"].isdigit())
    return {int(row["tree"]): row["error"] for row in chosen}


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    best = [row for row in rows if row["tree"] == "best"]
    cells = []
    for row in best:
        flat, binary = (_errors(rows, row["protocol"], kind)[row["bins"]] for kind in ("single bins", "binary"))
        ends = (number(flat), number(binary), number(row["error"]))
        cells.append((row["protocol"], f"{row['bins']:,}", *ends, row["radices"], f"{row['messages']:.1f}"))
    headings = ("protocol", "bins", "single bins", "binary tree", "best tree", "which", "messages")
    return TextTable(headings, tuple(cells), frozenset({1, 2, 3, 4, 6}))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    flat, binary, best = (_errors(rows, "geometric", kind) for kind in ("single bins", "binary", "best"))
    pays = [bins for bins in best if best[bins] < 0.99 * flat[bins]]
    many = max(best)
    seen = [abs(row["measured"] / row["error"] - 1.0) for row in rows if row["measured"]]
    found = (
        f"Single bins are the best up to {max((b for b in best if b not in pays), default=0):,} bins with discrete "
        f"Laplace noise at epsilon {EPSILON:g}. With {many:,} a typical range errs by {number(flat[many])} people by "
        f"single bins, by {number(binary[many])} by the binary tree, and by {number(best[many])} by the best one. "
    )
    branches = {name: _branches(rows, name) for name in MODELS}
    if all(branches.values()):
        least = {name: min(held, key=lambda branch: held[branch]) for name, held in branches.items()}
        found += (
            f"Of {SEVERAL:,} bins, {least['geometric']} children are the best with discrete Laplace noise, "
            f"{least['discrete-gaussian']} with Gaussian noise, {least['hashed-histogram']} with hashed messages and "
            f"{least['oracle-by-lot']} where nobody is trusted; all nodes alike, which the best trees' are not. "
        )
    return found + f"Errors that were drawn lie within {max(seen, default=0.0):.1%}."


def _drawn(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    kinds = {"single bins": "flipped bits", "binary": "sampling", "best": "central noise"}
    bins, people = Axis("bins", log=True), Axis("error of a typical range, people", log=True)
    trees = [
        Line(
            kind,
            [*_errors(rows, "geometric", kind).items()],
            hue,
            measured=[
                (row["bins"], row["measured"])
                for row in rows
                if (row["protocol"], row["tree"]) == ("geometric", kind) and row["measured"]
            ],
        )
        for kind, hue in kinds.items()
    ]
    models = [Line(name, [*_errors(rows, name, "best").items()], hue) for name, hue in MODELS.items()]
    panels = [
        Panel(trees, bins, people, "Discrete Laplace noise"),
        Panel(models, bins, people, "The best tree of each protocol"),
    ]
    if any(_branches(rows, name) for name in MODELS):
        children = [Line(name, [*_branches(rows, name).items()], hue) for name, hue in MODELS.items()]
        panels.append(Panel(children, Axis("children of a node", log=True), people, f"{SEVERAL:,} bins"))
    return lines(
        panels,
        path,
        theme=theme,
        title="A tree tells ranges better than single bins, from some hundred bins on",
        subtitle=f"{PEOPLE:,} people, ε = {EPSILON:g}, δ = {DELTA:g}; dots are drawn",
    )
