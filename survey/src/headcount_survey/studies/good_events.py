"""How likely are the good events that the proofs rest on, beside the exact delta?"""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.privacy import laws
from headcount.privacy.pair import Pair
from headcount.programme.law import Floats, Law
from headcount.programme.table import Ints
from headcount_survey.study import Finding, Study

PEOPLE, EPSILON, DELTA = 10_000, 1.0, 1e-6
ALPHA = math.tanh(EPSILON / 2.0)
TAU = 3.0 + math.log(1.0 / DELTA)
RATE = -math.expm1(-EPSILON) / TAU
STEPS = {  # from what is true to what is claimed
    "exact": "exact δ",
    "loss": "loss above ε",
    "event": "outside E1",
    "narrow": "outside the narrow E1",
    "chernoff": "Chernoff bound",
    "paper": "paper: 2 exp(-ε²K/50)",
}
SAMPLES = {
    "exact": "exact δ",
    "quoted": "outside E2, as quoted",
    "mended": "outside E2, mended",
    "two_sided": "outside a two-sided E2",
}
HUES = {"quoted": STEPS["event"], "mended": STEPS["narrow"], "two_sided": STEPS["chernoff"]}
NAMED = {  # where, by the curve
    ("E1", "exact"): (64, 1e-21),
    ("E1", "loss"): (205, 1e-22),
    ("E1", "event"): (345, 1e-15),
    ("E2", "exact"): (8, 1e-21),
    ("E2", "mended"): (34, 3e-18),
    ("E2", "quoted"): (14, 1e-9),
    ("E2", "two_sided"): (19, 1e-3),
}
TINY = 1e-24  # smaller chances are not drawn


class GoodEvents(Study):
    name: ClassVar[str] = "good-events"
    question: ClassVar[str] = "How likely are the good events E1 and E2 to fail, beside the exact delta?"
    source: ClassVar[str] = "notes on which algorithm to use: the good events of both proofs, and how they relate"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        cover = [*range(5, 60), *range(60, 900, 5 if quick else 1)]
        ones = np.unique(np.geomspace(1, 2_000, 60 if quick else 400).round().astype(int))
        found = [*(_additive(size) for size in watch(cover)), *_sampled(ones)]
        columns = ("part", "size", *dict.fromkeys((*STEPS, *SAMPLES)))
        rows = [{name: row.get(name) for name in columns} for row in found]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows), caption=_caption())


def _additive(size: int) -> dict[str, Any]:
    """E1: the noise, Bin(n, K/n), is within alpha of its mean, less a one; narrow, in half."""
    law = laws.binomial(PEOPLE, size / PEOPLE)
    far = ALPHA**2 * size
    return {
        "part": "E1",
        "size": size,
        "exact": Pair.shifted(law).delta(EPSILON),
        "loss": _loss_above(law),
        "event": _outside(law, (1.0 - ALPHA) * size + 1.0, (1.0 + ALPHA) * size - 1.0),
        "narrow": _outside(law, (1.0 - ALPHA / 2.0) * size, (1.0 + ALPHA / 2.0) * size),
        "chernoff": min(1.0, math.exp(-far / 8.0) + math.exp(-far / (8.0 + 2.0 * ALPHA))),
        "paper": min(1.0, 2.0 * math.exp(-(EPSILON**2) * size / 50.0)),
    }


def _outside(law: Law, low: float, high: float) -> float:
    return float(law.masses[(law.values < low - 1e-9) | (law.values > high + 1e-9)].sum())


def _loss_above(law: Law) -> float:
    """The chance that a draw is likelier than its neighbour by over e^epsilon, the worse side."""
    here, up, down = law.masses, np.append(law.masses[1:], 0.0), np.append(0.0, law.masses[:-1])
    return max(float(here[here > math.exp(EPSILON) * there].sum()) for there in (up, down))


def _sampled(ones: Ints) -> list[dict[str, Any]]:
    """E2: at most tau times its mean is sampled; mended, tau times the larger of mean and one."""
    mean = RATE * ones
    columns: dict[str, Floats] = {
        "exact": delta_at(ones, math.ceil(TAU)),
        "quoted": laws.binomial_above(np.floor(TAU * mean), ones, RATE),
        "mended": laws.binomial_above(np.ceil(TAU * np.maximum(mean, 1.0)) - 1.0, ones, RATE),
        "two_sided": laws.binomial_above(np.floor(TAU * mean), ones, RATE)
        + laws.binomial_upto(np.ceil(mean / TAU) - 1.0, ones, RATE),
    }
    return [
        {"part": "E2", "size": int(k), **{name: float(column[i]) for name, column in columns.items()}}
        for i, k in enumerate(ones)
    ]


