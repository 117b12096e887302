"""A thousand million people: does the predicted error come true where nobody could ask them all?

A tally's law is known, and so it can be drawn without touching anybody. What each category holds
falls like 1, 1/2, 1/3 and so on, as words and places do; of a sum, everybody holds a whole number
from 0 to 100.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount.answers.intervals import covering
from headcount.figures.bars import Bar, bars
from headcount.figures.canvas import number
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.programme.coins import SeededCoins
from headcount.programme.law import Floats
from headcount.programme.table import Ints
from headcount.programme.tally import Tally
from headcount.protocols import named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count, Fraction
from headcount.questions.histogram import Histogram
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Mean, Sum
from headcount_survey.study import Finding, Study

PEOPLE = 10**9
BUDGET = Budget(1.0, 1e-6)
CONFIDENCE = 0.95
ERRORS, FEWER = 40_000, 10_000  # that are looked at, cells times runs: the error to 1% at worst; FEWER in quick mode
ALL, SEEN = 200, 5  # different answers that all get their intervals; of more, how many do
ONES = 3  # one person in this many holds a one

HUNDRED, MANY = Histogram(100), Histogram(10_000)
WHOLE = (0.0, 100.0)
PLANS: tuple[tuple[str, Question], ...] = (
    ("geometric", Count()),
    ("geometric", HUNDRED),
    ("geometric", MANY),
    ("laplace", Sum.whole(WHOLE)),
    ("laplace", Mean.whole(WHOLE)),
    ("correlated-count", Count()),
    ("zsum", Count()),
    ("cheu-count", Fraction()),
    ("correlated-histogram", HUNDRED),
    ("correlated-histogram", MANY),
    ("poisson-histogram", HUNDRED),
    ("poisson-histogram", MANY),
    ("shuffled-basic-rappor", HUNDRED),
    ("randomised-response", Count()),
    ("optimised-unary", HUNDRED),
)
SLOW = frozenset({"shuffled-basic-rappor", "optimised-unary"})  # of many binomials; not in quick mode


class ABillion(Study):
    name: ClassVar[str] = "a-billion"
    question: ClassVar[str] = "Is the error among a thousand million people what was predicted?"
    source: ClassVar[str] = "asked by whoever plans for more people than any test can ask"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        plans = [plan for plan in PLANS if not (quick and plan[0] in SLOW)]
        errors = FEWER if quick else ERRORS
        rows = [judged(name, task, errors, seed=seed) for seed, (name, task) in watch(list(enumerate(plans, 1)))]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def judged(name: str, task: Question, errors: int, people: int = PEOPLE, seed: int = 1) -> dict[str, Any]:
    """A protocol's predicted and simulated error, in people, and the coverage of its interval."""
    protocol = calibrate(named(name), task, Crowd(people), BUDGET)
    held = crowd(task, people)
    truth = truths(task, held)
    runs = max(2, errors // truth.size)
    nobody = protocol.nobody()
    totals = protocol.sample(held, SeededCoins(seed), runs)
    tallies = [Tally(people, row, None, nobody.modulus, released=True) for row in totals]
    answers = np.array([protocol.point(tally) for tally in tallies])
    squares = (answers - truth) ** 2
    predicted, simulated = math.sqrt(np.mean(expected(protocol, truth))), math.sqrt(squares.mean())
    unsure = float(squares.std()) / math.sqrt(squares.size) / (2.0 * simulated)
    inside = _covering(protocol, tallies, answers, truth)
    return {
        "protocol": name,
        "model": str(protocol.model),
        "task": task.name,
        "cells": truth.size,
        "people": people,
        "runs": runs,
        "predicted": predicted,
        "simulated": simulated,
        "standard_error": unsure,
        "z": (simulated - predicted) / unsure,
        "coverage": inside,
        "coverage_error": math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / squares.size),
        "messages": protocol.messages_per_person,
    }


