"""How sparse is too sparse?"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, SOLID, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount_survey.studies.sampling_rate import exactly
from headcount_survey.study import Finding, Study

PEOPLE, DELTA, SURE = 10_000, 1e-6, 0.95
EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
THRESHOLDS = (3, 5, 7, 10, 14, 20, 28, 40, 60, 100)
DRAFT, FINAL, SAMPLED = "sample-threshold, draft", "sample-threshold, final", "sample-threshold"
PAPER, CUT = "thresholded zsum, paper", "thresholded zsum"


class TooSparse(Study):
    name: ClassVar[str] = "too-sparse"
    question: ClassVar[str] = "How sparse is too sparse: from how many ones on is a count seen at all?"
    source: ClassVar[str] = "notes on which algorithm to use: the natural question at the end of the comparison"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons = (0.5, 1.0) if quick else EPSILONS
        rows = [row for epsilon in watch(list(epsilons)) for row in _seen(Budget(epsilon, DELTA))]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows), caption=_caption())


def passed(protocol: Protocol, ones: int, cut: float) -> float:
    """The chance that the answer lies above the cut."""
    law = protocol.noise(ones, PEOPLE)
    return float(law.masses[ones + law.values > cut + 1e-9].sum())


def cut_of(protocol: Protocol) -> float:
    """The answer that is exceeded in at most one of twenty runs where nobody holds a one."""
    law = protocol.noise(0, PEOPLE)
    order = np.argsort(law.values)
    reached = np.cumsum(law.masses[order])
    return float(law.values[order][min(int(np.searchsorted(reached, SURE - 1e-12)), order.size - 1)])


def smallest_count(protocol: Protocol, chance: float) -> int | None:
    """The fewest ones that are told from nobody with this chance; None if even everybody is not."""
    cut = cut_of(protocol)
    low, high = 0, PEOPLE
    if passed(protocol, high, cut) < chance:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passed(protocol, middle, cut) >= chance else (middle, high)
    return high


def protocols(budget: Budget) -> dict[str, Protocol]:
    """The protocols that can serve, each calibrated to detect the fewest ones."""
    crowd = Crowd(PEOPLE)
    found: dict[str, Protocol] = {
        cls.name: calibrate(cls, Count(), crowd, budget)
        for cls in CATALOGUE
        if Shape.BIT in cls.shapes and cls is not SampleThreshold
    }
    found[SAMPLED] = _best_sampling(budget)
    found[DRAFT] = SampleThreshold(crowd=crowd, **SampleThreshold.published(budget, crowd))
    found[FINAL] = _final(budget)
    found[CUT] = Zsum(crowd=crowd, gamma=found["zsum"].parameters["gamma"], thresholded=True)
    gamma = Zsum.published(budget, crowd)["gamma"]
    if gamma <= 0.5:
        found[PAPER] = Zsum(crowd=crowd, gamma=gamma, thresholded=True)
    return found


def _best_sampling(budget: Budget) -> SampleThreshold:
    """The threshold that lets fewest through half of the time: the best of a few."""

    def sampled(tau: int) -> SampleThreshold:
        rate = exactly(budget.epsilon, budget.delta, tau)
        return SampleThreshold(crowd=Crowd(PEOPLE), rate=rate, threshold=tau)

    def seen(tau: int) -> tuple[int, int]:
        half, sure = (smallest_count(sampled(tau), chance) or PEOPLE for chance in (0.5, SURE))
        return half, sure

    coarse = THRESHOLDS.index(min(THRESHOLDS, key=seen))
    low, high = THRESHOLDS[max(0, coarse - 1)], THRESHOLDS[min(coarse + 1, len(THRESHOLDS) - 1)]
    return sampled(min(range(low, high + 1), key=seen))


def _final(budget: Budget) -> SampleThreshold:
    """The final paper's choice of alpha with the smallest threshold for its rate."""
    log = math.log(1.0 / budget.delta)

    def threshold_for(share: float) -> int:
        return math.ceil(log / (math.log(1.0 / share) - 1.0 / (1.0 + share)))

    share = min(np.geomspace(0.05, 0.4, 60).tolist(), key=lambda share: threshold_for(share) / share)
    threshold = threshold_for(share)
    return SampleThreshold(crowd=Crowd(PEOPLE), rate=-share * math.expm1(-budget.epsilon), threshold=threshold)


def safe(protocol: SampleThreshold) -> float:
    """With k p from tau + l + sqrt(2 tau l + l^2) on, l = ln(1/beta), a count is left out with a
    chance up to beta."""
    log, tau = math.log(1.0 / (1.0 - SURE)), protocol.threshold
    return (tau + log + math.sqrt(2.0 * tau * log + log**2)) / float(protocol.rate)


def _seen(budget: Budget) -> list[dict[str, Any]]:
    rows = []
    for name, protocol in protocols(budget).items():
        half, sure = None, None
        if isinstance(protocol, SampleThreshold):
            half, sure = protocol.threshold / float(protocol.rate), safe(protocol)
        rows.append(
            {
                "epsilon": budget.epsilon,
                "delta": budget.delta,
                "protocol": name,
                "model": str(protocol.model),
                "parameters": protocol.to_json()["parameters"],
                "half": smallest_count(protocol, 0.5),
                "sure": smallest_count(protocol, SURE),
                "half_by_analysis": half,
                "sure_by_analysis": sure,
            }
        )
    return rows


