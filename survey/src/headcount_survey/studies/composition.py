"""What do several counts of the same people cost together?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.approximate_dp import ApproximateDP
from headcount.privacy.budget import Budget
from headcount.privacy.compose import compose
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount_survey.study import Finding, Study

PEOPLE = 100_000
EACH = Budget(0.1, 1e-9)  # of every count
DELTA = 1e-6  # of all together
TIMES = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300)
PROTOCOLS = ("geometric", "correlated-count", "poisson-count", "zsum", "cheu-count")
WIDE = "geometric, as wide as zsum"
RULES = ("basic", "advanced", "optimal")
CALLED = {"basic": "basic: k ε", "advanced": "advanced", "optimal": "the best for any (ε, δ)"}
TOTAL = 1.0  # how many counts fit into this epsilon


class Composition(Study):
    name: ClassVar[str] = "composition"
    question: ClassVar[str] = (
        "What do several counts of the same people cost together, and is (epsilon, delta) enough to know?"
    )
    source: ClassVar[str] = "the notes' histogram theorem, (2ε, 2δ) for two bins; Dwork, Rothblum and Vadhan 2010"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        times = TIMES[4::5] if quick else TIMES
        rows = [
            {"counts": k, **{name: together(name, k) for name in (*RULES, *PROTOCOLS, WIDE)}}
            for k in watch(list(times))
        ]
        cells = [tuple(number(row[name]) for name in ("counts", *RULES, *PROTOCOLS, WIDE)) for row in rows]
        sheet = TextTable(
            ("counts", *(CALLED[rule] for rule in RULES), *PROTOCOLS, WIDE), tuple(cells), frozenset(range(10))
        )
        return Finding(_answer(rows), rows, sheet, partial(_draw, rows))


@lru_cache(maxsize=8)
def loss(name: str) -> PrivacyLoss:
    """The loss of one count: of the protocol as calibrated, or the worst that the budget allows."""
    if name == "optimal":
        return ApproximateDP(EACH)
    if name == WIDE:
        return named("geometric")(crowd=Crowd(PEOPLE), scale=one("zsum").rmse() / math.sqrt(2.0)).loss  # type: ignore[call-arg]
    return one(name).loss


@lru_cache(maxsize=8)
def one(name: str) -> Protocol:
    return calibrate(named(name), Count(), Crowd(PEOPLE), EACH)


@lru_cache(maxsize=256)
def together(name: str, counts: int) -> float:
    """Epsilon of several counts composed, at the delta of all."""
    if name == "basic":
        return counts * EACH.epsilon  # with delta counts times that of each, far below
    if name == "advanced":
        left = math.log(1.0 / (DELTA - counts * EACH.delta))
        return EACH.epsilon * math.sqrt(2.0 * counts * left) + counts * EACH.epsilon * math.expm1(EACH.epsilon)
    return compose([loss(name)] * counts).epsilon(DELTA)


def fitting(name: str) -> int:
    """How many counts fit into the total."""
    low, high = 1, 2
    while together(name, high) <= TOTAL:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if together(name, middle) <= TOTAL else (low, middle)
    return low


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    last = rows[-1]
    fit = {name: fitting(name) for name in ("basic", "advanced", "optimal", "geometric", "zsum")}
    return (
        f"Counts at {EACH} each, all at delta {DELTA:g}: {last['counts']} of them cost epsilon {number(last['basic'])} "
        f"by adding up, {number(last['advanced'])} by advanced composition and {number(last['optimal'])} by the best "
        f"rule that knows nothing but (epsilon, delta). The geometric count costs {number(last['geometric'])}: it is "
        f"as bad as its budget allows. Counts hidden by many dummies cost {number(last['zsum'])} (zsum), because they "
        "come near their epsilon only rarely, and because their error is larger: geometric noise that is as wide "
        f"would cost {number(last[WIDE])}. The correlated count, which is nearly geometric, costs "
        f"{number(last['correlated-count'])}. Into epsilon {TOTAL:g} fit {fit['basic']} counts by adding up, "
        f"{fit['advanced']} by advanced composition, {fit['optimal']} by the best rule, {fit['geometric']} geometric "
        f"ones and {fit['zsum']} of zsum: who keeps only (epsilon, delta) of a shuffle protocol throws most of it away."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def line(name: str) -> Line:
        points = [(float(row["counts"]), row[name]) for row in rows]
        if name in CALLED:
            return Line(CALLED[name], points, "ink" if name == "optimal" else "soft", BOUND)
        if name == WIDE:
            return Line(name, points, "geometric", RULE)
        return Line(name, points, name)

    panel = Panel(
        [line(name) for name in (*RULES, *PROTOCOLS, WIDE)],
        Axis("counts of the same people", log=True),
        Axis("epsilon of all together", log=True),
    )
    return lines(
        [panel],
        path,
        title="Counts cost least together where each is exactly accounted",
        subtitle=f"{EACH} each, δ = {DELTA:g} for all",
        theme=theme,
    )
