"""How many people does each way of counting need before it is better than a guess?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.figures.axis import Axis
from headcount.figures.lines import RULE, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.planner.smallest_crowd import smallest_crowd
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE, named
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount_survey.studies.smallest_crowd import rule
from headcount_survey.study import Finding, Study

DELTA = 1e-6
EPSILONS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
HUES = {
    "geometric": "central noise",
    "randomised-response": "local",
    "sample-threshold": "sampling",
    "zsum": "dummies",
    "correlated-count": "cancelling",
    "cheu-count": "flipped bits",
    "negative-binomial-count": "hashing",
}


class SmallestCrowds(Study):
    name: ClassVar[str] = "smallest-crowds"
    question: ClassVar[str] = "How many people does each way of counting need before it is better than a guess?"
    source: ClassVar[str] = "the notes' rule for one protocol, asked of all of them"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons = EPSILONS[::3] if quick else EPSILONS
        kinds = sorted(
            (kind for kind in CATALOGUE if Shape.BIT in kind.shapes), key=lambda kind: (*Model,).index(kind.model)
        )
        grid = [(kind.name, epsilon) for kind in kinds for epsilon in epsilons]
        rows = [
            {"protocol": name, "model": str(named(name).model), "epsilon": epsilon, "people": fewest(name, epsilon)}
            for name, epsilon in watch(grid)
        ]
        return Finding(_answer(rows), rows, _sheet(rows, epsilons), partial(_draw, rows))


@lru_cache(maxsize=256)
def fewest(name: str, epsilon: float) -> int | None:
    """The fewest people for whom the budget is met and the error is below half of them."""
    return smallest_crowd(named(name), Count(), Crowd(1), Budget(epsilon, DELTA))


def _sheet(rows: Sequence[dict[str, Any]], epsilons: Sequence[float]) -> TextTable:
    names = list(dict.fromkeys((row["protocol"], row["model"]) for row in rows))
    at = {(row["protocol"], row["epsilon"]): row["people"] for row in rows}
    cells = [
        (name, model, *("never" if at[name, e] is None else f"{at[name, e]:,}" for e in epsilons))
        for name, model in names
    ]
    headings = ("protocol", "model", *(f"ε = {epsilon:g}" for epsilon in epsilons))
    return TextTable(headings, tuple(cells), frozenset(range(2, len(headings))))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    at = {(row["protocol"], row["epsilon"]): row["people"] for row in rows}
    small = min(row["epsilon"] for row in rows)
    one = {name: at[name, 1.0] for name, epsilon in at if epsilon == 1.0}
    shuffled = {row["protocol"]: row["people"] for row in rows if row["model"] == "shuffle" and row["epsilon"] == small}
    best = min(shuffled, key=lambda name: shuffled[name])
    return (
        f"Very few, for most. At epsilon 1 and delta {DELTA:g} the central count beats a guess of half the crowd from "
        f"{one['geometric']} people on, {best} and randomised response from {one[best]} and "
        f"{one['randomised-response']}; at epsilon {small:g} from {at['geometric', small]}, {at[best, small]} and "
        f"{at['randomised-response', small]}. Two need a crowd: zsum, whose people send one dummy at most, "
        f"{one['zsum']} and {at['zsum', small]:,} people (the notes' rule says {rule(1.0, DELTA):,} and "
        f"{rule(small, DELTA):,}), and sampling, which has to pass its threshold, {one['sample-threshold']} and "
        f"{at['sample-threshold', small]}. A small crowd makes up for its size if each may send more messages."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    drawn = [
        Line(name, [(r["epsilon"], float(r["people"])) for r in rows if r["protocol"] == name and r["people"]], hue)
        for name, hue in HUES.items()
    ]
    epsilons = sorted({row["epsilon"] for row in rows if row["epsilon"] <= 1.0})
    drawn.append(Line("the notes' rule for zsum", [(e, float(rule(e, DELTA))) for e in epsilons], "ink", RULE))
    return lines(
        [Panel(drawn, Axis("epsilon", log=True), Axis("people needed", log=True))],
        path,
        theme=theme,
        title="Few people are enough, unless each may send only one dummy",
        subtitle=f"The smallest crowd that is counted better than by a guess, delta = {DELTA:g}",
    )