def delta_at(ones: Ints, threshold: int) -> Floats:
    """Delta of one more holder: by how much reported counts are too likely."""
    factor = math.exp(EPSILON)
    first = np.maximum(threshold, np.ceil((ones + 1) * (1.0 - (1.0 - RATE) / factor))) - 1.0
    more = laws.binomial_above(np.minimum(first, ones + 1), ones + 1, RATE)
    return np.maximum(more - factor * laws.binomial_above(np.minimum(first, ones), ones, RATE), 0.0)


def disagreements(people: int = 3) -> tuple[int, int]:
    """How often sum z x = sum x + sum z - n, the step from E2 to E1, fails; and of how many."""
    every = list(product((0, 1), repeat=people))
    wrong = sum(sum(a * b for a, b in zip(x, z, strict=True)) != sum(x) + sum(z) - people for x in every for z in every)
    return wrong, len(every) ** 2


def needed(rows: list[dict[str, Any]], step: str) -> int:
    """The smallest cover from which on this chance stays within delta."""
    own = [row for row in rows if row["part"] == "E1"]
    above = [row["size"] for row in own if row[step] > DELTA]
    return min((row["size"] for row in own if row["size"] > max(above, default=0)), default=0)


def _answer(rows: list[dict[str, Any]]) -> str:
    cover = {step: needed(rows, step) for step in STEPS}
    sampled = [row for row in rows if row["part"] == "E2"]
    worst = max(row["exact"] for row in sampled)
    alone = sampled[0]  # a single one
    fails = [row["size"] for row in sampled if row["quoted"] > DELTA]
    lower = [row["size"] for row in sampled if row["two_sided"] > DELTA]
    mended = max(row["mended"] for row in sampled)
    wrong, of = disagreements()
    return (
        f"For additive noise at ε = {EPSILON:g}, δ = {DELTA:g} each step of the proof costs cover K: "
        f"{cover['exact']} is enough exactly, {cover['loss']} if the loss itself may hardly ever exceed ε, "
        f"{cover['event']} for E1 to hold so often, {cover['narrow']} for the narrow E1 that is bounded in its "
        f"stead, {cover['chernoff']} by the Chernoff bound on that, and {cover['paper']} by the paper's constant. "
        f"For sampling with the draft's constants the exact delta is at most {worst:.0e}. E2 as it is quoted, no "
        f"more than tau times the mean, fails with a chance of {number(alone['quoted'])} when a single person holds "
        f"a one, and with more than delta up to {max(fails, default=0):,} ones; measured against the larger of the "
        f"mean and one it fails with {mended:.0e} at most. A two-sided E2 would spoil the proof: up to "
        f"{max(lower, default=0):,} ones the chance that nobody is sampled is itself above delta, and the lower tail "
        "costs no privacy anyhow. Nor is E2 a form of E1: the identity that is to turn one into the other fails in "
        f"{wrong} of {of} cases of three people, as it forgets those with neither a one nor a head."
    )


def _caption() -> str:
    return (
        f"Chances at ε = {EPSILON:g}. Above, that additive noise of mean K, among {PEOPLE:,} "
        "people, leaves the event E1 of the proof: at the left what privacy needs, at the right "
        "what the paper's constant allows for. Below, that of so many ones too many are sampled, "
        f"at the rate {RATE:.1%} and threshold {math.ceil(TAU)} of the draft."
    )


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    cells = [("E1", label, f"K = {needed(rows, step):,}") for step, label in STEPS.items()]
    sampled = [row for row in rows if row["part"] == "E2"]
    for step, label in SAMPLES.items():
        worst = max(sampled, key=lambda row: row[step])
        cells.append(("E2", label, f"{worst[step]:.2g} at {worst['size']:,} ones"))
    headings = ("event", "what", f"K for {DELTA:g}, or the largest chance")
    return TextTable(headings, tuple(cells), frozenset({2}))


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    panels = []
    for part, names, label, title, at in (
        ("E1", STEPS, "cover K, the mean of the noise", "E1: additive noise stays near its mean", 0.86),
        ("E2", SAMPLES, "people who hold a one", "E2: not too many are sampled", 0.86),
    ):
        own = [row for row in rows if row["part"] == part]
        curves = []
        for name, words in names.items():
            points = [(row["size"], row[name]) for row in own if row[name] >= TINY]
            curves.append(Line(words, points, hue=HUES.get(name, words), at=NAMED.get((part, name))))
        across = Axis(label, log=part == "E2")
        up = Axis("chance", log=True, low=TINY, high=2.0)
        panels.append(Panel(curves, across, up, title, [Note(f"δ = {DELTA:g}", y=DELTA, at=at)]))
    return lines(
        panels,
        path,
        title="What the proofs bound is far likelier than what privacy needs",
        theme=theme,
        columns=1,
        subtitle=f"ε = {EPSILON:g}; additive noise among {PEOPLE:,} people; sampling by the draft",
    )
