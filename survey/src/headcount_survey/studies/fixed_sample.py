"""Why must people be sampled by coins, and not a fixed number of them?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, SOLID, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.privacy import laws
from headcount.privacy.pair import Pair
from headcount.programme.law import Law
from headcount_survey.studies.sampling_rate import exactly
from headcount_survey.study import Finding, Study

EPSILON, DELTA, THRESHOLD = 1.0, 1e-6, 17
SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
LARGE = 10_000
FIXED, COINS = "a fixed number of people", "by coins"
TINY = 1e-20


class FixedSample(Study):
    name: ClassVar[str] = "fixed-sample"
    question: ClassVar[str] = "Why must people be sampled by coins, and not a fixed number of them?"
    source: ClassVar[str] = "draft of sample-and-threshold: sampling m of n people without replacement"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rate = exactly(EPSILON, DELTA, THRESHOLD)
        few = list(range(1, 40))
        many = np.geomspace(40, LARGE - 100, 12 if quick else 50).round().astype(int).tolist()
        last = [LARGE - ones for ones in range(100, THRESHOLD - 1, -4 if quick else -1)]  # where coins are worst
        sizes = SIZES[::3] if quick else SIZES
        grid = [*((LARGE, zeros) for zeros in few + many + last), *((n, 1) for n in sizes if n != LARGE)]
        rows = [_row(n, rate, z) for n, z in watch(grid)]
        rows += list(_small())
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def hypergeometric(people: int, sampled: int, ones: int) -> Law:
    """The law of the number of ones in a sample drawn without replacement."""
    first, last = max(0, sampled - (people - ones)), min(ones, sampled)
    x = np.arange(first, last + 1)
    logs = _choose(ones, x) + _choose(people - ones, sampled - x) - _choose(people, np.array([sampled]))
    return Law(first, np.exp(logs))


def _choose(n: int, k: Any) -> Any:
    from scipy.special import gammaln

    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def shown(law: Law, threshold: int) -> Law:
    """The law of what passes the threshold; all the rest is one outcome, 0."""
    masses = np.zeros(law.start + law.masses.size)
    masses[law.start :] = law.masses
    hidden = masses[:threshold].sum()
    masses[:threshold] = 0.0
    masses[0] = hidden
    return Law(0, masses)


def delta_of(law: Callable[[int], Law], ones: int, threshold: int) -> float:
    """Delta of one more person with a one against none, in the worse order."""
    pair = Pair.of(shown(law(ones + 1), threshold), shown(law(ones), threshold))
    forward, backward = pair.orders(np.array([EPSILON]))
    return float(max(forward[0], backward[0]))


def _row(people: int, rate: float, zeros: int) -> dict[str, Any]:
    """A row for a person who holds a one or not, among this many others who hold none at least."""
    ones, sampled = people - zeros, round(rate * people)
    return {
        "part": "large",
        "people": people,
        "zeros": zeros,
        "sampled": sampled,
        "threshold": THRESHOLD,
        FIXED: delta_of(partial(hypergeometric, people, sampled), ones, THRESHOLD),
        COINS: delta_of(partial(laws.binomial, chance=rate), ones, THRESHOLD),
        "enumerated": None,
    }


def _small() -> Iterator[dict[str, Any]]:
    """All samples of a few people beside the law: the worst number of ones among them."""
    for people, sampled, threshold in ((5, 2, 1), (6, 3, 2), (8, 3, 2), (8, 4, 3)):
        ways: list[Callable[[int], Law]] = [
            partial(hypergeometric, people, sampled),
            partial(laws.binomial, chance=sampled / people),
            partial(listed, people, sampled),
        ]
        fixed, coins, one_by_one = (max(delta_of(way, ones, threshold) for ones in range(people)) for way in ways)
        yield {
            "part": "small",
            "people": people,
            "zeros": None,
            "sampled": sampled,
            "threshold": threshold,
            FIXED: fixed,
            COINS: coins,
            "enumerated": one_by_one,
        }


def listed(people: int, sampled: int, ones: int) -> Law:
    """Delta by listing every sample."""
    found = [sum(person < ones for person in sample) for sample in combinations(range(people), sampled)]
    return Law(0, np.bincount(found, minlength=sampled + 1) / len(found))


def _answer(rows: list[dict[str, Any]]) -> str:
    large, small = ([row for row in rows if row["part"] == part] for part in ("large", "small"))
    same = [row for row in large if row["people"] == LARGE]
    worst = max(same, key=lambda row: row[FIXED])
    safe = 1 + max(row["zeros"] for row in same if row["zeros"] < LARGE // 2 and row[FIXED] > DELTA)
    coins = max(row[COINS] for row in large)
    sizes = sorted((row for row in large if row["zeros"] == 1), key=lambda row: row["people"])
    gap = max(abs(row["enumerated"] - row[FIXED]) for row in small)
    return (
        "Because a fixed sample adds up, so that zeros are told as well, and without a threshold: if all but one "
        f"person hold a one and {worst['sampled']:,} of {LARGE:,} are drawn, a count of {worst['sampled'] - 1:,} "
        f"betrays that the one who differs is among them, and no threshold hides it. With {worst['zeros']} zero the "
        f"exact delta at epsilon = {EPSILON:g} is {number(worst[FIXED])}, the sampled share itself, where coins of "
        f"the same rate and the same threshold of {THRESHOLD} keep it at {coins:.1e} for every number of ones. More "
        f"people do not help: it is {number(sizes[0][FIXED])} for {sizes[0]['people']:,} and "
        f"{number(sizes[-1][FIXED])} for {sizes[-1]['people']:,}. Each further zero multiplies the chance that all "
        f"of them are drawn by about the rate, so that it falls below {DELTA:g} from {safe} zeros on; but that is "
        "something about the data, which no protocol can promise. Listing every sample of up to "
        f"{max(row['people'] for row in small)} people gives the same as the hypergeometric law (within {gap:.0e})."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    large = [row for row in rows if row["part"] == "large"]
    chosen = [row for row in large if row["people"] != LARGE or row["zeros"] in {1, 2, 3, 5, 10, 100}]
    chosen += [row for row in rows if row["part"] == "small"]
    cells = [
        (
            f"{row['people']:,}",
            f"{row['sampled']:,}",
            str(row["threshold"]),
            "the worst" if row["zeros"] is None else f"{row['zeros']:,}",
            f"{row[FIXED]:.3g}",
            f"{row[COINS]:.3g}",
            "" if row["enumerated"] is None else f"{row['enumerated']:.3g}",
        )
        for row in chosen
    ]
    headings = ("people", "sampled", "threshold", "zeros", "delta, fixed number", "delta, by coins", "listed")
    return TextTable(headings, tuple(cells), frozenset(range(7)), f"Exact delta at epsilon = {EPSILON:g}")


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    same = [row for row in rows if row["part"] == "large" and row["people"] == LARGE]
    dense = [row for row in same if row["zeros"] <= 100]
    sparse = sorted((row for row in same if row["zeros"] >= LARGE - 100), key=lambda row: -row["zeros"])
    up = Axis(f"exact delta at epsilon = {EPSILON:g}", log=True, low=TINY, high=3.0)
    budget = [Note(f"the budget's {DELTA:g}", y=DELTA, at=at) for at in (0.05, 0.5)]
    betrayed = Line(FIXED, [(row["zeros"], row[FIXED]) for row in dense])
    hidden = [
        Line(kind, [(LARGE - row["zeros"], row[kind]) for row in sparse], dashes=dashes)
        for kind, dashes in ((FIXED, SOLID), (COINS, BOUND))
    ]
    quiet = "by coins, less than can be drawn" if max(row[COINS] for row in dense) < TINY else ""
    return lines(
        [
            Panel(
                [betrayed],
                Axis("people who do not hold a one", log=True),
                up,
                "nearly everybody holds a one",
                [budget[0], Note(quiet, y=TINY, at=0.02)],
            ),
            Panel(hidden, Axis("people who hold a one"), up, "hardly anybody does", budget[1:]),
        ],
        path,
        title="A sample of fixed size betrays whoever differs from all the others; coins do not",
        theme=theme,
        subtitle=f"Sample and threshold among {LARGE:,} people, {same[0]['sampled'] / LARGE:.0%} sampled, threshold "
        f"{THRESHOLD}",
    )
