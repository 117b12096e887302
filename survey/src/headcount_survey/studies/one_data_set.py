"""The parts that three surveys share: one data set, every protocol, bounds, predictions and runs.

The data set is made up: everybody has a number between 0 and 1, the squares of evenly spread ones,
so that small numbers are more frequent, as with most amounts. Who has more than 3/4 is counted, all
numbers are summed, and a histogram has 20 bins. Errors are those of a *sum*, in people; a mean's
are n times smaller and stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from headcount.audit.conformance.scenarios import samples_directly
from headcount.errors import Refused
from headcount.figures.bars import Bar, bars
from headcount.figures.canvas import number
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrate
from headcount.planner.selection import Progress
from headcount.privacy.budget import Budget
from headcount.privacy.crowd import Crowd
from headcount.privacy.model import Model
from headcount.programme.law import Floats
from headcount.protocols import CATALOGUE
from headcount.protocols.base.protocol import Protocol
from headcount.questions.domains.domain import Shape
from headcount.questions.question import Question

BUDGET = Budget(1.0, 1e-6)
PEOPLE, FEWER = 10_000, 1_000  # FEWER in quick mode
GROWN, GROWN_LESS = (10**5, 10**7), (10**5, 10**6)  # people, between whom the growth of the error is computed
RUNS, FEWEST = 2_000, 30
MESSAGES = 4e7  # in all runs of one protocol together, about
ORDER = tuple(Model)
DERIVED = ("shuffled-", "blanket-histogram")


@dataclass(frozen=True)
class Bound:
    """Stated asymptotics: the error of a sum and of a mean, its growth, the messages.

    Most are the literature's. Those of `DERIVED` follow here from the local protocol and the
    epsilon that shuffling leaves it, and no paper is known to state them.

    `growth` is the power of n in the sum's error, at a fixed budget and fixed shares of the crowd.
    """

    sum: str
    mean: str
    growth: float
    messages: str = "1"
    derived: bool = False  # here, and not in the literature


def numbers(people: int) -> Floats:
    return np.asarray(((np.arange(people) + 0.5) / people) ** 2)


def surveyed(
    task: Question, data: Callable[[int], Any], bounds: Mapping[str, Bound], quick: bool, watch: Progress
) -> list[dict[str, Any]]:
    """A row for each protocol that a bound is stated for, from the most trusted model on."""
    people = FEWER if quick else PEOPLE
    kinds = sorted((kind for kind in CATALOGUE if kind.name in bounds), key=lambda kind: ORDER.index(kind.model))
    found = [row_of(kind, task, data, people, bounds[kind.name], quick) for kind in watch(list(kinds))]
    return sorted(found, key=lambda row: (ORDER.index(Model(row["model"])), row["predicted"]))


def row_of(
    kind: type[Protocol], task: Question, data: Callable[[int], Any], people: int, bound: Bound, quick: bool
) -> dict[str, Any]:
    held = truths(task, data(people))
    protocol, predicted = among(kind, task, held, people, people)
    sizes = GROWN_LESS if quick else GROWN
    few, many = (among(kind, task, held, people, size)[1] for size in sizes)
    runs = _runs(protocol, quick)
    derived = bound.derived or kind.name.startswith(DERIVED)
    seen = protocol.simulate(data(people), runs=runs, seed=1)
    return {
        "protocol": kind.name,
        "model": str(kind.model),
        "people": people,
        "stated_sum": bound.sum,
        "stated_mean": bound.mean,
        "stated_by": "derived here" if derived else "literature",
        "stated_growth": bound.growth,
        "growth_between": list(sizes),
        "growth": math.log(many / few) / math.log(sizes[1] / sizes[0]),
        "papers_parameters": _papers(protocol, held),
        "predicted": predicted,
        "measured": seen.rmse,
        "measured_mean": seen.rmse / people,
        "largest": float(np.abs(seen.errors).max(axis=1).mean()),
        "runs": runs,
        "stated_messages": bound.messages,
        "messages": protocol.messages_per_person,
        "accounting": protocol.loss.kind,
    }


def truths(task: Question, values: Any) -> tuple[int, ...]:
    """The people in each cell; for a sum, as hard as the hardest, the cell does not matter."""
    return tuple(round(cell) for cell in task.truth(task.domain.codes(np.asarray(values))).tolist())


@lru_cache(maxsize=256)
def among(
    kind: type[Protocol], task: Question, held: tuple[int, ...], people: int, size: int
) -> tuple[Protocol, float]:
    """The best for a crowd of another size with the same shares, and its error there."""
    scaled = [round(size / people * cell) for cell in held]
    found = calibrate(kind, task, Crowd(size), BUDGET, lambda protocol: rms(protocol, scaled))
    return found, rms(found, scaled)


def rms(protocol: Protocol, held: Sequence[int]) -> float:
    """The predicted error of an average cell of this data set; for a sum, of the hardest."""
    if protocol.task.shape is Shape.AMOUNT:
        return protocol.rmse()
    return math.sqrt(sum(protocol.size_of_error(cell, protocol.crowd.size) ** 2 for cell in held) / len(held))


def _papers(protocol: Protocol, held: Sequence[int]) -> float | None:
    """The error with its paper's closed form, where there is one for the task, in range."""
    if protocol.task.shape.several or protocol.name.startswith("shuffled-") or protocol.model is Model.CENTRAL:
        return None
    try:
        given = type(protocol).published(BUDGET, protocol.crowd)
        return rms(type(protocol)(task=protocol.task, crowd=protocol.crowd, **given), held)
    except Refused:
        return None


