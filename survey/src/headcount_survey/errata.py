"""Errata of the notes and of the papers: what is said, what is right, and the evidence."""

from __future__ import annotations

from typing import Any, ClassVar

from headcount.figures.text_table import TextTable
from headcount.planner.selection import Progress
from headcount_survey.notes import TITLES
from headcount_survey.statement import Severity
from headcount_survey.statements import KNOWN, PAPERS, STATEMENTS, row_of, tally
from headcount_survey.study import Finding, Study, Verdict


class Errata(Study):
    name: ClassVar[str] = "errata"
    question: ClassVar[str] = "What is wrong in the notes and in the papers, and what is right?"
    source: ClassVar[str] = "the five notes, and the papers they are about"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        wrong = [one for one in (*STATEMENTS, *PAPERS) if one.verdict is not Verdict.HOLDS]
        rows = [row_of(one) for one in watch(wrong)]
        cells = tuple((row["key"], row["title"], row["verdict"], row["severity"], row["seen"]) for row in rows)
        sheet = TextTable(("", "statement", "verdict", "severity", "what was computed"), cells)
        return Finding(_answer(rows), rows, sheet, body=_body(rows))


MEANINGS = {
    Severity.PRIVACY: "less of it than is promised",
    Severity.ACCURACY: "an error, a cost or a number of people misjudged",
    Severity.PROOF: "a step that fails where what it leads to stands",
    Severity.WORDING: "a slip that misleads nobody for long",
}


def _answer(rows: list[dict[str, Any]]) -> str:
    graded = "; ".join(
        f"*{severity}*, {meaning} ({sum(row['severity'] == severity for row in rows)})"
        for severity, meaning in MEANINGS.items()
    )
    return (
        f"Of the notes' {len(STATEMENTS)} statements, {tally(STATEMENTS)}; in the papers {len(PAPERS)} slips are "
        "listed: the gravest, P6, narrows a theorem, the others leave theirs standing. Every row is recomputed by "
        "the command that stands with it, which fails if the evidence does not bear it out. What holds as it is "
        f"said is in the [index of all statements](statements.md). {KNOWN} The severity of an erratum is what goes "
        f"wrong for a reader who relies on the statement as it is said: {graded}."
    )


def _body(rows: list[dict[str, Any]]) -> str:
    titles = [*TITLES, *dict.fromkeys(one.note for one in PAPERS)]
    parts = []
    for title in titles:
        those = [row for row in rows if row["note"] == title]
        parts += [f"## {title}", "", *(line for row in those for line in _entry(row))] if those else []
    return "\n".join(parts).rstrip()


def _entry(row: dict[str, Any]) -> list[str]:
    more = f", and more of it by `{row['more']}`" if row["more"] else ""
    place = row["place"][0].upper() + row["place"][1:]
    return [
        f"### {row['key']} {row['title']}",
        "",
        f"*{place}.* **{row['verdict'].capitalize()}.** Severity: {row['severity']}.",
        "",
        f"- *It says:* {row['says']}",
        f"- *Rather:* {row['ought']}" if row["verdict"] == Verdict.CORRECTED else f"- *In truth:* {row['ought']}",
        f"- *Known:* {row['basis']}.",
        f"- *Seen:* {row['seen']}. `{row['command']}`{more}",
        "",
    ]
