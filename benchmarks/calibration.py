"""How long it takes to find the parameters that fit a budget."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.protocol import Protocol
from headcount.core.task import Count
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE
from page import Section, met
from timing import Spread, seconds

TARGETS = {10**6: 0.5, 10**9: 3.0}
BUDGETS = tuple(Budget(epsilon, delta) for epsilon in (0.1, 1.0, 4.0) for delta in (1e-6, 1e-10))

Case = tuple[type[Protocol], int, Budget]


def timed(case: Case) -> tuple[float, Protocol]:
    cls, people, budget = case
    start = perf_counter()
    protocol = calibrate(cls, Count(), Crowd(people), budget)
    return perf_counter() - start, protocol


def one_loss(protocol: Protocol, epsilon: float) -> float:
    """Seconds for the exact loss at a single setting of the knob: calibration is at least a number of these."""
    return Spread.of([seconds(lambda: replace(protocol).loss.delta(epsilon)) for _ in range(5)]).median


def measure(quick: bool) -> Section:
    budgets = BUDGETS[2:3] if quick else BUDGETS
    cases = [(cls, people, budget) for cls in CATALOGUE for people in TARGETS for budget in budgets]
    rounds = [{case: timed(case) for case in cases} for _ in range(1 if quick else 5)]
    taken = {case: Spread.of([each[case][0] for each in rounds]) for case in cases}
    rows, worst = [], (0.0, "")
    for cls in CATALOGUE:
        for people, target in TARGETS.items():
            mine = [case for case in cases if case[:2] == (cls, people)]
            slowest = max(mine, key=lambda case: taken[case].median)
            budget, figure = slowest[2], taken[slowest]
            losses = figure.median / one_loss(rounds[0][slowest][1], budget.epsilon)
            worst = max(worst, (losses, f"{cls.name} at n = {people:,}"))
            rows.append([
                cls.name, f"{people:,}", f"{budget.epsilon:g}, {budget.delta:g}", f"{figure:.3f} s", f"{losses:.0f}",
                "none", f"below {target:g} s", met(figure.median < target),
            ])  # fmt: skip
    return Section(
        "Calibration",
        "`calibrate(cls, Count(), Crowd(n), Budget(epsilon, delta))` at epsilon 0.1, 1, 4 and delta 1e-6, 1e-10 (in a "
        "quick run only 1 and 1e-6): the slowest of each protocol.",
        ["protocol", "n", "slowest at epsilon, delta", "headcount (spread)", "in losses", "peer", "target", ""],
        rows,
        "The exact loss, evaluated once per setting tried; a handful of evaluations is the least a root finder needs. "
        f"The column *in losses* says how many evaluations' time was spent, at most {worst[0]:.0f} ({worst[1]}); "
        "what is far above twenty goes into ranking a protocol's other parameters by their error.",
    )
