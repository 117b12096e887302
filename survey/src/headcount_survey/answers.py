"""Answers to the questions that the notes leave open, each with a figure computed on the spot."""

from __future__ import annotations

from typing import Any, ClassVar

from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount_survey.notes import blanks, gaps, questions
from headcount_survey.statement import Answer
from headcount_survey.study import Finding, Study

ANSWERS: tuple[Answer, ...] = tuple(
    sorted((*questions.asked, *gaps.asked, *blanks.asked), key=lambda answer: int(answer.key[1:]))
)


class Answers(Study):
    name: ClassVar[str] = "answers"
    question: ClassVar[str] = "What do the notes ask, and what is the answer?"
    source: ClassVar[str] = "every question, empty box and unfinished section of the five notes"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rows = [answer.row() for answer in watch(list(ANSWERS))]
        cells = tuple((row["key"], row["says"], row["seen"]) for row in rows)
        answer = (
            f"{len(ANSWERS)} questions and gaps are answered, each with figures that are computed "
            "when this page is made and by the command that stands with it. Keys like S3.8 refer "
            "to the [index of all statements](statements.md)."
        )
        return Finding(answer, rows, TextTable(("", "question", "in figures"), cells), body=_body(rows))


def _body(rows: list[dict[str, Any]]) -> str:
    parts = []
    for row in rows:
        more = f", and more of it by `{row['more']}`" if row["more"] else ""
        parts += [
            f"## {row['key']} {row['title']}",
            "",
            f"*{row['place']}.* {row['says']}",
            "",
            row["ought"],
            "",
            f"In figures: {row['seen']}. `{row['command']}`{more}",
            "",
        ]
    return "\n".join(parts).rstrip()
