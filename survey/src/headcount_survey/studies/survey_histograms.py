"""The survey of histograms: every protocol on one data set."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from headcount.figures.canvas import number
from headcount.planner.selection import Progress
from headcount.privacy.model import Model
from headcount.questions.histogram import Histogram
from headcount_survey.studies import one_data_set as survey
from headcount_survey.studies.one_data_set import Bound
from headcount_survey.study import Finding, Study

BINS = 20
LOCAL = ("√n/ε", "1/(ε√n)", 0.5)
ROOT = ("√ln(1/δ)/ε", "√ln(1/δ)/(εn)", 0.0)
FLAT = ("√(d ln(1/δ))/ε", "√(d ln(1/δ))/(εn)", 0.0)
BOUNDS = {
    "geometric": Bound("1/ε", "1/(εn)", 0.0),
    "stability-histogram": Bound("ln(1/δ)/ε", "ln(1/δ)/(εn)", 0.0),
    "generalised-response": Bound("√(nd)/ε", "√d/(ε√n)", 0.5),
    "basic-rappor": Bound(*LOCAL),
    "optimised-unary": Bound(*LOCAL),
    "local-hashing": Bound(*LOCAL),
    "hadamard-response": Bound(*LOCAL),
    "subset-selection": Bound(*LOCAL),
    "succinct-histogram": Bound(*LOCAL),
    "poisson-histogram": Bound(*ROOT, "1 + d ln(1/δ)/(ε²n)"),
    "correlated-histogram": Bound("1/ε", "1/(εn)", 0.0, "1 + d ln(1/δ)/(εn)"),
    "balcer-cheu-histogram": Bound("ln(1/δ)/ε²", "ln(1/δ)/(ε²n)", 0.0, "at most d + 1"),
    "blanket-histogram": Bound(*FLAT),
    "fake-users": Bound(*ROOT, "2, of d bits"),
    "almost-one-message-histogram": Bound(*ROOT, "1 + o(1)"),
    "hadamard-shuffle": Bound(*ROOT, "ln(1/δ)/ε²"),
    "count-min-shuffle": Bound("ln d √ln(1/δ)/ε", "ln d √ln(1/δ)/(εn)", 0.0, "ln³ d ln(1/δ)/ε²"),
    "sample-threshold": Bound("√(k/ε), k in the bin", "√(k/ε)/n", 0.5, "at most 1"),
    "shuffled-subset-selection": Bound(*FLAT),
    "shuffled-basic-rappor": Bound("(n ln(1/δ))^(1/4)/√ε", "n^(-3/4) …", 0.25),
    "shuffled-optimised-unary": Bound("√k, k in the bin", "√k/n", 0.5),
    "shuffled-local-hashing": Bound("√k, k in the bin", "√k/n", 0.5),
    "shuffled-hadamard-response": Bound("√n", "1/√n", 0.5),
    "shuffled-succinct-histogram": Bound("√n", "1/√n", 0.5),
}


class SurveyHistograms(Study):
    name: ClassVar[str] = "survey-histograms"
    question: ClassVar[str] = "How wrong is each bin of a histogram in each model of trust, and what does it take?"
    source: ClassVar[str] = "notes on shuffled histograms, and the survey's table continued for them"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rows = survey.surveyed(Histogram(BINS), data, BOUNDS, quick, watch)
        title = "Histograms separate the models as counts do: noise for two bins instead of one, not for all"
        return Finding(_answer(rows), rows, survey.sheet(rows), survey.figure(rows, title, f"A bin of {BINS}"))


def data(people: int) -> Any:
    return np.floor(BINS * survey.numbers(people)).astype(int)


def _answer(rows: list[dict[str, Any]]) -> str:
    central, local = survey.best(rows, Model.CENTRAL), survey.best(rows, Model.LOCAL)
    mixed, alone = survey.best(rows, Model.SHUFFLE), survey.best(rows, Model.SHUFFLE, most=1.0)
    off = max(abs(row["measured"] / row["predicted"] - 1.0) for row in rows)
    return (
        f"With {BINS} bins and {rows[0]['people']:,} people, a trusted analyser is off by "
        f"{number(central['predicted'])} a bin and by {number(central['largest'])} in the worst one "
        f"({central['protocol']}), a shuffler by {number(mixed['predicted'])} and {number(mixed['largest'])} at "
        f"{number(mixed['messages'])} messages a person ({mixed['protocol']}) or {number(alone['predicted'])} at one "
        f"({alone['protocol']}), and without any trust it is {number(local['predicted'])} and "
        f"{number(local['largest'])} ({local['protocol']}). {survey.agreement(rows)}; simulated errors lie within "
        f"{off:.0%} of the predicted ones."
    )
