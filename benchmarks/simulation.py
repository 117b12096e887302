"""One simulated tally of 10^9 people, drawn from its law without touching any of them."""

from __future__ import annotations

from functools import partial

from headcount.core.budget import Budget
from headcount.core.coins import SeededCoins
from headcount.core.crowd import Crowd
from headcount.core.task import Count
from headcount.privacy.calibrate import calibrate
from headcount.protocols import CATALOGUE
from page import Section
from timing import Spread, interleaved

PEOPLE = 10**9
BUDGET = Budget(1.0, 1e-6)
MANY = 1000


def measure(quick: bool) -> Section:
    rows, marginal = [], []
    for cls in CATALOGUE:
        protocol = calibrate(cls, Count(), Crowd(PEOPLE), BUDGET)
        draw = partial(protocol.sample, PEOPLE // 3, PEOPLE, SeededCoins(1))
        contenders = {"one": partial(draw, runs=1), "many": partial(draw, runs=MANY)}
        interleaved(contenders, 1)
        times = interleaved(contenders, 5 if quick else 15)
        one, many = (Spread.of([1e3 * second for second in times[name]]) for name in contenders)
        marginal.append(1e3 * max(0.0, many.median - one.median) / (MANY - 1))
        rows.append([cls.name, f"{one:.2f} ms", f"{many.median / MANY:.4f} ms", "none", "none"])
    return Section(
        "One simulated tally",
        f"`protocol.sample(truth, 10**9, SeededCoins(1), runs=1)` at epsilon {BUDGET.epsilon:g}, delta "
        f"{BUDGET.delta:g}, and the same per tally with `runs={MANY}`. No peer draws a tally's law directly.",
        ["protocol", "one tally (spread)", f"a tally among {MANY:,}", "peer", "target"],
        rows,
        "Computing the law's masses over its window, some thirteen standard deviations either side, once per call; "
        f"drawing from it then costs {min(marginal):.2f} to {max(marginal):.2f} µs a tally.",
    )
