"""One simulated tally of 10^9 people, drawn from its law without touching any of them."""

from __future__ import annotations

from functools import partial

import numpy as np

from headcount.planner.calibrate import calibrate
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.coins import SeededCoins
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from page import Section
from timing import Spread, interleaved

PEOPLE = 10**9
BUDGET = Budget(1.0, 1e-6)
MANY = 1000
COUNTING = [cls for cls in CATALOGUE if Shape.BIT in cls.shapes and cls.sample is not Protocol.sample]


def measure(quick: bool) -> Section:
    rows, marginal = [], []
    held = np.array([PEOPLE - PEOPLE // 3, PEOPLE // 3])
    for cls in COUNTING:
        protocol = calibrate(cls, Count(), Crowd(PEOPLE), BUDGET)
        draw = partial(protocol.sample, held, SeededCoins(1))
        contenders = {"one": partial(draw, runs=1), "many": partial(draw, runs=MANY)}
        interleaved(contenders, 1)
        times = interleaved(contenders, 5 if quick else 15)
        one, many = (Spread.of([1e3 * second for second in times[name]]) for name in contenders)
        marginal.append(1e3 * max(0.0, many.median - one.median) / (MANY - 1))
        rows.append([cls.name, f"{one:.2f} ms", f"{many.median / MANY:.4f} ms", "none", "none"])
    return Section(
        "One simulated tally",
        f"`protocol.sample(held, SeededCoins(1), runs=1)` for a count of 10^9 people at epsilon {BUDGET.epsilon:g}, "
        f"delta {BUDGET.delta:g}, and the same per tally with `runs={MANY}`. No peer draws a tally's law directly.",
        ["protocol", "one tally (spread)", f"a tally among {MANY:,}", "peer", "target"],
        rows,
        "Computing the law's masses over its window, some thirteen standard deviations either side, once per call; "
        f"drawing from it then costs {min(marginal):.2f} to {max(marginal):.2f} µs a tally.",
    )
