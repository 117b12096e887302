"""Does the error of additive noise depend on how many people hold a one?"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, SOLID, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.law import Floats
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount_survey.study import Finding, Study

PEOPLE = 10_000
BUDGETS = (Budget(1.0, 1e-6), Budget(0.5, 1e-6))
PAPER, EXACT = "the paper's constants", "exactly calibrated"
KINDS = (PAPER, EXACT)


class ErrorAndOnes(Study):
    name: ClassVar[str] = "error-and-ones"
    question: ClassVar[str] = "Does the error of additive binomial noise depend on how many people hold a one?"
    source: ClassVar[str] = "notes on which algorithm to use: the figure of the error against the fraction of ones"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        steps, runs = (13, 200) if quick else (33, 2_000)
        grid = [(found, ones) for found in protocols() for ones in numbers_of_ones(found[-1], steps)]
        rows, sizes, shares = [], [], []
        for seed, ((epsilon, kind, protocol), ones) in enumerate(watch(grid)):
            seen = protocol.simulate(np.repeat([0, 1], [PEOPLE - ones, ones]), runs=runs, seed=seed)
            rows.append(
                {
                    "epsilon": epsilon,
                    "delta": BUDGETS[0].delta,
                    "parameters": kind,
                    "thresholded": protocol.thresholded,
                    "floor": PEOPLE * float(protocol.gamma),
                    "ones": ones,
                    "share": ones / PEOPLE,
                    "bias": protocol.noise(ones, PEOPLE).bias,
                    "rmse": protocol.rmse(ones),
                    "simulated": seen.rmse,
                }
            )
            if not protocol.thresholded:
                sizes.append(np.abs(seen.errors[:, 0]) / rows[-1]["rmse"])
                shares.append(np.full(runs, ones / PEOPLE))
        correlation = _correlation(np.concatenate(shares), np.concatenate(sizes))
        return Finding(_answer(rows, correlation), rows, _sheet(rows), partial(_draw, rows))


def protocols() -> list[tuple[float, str, Zsum]]:
    """The protocol by the paper and calibrated, with and without threshold, for either budget."""
    found = []
    for budget in BUDGETS:
        crowd = Crowd(PEOPLE)
        gammas = (Zsum.published(budget, crowd)["gamma"], calibrate(Zsum, Count(), crowd, budget).gamma)
        for kind, gamma in zip(KINDS, gammas, strict=True):
            found += [(budget.epsilon, kind, Zsum(crowd=crowd, gamma=gamma, thresholded=t)) for t in (False, True)]
    return found


def numbers_of_ones(protocol: Zsum, steps: int) -> list[int]:
    """Numbers of ones from none to all, closer together about the floor."""
    about = PEOPLE * float(protocol.gamma) * np.array([0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.4])
    return sorted({0, *np.concatenate([np.geomspace(1, PEOPLE, steps), about]).round().astype(int).tolist()})


def _correlation(share: Floats, size: Floats) -> float:
    a, b = share - share.mean(), size - size.mean()
    return float((a * b).sum() / math.sqrt((a * a).sum() * (b * b).sum()))


def _of(rows: list[dict[str, Any]], epsilon: float, kind: str, thresholded: bool) -> list[dict[str, Any]]:
    wanted = (epsilon, kind, thresholded)
    return [row for row in rows if (row["epsilon"], row["parameters"], row["thresholded"]) == wanted]


def _answer(rows: list[dict[str, Any]], correlation: float) -> str:
    first = BUDGETS[0].epsilon
    plain = {kind: _of(rows, first, kind, False) for kind in KINDS}
    cut = {kind: max(_of(rows, first, kind, True), key=lambda row: row["rmse"]) for kind in KINDS}
    return (
        f"Without a threshold it does not: among {PEOPLE:,} people at epsilon = {first:g}, delta = "
        f"{BUDGETS[0].delta:g} the error is {number(plain[PAPER][0]['rmse'])} by the paper's constants and "
        f"{number(plain[EXACT][0]['rmse'])} exactly calibrated, whether nobody or everybody holds a one; over all "
        f"simulated runs the size of the error and the share of ones correlate by {correlation:+.3f}. The analyser "
        "of the paper, which answers 0 unless more ones come than there are people, is another matter: its error "
        f"grows to {number(cut[PAPER]['rmse'])} when {cut[PAPER]['ones']:,} hold a one ({number(cut[EXACT]['rmse'])} "
        f"at {cut[EXACT]['ones']:,} if calibrated), and only well above the floor of {number(cut[PAPER]['floor'])} "
        f"ones ({number(cut[EXACT]['floor'])}) is it that of the plain count. So the notes' claim that this suits a "
        "large crowd with few ones holds for the estimator without the threshold, and fails for the paper's own."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    chosen = [row for row in rows if row["ones"] in {0, PEOPLE} or row["thresholded"]]
    cells = [
        (
            f"{row['epsilon']:g}",
            row["parameters"],
            "yes" if row["thresholded"] else "no",
            f"{row['ones']:,}",
            number(row["bias"]) if abs(row["bias"]) > 1e-6 else "0",
            number(row["rmse"]),
            number(row["simulated"]),
        )
        for row in chosen
    ]
    headings = ("epsilon", "parameters", "thresholded", "ones", "bias", "error (rmse)", "simulated")
    return TextTable(headings, tuple(cells), frozenset({0, 3, 4, 5, 6}))


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    panels = []
    for budget in BUDGETS:
        curves, notes = [], []
        for kind in KINDS:
            for thresholded in (False, True):
                found = [row for row in _of(rows, budget.epsilon, kind, thresholded) if row["ones"]]
                label = f"{kind}, {'thresholded' if thresholded else 'plain'}"
                points = [(row["ones"], row["rmse"]) for row in found]
                seen = [(row["ones"], row["simulated"]) for row in found]
                curves.append(Line(label, points, kind, SOLID if thresholded else BOUND, seen))
            floor = found[0]["floor"]
            notes.append(Note(f"floor {number(floor)}", x=floor))
        title = f"epsilon = {budget.epsilon:g}, delta = {budget.delta:g}"
        across, up = Axis("people who hold a one", log=True), Axis("error (rmse, people)", log=True, low=0.8)
        panels.append(Panel(curves, across, up, title, notes))
    return lines(
        panels,
        path,
        title="The error does not depend on the number of ones, unless it is thresholded",
        theme=theme,
        subtitle=f"A count of {PEOPLE:,} people with binomial noise (zsum); lines are predicted, circles simulated",
    )
