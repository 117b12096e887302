"""The survey of sums of numbers: every protocol on one data set."""

from __future__ import annotations

from typing import Any, ClassVar

from headcount.figures.canvas import number
from headcount.planner.selection import Progress
from headcount.privacy.model import Model
from headcount.questions.sum_and_mean import Sum
from headcount_survey.studies import one_data_set as survey
from headcount_survey.studies.one_data_set import Bound
from headcount_survey.study import Finding, Study

LOCAL = ("√n/ε", "1/(ε√n)", 0.5)
QUARTER = ("(n ln(1/δ))^(1/4)/√ε", "n^(-3/4) …", 0.25)
BOUNDS = {
    "laplace": Bound("1/ε", "1/(εn)", 0.0),
    "duchi": Bound(*LOCAL),
    "piecewise": Bound(*LOCAL),
    "hybrid": Bound(*LOCAL),
    "cheu-sum": Bound("ln(1/δ)/ε", "ln(1/δ)/(εn)", 0.0, "ε√n, a bit each"),
    "blanket-sum": Bound("n^(1/6) ln(1/δ)^(1/3)/ε^(2/3)", "n^(-5/6) …", 1 / 6),
    "recursive-sum": Bound("poly(ln ln n)/ε", "poly(ln ln n)/(εn)", 0.0, "ln ln n"),
    "split-and-mix": Bound("1/ε", "1/(εn)", 0.0, "1 + ln(1/δ)/ln n"),
    "almost-central-sum": Bound("1/ε", "1/(εn)", 0.0, "1 + ln(1/δ) ln² n/√n"),
    "shuffled-duchi": Bound("√n", "1/√n", 0.5),
    "shuffled-piecewise": Bound(*QUARTER),
    "shuffled-hybrid": Bound(*QUARTER),
}


class SurveySums(Study):
    name: ClassVar[str] = "survey-sums"
    question: ClassVar[str] = (
        "How wrong is a sum of numbers in each model of trust, and how many messages does it take?"
    )
    source: ClassVar[str] = "the notes' survey of mean estimation, its table for real values"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rows = survey.surveyed(Sum((0, 1)), survey.numbers, BOUNDS, quick, watch)
        title = "For a sum, one message costs an error that grows with the crowd; a few messages cost none"
        draw = survey.figure(rows, title, "A sum of numbers in [0, 1]", " for the hardest crowd")
        return Finding(_answer(rows), rows, survey.sheet(rows), draw)


def _answer(rows: list[dict[str, Any]]) -> str:
    central, local = survey.best(rows, Model.CENTRAL), survey.best(rows, Model.LOCAL)
    mixed, alone = survey.best(rows, Model.SHUFFLE), survey.best(rows, Model.SHUFFLE, most=1.0)
    few = survey.best(rows, Model.SHUFFLE, most=mixed["messages"] / 2)
    over = max(row["measured"] / row["predicted"] for row in rows)
    return (
        f"Of numbers between 0 and 1 that {rows[0]['people']:,} people hold, a trusted analyser finds the sum with an "
        f"error of {number(central['measured'])}, and so does a shuffler at {number(mixed['messages'])} messages a "
        f"person ({mixed['protocol']}: {number(mixed['measured'])}). With one message each the best is "
        f"{number(alone['measured'])} ({alone['protocol']}), which grows like n to the {alone['growth']:.2f}, and with "
        f"{number(few['messages'])} it is {number(few['measured'])} ({few['protocol']}); without any trust it is "
        f"{number(local['measured'])}. {survey.agreement(rows)}. What is predicted is for the crowd that is hardest to "
        f"sum; this one came to at most {over:.2f} times that."
    )
