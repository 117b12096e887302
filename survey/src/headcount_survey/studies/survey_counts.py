"""The survey of counts: every protocol on one data set."""

from __future__ import annotations

from typing import Any, ClassVar

from headcount.figures.canvas import number
from headcount.planner.selection import Progress
from headcount.privacy.model import Model
from headcount.questions.count import Count
from headcount_survey.studies import one_data_set as survey
from headcount_survey.studies.one_data_set import Bound
from headcount_survey.study import Finding, Study

ROOT = ("√ln(1/δ)/ε", "√ln(1/δ)/(εn)", 0.0)
BOUNDS = {
    "laplace": Bound("1/ε", "1/(εn)", 0.0),
    "geometric": Bound("1/ε", "1/(εn)", 0.0),
    "randomised-response": Bound("√n/ε", "1/(ε√n)", 0.5),
    "cheu-count": Bound(*ROOT),
    "zsum": Bound("ln(1/δ)/ε²", "ln(1/δ)/(ε²n)", 0.0, "at most 2"),
    "poisson-count": Bound(*ROOT, "1 + ln(1/δ)/(ε²n)"),
    "negative-binomial-count": Bound(*ROOT, "1 + ln(1/δ)/(εn)"),
    "correlated-count": Bound("1/ε", "1/(εn)", 0.0, "1 + ln(1/δ)/(εn)"),
    "sample-threshold": Bound("√ln(1/δ)/ε, threshold near k", "√ln(1/δ)/(εn)", 0.0, "at most 1", derived=True),
}


class SurveyCounts(Study):
    name: ClassVar[str] = "survey-counts"
    question: ClassVar[str] = "How wrong is a count in each model of trust, and how many messages does it take?"
    source: ClassVar[str] = "the notes' survey of mean estimation, its table for binary values"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rows = survey.surveyed(Count(), data, BOUNDS, quick, watch)
        title = "A shuffler's count is as good as a trusted analyser's, if people may send a little more"
        return Finding(_answer(rows), rows, survey.sheet(rows), survey.figure(rows, title, "A count"))


def data(people: int) -> Any:
    return (survey.numbers(people) > 0.75).astype(int)


def _answer(rows: list[dict[str, Any]]) -> str:
    central, local = survey.best(rows, Model.CENTRAL), survey.best(rows, Model.LOCAL)
    mixed, alone = survey.best(rows, Model.SHUFFLE), survey.best(rows, Model.SHUFFLE, most=1.0)
    off = max(abs(row["measured"] / row["predicted"] - 1.0) for row in rows)
    papers = [row for row in rows if row["papers_parameters"] and row["model"] == Model.SHUFFLE]
    loose = max(papers, key=lambda row: float(row["papers_parameters"] / row["predicted"]))
    times = loose["papers_parameters"] / loose["predicted"]
    return (
        f"Of {rows[0]['people']:,} people, a trusted analyser counts with an error of {number(central['predicted'])} "
        f"({central['protocol']}), a shuffler with {number(mixed['predicted'])} at {number(mixed['messages'])} "
        f"messages a person ({mixed['protocol']}) or {number(alone['predicted'])} at one ({alone['protocol']}), and "
        f"without any trust it is {number(local['predicted'])}. Divide by the number of people for the error of the "
        f"share. {survey.agreement(rows)}; simulated errors lie within {off:.1%} of the predicted ones; and with the "
        f"constants of its paper a shuffle protocol errs up to {number(times)} times as much as it needs to "
        f"({loose['protocol']})."
    )
