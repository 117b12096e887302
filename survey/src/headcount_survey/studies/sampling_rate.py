"""How many of the people may sample-and-threshold ask?"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.common.root_finding import crossing
from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.sampled_counts import SampledCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.questions.count import Count
from headcount_survey.study import Finding, Study

DELTAS = (0.05, 1e-3, 1e-6)
EPSILONS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CLAIMED = 0.08  # of the people at most, say the notes
NOTED = "the notes' 8%"
PEOPLE = 10**9  # as good as any number
CAPTION = (
    "The largest share of the people that sample-and-threshold may ask, by four rules at the "
    "draft's threshold, whatever the number of people. Dashed, the most that the notes expect."
)
RULES = {"notes": "notes and draft", "proved": "draft, as its proof goes", "final": "final paper", "exact": "exactly"}


class SamplingRate(Study):
    name: ClassVar[str] = "sampling-rate"
    question: ClassVar[str] = "What share of the people may sample-and-threshold ask?"
    source: ClassVar[str] = "notes on which algorithm to use: p = epsilon/tau, tau = 3 + ln(1/delta), never above 8%"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        grid = [(delta, epsilon) for delta in DELTAS for epsilon in (EPSILONS[1::3] if quick else EPSILONS)]
        rows = [_row(delta, epsilon) for delta, epsilon in watch(grid)]
        cells = [
            (f"{row['delta']:g}", f"{row['epsilon']:g}", str(row["threshold"]), *(f"{row[name]:.2%}" for name in RULES))
            for row in rows
        ]
        headings = ("δ", "ε", "threshold", *RULES.values())
        sheet = TextTable(headings, tuple(cells), frozenset(range(7)))
        return Finding(_answer(rows), rows, sheet, partial(_draw, rows), caption=CAPTION)


def _row(delta: float, epsilon: float) -> dict[str, Any]:
    """All at the draft's threshold, rounded up where a whole number is needed."""
    tau = 3.0 + math.log(1.0 / delta)
    threshold = math.ceil(tau)
    return {
        "delta": delta,
        "epsilon": epsilon,
        "threshold": threshold,
        "notes": epsilon / tau,
        "proved": -math.expm1(-epsilon) / tau,
        "final": final(epsilon, delta, threshold),
        "exact": exactly(epsilon, delta, threshold),
    }


def final(epsilon: float, delta: float, threshold: float) -> float:
    """p = alpha (1 - e^-epsilon), at the largest alpha with C tau >= ln(1/delta), C = ln(1/alpha) -
    1/(1+alpha)."""
    needed = math.log(1.0 / delta) / threshold

    def excess(alpha: float) -> float:
        return math.log(1.0 / alpha) - 1.0 / (1.0 + alpha) - needed

    low, high = (1e-12, excess(1e-12)), (1.0, excess(1.0))
    share = crossing(excess, low, high, tight=0.0)
    return -math.expm1(-epsilon) * share


@lru_cache(maxsize=4096)
def exactly(epsilon: float, delta: float, threshold: int, people: int = PEOPLE) -> float:
    """The largest rate whose loss fits, for any number of people unless told."""

    def excess(u: float) -> float:
        return math.log(max(SampledCount(math.exp(-u), threshold, people).delta(epsilon), 1e-300) / delta)

    low, high = 1e-6, 12.0
    return math.exp(-crossing(excess, (low, excess(low)), (high, excess(high)), tight=1e-4))


@lru_cache(maxsize=64)
def best_for(ones: int, people: int, budget: Budget) -> SampleThreshold:
    """The threshold with the least error for this many ones, each at its largest rate."""
    return calibrate(SampleThreshold, Count(), Crowd(people), budget, lambda protocol: protocol.rmse(ones))


def _answer(rows: list[dict[str, Any]]) -> str:
    top = max(rows, key=lambda row: row["notes"])
    same = next(row for row in rows if row["delta"] == min(DELTAS) and row["epsilon"] == top["epsilon"])
    ratios = [row["exact"] / row["notes"] for row in rows]
    broken = sum(row["notes"] > CLAIMED for row in rows)
    limits = ", ".join(f"{CLAIMED * (3.0 + math.log(1.0 / d)):.2f} (δ = {d:g})" for d in DELTAS)
    return (
        f"The claim that never more than {CLAIMED:.0%} are asked fails by the notes' own rule: at ε = "
        f"{top['epsilon']:g} and δ = {top['delta']:g} it asks {top['notes']:.1%}, and {broken} of the "
        f"{len(rows)} budgets here lie above; it holds for ε up to {limits}. Nor is the rule what privacy "
        f"needs: at the same threshold {number(min(ratios))} to {number(max(ratios))} times as many may be asked. At "
        f"ε = {same['epsilon']:g}, δ = {same['delta']:g} and a threshold of {same['threshold']} that is "
        f"{same['notes']:.1%} by the notes, {same['proved']:.1%} as the draft proves it, {same['final']:.1%} by the "
        f"final paper and {same['exact']:.1%} exactly. As the notes say, none of them depends on the number of "
        "people."
    )


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    panels = []
    for delta in DELTAS:
        own = [row for row in rows if row["delta"] == delta]
        curves = [Line(label, [(row["epsilon"], row[name]) for row in own]) for name, label in RULES.items()]
        up = Axis("share who are asked", log=True, shares=True, low=0.002, high=1.0)
        title = f"δ = {delta:g}, threshold {own[0]['threshold']}"
        panels.append(Panel(curves, Axis("ε"), up, title, [Note(NOTED if delta == DELTAS[0] else "", y=CLAIMED)]))
    least = min(row["exact"] / row["notes"] for row in rows)
    return lines(
        panels,
        path,
        theme=theme,
        columns=1,
        title=f"More than {math.floor(least)} times as many people may be asked as the notes allow",
        subtitle="The largest sampling rate at the draft's threshold, whatever the number of people",
    )
