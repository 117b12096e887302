"""Every statement of the notes, its place, its verdict and the command that shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from headcount.errors import BadArgument
from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount_survey.answers import ANSWERS
from headcount_survey.notes import (
    SEPARATING,
    TITLES,
    additive,
    binomial,
    choosing,
    counts,
    events,
    five,
    histograms,
    local,
    pure,
    sampling,
    several,
    shuffling,
    smooth,
    survey,
)
from headcount_survey.papers import ROWS
from headcount_survey.statement import QUESTIONS, Answer, Statement, also, look, supported
from headcount_survey.study import Finding, Study, Verdict

NOTES = (
    *(smooth, binomial, five, counts, histograms, pure, several),
    *(survey, local, shuffling, additive, sampling, choosing, events),
)

KNOWN = (
    "With each verdict stands how the right form is known: *proved*, by the argument that is given or where it is "
    "said to stand; *certified* over a range, that is computed for what the range says and claimed for nothing else; "
    "or *an instance*, the one case that was computed."
)


def _place(key: str) -> tuple[str, list[int]]:
    return key[0], [int(number) for number in re.findall(r"\d+", key)]


STATEMENTS: tuple[Statement, ...] = tuple(
    sorted((one for note in NOTES for one in note.row), key=lambda s: _place(s.key))
)
PAPERS: tuple[Statement, ...] = tuple(sorted(ROWS, key=lambda s: _place(s.key)))


def found(key: str) -> list[Statement | Answer]:
    """The statement, erratum or answer of this key; `S1` is all of S1.1, S1.2 …, `all` is all."""
    every: list[Statement | Answer] = [*STATEMENTS, *PAPERS, *ANSWERS]
    those = [one for one in every if key == "all" or one.key == key or one.key.startswith(f"{key}.")]
    if not those:
        works = "use one of the index, like S1.7, P4.1 or Q4, or S1 for all that begin so, or all"
        raise BadArgument("key", f"is {key!r}", works)
    return those


def anchor(heading: str) -> str:
    """The name by which a page refers to this heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def tally(statements: Sequence[Statement]) -> str:
    """How many of each verdict, in words."""
    numbers = {verdict: sum(one.verdict is verdict for one in statements) for verdict in Verdict}
    return (
        f"{numbers[Verdict.HOLDS]} hold as they are said, {numbers[Verdict.CORRECTED]} hold with a correction, and "
        f"{numbers[Verdict.FALSE]} are false"
    )


def row_of(one: Statement) -> dict[str, Any]:
    seen = look(one.check)
    return {
        "key": one.key,
        "title": one.title,
        "note": one.note,
        "place": one.place,
        "says": one.says,
        "verdict": str(one.verdict),
        "severity": one.severity and str(one.severity),
        "ought": one.ought,
        "known": str(one.basis.known),
        "basis": str(one.basis),
        "seen": seen.figure,
        "supported": supported(one),
        "command": one.command,
        "more": also(one.more),
    }


class Statements(Study):
    name: ClassVar[str] = "statements"
    question: ClassVar[str] = "What do the notes say, and what became of it?"
    source: ClassVar[str] = "every definition, lemma, theorem, figure, number and question of the five notes"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        rows = [row_of(one) for one in watch(list(STATEMENTS))]
        asked = [answer.row() for answer in ANSWERS]
        cells = tuple((row["key"], row["says"], row["verdict"], row["seen"]) for row in rows)
        sheet = TextTable(("", "the notes say", "verdict", "what was computed"), cells)
        return Finding(self._answer(), [*rows, *asked], sheet, body=_index(rows))

    def _answer(self) -> str:
        return (
            f"Of {len(STATEMENTS)} statements in the notes, {tally(STATEMENTS)}; {len(ANSWERS)} "
            "questions and gaps are answered. Each has a check that computes the evidence anew and "
            "fails if it no longer bears out the verdict. *Holds with correction* means that what "
            "the statement is for survives in the corrected form; *false*, that it has to be given "
            f"up. {KNOWN} The notes are called by their titles; of *{SEPARATING}* there are two "
            "versions."
        )


def _index(rows: list[dict[str, Any]]) -> str:
    """A table for each note; what fails links to its erratum, a question to its answer."""
    parts = []
    for title in TITLES:
        parts += [f"## {title}", "", _table([row for row in rows if row["note"] == title]), ""]
    questions = [
        (f"[{one.key}](answers.md#{anchor(one.heading)})", one.question, one.place, f"`{one.command}`")
        for one in ANSWERS
    ]
    parts += [f"## {QUESTIONS}", "", TextTable(("", "question", "where", "answered by"), tuple(questions)).markdown()]
    return "\n".join(parts)


def _table(rows: list[dict[str, Any]]) -> str:
    cells = []
    for row in rows:
        place = anchor(f"{row['key']} {row['title']}")
        linked = f"[{row['key']}](errata.md#{place})"
        key = row["key"] if row["verdict"] == Verdict.HOLDS else linked
        said = f"**{row['title']}** ({row['place']}). {row['says']}"
        shown = f"{said} *Known:* {row['basis']}. *Computed:* {row['seen']}. `{row['command']}`"
        cells.append((key, f"{row['verdict']}, {row['known']}", shown))
    return TextTable(
        ("", "verdict", "what the notes say, how it is known, what was computed, and by which command"), tuple(cells)
    ).markdown()
