"""A statement of the notes on the command line: what it says, the verdict, and evidence computed on the spot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from headcount.cli.options import Formats
from headcount.cli.progress import Bar
from headcount.cli.render import Format, console, grid, show
from headcount.studies.statement import Statement
from headcount.studies.statements import found, row_of

SIGNS = {
    "epsilon": "ε",
    "delta": "δ",
    "gamma": "γ",
    "alpha": "α",
    "beta": "β",
    "lambda": "λ",
    "tau": "τ",
    "mu": "μ",
    "eta": "η",
    "rho": "ρ", "Delta": "Δ", "Gamma": "Γ", "Omega": "Ω", "Theta": "Θ", "le": "≤", "ge": "≥", "in": "∈", "notin": "∉",
    "sim": "∼",
    "sum": "Σ",
    "prod": "Π",
    "cdot": "·",
    "cdots": "…",
    "dots": "…",
    "circ": "∘",
    "exists": "∃",
    "infty": "∞",
    "ln": "ln", "log": "log", "exp": "exp", "tanh": "tanh", "max": "max", "lvert": "|", "rvert": "|", "pm": "±",
    "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "qquad": "  ", "left": "", "right": "", "big": "",
}  # fmt: skip
FRACTION = re.compile(r"\\frac\s*(\{((?:[^{}]|\{[^{}]*\})*)\}|\\?\w)\s*(\{((?:[^{}]|\{[^{}]*\})*)\}|\\?\w+)")
COMMAND = re.compile(r"\\([A-Za-z]+) ?")


def plain(text: str) -> str:
    """Formulas as a terminal can show them: Greek letters and signs for commands, fractions on a line."""
    return re.sub(r"\$([^$]*)\$", lambda formula: _signs(formula[1]), text)


def _signs(formula: str) -> str:
    def fraction(part: re.Match[str]) -> str:
        over, under = (part[2] or part[1]), (part[4] or part[3])
        return f"{_grouped(over)}/{_grouped(under)}"

    before = ""
    while before != formula:
        before, formula = formula, FRACTION.sub(fraction, formula)
    formula = re.sub(r"\\(?:mathrm|mathbb|text|overline)\{([^{}]*)\}", r"\1", formula)
    formula = re.sub(r"\\sqrt\{((?:[^{}]|\{[^{}]*\})*)\}", r"√(\1)", formula).replace("\\sqrt", "√")
    formula = formula.replace("\\{", "⦃").replace("\\}", "⦄").replace("\\,", " ").replace("\\tilde", "~")
    formula = COMMAND.sub(lambda command: SIGNS.get(command[1], command[1]), formula)
    formula = re.sub(r"\{([^{}]*)\}", lambda group: _grouped(group[1]), formula)
    return formula.replace("⦃", "{").replace("⦄", "}")


def _grouped(part: str) -> str:
    """In brackets, unless it is one sign or one command."""
    return part if re.fullmatch(r"\\?\w+|\S", part) else f"({part})"


def check(
    key: Annotated[
        str, typer.Argument(help="Of a statement (S1.7), erratum (P4.1) or question (Q4); S1 for all of them; or all.")
    ],
    how: Formats = Format.TABLE,
) -> None:
    """What the notes or a paper say, what became of it, and the evidence; exit code 1 if that does not bear it out."""
    rows = [_row(one) for one in Bar("checks")(found(key))]
    if how is Format.TABLE:
        for row in rows:
            _print(row)
    else:
        show(rows, how, grid())
    if not all(row["supported"] for row in rows):
        raise typer.Exit(1)


def _row(one: Any) -> dict[str, Any]:
    return row_of(one) if isinstance(one, Statement) else one.row()


def _print(row: dict[str, Any]) -> None:
    terminal = console()
    terminal.print(f"[bold]{row['key']}  {row['title']}[/]", highlight=False)
    for label, text in _lines(row):
        table = grid("", "")
        table.show_header = False
        table.columns[0].width = 8
        table.add_row(f"[dim]{label}[/]", plain(text).replace("[", "\\["))
        terminal.print(table, highlight=False)
    terminal.print()


def _lines(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "where", f"{row['note']}; {row['place']}" if "note" in row else row["place"]
    if "question" in row:
        yield "asked", row["question"]
        yield "answer", row["answer"]
    else:
        yield "says", row["says"]
        yield "verdict", row["verdict"]
        if row["ought"]:
            yield "rather", row["ought"]
    yield "seen", row["seen"]
    if not row["supported"]:
        yield "amiss", "what was computed does not bear this out"
    if row["more"]:
        yield "more", row["more"]