def _answer(rows: list[dict[str, Any]]) -> str:
    at = {row["protocol"]: row for row in rows if row["epsilon"] == 1.0}
    best = at[SAMPLED]
    counts = {name: row["sure"] for name, row in at.items() if row["sure"] and name not in (DRAFT, FINAL, PAPER, CUT)}
    order = sorted(counts, key=lambda name: counts[name])
    return (
        f"Among {PEOPLE:,} people at ε = 1, δ = {DELTA:g}, sample-and-threshold reports a count with a "
        f"chance of a half from {at[DRAFT]['half']:,} ones on by the draft, {at[FINAL]['half']:,} by the final paper "
        f"at its best, and {best['half']:,} exactly ({float(best['parameters']['rate']):.0%} asked, threshold "
        f"{best['parameters']['threshold']}); with {SURE:.0%} it takes {at[DRAFT]['sure']:,}, {at[FINAL]['sure']:,} "
        f"and {best['sure']:,}. The closed forms are near: threshold over rate is {number(best['half_by_analysis'])} "
        f"for the half, and the tail bound asks for {number(best['sure_by_analysis'])} to be safe. Thresholded "
        f"additive noise has a floor too, {at[PAPER]['half']:,} ones by the paper and {at[CUT]['half']:,} exactly "
        f"calibrated. What is told from nobody with {SURE:.0%} certainty either way ranges from {counts[order[0]]:,} "
        f"ones ({order[0]}) over {counts['zsum']:,} (zsum without its threshold) to {counts[order[-1]]:,} "
        f"({order[-1]}): the sparsest counts want noise that does not grow with the crowd, and no threshold."
    )


def _caption() -> str:
    return (
        f"Above, the chance that a count of {PEOPLE:,} people is reported at all, ε = 1, δ = "
        f"{DELTA:g}, by how many hold a one; circles mark the even chance, with the number of ones "
        "it takes. Below, the fewest ones whose answer is told from that of nobody with "
        f"{SURE:.0%} certainty either way, by ε."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    cells = [
        (
            f"{row['epsilon']:g}",
            row["protocol"],
            _whole(row["half"]),
            _whole(row["sure"]),
            _whole(row["half_by_analysis"]),
            _whole(row["sure_by_analysis"]),
        )
        for row in rows
        if row["epsilon"] in {0.5, 1.0}
    ]
    sure = f"{SURE:.0%}"
    headings = ("ε", "protocol", "seen half the time", f"seen {sure}", "half, by analysis", f"{sure}, by analysis")
    return TextTable(headings, tuple(cells), frozenset({0, 2, 3, 4, 5}), "The fewest ones that are told from nobody")


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{math.ceil(value):,}"


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    at = {row["protocol"]: row for row in rows if row["epsilon"] == 1.0}
    looks = {
        PAPER: ("zsum", BOUND),
        CUT: ("zsum", SOLID),
        DRAFT: (SAMPLED, RULE),
        FINAL: (SAMPLED, BOUND),
        SAMPLED: (SAMPLED, SOLID),
    }
    words = {
        SAMPLED: "sampling, exactly",
        CUT: "zsum, exactly",
        FINAL: "sampling, final paper",
        DRAFT: "sampling, draft",
        PAPER: "zsum, paper",
    }
    places = {CUT: (25, 0.56), SAMPLED: (64, 0.04), FINAL: (182, 0.04), DRAFT: (540, 0.04), PAPER: (880, 0.04)}
    counts = np.unique(np.geomspace(3, 4_000, 170).astype(int)).tolist()
    chance = []
    for name, (hue, dashes) in sorted(looks.items(), key=lambda look: -at[look[0]]["half"]):
        protocol = _again(at[name])
        points = [(k, passed(protocol, k, 0.0)) for k in counts]
        half = at[name]["half"]
        middle = [(half, passed(protocol, half, 0.0))]
        chance.append(Line(f"{half:,}: {words[name]}", points, hue, dashes, middle, at=places[name], steep=True))
    half_way = Note("half the time", y=0.5)
    up = Axis("chance that the count is reported", shares=True, high=1.0)
    seen = Axis("fewest ones told from nobody", log=True)
    return lines(
        [
            Panel(
                chance, Axis("people who hold a one", log=True), up, "What a threshold lets through, ε = 1", [half_way]
            ),
            Panel(_detected(rows), Axis("ε", log=True), seen, f"What is seen with {SURE:.0%} certainty"),
        ],
        path,
        title="A threshold hides tens of people; by the papers, hundreds",
        theme=theme,
        columns=1,
        subtitle=f"A count of {PEOPLE:,} people, δ = {DELTA:g}",
    )


def _again(row: dict[str, Any]) -> Protocol:
    cls = SampleThreshold if row["protocol"].startswith(SAMPLED) else Zsum
    return cls(crowd=Crowd(PEOPLE), **row["parameters"])


def _detected(rows: list[dict[str, Any]]) -> list[Line]:
    names = [name for name in dict.fromkeys(row["protocol"] for row in rows) if name not in (DRAFT, FINAL, PAPER, CUT)]
    return [
        Line(name, [(r["epsilon"], r["sure"] or math.nan) for r in rows if r["protocol"] == name]) for name in names
    ]
