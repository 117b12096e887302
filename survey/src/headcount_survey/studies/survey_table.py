"""The notes' survey table, row by row: as noted, as it should read, and as measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import BOUND, SOLID, Line, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount.protocols import named
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question
from headcount.questions.sum_and_mean import Sum
from headcount_survey.studies import one_data_set as survey
from headcount_survey.studies import survey_counts, survey_sums
from headcount_survey.study import Finding, Study

CAPTION = (
    "The rows of the notes' table, each by the protocol that was measured for it, at ε = "
    f"{survey.BUDGET.epsilon:g}, δ = {survey.BUDGET.delta:g}: above, the error of the sum, below, "
    "that of the mean, which is the same divided by the number of people. Solid: sums of bits. "
    "Dashed: sums of numbers in [0, 1]. Circles: simulated."
)
CROWDS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Entry:
    """A row of the notes: name, error and messages there, what is wrong, and what was measured."""

    row: str
    error: str
    messages: str
    remark: str
    protocol: str


ENTRIES = (
    Entry("central", "O(1/ε)", "1", "right for a sum; the row below is about a mean", "geometric"),
    Entry("local", "O(1/√n)", "1", "a mean's error, and the ε is missing", "randomised-response"),
    Entry(
        "privacy blanket",
        "O(1/ε)",
        "O(log(n/δ))",
        "both cells belong to the row below: this one sends one message and its error grows with the crowd",
        "blanket-sum",
    ),
    Entry(
        "summation with several messages",
        "",
        "",
        "not in the notes, which give its cells to the privacy blanket",
        "split-and-mix",
    ),
    Entry(
        "vanishing complexity",
        "O(1/ε)",
        "O(log²(1/δ)/n)",
        "these are the messages beyond the first",
        "correlated-count",
    ),
    Entry(
        "vanishing complexity, one message",
        "Ω(√log(1/δ))",
        "1",
        "a lower bound among upper ones; proved is a squared error of at least ln n, for δ a power of 1/n",
        "cheu-count",
    ),
    Entry("almost central", "", "", "empty in the notes", "almost-central-sum"),
)


class SurveyTable(Study):
    name: ClassVar[str] = "survey-table"
    question: ClassVar[str] = (
        "What does the notes' table of private sums say once its scales and empty rows are put right?"
    )
    source: ClassVar[str] = "the notes' survey of mean estimation, its one table"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rows = [_measured(entry, quick) for entry in watch(list(ENTRIES))]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows), caption=CAPTION)


def _measured(entry: Entry, quick: bool) -> dict[str, Any]:
    kind, people = named(entry.protocol), survey.FEWER if quick else survey.PEOPLE
    task: Question = Count() if Shape.BIT in kind.shapes else Sum((0, 1))
    data, bounds = (
        (survey_counts.data, survey_counts.BOUNDS) if task.shape is Shape.BIT else (survey.numbers, survey_sums.BOUNDS)
    )
    row = survey.row_of(kind, task, data, people, bounds[kind.name], quick)
    held, crowds = survey.truths(task, data(people)), (people, *survey.GROWN_LESS) if quick else CROWDS
    grown = {size: survey.among(kind, task, held, people, size) for size in crowds}
    head = {"row": entry.row, "notes_error": entry.error, "notes_messages": entry.messages, "remark": entry.remark}
    sizes = {
        "errors": {str(size): error for size, (_, error) in grown.items()},
        "messages_of": {str(size): protocol.messages_per_person for size, (protocol, _) in grown.items()},
    }
    return {**head, **row, "task": task.name, **sizes}


def _sheet(rows: Sequence[dict[str, Any]]) -> TextTable:
    headings = (
        "row",
        "notes: error",
        "notes: messages",
        "what is wrong",
        "sum: O of",
        "mean: O of",
        "messages: O of",
        "measured with",
        "sum",
        "mean",
        "messages",
    )
    cells = [
        (
            row["row"],
            row["notes_error"] or "-",
            row["notes_messages"] or "-",
            row["remark"],
            row["stated_sum"],
            row["stated_mean"],
            row["stated_messages"],
            f"{row['protocol']}, a {row['task']}",
            number(row["measured"]),
            f"{row['measured_mean']:.2g}",
            f"{row['messages']:,.4g}",
        )
        for row in rows
    ]
    return TextTable(headings, tuple(cells), frozenset({8, 9, 10}))


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    by = {row["protocol"]: row for row in rows}
    central, local, blanket = by["geometric"], by["randomised-response"], by["blanket-sum"]
    split, last, single = by["split-and-mix"], by["almost-central-sum"], by["cheu-count"]
    sizes = list(blanket["errors"])
    return (
        f"In one scale the table reads the other way round: the notes put {central['notes_error']} for a sum above "
        f"{local['notes_error']} for a mean, as if local privacy were cheaper, and among {local['people']:,} people a "
        f"sum is off by {number(local['predicted'])} locally and by {number(central['predicted'])} centrally. The "
        "privacy blanket does not reach the constant error of its row: it goes from "
        f"{number(blanket['errors'][sizes[0]])} to {number(blanket['errors'][sizes[-1]])} between {int(sizes[0]):,} "
        f"and {int(sizes[-1]):,} people (n to the {blanket['growth']:.2f}) with its one message; split-and-mix does, "
        f"at {number(split['messages'])} messages. A count by one message ({number(single['predicted'])}) is "
        f"{number(single['predicted'] / central['predicted'])} times as wrong as the central one. The row that is "
        f"empty in the notes ought to say an error of {number(last['predicted'])} for {number(last['messages'])} "
        f"messages a person, which are {number(last['messages_of'][sizes[-1]])} in the largest crowd."
    )


def _draw(rows: Sequence[dict[str, Any]], path: Path, theme: str) -> Path:
    def line(row: dict[str, Any], mean: bool) -> Line:
        points = [(float(n), error / (int(n) if mean else 1)) for n, error in row["errors"].items()]
        seen = row["measured"] / (row["people"] if mean else 1)
        dashes = BOUND if row["task"] == "sum" else SOLID
        return Line(row["row"], points, row["protocol"], dashes, [(float(row["people"]), seen)])

    people = Axis("people", log=True)
    panels = [
        Panel([line(row, False) for row in rows], people, Axis("error of the sum, people", log=True), "Sums"),
        Panel([line(row, True) for row in rows], people, Axis("error of the mean", log=True), "Means, of the same"),
    ]
    return lines(
        panels,
        path,
        title="The survey's table as it should read: one scale at a time",
        columns=1,
        theme=theme,
        subtitle=f"ε = {survey.BUDGET.epsilon:g}, δ = {survey.BUDGET.delta:g}. Solid: bits. Dashed: numbers. "
        "Circles: simulated",
    )