def crowd(task: Question, people: int) -> Ints:
    """How many people hold each value."""
    if task.values == 2:
        return np.array([people - people // ONES, people // ONES])
    shares = 1.0 / np.arange(1, task.values + 1)
    held: Ints = np.floor(people * shares / shares.sum()).astype(np.int64)
    held[0] += people - int(held.sum())
    return held


def truths(task: Question, held: Ints) -> Floats:
    """The crowd's true answers, in people."""
    if task.shape.several:
        return held.astype(np.float64)
    return np.asarray(sum(many * task.truth(np.array([value])) for value, many in enumerate(held.tolist())))


def expected(protocol: Protocol, truth: Floats) -> list[float]:
    """The mean square of each cell's error."""
    if protocol.steady:
        return [protocol.rmse() ** 2] * truth.size
    return [protocol.size_of_error(round(cell), protocol.crowd.size) ** 2 for cell in truth.tolist()]


def _covering(protocol: Protocol, tallies: list[Tally], answers: Floats, truth: Floats) -> float:
    """How often the interval that comes with an answer holds the truth.

    Of one cell, every different answer has its own; of very many, some are made, and it hardly
    changes between them.
    """
    if truth.size > 1:
        ends = [protocol.intervals(tally, CONFIDENCE) for tally in tallies]
        return float(np.mean([(each[:, 0] <= truth) & (truth <= each[:, 1]) for each in ends]))
    different, where = np.unique(answers, return_inverse=True)
    made = different if different.size <= ALL else np.quantile(different, np.linspace(0.0, 1.0, SEEN))
    halves = np.array(
        [float(np.ptp(covering(protocol, at, tallies[0].reports, CONFIDENCE))) / 2.0 for at in made[:, None]]
    )
    inside = np.abs(different - truth) <= np.interp(different, made, halves)
    return float(inside[where].mean())


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['cells']:,} categories" if row["cells"] > 1 else str(row["task"])


def _answer(rows: Sequence[Mapping[str, Any]]) -> str:
    off = max(rows, key=lambda row: abs(row["simulated"] / row["predicted"] - 1.0))
    most, unsure = max(abs(row["z"]) for row in rows), max(row["standard_error"] / row["simulated"] for row in rows)
    least = min(rows, key=lambda row: float(row["coverage"]))
    mixed, local = (
        min((row for row in rows if row["model"] == model), key=lambda row: float(row["predicted"]))
        for model in (Model.SHUFFLE, Model.LOCAL)
    )
    verdict = "as chance has it" if most < 4.0 else "more than chance can explain"
    return (
        f"Of {len(rows)} plans for {rows[0]['people']:,} people the simulated error is nowhere off by more than "
        f"{abs(off['simulated'] / off['predicted'] - 1.0):.1%} ({off['protocol']}, {_named(off)}), where the "
        f"simulations know it to {unsure:.1%} or better; the largest difference is {most:.1f} of its standard errors, "
        f"{verdict} among so many. Intervals said to cover {CONFIDENCE:.0%} cover at least {least['coverage']:.1%}. "
        f"A shuffler's count is off by {number(mixed['predicted'])} people of them all ({mixed['protocol']}), "
        f"one that trusts nobody by {number(local['predicted'])}. Sums and means of the shuffle and local models are "
        "not among these: their tallies have no law that is drawn at once."
    )


def _sheet(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    headings = (
        "protocol",
        "model",
        "asked for",
        "runs",
        "error, predicted",
        "simulated",
        "known to",
        "apart by (z)",
        "covered, of 95%",
        "messages each",
    )
    cells = [
        (
            row["protocol"],
            row["model"],
            _named(row),
            f"{row['runs']:,}",
            number(row["predicted"]),
            number(row["simulated"]),
            f"{row['standard_error'] / row['simulated']:.1%}",
            f"{row['z']:+.1f}",
            f"{row['coverage']:.2%}",
            f"{row['messages']:,.6g}",
        )
        for row in rows
    ]
    return TextTable(headings, tuple(cells), frozenset(range(3, 10)))


def _draw(rows: Sequence[Mapping[str, Any]], path: Path, theme: str) -> Path:
    ordered = sorted(
        rows, key=lambda row: (list(Model).index(Model(row["model"])), round(row["predicted"], 6), row["cells"])
    )
    shown = [
        Bar(f"{row['protocol']}, {_named(row)}", Model(row["model"]), row["predicted"], dot=row["simulated"])
        for row in ordered
    ]
    return bars(
        shown,
        path,
        title="Among a thousand million people the error is what was predicted",
        subtitle=f"Bars: predicted. Dots: simulated. {BUDGET}; a sum of 0 to 100 each, in hundreds",
        xlabel="root mean square error, people",
        theme=theme,
        sign="",
    )
