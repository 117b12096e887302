"""How long it takes to find the parameters that fit a budget, and to advise: those of every protocol, ranked.

Run as a script, it calibrates everything once, prints JSON and ends: losses are remembered within a process, so every
round needs a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from time import perf_counter

from headcount.planner.advise import advise
from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from page import Section, met
from timing import Spread

TARGETS = {10**6: 0.5, 10**9: 3.0}
BUDGETS = tuple(Budget(epsilon, delta) for epsilon in (0.1, 1.0, 4.0) for delta in (1e-6, 1e-10))
LOOSE = Budget(2.0, 1e-5)  # not measured; loads whatever the protocol imports when first used

ADVICE: tuple[tuple[Question, int, float], ...] = (  # question, people, target in seconds
    (Count(), 10**4, 1.0),
    (Histogram(1_000), 10**5, 3.0),
    (Mean((0, 120)), 10**4, 3.0),
)

Case = tuple[type[Protocol], int, Budget]


def question(cls: type[Protocol]) -> Question:
    """A count where the protocol can count, else a histogram, else a sum of real numbers."""
    if Shape.BIT in cls.shapes:
        return Count()
    return Histogram(20) if Shape.ONE_OF in cls.shapes else Sum((0, 1))


def cases(quick: bool) -> list[Case]:
    budgets = BUDGETS[2:3] if quick else BUDGETS
    return [(cls, people, budget) for cls in CATALOGUE for people in TARGETS for budget in budgets]


def timed(cls: type[Protocol], people: int, budget: Budget) -> tuple[float, float]:
    """Seconds to calibrate, and for one exact loss near the setting found: calibration is at least some of these."""
    start = perf_counter()
    protocol = calibrate(cls, question(cls), Crowd(people), budget)
    calibrated = perf_counter()
    replace(protocol, crowd=Crowd(people + 1)).loss.delta(budget.epsilon)  # one person more: not remembered
    return calibrated - start, perf_counter() - calibrated


def advised(task: Question, people: int) -> float:
    """Seconds for the whole page, with the smallest crowd and the interval of every protocol."""
    start = perf_counter()
    advise(task, n=people, epsilon=1.0, delta=1e-6).to_json()
    return perf_counter() - start


def child(quick: bool) -> tuple[list[tuple[float, float]], list[float]]:
    for cls in CATALOGUE:
        calibrate(cls, question(cls), Crowd(10**4), LOOSE)
    return [timed(*case) for case in cases(quick)], [advised(task, people) for task, people, _ in ADVICE]


def measure(quick: bool) -> Section:
    command = [sys.executable, __file__, *(["--quick"] if quick else [])]
    runs = range(1 if quick else 3)
    rounds = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in runs]
    taken = dict(zip(cases(quick), zip(*(calibrated for calibrated, _ in rounds), strict=True), strict=True))
    rows, worst = [], (0.0, "")
    for (task, people, target), each in zip(ADVICE, zip(*(pages for _, pages in rounds), strict=True), strict=True):
        figure = Spread.of(each)
        rows.append([
            "all, advised", f"{task.name} ({task.cells:,})" if task.cells > 1 else task.name, f"{people:,}", "1, 1e-06",
            f"{figure:.3f} s", "", "none", f"below {target:g} s", met(figure.median < target),
        ])  # fmt: skip
    for cls in CATALOGUE:
        for people, target in TARGETS.items():
            figures = {case[2]: Spread.of([s for s, _ in taken[case]]) for case in taken if case[:2] == (cls, people)}
            budget = max(figures, key=lambda budget: figures[budget].median)
            figure, each = figures[budget], taken[cls, people, budget]
            losses = Spread.of([whole / one for whole, one in each]).median
            worst = max(worst, (losses, f"{cls.name} at n = {people:,}"))
            rows.append([
                cls.name, question(cls).name, f"{people:,}", f"{budget.epsilon:g}, {budget.delta:g}",
                f"{figure:.3f} s", f"{losses:.0f}", "none", f"below {target:g} s", met(figure.median < target),
            ])  # fmt: skip
    return Section(
        "Calibration",
        "`calibrate(cls, task, Crowd(n), Budget(epsilon, delta))` for a count, or else a histogram of 20 categories, "
        "or else a sum of reals, at epsilon 0.1, 1, 4 and delta 1e-6, 1e-10 (in a quick run only 1 and 1e-6), each "
        "for the first time in its process: the slowest of each protocol. Before them, `advise(task, n=n, epsilon=1, "
        "delta=1e-6).to_json()` for everything together, with everybody's smallest crowd.",
        ["protocol", "task", "n", "slowest at epsilon, delta", "headcount (spread)", "in losses", "peer", "target", ""],
        rows,
        "The exact loss, evaluated once per setting tried; a handful of evaluations is the least a root finder needs. "
        f"The column *in losses* says how many evaluations' time was spent, at most {worst[0]:.0f} ({worst[1]}); "
        "what is far above twenty goes into ranking a protocol's other parameters by their error.",
    )


if __name__ == "__main__":
    print(json.dumps(child("--quick" in sys.argv)))
