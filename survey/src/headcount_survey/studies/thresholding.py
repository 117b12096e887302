"""What does a threshold buy, and what does it cost?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, RULE, Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.programme.law import Noise
from headcount.protocols.shuffle.balcer_cheu_histogram import BalcerCheuHistogram
from headcount.protocols.shuffle.zsum import Zsum
from headcount.questions.count import Count
from headcount.questions.histogram import Histogram
from headcount_survey.study import Finding, Study

PEOPLE, BUDGET, SURE = 100_000, Budget(1.0, 1e-6), 0.95
FILLED = 10  # bins with somebody in them
FULL, SPARSE = 5_000, 30  # people in each of those
CROWDS = {"full": FULL, "sparse": SPARSE}
MOST = 10**7  # empty bins


class Thresholding(Study):
    name: ClassVar[str] = "thresholding"
    question: ClassVar[str] = "What does thresholding buy, and what does it cost?"
    source: ClassVar[str] = "notes on which algorithm to use: is the threshold of the shuffle protocol deceiving?"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        plain = calibrate(Zsum, Count(), Crowd(PEOPLE), BUDGET)
        counts = _numbers(1, 1_000, 15 if quick else 60)
        rows = [_count(plain, ones) for ones in watch(counts)]
        histogram = calibrate(BalcerCheuHistogram, Histogram(2), Crowd(PEOPLE), BUDGET)
        cell = Zsum(crowd=Crowd(PEOPLE), gamma=histogram.gamma)  # a bin is a count at the histogram's own noise
        rows += [_bins(cell, empty) for empty in [0, *_numbers(1, MOST, 15 if quick else 43)]]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def _numbers(low: int, high: int, steps: int) -> list[int]:
    found: list[int] = np.unique(np.geomspace(low, high, steps).round().astype(np.int64)).tolist()
    return found


def _cut(protocol: Zsum) -> Zsum:
    return Zsum(crowd=protocol.crowd, gamma=protocol.gamma, thresholded=True)


def _count(protocol: Zsum, ones: int) -> dict[str, Any]:
    law, cut = protocol.noise(ones, PEOPLE), _cut(protocol).noise(ones, PEOPLE)
    floor = PEOPLE * float(protocol.gamma)
    return {
        "part": "a count",
        "floor": floor,
        "ones": ones,
        "empty": None,
        "plain": law.rmse,
        "thresholded": cut.rmse,
        "bias": cut.bias,
        "sparse": None,
    }


def _bins(protocol: Zsum, empty: int) -> dict[str, Any]:
    """The 95% quantile of the worst bin's error, for bins that are filled well or hardly."""
    law, cut = protocol.noise(FULL, PEOPLE), {name: _cut(protocol).noise(k, PEOPLE) for name, k in CROWDS.items()}
    return {
        "part": "a histogram",
        "floor": PEOPLE * float(protocol.gamma),
        "ones": None,
        "empty": empty,
        "plain": worst_of(law, FILLED + empty),
        "thresholded": worst_of(cut["full"], FILLED),
        "bias": None,
        "sparse": worst_of(cut["sparse"], FILLED),
    }


def worst_of(law: Noise, bins: int) -> float:
    """The 95% quantile of the largest of several independent errors."""
    sizes, order = np.abs(law.values), np.argsort(np.abs(law.values), kind="stable")
    above = np.cumsum(law.masses[order][::-1])[::-1] - law.masses[order]  # beyond each size; small ones stay accurate
    fits = np.flatnonzero(-bins * np.log1p(-np.clip(above, 0.0, 1.0 - 1e-16)) <= -np.log(SURE))
    return float(sizes[order[fits[0]]])


