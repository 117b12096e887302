r"""Are sampling with a threshold and additive noise the same thing?

Not at any fixed threshold; but asymptotically, above the threshold. Fix (epsilon, delta). Let d(c)
be the delta of a count less Poisson noise of mean c, mu the mean with d(mu) = delta, and q the
least share that must be left out for the threshold t. Then t q tends to mu as t grows, and of k
holders, k/t -> 1, the number left out tends to Poisson(mu).

Proof. Of k holders Bin(k, q) are left out, within q of Poisson(kq) in total variation [BH84] and
within q of Bin(k+1, q). Hockey-stick divergences change by at most (1 + e^epsilon) times a change
of both laws. Let q = c/t. Above: what is shown is made from k - Bin(k, q), so that for k >= t - 1
its delta is at most d(kq) + 2 (1 + e^epsilon) q, and d(kq) <= d(c - q) as more noise hides more;
fewer than t - 1 holders show nothing, nor does one more of them. Below: at k = t + ceil(sqrt t) the
count passes but for a vanishing chance, and kq -> c. So the delta at q = c/t tends to d(c). A
smaller sample can be drawn from a larger one, so it falls with q; and d is continuous and falls
strictly: d(c) = P[N <= m] - e^epsilon P[N < m] for N ~ Poisson(c) and the largest m below c
e^-epsilon, or the like above, whose derivative e^epsilon P[N = m-1] - P[N = m] is negative. Hence t
q -> mu.

[BH84] Barbour and Hall, On the Rate of Poisson Convergence, Math. Proc. Cambridge Phil. Soc. 95,
1984.
"""

from __future__ import annotations

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
from headcount.protocols.shuffle.poisson_count import PoissonCount
from headcount.protocols.shuffle.sample_threshold import SampleThreshold
from headcount.questions.count import Count
from headcount_survey.studies.sampling_rate import best_for, exactly
from headcount_survey.study import Finding, Study

BUDGET, PEOPLE = Budget(1.0, 1e-6), 1_000_000
LARGEST = 10_000  # threshold
DRAFT = 17  # the draft's


class SamplingAsNoise(Study):
    name: ClassVar[str] = "sampling-as-noise"
    question: ClassVar[str] = "Are sampling with a threshold and additive noise the same thing?"
    source: ClassVar[str] = "notes on which algorithm to use: both algorithms are said to be equivalent"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        steps = np.geomspace(5, LARGEST, 16 if quick else 110).round().astype(int).tolist()
        rates = {tau: exactly(BUDGET.epsilon, BUDGET.delta, tau) for tau in watch(sorted({DRAFT, *steps}))}
        cover = calibrate(PoissonCount, Count(), Crowd(PEOPLE), BUDGET)
        rows = [_left_out(tau, rate, float(cover.mean)) for tau, rate in rates.items()]
        ones = np.geomspace(30, 1_000 if quick else LARGEST, 6 if quick else 24).round().astype(int).tolist()
        rows += [_counted(k, rates[DRAFT], cover.rmse()) for k in ones]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows), caption=_caption())


def _left_out(threshold: int, rate: float, cover: float) -> dict[str, Any]:
    """How many are not asked, on average, of a crowd that just reaches the threshold."""
    return {
        "part": "threshold",
        "size": threshold,
        "rate": rate,
        "left_out": threshold * (1.0 - rate) / rate,
        "cover": cover,
        "best": None,
        "draft": None,
        "additive": None,
    }


def _counted(ones: int, rate: float, additive: float) -> dict[str, Any]:
    """The error for a number of ones: with the best threshold for it, and with the draft's."""
    draft = SampleThreshold(crowd=Crowd(PEOPLE), rate=rate, threshold=DRAFT)
    best = best_for(ones, PEOPLE, BUDGET)
    return {
        "part": "ones",
        "size": ones,
        "rate": float(best.rate),
        "left_out": None,
        "cover": None,
        "best": best.rmse(ones),
        "draft": draft.rmse(ones),
        "additive": additive,
    }


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
        f"{number(last['cover'])}. The people who are left out are then the noise, in the limit exactly so "
        "(`headcount study check Q7` has the proof). With a threshold that suits the "
        f"count the error is {number(nobody['best'])} at {nobody['size']} ones and {number(most['best'])} at "
        f"{most['size']:,}: what sampling lacks is not accuracy, but that the count must be known beforehand to "
        "choose the threshold, and that all below it is lost."
    )


def _caption() -> str:
    return (
        "Above, how many are left out of a crowd whose sample is the threshold on average, at the "
        f"largest rate that ε = {BUDGET.epsilon:g}, δ = {BUDGET.delta:g} allows; dashed, the mean "
        f"of Poisson noise for the same budget. Below, the error of a count among {PEOPLE:,} "
        "people."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
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
    return TextTable((*headings, *errors), tuple(cells), frozenset(range(1, 7)))


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    thresholds, ones = ([row for row in rows if row["part"] == part] for part in ("threshold", "ones"))
    cover = thresholds[0]["cover"]
    left_out = Line("left out by sampling", [(row["size"], row["left_out"]) for row in thresholds], hue="sampling")
    names = {"draft": f"sampling, threshold {DRAFT}", "best": "sampling, best threshold", "additive": "additive noise"}
    looks = {"draft": ("sampling", BOUND), "best": ("sampling", SOLID), "additive": ("dummies", SOLID)}
    errors = [Line(label, [(row["size"], row[name]) for row in ones], *looks[name]) for name, label in names.items()]
    return lines(
        [
            Panel(
                [left_out],
                Axis("threshold", log=True),
                Axis("people left out on average", low=0.0),
                "Left out at the threshold itself",
                [Note(f"Poisson noise: {number(cover)}", y=cover, at=0.3)],
            ),
            Panel(errors, Axis("people who hold a one", log=True), Axis("error (rmse, people)", log=True), "Error"),
        ],
        path,
        title="With a high threshold, the people who are not sampled are the noise",
        theme=theme,
        columns=1,
        subtitle=f"A count at ε = {BUDGET.epsilon:g}, δ = {BUDGET.delta:g}; additive noise is Poisson",
    )
