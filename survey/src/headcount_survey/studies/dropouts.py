"""What is left of a guarantee when people do not come, or work against the others?"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from headcount.figures.axis import Axis
from headcount.figures.canvas import number
from headcount.figures.lines import Line, Note, Panel, lines
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.protocols import CATALOGUE, named
from headcount.protocols.base.protocol import Protocol
from headcount.questions.count import Count
from headcount.questions.domains.domain import Shape
from headcount.questions.sum_and_mean import Sum
from headcount_survey.study import Finding, Study

PEOPLE, BUDGET, RELIED = 10_000, Budget(1.0, 1e-6), 0.7
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9)
FEW_SHARES = (0.0, 0.1, 0.3, 0.5)
OF_SUMS = ("split-and-mix", "almost-central-sum")
OPTIONS = {"correlated-count": {"overhead": 0.1}}  # a smaller flood, whose loss is quicker to compute
HIGHEST = 12.0  # of the figure


class Dropouts(Study):
    name: ClassVar[str] = "dropouts"
    question: ClassVar[str] = "What is left of the guarantee if people drop out, or if all the others collude?"
    source: ClassVar[str] = "robustness of shuffle protocols: Balcer, Cheu, Joseph and Mao 2021, arXiv:2004.09481"

    def run(self, quick: bool = False, watch: Progress = iter) -> Finding:
        kinds = [cls for cls in CATALOGUE if Shape.BIT in cls.shapes or cls.name in OF_SUMS]
        shares = FEW_SHARES if quick else SHARES
        rows = [row for cls in watch(kinds) for row in _rows(cls, shares, quick)]
        return Finding(_answer(rows), rows, _sheet(rows), partial(_draw, rows))


def _planned(cls: type[Protocol], least: int, quick: bool) -> Protocol:
    task = Count() if Shape.BIT in cls.shapes else Sum((0.0, 1.0))
    options: dict[str, Any] = {"overhead": 0.4} if quick and cls.name in OPTIONS else OPTIONS.get(cls.name, {})
    return calibrate(cls, task, Crowd(PEOPLE, least), BUDGET, **options)


def _rows(cls: type[Protocol], shares: tuple[float, ...], quick: bool) -> list[dict[str, Any]]:
    """Rows for a plan that counts on everybody and for one that counts on 70%."""
    rows = []
    for relied in (1.0, RELIED):
        protocol = _planned(cls, round(relied * PEOPLE), quick)
        for gone in shares:
            left = protocol.loss_if(round((1.0 - gone) * PEOPLE)).epsilon(BUDGET.delta)
            rows.append(
                {
                    "protocol": cls.name,
                    "model": str(cls.model),
                    "relied": relied,
                    "gone": gone,
                    "rmse": protocol.rmse(),
                    "epsilon_left": left if math.isfinite(left) else None,
                    "local_epsilon": protocol.local_epsilon,
                }
            )
    return rows


def _left(rows: list[dict[str, Any]], name: str, relied: float) -> dict[float, float | None]:
    return {r["gone"]: r["epsilon_left"] for r in rows if r["protocol"] == name and r["relied"] == relied}


def _moved(rows: list[dict[str, Any]]) -> list[str]:
    """Protocols whose guarantee depends on how many people report."""
    names = dict.fromkeys(row["protocol"] for row in rows)
    return [name for name in names if len({_left(rows, name, 1.0)[gone] for gone in (0.0, 0.5)}) > 1]


def _answer(rows: list[dict[str, Any]]) -> str:
    moved = _moved(rows)
    still = [name for name in dict.fromkeys(row["protocol"] for row in rows) if name not in moved]
    at_tenth = sorted((left, name) for name in moved if (left := _left(rows, name, 1.0)[0.1]) is not None)
    none_left = [name for name in moved if _left(rows, name, 1.0)[0.5] is None]
    errors = {(r["protocol"], r["relied"]): r["rmse"] for r in rows}
    prices = [errors[name, RELIED] / errors[name, 1.0] for name in moved]
    kept = [left for name in moved for gone, left in _left(rows, name, RELIED).items() if gone <= 1.0 - RELIED]
    holds = all(left is not None and left <= BUDGET.epsilon * (1 + 1e-9) for left in kept)
    local = {r["protocol"]: r["local_epsilon"] for r in rows if r["relied"] == 1.0}
    flips = [f"{number(local[name])} ({name})" for name in moved if local[name] is not None]
    gone = [name for name in local if local[name] is None and named(name).model is not Model.CENTRAL]
    same = " and ".join(name for name in still if named(name).model is not Model.CENTRAL)
    return (
        f"A plan for epsilon = {BUDGET.epsilon:g}, delta = {BUDGET.delta:g} that counts on all {PEOPLE:,} people has "
        f"epsilon {number(at_tenth[0][0])} ({at_tenth[0][1]}) to {number(at_tenth[-1][0])} ({at_tenth[-1][1]}) left "
        f"if a tenth stay away; nothing is proved then for {_names(_none(rows, moved, 0.1))}, and if half stay away "
        f"no epsilon at this delta is left for {_names(none_left)}. A plan that counts on {RELIED:.0%} "
        f"{'keeps its promise' if holds else 'does not keep its promise'} as long as so many come, at an error "
        f"{number(min(prices))} to {number(max(prices))} times as large. Nothing changes for {same}, nor where the "
        "analyser is trusted. Who brings noise and colludes counts as absent, as the noise can be subtracted; if "
        f"all the others collude, those whose reports are noisy by themselves keep epsilon {', '.join(flips)}, and "
        f"nothing is left of {', '.join(gone)}."
    )


def _none(rows: list[dict[str, Any]], names: list[str], gone: float) -> list[str]:
    return [name for name in names if _left(rows, name, 1.0)[gone] is None]


def _names(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _sheet(rows: list[dict[str, Any]]) -> TextTable:
    shown = [gone for gone in FEW_SHARES if gone in {row["gone"] for row in rows}]
    cells = []
    for name in dict.fromkeys(row["protocol"] for row in rows):
        for relied in (1.0, RELIED):
            own = next(r for r in rows if r["protocol"] == name and r["relied"] == relied)
            left = _left(rows, name, relied)
            alone = "nothing" if own["local_epsilon"] is None else f"epsilon {number(own['local_epsilon'])}"
            if own["model"] == Model.CENTRAL:
                alone = "the analyser's"
            epsilons = [number(e) if (e := left[gone]) is not None else "none" for gone in shown]
            cells.append((name, f"{relied:.0%}", number(own["rmse"]), *epsilons, alone))
    headings = ("protocol", "counts on", "error (rmse)", *(f"{gone:.0%} gone" for gone in shown), "all others collude")
    title = f"The epsilon that is left at delta = {BUDGET.delta:g}"
    return TextTable(headings, tuple(cells), frozenset(range(1, 3 + len(shown))), title)


def _draw(rows: list[dict[str, Any]], path: Path, theme: str) -> Path:
    panels = []
    for relied, title in ((1.0, "plans that count on everybody"), (RELIED, f"plans that count on {RELIED:.0%}")):
        curves = []
        for name in [*_moved(rows), "sample-threshold", "randomised-response"]:  # the last two stay where they are
            points = [(gone, e) for gone, e in _left(rows, name, relied).items() if e is not None and e <= HIGHEST]
            if _left(rows, name, 1.0)[0.1] is not None:  # nothing is proved of the others but at the plan itself
                curves.append(Line(name, points))
        note = Note("as many as were counted on", x=1.0 - RELIED, at=0.98)
        across = Axis("share of the people who stay away", shares=True, low=0.0, high=rows[-1]["gone"])
        up = Axis("epsilon that is left", log=True, low=0.7, high=HIGHEST)
        panels.append(Panel(curves, across, up, title, [note] if relied < 1.0 else []))
    return lines(
        panels,
        path,
        title="Noise that people bring is missed when they do not; a plan may rely on fewer of them",
        subtitle=f"epsilon at delta = {BUDGET.delta:g}, planned as {BUDGET.epsilon:g} for {PEOPLE:,} people; "
        "a line ends where none is left",
        theme=theme,
    )