def _runs(protocol: Protocol, quick: bool) -> int:
    most, fewest, messages = (RUNS // 20, FEWEST // 6, MESSAGES / 80) if quick else (RUNS, FEWEST, MESSAGES)
    if samples_directly(protocol):
        return 10 * most
    return min(most, max(fewest, round(messages / (protocol.crowd.size * max(1.0, protocol.messages_per_person)))))


def sheet(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    headings = (
        "protocol",
        "model",
        "sum: O of",
        "mean: O of",
        "stated by",
        "grows like n to the",
        "computed",
        "by the paper's parameters",
        "sum, predicted",
        "sum, measured",
        "mean, measured",
        "messages: O of",
        "messages",
    )
    cells = []
    for row in rows:
        papers = "" if row["papers_parameters"] is None else number(row["papers_parameters"])
        cells.append(
            (
                row["protocol"],
                row["model"],
                row["stated_sum"],
                row["stated_mean"],
                row["stated_by"],
                f"{row['stated_growth']:.3g}",
                f"{row['growth']:.2f}",
                papers,
                number(row["predicted"]),
                number(row["measured"]),
                f"{row['measured_mean']:.2g}",
                row["stated_messages"],
                f"{row['messages']:,.4g}",
            )
        )
    return TextTable(headings, tuple(cells), frozenset({5, 6, 7, 8, 9, 10, 12}))


def drawn(rows: Sequence[Mapping[str, Any]], title: str, what: str, for_whom: str, path: Path, theme: str) -> Path:
    shown = [
        Bar(
            row["protocol"],
            Model(row["model"]),
            row["predicted"],
            dot=row["measured"],
            note=f"{number(row['messages'])} message{'' if row['messages'] == 1 else 's'}",
        )
        for row in rows
    ]
    people = rows[0]["people"]
    return bars(
        shown,
        path,
        title=title,
        xlabel="root mean square error, people",
        theme=theme,
        sign="",
        subtitle=f"{what}, {people:,} people, {BUDGET}. Bars: predicted{for_whom}. Dots: simulated",
    )


def figure(rows: Sequence[Mapping[str, Any]], title: str, what: str, for_whom: str = "") -> Callable[[Path, str], Path]:
    return partial(drawn, rows, title, what, for_whom)


def best(rows: Sequence[Mapping[str, Any]], *models: Model, most: float = math.inf) -> Mapping[str, Any]:
    """The row with the smallest measured error, of these models and at most this many messages."""
    fitting = [row for row in rows if row["model"] in models and row["messages"] <= most]
    return min(fitting, key=lambda row: float(row["predicted"]))


def agreement(rows: Sequence[Mapping[str, Any]]) -> str:
    """How stated growth and predictions compare with what was computed and measured."""
    off = max(rows, key=lambda row: abs(row["growth"] - row["stated_growth"]))
    gap, (few, many) = abs(off["growth"] - off["stated_growth"]), off["growth_between"]
    most = f"more than {gap:.2f} ({off['protocol']})" if gap >= 0.005 else "as much as 0.01"
    return f"From {few:,} to {many:,} people errors grow as stated: the power of n is nowhere off by {most}"
