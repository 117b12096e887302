"""A statement of the notes on the command line: its words, the verdict, and computed evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from headcount.cli.options import Formats
from headcount.cli.progress import ProgressBar
from headcount.cli.render import Format, console, grid, show

OPEN, SHUT = "\ue000", "\ue001"  # of an absolute value, until spaces are settled
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
    "rho": "ρ",
    "Delta": "Δ",
    "Gamma": "Γ",
    "Omega": "Ω",
    "Theta": "Θ",
    "le": " ≤ ",
    "ge": " ≥ ",
    "in": " ∈ ",
    "notin": " ∉ ",
    "sim": " ∼ ",
    "to": " → ",
    "pm": " ± ",
    "cdot": "·",
    "cdots": "…",
    "dots": "…",
    "circ": "∘",
    "exists": "∃",
    "sum": "Σ ",
    "prod": "Π ",
    "ln": " ln ",
    "tilde": "~",
    "left": "",
    "right": "",
    "lvert": OPEN,
    "rvert": SHUT,
    "lceil": "⌈",
    "rceil": "⌉",
    "lfloor": "⌊",
    "rfloor": "⌋",
}
GROUP = r"(\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|\w)"
FRACTION, ROOT = re.compile(rf"\\frac ?{GROUP} ?{GROUP}"), re.compile(rf"\\sqrt ?{GROUP}")


def plain(text: str) -> str:
    """Formulas as a terminal shows them: Greek letters and signs, fractions on one line."""
    parts = text.split("$")
    return "".join(_signs(part) if i % 2 else re.sub(r"\*([^*]+)\*", r"\1", part) for i, part in enumerate(parts))


def _signs(formula: str) -> str:
    formula = formula.replace("\\{", "⦃").replace("\\}", "⦄").replace("\\,", " ")
    formula = re.sub(r"\\(?:mathrm|mathbb|overline)\{([^{}]*)\}", r" \1", formula)
    before = ""
    while before != formula:
        before = formula
        formula = FRACTION.sub(lambda part: f"({_grouped(part[1])}/{_grouped(part[2])})", formula)
        formula = ROOT.sub(lambda part: f"√{_grouped(part[1])}", formula)
    formula = re.sub(r"\\([A-Za-z]+) ?", lambda command: SIGNS.get(command[1], command[1]), formula)
    before = ""
    while before != formula:
        before = formula
        formula = re.sub(r"\{[^{}]*\}", lambda group: _grouped(group[0]), formula)
    formula = re.sub(rf"(?<=ln) (?=\()|(?<=[({OPEN}]) +| +(?=[)^,_{SHUT}])", "", re.sub(r" +", " ", formula))
    formula = re.sub(r"\((\((?:[^()]|\([^()]*\))*\))\)", r"\1", formula)
    return formula.replace("⦃", "{").replace("⦄", "}").replace(OPEN, "|").replace(SHUT, "|").strip()


def _grouped(part: str) -> str:
    """The formula in brackets, unless it is a word or a command."""
    inner = part[1:-1] if part.startswith("{") else part
    return inner if re.fullmatch(r"\\?\w+", inner) else f"({inner})"


def check(
    key: Annotated[
        str, typer.Argument(help="Of a statement (S1.7), erratum (P4.1) or question (Q4); S1 for all of them; or all.")
    ],
    how: Formats = Format.TABLE,
) -> None:
    """A statement of the notes or a paper, its verdict and evidence; exit code 1 if it fails."""
    from headcount_survey.statements import found

    rows = [_row(one) for one in ProgressBar("checks")(found(key))]
    if how is Format.TABLE:
        for row in rows:
            _print(row)
    else:
        show(rows, how, grid())
    if not all(row["supported"] for row in rows):
        raise typer.Exit(1)


def _row(one: Any) -> dict[str, Any]:
    from headcount_survey.statement import Statement
    from headcount_survey.statements import row_of

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
    from headcount_survey.statement import QUESTIONS

    if row["note"] == QUESTIONS:
        yield "where", row["place"]
        yield "asked", row["says"]
        yield "answer", row["ought"]
    else:
        yield "where", f"{row['note']}; {row['place']}"
        yield "says", row["says"]
        yield "verdict", row["verdict"] + (f"; severity: {row['severity']}" if row["severity"] else "")
        if row["ought"]:
            yield "rather", row["ought"]
        yield "known", row["basis"]
    yield "seen", row["seen"]
    if not row["supported"]:
        yield "amiss", "what was computed does not bear this out"
    if row["more"]:
        yield "more", row["more"]
