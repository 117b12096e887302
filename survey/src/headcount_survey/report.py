"""The files of a study: its figure, its rows, and a page that puts them together."""

from __future__ import annotations

import json
from pathlib import Path

from headcount.figures.text_table import comma_separated
from headcount_survey.study import Finding, Study, Theorem


def write(study: Study, found: Finding, folder: Path) -> list[Path]:
    """Into the folder: NAME.md, .json, .csv and, if it draws, .svg, -dark.svg and .png."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"md": page(study, found), "json": _json(study, found), "csv": comma_separated(found.rows)}
    written = []
    for suffix, text in texts.items():
        written.append(folder / f"{study.name}.{suffix}")
        written[-1].write_text(text, encoding="utf-8")
    if found.draw is not None:
        for ending, theme in ((".svg", "light"), ("-dark.svg", "dark"), (".png", "light")):
            written.append(found.draw(folder / f"{study.name}{ending}", theme))
    return written


def page(study: Study, found: Finding) -> str:
    """The page of a study, in Markdown."""
    stated, source = [], study.source[0].upper() + study.source[1:]
    if isinstance(study, Theorem):
        stated = [
            f"**Statement.** {study.statement}",
            "",
            f"**Verdict.** {study.verdict}, certified over the cases below.",
            "",
        ]
    figure = [f"![{found.answer.split('. ')[0].rstrip('.')}.]({study.name}.svg)", ""]
    figure += [f"*{found.caption}*", ""] if found.caption else []
    lines = [
        f"# {study.question}",
        "",
        f"*{source}{'' if source.endswith('?') else '.'}*",
        "",
        *stated,
        found.answer,
        "",
        *(figure if found.draw else []),
        found.body or found.sheet.markdown(),
        "",
        f"Made by `{study.command}`.",
        "",
    ]
    return "\n".join(lines)


def _json(study: Study, found: Finding) -> str:
    rows = [dict(row) for row in found.rows]
    head = {"study": study.name, "question": study.question, "source": study.source, "answer": found.answer}
    return json.dumps({**head, "rows": rows}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