def _answer(rows: list[dict[str, Any]]) -> str:
    counts, bins = ([row for row in rows if row["part"] == part] for part in ("a count", "a histogram"))
    worst = max(counts, key=lambda row: row["thresholded"])
    first = min(
        (row for row in counts if row["thresholded"] <= 1.05 * row["plain"] and row["ones"] > row["floor"]),
        key=lambda row: row["ones"],
    )
    few, many = bins[0], bins[-1]
    beaten = [row["empty"] for row in bins if row["plain"] > row["sparse"]]
    from_where = f"only from about {beaten[0]:,} empty bins on" if beaten else "for no number of empty bins here"
    return (
        "For a single count it buys one thing, an exact 0 where nobody holds a one, and costs up to "
        f"{number(worst['thresholded'])} people where {worst['ones']:,} hold one: most of what lies below the floor "
        f"of {number(worst['floor'])} is reported as 0, a bias of {number(worst['bias'])} there, and it adds "
        f"less than 5% to the error only from {first['ones']:,} ones on, against an error of {number(worst['plain'])} "
        f"without it. Over a histogram the bargain changes, because empty bins are then free: with {FILLED} filled "
        f"bins the worst error (95%) of the plain histogram grows from {number(few['plain'])} with no empty bin to "
        f"{number(many['plain'])} with {many['empty']:,}, while the thresholded one stays at "
        f"{number(many['thresholded'])} if the filled bins hold {FULL:,} people each. If they hold {SPARSE} each it "
        f"stays at {number(many['sparse'])}, since they are lost, and so it is worth it {from_where}. It is done "
        "after the fact and has no part in the privacy: whoever has the plain answer can apply it or not."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    counts, bins = ([row for row in rows if row["part"] == part] for part in ("a count", "a histogram"))
    cells = [
        (f"{row['ones']:,} ones", number(row["plain"]), number(row["thresholded"]), number(row["bias"]), "")
        for row in counts[:: max(1, len(counts) // 12)]
    ]
    cells += [
        (f"{row['empty']:,} empty bins", number(row["plain"]), number(row["thresholded"]), "", number(row["sparse"]))
        for row in bins[:: max(1, len(bins) // 8)]
    ]
    headings = ("what", "plain", "thresholded", "bias of thresholded", f"thresholded, bins of {SPARSE}")
    title = "The error (rmse) of a count; the worst error (95%) over the bins of a histogram"
    return TextTable(headings, tuple(cells), frozenset({1, 2, 3, 4}), title)


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    counts, bins = ([row for row in rows if row["part"] == part] for part in ("a count", "a histogram"))
    bins = bins[1:]
    count = Panel(
        [
            Line("plain", [(row["ones"], row["plain"]) for row in counts]),
            Line("thresholded", [(row["ones"], row["thresholded"]) for row in counts]),
            Line(
                "its bias, downwards",
                [(row["ones"], -row["bias"]) for row in counts if row["bias"] < -0.9],
                hue="thresholded",
                dashes=RULE,
            ),
        ],
        Axis("people who hold a one", log=True),
        Axis("error (rmse, people)", log=True, low=0.8),
        "A single count",
        [Note(f"floor {number(counts[0]['floor'])}", x=counts[0]["floor"])],
    )
    histogram = Panel(
        [
            Line("plain", [(row["empty"], row["plain"]) for row in bins]),
            Line(
                f"thresholded, {FULL:,} in each filled bin",
                [(row["empty"], row["thresholded"]) for row in bins],
                hue="thresholded",
            ),
            Line(
                f"thresholded, {SPARSE} in each filled bin",
                [(row["empty"], row["sparse"]) for row in bins],
                hue="thresholded",
                dashes=BOUND,
            ),
        ],
        Axis("empty bins", log=True),
        Axis("worst error of any bin (95%, people)", low=0.0),
        f"{FILLED} filled bins and many empty",
    )
    return lines(
        [count, histogram],
        path,
        title="A threshold ruins a small count, and saves a histogram that is nearly empty",
        subtitle=f"Binomial noise for epsilon = {BUDGET.epsilon:g}, delta = {BUDGET.delta:g} among {PEOPLE:,} people",
        theme=theme,
    )
