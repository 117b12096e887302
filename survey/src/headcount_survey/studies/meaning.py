"""What does a budget mean to an observer, and do all protocols within it give the same away?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.approximate_dp import ApproximateDP
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.loss import PrivacyLoss
from headcount.programme.law import Floats
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount_survey.study import Finding, Study

PEOPLE, DELTA = 10_000, 1e-6
ALLOWED = "allowed by (ε, δ)"
PROTOCOLS = ("geometric", "correlated-count", "zsum")
EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
ALARMS = tuple(i / 100 for i in range(51))
FACTORS = tuple(1.0 + i / 40 for i in range(1, 101))  # by which the odds change, up to 3.5


class Meaning(Study):
    name: ClassVar[str] = "meaning"
    question: ClassVar[str] = "What does (epsilon, delta) let an observer find out about one person?"
    source: ClassVar[str] = "the notes' definitions; Dong, Roth and Su 2022 on trade-off curves"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        epsilons = (0.5, 1.0, 3.0) if quick else EPSILONS
        rows = [_row(name, epsilon) for epsilon in watch(list(epsilons)) for name in (ALLOWED, *PROTOCOLS)]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


@lru_cache(maxsize=64)
def count(name: str, epsilon: float) -> Protocol:
    return calibrate(named(name), Count(), Crowd(PEOPLE), Budget(epsilon, DELTA))


def loss(name: str, epsilon: float) -> PrivacyLoss:
    return ApproximateDP(Budget(epsilon, DELTA)) if name == ALLOWED else count(name, epsilon).loss


def guessed(name: str, epsilon: float) -> float:
    """How often the best guess between two equally likely values of the person is right."""
    return (1.0 + loss(name, epsilon).delta(0.0)) / 2.0


def caught(name: str, epsilon: float, alarms: Floats) -> Floats:
    """The largest share of true alarms at each share of false ones: the trade-off curve reversed.

    Of all tests none has more than e^t times the false alarms and the divergence at t beyond that,
    for any t; and for some t one has just that."""
    steps = np.unique([*np.linspace(0.0, epsilon + 8.0, 400), epsilon])
    forward, backward = loss(name, epsilon).orders(steps)
    # The divergence at -t is 1 - e^-t and e^-t times that of the other order at t.
    level = np.concatenate([np.exp(steps), np.exp(-steps)])
    extra = np.concatenate([forward, 1.0 - np.exp(-steps) + np.exp(-steps) * backward])
    return np.asarray(np.minimum(1.0, (level[:, None] * alarms + extra[:, None]).min(axis=0)))


def moved(name: str, epsilon: float, factor: float) -> float:
    """The chance that the view changes the odds about the person by over the factor, either way."""
    ends = np.log(np.array([factor, factor * (1.0 + 1e-6)]))
    forward, backward = loss(name, epsilon).orders(ends)
    width = factor * 1e-6
    above = (forward[0] - forward[1]) / width  # the other's chance of what is likelier under the truth by more
    below = (backward[0] - backward[1]) / width
    return float(forward[0] + factor * above + below)


def _row(name: str, epsilon: float) -> dict[str, Any]:
    few = float(caught(name, epsilon, np.array([0.05]))[0])
    error = None if name == ALLOWED else count(name, epsilon).rmse()
    return {
        "epsilon": epsilon,
        "protocol": name,
        "guessed": guessed(name, epsilon),
        "caught": few,
        "doubled": moved(name, epsilon, 2.0),
        "beyond": moved(name, epsilon, math.exp(epsilon)),
        "error": error,
    }


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    headings = (
        "epsilon",
        "protocol",
        "best guess is right",
        "caught at 5% false alarms",
        "the odds double",
        "they change by e^ε",
        "error",
    )
    cells = [
        (
            f"{row['epsilon']:g}",
            row["protocol"],
            f"{row['guessed']:.2%}",
            f"{row['caught']:.2%}",
            f"{row['doubled']:.3g}",
            f"{row['beyond']:.3g}",
            "" if row["error"] is None else number(row["error"]),
        )
        for row in rows
    ]
    return TextTable(headings, tuple(cells), frozenset({0, 2, 3, 4, 5, 6}))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    one = {row["protocol"]: row for row in rows if row["epsilon"] == 1.0}
    geometric, zsum, correlated = (one[name] for name in ("geometric", "zsum", "correlated-count"))
    return (
        "Epsilon bounds the odds: whoever thought a person's two values equally likely guesses right with a chance of "
        f"at most e^epsilon/(1 + e^epsilon), {one[ALLOWED]['guessed']:.1%} at epsilon 1. A geometric count gives that "
        f"much away every time ({geometric['guessed']:.1%}), the correlated one nearly so "
        f"({correlated['guessed']:.1%}). The same budget spent on zsum leaves {zsum['guessed']:.1%}, hardly better "
        f"than a coin: it doubles somebody's odds with a chance of {number(zsum['doubled'])}, the geometric count with "
        f"{number(geometric['doubled'])}. At 5% false alarms a test catches {geometric['caught']:.1%} with the one and "
        f"{zsum['caught']:.1%} with the other. An error of {number(zsum['error'])} instead of "
        f"{number(geometric['error'])} is the price of that, and (epsilon, delta) alone does not show it. Nor is delta "
        "the chance that somebody's odds change by more than e^epsilon: with zsum that is "
        f"{number(zsum['beyond'] / DELTA)} times delta, because delta counts only the excess."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    looks: dict[str, dict[str, Any]] = {ALLOWED: {"hue": "ink", "dashes": BOUND}}
    looks |= {name: {"hue": name} for name in PROTOCOLS}
    looks["correlated-count"]["dashes"] = BOUND  # geometric lies below it
    alarms = np.array(ALARMS)

    def tests(name: str) -> Line:
        return Line(name, list(zip(ALARMS, caught(name, 1.0, alarms).tolist(), strict=True)), **looks[name])

    def odds(name: str) -> Line:
        points = [(factor, moved(name, 1.0, factor)) for factor in FACTORS]
        return Line(name, [(factor, chance) for factor, chance in points if chance > 1e-9], **looks[name])

    def guesses(name: str) -> Line:
        return Line(name, [(r["epsilon"], r["guessed"]) for r in rows if r["protocol"] == name], **looks[name])

    def errors(name: str) -> Line:
        return Line(name, [(r["epsilon"], r["error"]) for r in rows if r["protocol"] == name], **looks[name])

    every = (ALLOWED, *PROTOCOLS)
    blind = Line("a coin", [(0.0, 0.0), (0.5, 0.5)], "soft", RULE)
    epsilon = Axis("epsilon", log=True)
    panels = [
        Panel(
            [*map(guesses, every)],
            epsilon,
            Axis("the best guess is right", shares=True, low=0.5, high=1.0),
            "Guesses, from even odds",
        ),
        Panel(
            [*map(tests, every), blind],
            Axis("false alarms", shares=True, low=0.0, high=0.5),
            Axis("caught", shares=True, low=0.0, high=1.0),
            "Tests, ε = 1",
        ),
        Panel(
            [*map(odds, PROTOCOLS), Line("δ", [(1.0, DELTA), (3.5, DELTA)], "soft", RULE)],
            Axis("factor", low=1.0, high=3.5),
            Axis("chance", log=True, low=1e-8, high=2.0),
            "Odds that change by more than a factor, ε = 1",
            [Note("$e^ε$", math.e)],
        ),
        Panel([*map(errors, PROTOCOLS)], epsilon, Axis("error, people", log=True), "What it costs"),
    ]
    return lines(
        panels,
        path,
        title="The same budget, and not the same given away",
        subtitle=f"Counts of {PEOPLE:,} people within δ = {DELTA:g}: what an observer learns of one person",
        theme=theme,
    )
