"""Why must people be sampled by coins, and not a fixed number of them?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.core.law import Law
from headcount.drawing.canvas import number
from headcount.drawing.graphs import Axis, Graph, Line, Note, graphs
from headcount.planner.competitors import Watch
from headcount.planner.sheet import Sheet
from headcount.privacy import laws
from headcount.privacy.pair import Pair
from headcount.studies.sampling_rate import exactly
from headcount.studies.study import Finding, Study

EPSILON, DELTA, THRESHOLD = 1.0, 1e-6, 17
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
LARGE = 10_000
FIXED, COINS = "a fixed number of people", "by coins"
TINY = 1e-20


class FixedSample(Study):
    name: ClassVar[str] = "fixed-sample"
    question: ClassVar[str] = "Why must people be sampled by coins, and not a fixed number of them?"
    source: ClassVar[str] = "draft of sample-and-threshold: sampling m of n people without replacement"

    def run(self, quick: bool = False, watch: Watch = iter) -> Finding:
        rate = exactly(EPSILON, DELTA, THRESHOLD)
        zeros = np.unique(np.geomspace(1, LARGE - THRESHOLD, 30 if quick else 90).round().astype(int)).tolist()
        grid = [(LARGE, z) for z in zeros] + [(n, 1) for n in (SIZES[::3] if quick else SIZES)]
        rows = [_row(n, rate, z) for n, z in watch(grid)]
        rows += list(_small())
        return Finding(_answer(rows), rows, _sheet(rows), partial(_drawn, rows))


def hypergeometric(people: int, ones: int, sampled: int) -> Law:
    """How many ones there are among so many people, drawn without replacement."""
    first, last = max(0, sampled - (people - ones)), min(ones, sampled)
    x = np.arange(first, last + 1)
    logs = _choose(ones, x) + _choose(people - ones, sampled - x) - _choose(people, np.array([sampled]))
    return Law(first, np.exp(logs))


def _choose(n: int, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def shown(law: Law, threshold: int) -> Law:
    """What passes the threshold; all the rest is one outcome, 0."""
    masses = np.zeros(law.start + law.masses.size)
    masses[law.start :] = law.masses
    hidden = masses[:threshold].sum()
    masses[:threshold] = 0.0
    masses[0] = hidden
    return Law(0, masses)


def delta_of(fewer: Law, more: Law, threshold: int, epsilon: float) -> float:
    forward, backward = Pair.of(shown(more, threshold), shown(fewer, threshold)).orders(np.array([epsilon]))
    return float(max(forward[0], backward[0]))


def _row(people: int, rate: float, zeros: int) -> dict[str, Any]:
    """Somebody holds a one or not, where so many of the people hold none at least."""
    ones, sampled = people - zeros, round(rate * people)
    fixed = [hypergeometric(people, k, sampled) for k in (ones, ones + 1)]
    coins = [laws.binomial(k, rate) for k in (ones, ones + 1)]
    return {
        "part": "large", "people": people, "zeros": zeros, "sampled": sampled, "threshold": THRESHOLD,
        FIXED: delta_of(*fixed, THRESHOLD, EPSILON), COINS: delta_of(*coins, THRESHOLD, EPSILON), "enumerated": None,
    }  # fmt: skip


def _small() -> Iterator[dict[str, Any]]:
    """All samples of a few people, one by one, beside the law: the worst number of ones among them."""
    for people, sampled, threshold in ((5, 2, 1), (6, 3, 2), (8, 3, 2), (8, 4, 3)):
        worst = {"law": 0.0, "coins": 0.0, "listed": 0.0}
        for ones in range(people):
            pair = [hypergeometric(people, k, sampled) for k in (ones, ones + 1)]
            coins = [laws.binomial(k, sampled / people) for k in (ones, ones + 1)]
            found = {
                "law": delta_of(*pair, threshold, EPSILON), "coins": delta_of(*coins, threshold, EPSILON),
                "listed": delta_of(*(listed(people, k, sampled) for k in (ones, ones + 1)), threshold, EPSILON),
            }  # fmt: skip
            worst = {name: max(value, found[name]) for name, value in worst.items()}
        yield {
            "part": "small", "people": people, "zeros": None, "sampled": sampled, "threshold": threshold,
            FIXED: worst["law"], COINS: worst["coins"], "enumerated": worst["listed"],
        }  # fmt: skip


def listed(people: int, ones: int, sampled: int) -> Law:
    """By listing every sample."""
    found = [sum(person < ones for person in sample) for sample in combinations(range(people), sampled)]
    return Law(0, np.bincount(found, minlength=sampled + 1) / len(found))


def _answer(rows: list[dict[str, Any]]) -> str:
    large, small = ([row for row in rows if row["part"] == part] for part in ("large", "small"))
    same = [row for row in large if row["people"] == LARGE]
    worst = max(same, key=lambda row: row[FIXED])
    safe = min(row["zeros"] for row in same if row[FIXED] <= DELTA)
    coins = max(row[COINS] for row in large)
    sizes = [row for row in large if row["zeros"] == 1]
    gap = max(abs(row["enumerated"] - row[FIXED]) for row in small)
    return (
        f"Because a fixed sample adds up: if all but one person hold a one and {worst['sampled']:,} of {LARGE:,} are "
        f"drawn, a count of {worst['sampled'] - 1:,} betrays that the one who differs is among them, and no "
        f"threshold hides it. With {worst['zeros']} zero the exact delta at epsilon = {EPSILON:g} is "
        f"{number(worst[FIXED])}, the sampled share itself, where coins of the same rate and the same threshold of "
        f"{THRESHOLD} keep it at {coins:.1e} for every number of ones. More people do not help: it is "
        f"{number(sizes[0][FIXED])} for {sizes[0]['people']:,} and {number(sizes[-1][FIXED])} for "
        f"{sizes[-1]['people']:,}. Each further zero multiplies the chance that all of them are drawn by about the "
        f"rate, so that it falls below {DELTA:g} from {safe} zeros on; but that is something about the data, which "
        f"no protocol can promise. Listing every sample of up to {max(row['people'] for row in small)} people gives "
        f"the same as the hypergeometric law (within {gap:.0e})."
    )


def _sheet(rows: list[dict[str, Any]]) -> Sheet:
    large = [row for row in rows if row["part"] == "large"]
    chosen = [row for row in large if row["people"] != LARGE or row["zeros"] in {1, 2, 3, 5, 10, 100}]
    chosen += [row for row in rows if row["part"] == "small"]
    cells = [
        (
            f"{row['people']:,}", f"{row['sampled']:,}", str(row["threshold"]),
            "the worst" if row["zeros"] is None else f"{row['zeros']:,}", f"{row[FIXED]:.3g}", f"{row[COINS]:.3g}",
            "" if row["enumerated"] is None else f"{row['enumerated']:.3g}",
        )
        for row in chosen
    ]  # fmt: skip
    headings = ("people", "sampled", "threshold", "zeros", "delta, fixed number", "delta, by coins", "listed")
    return Sheet(headings, tuple(cells), frozenset(range(7)), f"Exact delta at epsilon = {EPSILON:g}")


def _drawn(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    same = [row for row in rows if row["part"] == "large" and row["people"] == LARGE]
    sizes = sorted((row for row in rows if row["zeros"] == 1), key=lambda row: row["people"])
    up = Axis(f"exact delta at epsilon = {EPSILON:g}", log=True, low=TINY, high=3.0)
    claim = [Note(f"the budget's {DELTA:g}", y=DELTA, at=0.4)]
    zeros = [Line(kind, [(row["zeros"], max(row[kind], TINY)) for row in same]) for kind in (FIXED, COINS)]
    people = [Line(kind, [(row["people"], max(row[kind], TINY)) for row in sizes]) for kind in (FIXED, COINS)]
    return graphs(
        [
            Graph(zeros, Axis("people who do not hold a one", log=True), up, f"{LARGE:,} people", claim),
            Graph(people, Axis("people", log=True), up, "all but one hold a one", claim),
        ],
        path, title="A sample of fixed size betrays whoever is not in it; coins do not", theme=theme,
        subtitle=f"Sample and threshold, {same[0]['sampled'] / LARGE:.0%} sampled, threshold {THRESHOLD}", labels=1.6,
    )  # fmt: skip
