"""Signed releases on the command line; `headcount verify` also finds this by its entry point."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape

from headcount.answers.intervals import digits
from headcount.cli.render import Format, answered, grid, show, titled
from headcount.common.plurals import counted
from headcount.figures.text_table import TextTable
from headcount.questions.question import of_clipped
from headcount_service.wire.signed_release import Released

__all__ = ["Released", "hand_over", "release_table"]


def hand_over(told: Released, out: Path | None, how: Format) -> None:
    """Write a release to a file, if one is named, and print it."""
    if out is not None:
        told.save(out)
    show(told.content, how, release_table(told))
    if out is not None and how is Format.TABLE:
        print(f"written to {out}; prove it again: headcount verify {out}")


def release_table(told: Released) -> RenderableType:
    """What a release tells, for people."""
    content, estimate = told.content, told.estimate
    table, sheets = grid("", ""), tuple[TextTable, ...]()
    table.add_row("question", escape(content["question"]))
    if "value" in estimate:
        value, low, high = _rounded(estimate["value"], *estimate["interval95"])
        table.add_row("answer", answered(value, of_clipped(estimate.get("clipped_to"))))
        table.add_row("95% interval", f"{low} to {high}")
    elif any(type(cell["category"]) is not dict for cell in estimate.get("cells", ())):
        for cell in estimate["cells"]:
            value, low, high = _rounded(cell["value"], *cell["interval95"])
            table.add_row(escape(str(cell["category"])), f"[bold]{value}[/]  ({low} to {high})")
    else:
        answer = told.answer
        sheets = tuple(answer.sheets)
        for name, value, span in () if sheets else answer.rows():
            table.add_row(escape(name), f"[bold]{value}[/]  ({span})")
        if answer.note:
            table.add_row("", answer.note)
    added = f", and {content['added']:,} reports of nobody" if content["added"] else ""
    table.add_row("people", f"{content['people']:,}{added}")
    if terms := ", ".join(_terms(content)):
        table.add_row("on terms", terms)
    table.add_row(
        "guarantee",
        f"(ε={estimate['epsilon']:g}, δ={estimate['delta']:.3g}), {estimate['neighbours']} one, {estimate['model']}, "
        f"{estimate['protocol']}, {estimate['accounting']}",
    )
    table.add_row("signed by", told.analyser)
    return Group(*(part for sheet in sheets for part in titled(sheet)), table) if sheets else table


def _rounded(value: float, low: float, high: float) -> tuple[str, str, str]:
    places = digits(low, high)
    return f"{value:,.{places}f}", f"{low:,.{places}f}", f"{high:,.{places}f}"


def _terms(content: dict[str, Any]) -> Iterator[str]:
    """Choices and events that weaken the guarantee; releases of version 0.2 did not record them."""
    relies, bad = content["estimate"]["model"] != "local", content.get("unreadable", 0)
    for chosen, words in (
        (bad, f"{counted(bad, 'message')} no device could have sent"),
        (content.get("corrupt") == 0 and relies, "all are trusted to be honest"),
        (content.get("admission") == "anyone", "anybody could report"),
        (content.get("early"), "the operator ended it before its window did"),
    ):
        if chosen:
            yield words
