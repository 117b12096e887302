r"""What no protocol can beat: proved lower bounds, computed, beside the protocols that come near.

Local counts. Whatever a person's report is, if it is private with epsilon it can be made from one
flipped bit of theirs [KOV16]: the two laws of it have a trade-off curve below that of the bit. So
nobody who asks each person once learns more than from n flipped bits, and the error is at least
that of the best estimate from these. With the number of ones evenly spread over 0 .. n beforehand,
that is the mean of its variance given the flipped total, which can be summed: a lower bound with
its constant, for the worst crowd, for every n.

Local histograms. Let V be one of d - 1 bins, evenly, and let each person hold V with chance h,
otherwise the last bin. A report then has the law (1-h) Q_0 + h Q_V, where Q_V/Q_0 lies within
e^-epsilon and e^epsilon and is 1 on average, so that its variance is at most (e^epsilon - 1)(1 -
e^-epsilon) = 4 sinh^2(epsilon/2) (Bhatia and Davis). The divergence from Q_0 is at most the
chi-square, h^2 times that; so n reports tell at most I = 4 n h^2 sinh^2(epsilon/2) about V, also if
each randomiser is chosen by the reports before. By Fano, any guess of V is wrong with a chance of
at least 1 - (I + ln 2)/ln(d - 1). But if t people hold V and every bin is off by less than t/2, the
largest of the d - 1 estimates is V's: so some bin is off by t/2 or more with a chance of at least 1
- (I + ln 2)/ln(d - 1) - P[Bin(n, h) < t], on average and so in some crowd. The best h and t are
searched for.

Central counts, and all others: what a shuffled or local protocol answers is centrally private too.
All mechanisms from counts to counts that are private are the points of a polytope, and the smallest
worst mean size of the error is a linear programme [GRS12]; answers between whole numbers can be
rounded to either side at random and are then as good. Any dual bounds it from below, and the one
that is found is evaluated with what it lacks in feasibility taken off. All but a few people of a
crowd may hold a zero, so that the bound for few people holds for many.

For one message each the squared error is also at least of the order of ln n, for delta a power of
1/n [GKMP20]. No constant is known for that, so it is not drawn.

[KOV16] Kairouz, Oh and Viswanath, Extremal Mechanisms for Local Differential Privacy, JMLR 2016.
[GRS12] Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy Mechanisms,
SICOMP 2012. [GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages,
ICML 2020.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, SOLID, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy import laws
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.laws import binomial_masses
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum
from headcount_survey.study import Finding, Study

SMALL = (10, 20, 50, 100, 200, 500, 1_000, 2_000)
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0)
AT, ONE = 500, 1.0  # people and epsilon at which the others are varied
LARGE = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
TINY = (2, 4, 6, 8, 12, 16, 20, 24)
LOOSE = 0.05  # a delta at which the central bound no longer holds
CAPTION = (
    "In colours, what protocols achieve; dashed and without colour, what is proved that no "
    "protocol of the kind can beat, with its constant. The last bound is that of a central "
    "analyser, and so of everybody."
)
BINS, HOLDERS, SURE = (10, 100, 1_000, 10**4, 10**5, 10**6, 10**7), 2_000, 0.95
FEW = 16  # people who may differ, in the bound for large crowds
SHUFFLED = ("cheu-count", "poisson-count", "correlated-count", "geometric")


class LowerBounds(Study):
    name: ClassVar[str] = "lower-bounds"
    question: ClassVar[str] = "How near do local, shuffled and central counts come to what is possible?"
    source: ClassVar[str] = "the notes' survey: randomised response is the best you can do, and the geometric count too"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        small, epsilons, large, tiny, bins = (
            (SMALL[:6:2], EPSILONS[1::2], LARGE[::4], TINY[::3], BINS[::3])
            if quick
            else (SMALL, EPSILONS, LARGE, TINY, BINS)
        )
        jobs = [("local", n, ONE) for n in small] + [("local", AT, e) for e in epsilons if AT not in small or e != ONE]
        jobs += [("bins", d, ONE) for d in bins]
        jobs += [("shuffle", n, ONE) for n in large] + [("central", n, ONE) for n in tiny]
        rows = [row for model, n, epsilon in watch(jobs) for row in ROWS[model](n, epsilon)]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows), caption=CAPTION)


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


def least_local_histogram(people: int, bins: int, epsilon: float) -> float:
    """No local histogram of one report keeps every bin within less with chance `SURE`."""

    def certain(share: float) -> int:
        """How many hold the bin at least, but for the chance that is left over."""
        told = people * (2.0 * share * math.sinh(epsilon / 2.0)) ** 2
        left = SURE - (told + math.log(2.0)) / math.log(bins - 1)
        holders = np.arange(people + 1.0)
        return int(np.searchsorted(np.cumsum(binomial_masses(holders, people, share, 1.0 - share)), left))

    return max(certain(share) for share in np.geomspace(1.0 / people, 0.5, 200).tolist()) / 2.0


@lru_cache(maxsize=64)
def least_central(people: int, epsilon: float, delta: float) -> float:
    """The smallest worst expected error of a private count of few people: a linear programme.

    Its unknowns are the chances of every answer to every count, and for each pair of neighbours
    what exceeds epsilon; that must not add up to more than delta. The last unknown is the worst
    error."""
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
    goal, bounded = np.eye(1, width, width - 1)[0], np.vstack([above, total, error])
    found = linprog(goal, bounded, limits, whole, np.ones(size), bounds=(0, None), method="highs")
    # Weak duality, for variables that need not exceed 1 and an error that need not exceed the
    # number of people.
    prices, levels = np.minimum(found.ineqlin.marginals, 0.0), found.eqlin.marginals
    lacking = np.minimum(goal - prices @ bounded - levels @ whole, 0.0)
    return float(prices @ limits + levels.sum() + lacking[:-1].sum() + people * lacking[-1])


def geometric(epsilon: float, people: int | None = None) -> float:
    """The worst expected error of the geometric count, as it is or brought into 0 .. people."""
    a = math.exp(-epsilon)
    if people is None:
        return 2.0 * a / (1.0 - a * a)
    middle = people // 2
    # Up to d steps away on either side: a, a^2, ... and all that lies beyond at the end.
    return sum(a**j for side in (middle, people - middle) for j in range(1, side + 1)) / (1.0 + a)


def _calibrated(name: str, task: Question, people: int, budget: Budget) -> Protocol:
    return calibrate(named(name), task, Crowd(people), budget)


def _local(people: int, epsilon: float) -> list[dict[str, Any]]:
    bound, budget = least_local(people, epsilon), Budget(epsilon)
    tasks: dict[str, Question] = {"randomised-response": Count(), "duchi": Sum((0, 1))}
    errors = {name: _calibrated(name, task, people, budget).rmse() for name, task in tasks.items()}
    return [_row("local", people, epsilon, 0.0, name, "root mean square", errors[name], bound) for name in tasks]


def _bins(bins: int, epsilon: float) -> list[dict[str, Any]]:
    """The largest error of all bins, by independent flips: the limit kept often enough."""
    found = _calibrated("optimised-unary", Histogram(bins), HOLDERS, Budget(epsilon))
    worst = max(found.noise(truth, HOLDERS).half_width(SURE ** (1.0 / bins)) for truth in (0, HOLDERS))
    bound = least_local_histogram(HOLDERS, bins, epsilon)
    return [_row("local", HOLDERS, epsilon, 0.0, "optimised-unary", f"every bin, {SURE:.0%}", worst, bound, bins)]


def _shuffle(people: int, epsilon: float) -> list[dict[str, Any]]:
    """Delta is one over the square of the crowd."""
    budget = Budget(epsilon, float(people) ** -2)
    bound, rows = least_central(FEW, epsilon, budget.delta), []
    for name in SHUFFLED:
        law = _calibrated(name, Count(), people, budget).noise(people // 2, people)
        mean = float((law.masses * np.abs(law.values)).sum())
        rows.append(_row("shuffle", people, epsilon, budget.delta, name, "mean size", mean, bound))
    return rows


def _central(people: int, epsilon: float) -> list[dict[str, Any]]:
    found = geometric(epsilon, people)
    return [
        _row("central", people, epsilon, delta, "geometric", "mean size", found, least_central(people, epsilon, delta))
        for delta in (0.0, 1e-6, LOOSE)
    ]


ROWS = {"local": _local, "bins": _bins, "shuffle": _shuffle, "central": _central}


def _row(
    model: str,
    people: int,
    epsilon: float,
    delta: float,
    name: str,
    measure: str,
    error: float,
    bound: float,
    bins: int = 1,
) -> dict[str, Any]:
    return {
        "model": model,
        "people": people,
        "bins": bins,
        "epsilon": epsilon,
        "delta": delta,
        "protocol": name,
        "measure": measure,
        "error": error,
        "bound": bound,
    }


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    headings = (
        "model",
        "people",
        "bins",
        "ε",
        "δ",
        "protocol",
        "error measured as",
        "its error",
        "proved least",
        "ratio",
    )
    cells = [
        (
            row["model"],
            f"{row['people']:,}",
            f"{row['bins']:,}",
            f"{row['epsilon']:g}",
            f"{row['delta']:.3g}",
            row["protocol"],
            row["measure"],
            f"{row['error']:.4g}",
            f"{row['bound']:.4g}",
            f"{row['error'] / row['bound']:.3f}",
        )
        for row in rows
    ]
    return TextTable(headings, tuple(cells), frozenset({1, 2, 3, 4, 7, 8, 9}))


def _of(rows: Sequence[dict[str, Any]], **fixed: Any) -> list[dict[str, Any]]:
    chosen = [row for row in rows if all(row[name] == value for name, value in fixed.items())]
    return sorted(chosen, key=lambda row: (row["people"], row["bins"], row["epsilon"]))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    local = _of(rows, model="local", protocol="randomised-response", epsilon=ONE)
    first, last = local[0], local[-1]
    single, several = (_of(rows, model="shuffle", protocol=name) for name in ("cheu-count", "correlated-count"))
    pure, tight, loose = (_of(rows, model="central", delta=delta)[-1] for delta in (0.0, 1e-6, LOOSE))
    few, many = (_of(rows, protocol="optimised-unary")[i] for i in (0, -1))
    return (
        "Randomised response is as good as it gets, constant included: its error is "
        f"{first['error'] / first['bound']:.2f} times the least possible for {first['people']:,} people and "
        f"{last['error'] / last['bound']:.3f} times for {last['people']:,}, at ε = {ONE:g}, and tends to it; the "
        "notes' 1/√n for the mean leaves out the ε, which is most of it for a small one. Of a local histogram of "
        f"{HOLDERS:,} people some bin is off by {number(few['bound'])} or more once in {1 / (1 - SURE):.0f} times if "
        f"there are {few['bins']} bins and by {number(many['bound'])} if there are {many['bins']:,}, whatever the "
        f"protocol; one that exists stays within {number(few['error'])} and {number(many['error'])}. One message each, "
        f"at δ = 1/n², has a mean error of {number(single[0]['error'])} among {single[0]['people']:,} people and "
        f"{number(single[-1]['error'])} among {single[-1]['people']:,}; that it must grow is proved, but with no "
        f"constant that could be drawn. A few more messages stay at {number(several[-1]['error'])} "
        f"(correlated-count), where {number(several[-1]['bound'])} is the least for anybody. Centrally, no pure count "
        f"of {pure['people']} people errs by less than {pure['bound']:.4f} on average at its worst, and the geometric "
        f"one by {pure['error']:.4f}; δ = 1e-06 lowers the bound by {1 - tight['bound'] / pure['bound']:.2g} of it, "
        f"δ = {LOOSE:g} to {loose['bound']:.3f}: that bound is for pure privacy and one count only."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def points(key: str, value: str, **fixed: Any) -> list[tuple[float, float]]:
        return [(float(row[key]), row[value]) for row in _of(rows, **fixed)]

    def bound(text: str, key: str, **fixed: Any) -> Line:
        return Line(text, points(key, "bound", **fixed), "ink", BOUND)

    count, bins = {"model": "local", "epsilon": ONE, "protocol": "randomised-response"}, {"protocol": "optimised-unary"}
    words = {
        "cheu-count": "one message (cheu-count)",
        "correlated-count": "a few more (correlated-count)",
        "poisson-count": "dummies (poisson-count)",
        "geometric": "a trusted analyser (geometric)",
    }
    shuffle = [
        Line(
            text,
            points("people", "error", model="shuffle", protocol=name),
            name,
            BOUND if name == "poisson-count" else SOLID,
        )
        for name, text in words.items()
    ]
    people, error = Axis("people", log=True), "error, people"
    panels = [
        Panel(
            [
                Line("randomised response", points("people", "error", **count), "randomised-response"),
                bound("no local count does better", "people", **count),
            ],
            people,
            Axis(error, log=True),
            f"A local count, ε = {ONE:g}: root mean square",
        ),
        Panel(
            [
                Line("optimised unary code", points("bins", "error", **bins), "optimised-unary"),
                bound("no local histogram does better", "bins", **bins),
            ],
            Axis("bins", log=True),
            Axis(error, log=True),
            f"A local histogram, ε = {ONE:g}, {HOLDERS:,} people: the largest error, {SURE:.0%}",
        ),
        Panel(
            [*shuffle, bound("nobody does better", "people", model="shuffle", protocol="geometric")],
            people,
            Axis(error, log=True, low=0.5),
            f"A shuffled count, ε = {ONE:g}, δ = 1/n²: mean size",
        ),
    ]
    return lines(
        panels,
        path,
        title="Randomised response and the geometric count are the best of their kind",
        columns=1,
        subtitle="Errors in colours; dashed, without colour, what is proved that nobody can beat",
        theme=theme,
    )
