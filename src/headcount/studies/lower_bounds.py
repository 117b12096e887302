r"""What no protocol can beat, drawn beside those that come near it.

Local. Whatever a person's report is, if it is private with epsilon it can be made from one flipped bit of theirs
[KOV14]: the two laws of it have a trade-off curve below that of the bit. So nobody who asks each person once learns
more than from n flipped bits, and the error is at least that of the best estimate from these. With the number of ones
evenly spread over 0 .. n beforehand, that is the mean of its variance given the flipped total, which can be summed:
a lower bound with its constant, for the worst crowd, for every n.

Central. All mechanisms from counts to counts that are private are the points of a polytope, and the smallest worst
expected error is a linear programme [GRS12].

[KOV14] Kairouz, Oh and Viswanath, Extremal Mechanisms for Local Differential Privacy, NIPS 2014.
[GRS12] Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, SICOMP 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.task import Count, Sum, Task
from headcount.drawing.axis import Axis
from headcount.drawing.canvas import number
from headcount.drawing.lines import BOUND, RULE, SOLID, Line, Panel, lines
from headcount.planner.competitors import Watch
from headcount.planner.sheet import Sheet
from headcount.privacy import laws
from headcount.privacy.calibrate import calibrate
from headcount.protocols import named
from headcount.studies.study import Finding, Study

SMALL = (10, 20, 50, 100, 200, 500, 1_000, 2_000)
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0)
AT, ONE = 500, 1.0  # people and epsilon at which the others are varied
LARGE = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
TINY = (2, 4, 6, 8, 12, 16, 20, 24)
LOOSE = 0.05  # a delta at which the central bound no longer holds
SHUFFLED = ("cheu-count", "poisson-count", "correlated-count", "geometric")


class LowerBounds(Study):
    name: ClassVar[str] = "lower-bounds"
    question: ClassVar[str] = (
        "How near do randomised response, one message and the geometric count come to what is possible?"
    )
    source: ClassVar[str] = "the notes' survey: randomised response is the best you can do, and the geometric count too"

    def run(self, quick: bool = False, watch: Watch = iter) -> Finding:
        small, epsilons, large, tiny = (
            (SMALL[:6:2], EPSILONS[1::2], LARGE[::4], TINY[::3]) if quick else (SMALL, EPSILONS, LARGE, TINY)
        )
        jobs = [("local", n, ONE) for n in small] + [("local", AT, e) for e in epsilons if AT not in small or e != ONE]
        jobs += [("shuffle", n, ONE) for n in large] + [("central", n, ONE) for n in tiny]
        rows = [row for model, n, epsilon in watch(jobs) for row in ROWS[model](n, epsilon)]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_drawn, rows))


def least_local(people: int, epsilon: float) -> float:
    """No local count of one report each errs by less, at its worst crowd."""
    flip = 1.0 / (1.0 + math.exp(epsilon))
    moments = np.zeros((3, people + 1))
    for ones in range(people + 1):
        total = laws.binomial(ones, 1.0 - flip) + laws.binomial(people - ones, flip)
        places = slice(total.start, total.start + total.masses.size)
        for power in range(3):
            moments[power, places] += total.masses * (ones - people / 2.0) ** power
    mass, first, second = moments[:, moments[0] > 0.0]
    return math.sqrt(float((second - first**2 / mass).sum()) / (people + 1))


@lru_cache(maxsize=64)
def least_central(people: int, epsilon: float, delta: float) -> float:
    """The smallest worst expected error of a private count of so few people, in people: a linear programme.

    Its unknowns are the chances of every answer to every count, and for each pair of neighbours what exceeds epsilon;
    that must not add up to more than delta. The last unknown is the worst error."""
    from scipy.optimize import linprog

    size, factor = people + 1, math.exp(epsilon)
    pairs = [pair for count in range(people) for pair in ((count, count + 1), (count + 1, count))]
    chances, excesses = size * size, len(pairs) * size
    width = chances + excesses + 1
    above, total, error = np.zeros((excesses, width)), np.zeros((len(pairs), width)), np.zeros((size, width))
    for k, (one, other) in enumerate(pairs):
        for answer in range(size):
            row = k * size + answer
            above[row, [one * size + answer, other * size + answer, chances + row]] = 1.0, -factor, -1.0
            total[k, chances + row] = 1.0
    whole = np.zeros((size, width))
    for count in range(size):
        answers = slice(count * size, (count + 1) * size)
        error[count, answers], error[count, -1] = np.abs(np.arange(size) - count), -1.0
        whole[count, answers] = 1.0
    limits = np.concatenate([np.zeros(excesses), np.full(len(pairs), delta), np.zeros(size)])
    found = linprog(
        np.eye(1, width, width - 1)[0], A_ub=np.vstack([above, total, error]), b_ub=limits, A_eq=whole,
        b_eq=np.ones(size), bounds=(0, None), method="highs",
    )  # fmt: skip
    return math.inf if found.fun is None else float(found.fun)


def geometric(epsilon: float, people: int | None = None) -> float:
    """The worst expected error of the geometric count, as it is or brought into 0 .. people."""
    a = math.exp(-epsilon)
    if people is None:
        return 2.0 * a / (1.0 - a * a)
    middle = people // 2
    # Up to d steps away on either side: a, a^2, ... and all that lies beyond at the end.
    return sum(a**j for side in (middle, people - middle) for j in range(1, side + 1)) / (1.0 + a)


def _error(name: str, people: int, budget: Budget) -> float:
    task: Task = Count() if "count" in named(name).tasks else Sum((0, 1))
    return calibrate(named(name), task, Crowd(people), budget).rmse()


def _local(people: int, epsilon: float) -> list[dict[str, Any]]:
    bound = least_local(people, epsilon)
    names = ("randomised-response", "duchi")
    return [_row("local", people, epsilon, 0.0, name, _error(name, people, Budget(epsilon)), bound) for name in names]


def _shuffle(people: int, epsilon: float) -> list[dict[str, Any]]:
    """Delta is one over the square of the crowd: the bound is for a power of it, and has no constant."""
    budget = Budget(epsilon, float(people) ** -2)
    shape = math.sqrt(math.log(people))
    return [
        _row("shuffle", people, epsilon, budget.delta, name, _error(name, people, budget), shape) for name in SHUFFLED
    ]


def _central(people: int, epsilon: float) -> list[dict[str, Any]]:
    found = geometric(epsilon, people)
    return [
        _row("central", people, epsilon, delta, "geometric", found, least_central(people, epsilon, delta))
        for delta in (0.0, 1e-6, LOOSE)
    ]


ROWS = {"local": _local, "shuffle": _shuffle, "central": _central}


def _row(
    model: str, people: int, epsilon: float, delta: float, name: str, error: float, bound: float
) -> dict[str, Any]:
    return {
        "model": model, "people": people, "epsilon": epsilon, "delta": delta, "protocol": name, "error": error,
        "bound": bound,
    }  # fmt: skip


def _sheet(rows: Sequence[dict[str, Any]]) -> Sheet:
    headings = ("model", "people", "epsilon", "delta", "protocol", "its error", "lower bound", "ratio")
    cells = [
        (
            row["model"], f"{row['people']:,}", f"{row['epsilon']:g}", f"{row['delta']:.3g}", row["protocol"],
            f"{row['error']:.4g}", f"{row['bound']:.4g}" + (" (shape)" if row["model"] == "shuffle" else ""),
            f"{row['error'] / row['bound']:.3f}",
        )
        for row in rows
    ]  # fmt: skip
    return Sheet(headings, tuple(cells), frozenset({1, 2, 3, 5, 6, 7}))


def _of(rows: Sequence[dict[str, Any]], **fixed: Any) -> list[dict[str, Any]]:
    chosen = [row for row in rows if all(row[name] == value for name, value in fixed.items())]
    return sorted(chosen, key=lambda row: (row["people"], row["epsilon"]))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    local = _of(rows, model="local", protocol="randomised-response", epsilon=ONE)
    first, last = local[0], local[-1]
    single, several = (_of(rows, model="shuffle", protocol=name) for name in ("cheu-count", "correlated-count"))
    pure, tight, loose = (_of(rows, model="central", delta=delta)[-1] for delta in (0.0, 1e-6, LOOSE))
    return (
        "Randomised response is as good as it gets, constant included: its error is "
        f"{first['error'] / first['bound']:.2f} times the least possible for {first['people']:,} people and "
        f"{last['error'] / last['bound']:.3f} times for {last['people']:,}, at epsilon {ONE:g}, and tends to it; the "
        "notes' 1/√n for the mean leaves out the epsilon, which is most of it for a small one. One message each, at "
        f"delta = 1/n², has a squared error of {single[0]['error'] ** 2 / math.log(single[0]['people']):.2f} to "
        f"{single[-1]['error'] ** 2 / math.log(single[-1]['people']):.2f} ln n from {single[0]['people']:,} to "
        f"{single[-1]['people']:,} people, nearly the shape of its lower bound; a few more stay at "
        f"{number(several[-1]['error'])} (correlated-count). Centrally, no pure count of {pure['people']} people errs "
        f"by less than {pure['bound']:.4f} on average at its worst, and the geometric one by {pure['error']:.4f}; "
        f"delta 1e-06 lowers the bound by {1 - tight['bound'] / pure['bound']:.2g} of it, delta {LOOSE:g} to "
        f"{loose['bound']:.3f}: it is a bound for pure privacy and one count only."
    )


def _drawn(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def points(key: str, value: str, **fixed: Any) -> list[tuple[float, float]]:
        return [(float(row[key]), row[value]) for row in _of(rows, **fixed)]

    def local(key: str, **fixed: Any) -> list[Line]:
        at = dict(model="local", **fixed)
        return [
            Line("duchi, for any numbers", points(key, "error", **at, protocol="duchi"), "duchi", SOLID),
            Line("randomised response", points(key, "error", **at, protocol="randomised-response"), "sampling"),
            Line("nobody can do better", points(key, "bound", **at, protocol="duchi"), "ink", BOUND),
        ]  # fmt: skip

    crowds = [float(n) for n in sorted({row["people"] for row in _of(rows, model="local", epsilon=ONE)})]
    single = points("people", "error", model="shuffle", protocol="cheu-count")
    scale = single[0][1] / math.sqrt(math.log(single[0][0]))
    words = {"cheu-count": "cheu-count, one message", "correlated-count": "correlated-count, a few more messages"}
    shuffle = [
        Line(words.get(name, name), points("people", "error", model="shuffle", protocol=name), name,
             BOUND if name == "poisson-count" else SOLID) for name in SHUFFLED
    ]  # fmt: skip
    shuffle.append(
        Line("√ln n, scaled to touch", [(x, scale * math.sqrt(math.log(x))) for x, _ in single], "ink", RULE)
    )
    central = [
        Line("geometric, kept within 0 and n", points("people", "error", model="central", delta=0.0), "geometric"),
        Line("no pure count can do better", points("people", "bound", model="central", delta=0.0), "ink", BOUND),
        Line(f"with δ = {LOOSE:g} one can", points("people", "bound", model="central", delta=LOOSE), "soft", RULE),
    ]
    notes = Line("√n, by the notes", [(n, math.sqrt(n)) for n in crowds], "soft", RULE)
    people, error = Axis("people", log=True), Axis("error, people", log=True)
    panels = [
        Panel([*local("people", epsilon=ONE), notes], people, error, "Local, ε = 1"),
        Panel(local("epsilon", people=AT), Axis("epsilon", log=True), error, f"Local, {AT} people"),
        Panel(shuffle, people, Axis("error, people"), "Shuffled, ε = 1, δ = 1/n²"),
        Panel(central, Axis("people"), Axis("mean size of the error"), "Central, ε = 1"),
    ]  # fmt: skip
    return lines(
        panels, path, title="Randomised response and the geometric count are the best of their kind",
        subtitle="Errors of counts beside what no protocol of the kind can beat", theme=theme,
    )  # fmt: skip
