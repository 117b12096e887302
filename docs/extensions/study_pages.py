"""Every study of the catalogue on a page of its own, and a page that lists them with what was found.

A study that is added to the catalogue appears here without any other edit, and so does a page that is added to docs/
and that the front page does not list: the errata, the answers, the statements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from pages import block, indexed, table

from headcount_survey.catalogue import STUDIES as CATALOGUE
from headcount_survey.report import write
from headcount_survey.study import Study, Theorem

DOCS = Path(__file__).parent.parent
STUDIES = tuple(
    study for study in CATALOGUE if not (DOCS / f"{study.name}.md").exists()
)  # others are written out there
STATEMENT = re.compile(r"^\| \[?(\w[\d.]+)\]?(?:\(.*?\))? \| ([a-z ]+), [a-z ]+ \| \*\*(.+?)\*\*", re.MULTILINE)
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


def run(study: type[Study], folder: Path, quick: bool) -> None:
    """Its page, rows and figures, as the command line writes them."""
    one = study()
    write(one, one.run(quick), folder)


def page(study: type[Study], folder: Path, quick: bool) -> str:
    """As it was written, with its rows to take along, and its place in the index."""
    text = (folder / f"{study.name}.md").read_text(encoding="utf-8")
    if quick:
        command = f"`headcount study run {study.name}"
        text = text.replace(f"{command}`.", f"{command} --quick`; without that, on the full grid.")
    rows = f"The rows: {{download}}`CSV <{study.name}.csv>`, {{download}}`JSON <{study.name}.json>`.\n"
    return f"{_indexed(study)}\n{text}\n{rows}"


def _indexed(study: type[Study]) -> str:
    entries = [f"studies; {study.name}"]
    if issubclass(study, Theorem):
        entries += [f"statements; {study.name}, which {_verb(study)}"]
    return indexed(entries)


def with_statements(text: str) -> str:
    """The page of all statements, each of which is then in the index with its verdict."""
    rows = STATEMENT.findall(text)
    entries = (f"statements; {key}, {title.replace(';', ',')} ({verdict})" for key, verdict, title in rows)
    return f"{indexed(entries)}\n{text}"


def _verb(study: type[Theorem]) -> str:
    return "is false" if study.verdict == "false" else str(study.verdict)


def overview(folder: Path, pages: Sequence[Path]) -> str:
    """What was asked and found; `pages` are the others that belong here, in the folder above."""
    questions = [study for study in STUDIES if not issubclass(study, Theorem)]
    theorems = [study for study in STUDIES if issubclass(study, Theorem)]
    lines = [
        "# Studies", "",
        "Every question, figure and theorem of the field in runnable form: `headcount study list` names them, "
        "`headcount study run NAME` computes one again, on the full grid.", "",
    ]  # fmt: skip
    lines += [f"- [{_title(page)}](../{page.stem}.md)" for page in pages] + [""]
    lines += ["## Questions", "", *(f"{_entry(study, folder)}\n" for study in questions)]
    if theorems:
        rows = [(study.statement, f"**{study.verdict}**", _command(study)) for study in theorems]
        lines += ["## Statements", "", table(("statement, as it ought to read", "the notes' version", "see"), rows), ""]
    names = [f"../{page.stem}" for page in pages] + [f"{_spoken(study.name)} <{study.name}>" for study in STUDIES]
    return "\n".join([*lines, block("{toctree}", ":hidden:\n\n" + "\n".join(names))])


def _entry(study: type[Study], folder: Path) -> str:
    answer = json.loads((folder / f"{study.name}.json").read_text(encoding="utf-8"))["answer"]
    return f"[{study.question}]({study.name}.md)\n: {answer}"


def _command(study: type[Study]) -> str:
    return f"[`headcount study run {study.name}`]({study.name}.md)"


def _spoken(name: str) -> str:
    return name[0].upper() + name[1:].replace("-", " ")


def _title(page: Path) -> str:
    found = HEADING.search(page.read_text(encoding="utf-8"))
    return found[1] if found else page.stem
