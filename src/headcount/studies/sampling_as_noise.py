"""Are sampling with a threshold and additive noise the same thing?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.core.budget import Budget
from headcount.core.crowd import Crowd
from headcount.core.task import Count
from headcount.drawing.axis import Axis
from headcount.drawing.canvas import number
from headcount.drawing.lines import BOUND, SOLID, Line, Note, Panel, lines
from headcount.planner.competitors import Watch
from headcount.planner.sheet import Sheet
from headcount.privacy.calibrate import calibrate
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.studies.sampling_rate import exactly
from headcount.studies.study import Finding, Study

BUDGET, PEOPLE = Budget(1.0, 1e-6), 1_000_000
LARGEST = 10_000  # threshold
DRAFT = 17  # the draft's


class SamplingAsNoise(Study):
    name: ClassVar[str] = "sampling-as-noise"
    question: ClassVar[str] = "Are sampling with a threshold and additive noise the same thing?"
    source: ClassVar[str] = "notes on which algorithm to use: both algorithms are said to be equivalent"

    def run(self, quick: bool = False, watch: Watch = iter) -> Finding:
        steps = np.geomspace(5, LARGEST, 16 if quick else 110).round().astype(int).tolist()
        rates = {tau: exactly(BUDGET.epsilon, BUDGET.delta, tau) for tau in watch(sorted({DRAFT, *steps}))}
        cover = calibrate(PoissonCount, Count(), Crowd(PEOPLE), BUDGET)
        rows = [_left_out(tau, rate, float(cover.mean)) for tau, rate in rates.items()]
        ones = np.geomspace(30, LARGEST, 12 if quick else 50).round().astype(int).tolist()
        rows += [_counted(k, rates, cover.rmse()) for k in ones]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_drawn, rows))


def _left_out(threshold: int, rate: float, cover: float) -> dict[str, Any]:
    """How many are not asked, on average, of a crowd that just reaches the threshold."""
    return {
        "part": "threshold", "size": threshold, "rate": rate, "left_out": threshold * (1.0 - rate) / rate,
        "cover": cover, "best": None, "draft": None, "additive": None,
    }  # fmt: skip


def _counted(ones: int, rates: dict[int, float], additive: float) -> dict[str, Any]:
    """The error for so many ones: with the threshold that suits them best, and with the draft's."""

    def error(threshold: int) -> float:
        return SampleThreshold(crowd=Crowd(PEOPLE), rate=rates[threshold], threshold=threshold).rmse(ones)

    best = min(rates, key=error)
    return {
        "part": "ones", "size": ones, "rate": rates[best], "left_out": None, "cover": None, "best": error(best),
        "draft": error(DRAFT), "additive": additive,
    }  # fmt: skip


def _answer(rows: list[dict[str, Any]]) -> str:
    thresholds, ones = ([row for row in rows if row["part"] == part] for part in ("threshold", "ones"))
    last, most = thresholds[-1], ones[-1]
    nobody = ones[0]
    return (
        "No, and yes in the end. No: where nobody holds a one sampling answers 0 for certain and additive noise "
        f"does not, and at the draft's threshold of {DRAFT} the error of sampling grows with the count, to "
        f"{number(most['draft'])} at {most['size']:,} ones against {number(most['additive'])} for additive noise. "
        "But as the threshold is raised more may be asked, until nearly all are, and the number that must be left "
        "out at the threshold settles: it is "
        f"{number(next(r for r in thresholds if r['size'] == DRAFT)['left_out'])} at {DRAFT} and "
        f"{number(last['left_out'])} at {last['size']:,}, where additive noise needs a cover of "
        f"{number(last['cover'])}. The people who are left out are then the noise. With a threshold that suits the "
        f"count the error is {number(nobody['best'])} at {nobody['size']} ones and {number(most['best'])} at "
        f"{most['size']:,}: what sampling lacks is not accuracy, but that the count must be known beforehand to "
        "choose the threshold, and that all below it is lost."
    )


def _sheet(rows: list[dict[str, Any]]) -> Sheet:
    thresholds, ones = ([row for row in rows if row["part"] == part] for part in ("threshold", "ones"))
    cells: list[tuple[str, ...]] = [
        (f"threshold {row['size']:,}", f"{row['rate']:.2%}", number(row["left_out"]), number(row["cover"]), "", "", "")
        for row in thresholds[:: max(1, len(thresholds) // 10)]
    ]
    cells += [
        (
            f"{row['size']:,} ones",
            f"{row['rate']:.2%}",
            "",
            "",
            *(number(row[n]) for n in ("best", "draft", "additive")),
        )
        for row in ones[:: max(1, len(ones) // 10)]
    ]
    headings = ("what", "asked", "left out at the threshold", "cover of additive noise")
    errors = ("error, best threshold", f"error, threshold {DRAFT}", "error, additive noise")
    return Sheet((*headings, *errors), tuple(cells), frozenset(range(1, 7)))


def _drawn(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    thresholds, ones = ([row for row in rows if row["part"] == part] for part in ("threshold", "ones"))
    cover = thresholds[0]["cover"]
    left_out = Line("left out by sampling", [(row["size"], row["left_out"]) for row in thresholds], hue="sampling")
    names = {"draft": f"sampling, threshold {DRAFT}", "best": "sampling, best threshold", "additive": "additive noise"}
    looks = {"draft": ("sampling", BOUND), "best": ("sampling", SOLID), "additive": ("dummies", SOLID)}
    errors = [Line(label, [(row["size"], row[name]) for row in ones], *looks[name]) for name, label in names.items()]
    return lines(
        [
            Panel(
                [left_out], Axis("threshold", log=True), Axis("people left out on average", low=0.0),
                "at the threshold itself", [Note(f"additive noise: a cover of {number(cover)}", y=cover, at=0.3)],
            ),
            Panel(errors, Axis("people who hold a one", log=True), Axis("error (rmse, people)", log=True), "error"),
        ],
        path, title="With a high threshold, the people who are not sampled are the noise", theme=theme,
        subtitle=f"A count at epsilon = {BUDGET.epsilon:g}, delta = {BUDGET.delta:g}; additive noise is Poisson",
    )  # fmt: skip
