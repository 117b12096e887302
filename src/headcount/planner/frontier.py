"""The price of accuracy: each protocol's error against messages, epsilon, people or dropouts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from headcount.common.plurals import counted, people
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.planner.option import CalibratedOption, number
from headcount.planner.situation import InSituation, Situation
from headcount.privacy.model import Model

Against = Literal["messages", "epsilon", "n", "dropouts"]
WORDS = {"epsilon": "epsilon", "n": "the number of people", "dropouts": "the share that may drop out"}
TRUST = {model: place for place, model in enumerate(reversed(Model))}  # nobody is the least to trust
COLUMNS = 6  # of the table that people read


@dataclass(frozen=True)
class FrontierPoint:
    """A calibrated protocol: what it costs and how wrong it is, in the task's unit."""

    protocol: str
    model: Model
    x: float  # what the error is held against
    rmse: float
    half_width: float  # 95%
    messages: float  # a person
    bits: float  # a person
    parameters: dict[str, float]
    front: bool = False  # nothing that asks for no more trust is more accurate at no more messages
    epsilon_left: float | None = None  # of a plan for a crowd without dropouts, if this share drops out

    @classmethod
    def of(cls, option: CalibratedOption, x: float | None = None) -> Self:
        """The point of an option; against messages unless a place is given."""
        protocol, messages = option.protocol, option.protocol.messages_per_person
        return cls(
            option.name,
            option.kind.model,
            messages if x is None else x,
            option.rmse,
            option.half_width,
            messages,
            protocol.bits_per_person,
            protocol.to_json()["parameters"],
        )

    def to_json(self) -> dict[str, Any]:
        left = self.epsilon_left
        return {
            "protocol": self.protocol,
            "model": str(self.model),
            "x": self.x,
            "rmse": self.rmse,
            "interval95": self.half_width,
            "messages_per_person": self.messages,
            "bits_per_person": self.bits,
            "parameters": self.parameters,
            "front": self.front,
            "epsilon_left": left if left is not None and math.isfinite(left) else None,
        }

    def beats(self, other: FrontierPoint) -> bool:
        """Whether it dominates: no worse in error, messages, trust; better in error or messages."""
        if TRUST[self.model] > TRUST[other.model] or self.rmse > other.rmse or self.messages > other.messages:
            return False
        return self.rmse < other.rmse or self.messages < other.messages


@dataclass(frozen=True, repr=False)
class Frontier(InSituation, Tabular, Pictured):
    """The error of every protocol against a cost, as `hc.frontier` returns it.

    Parameters
    ----------
    situation : Situation
        What was asked.
    against : str
        The cost: "messages", "epsilon", "n" or "dropouts".
    points : tuple of Point
        By protocol, in the order of the catalogue, and by cost.

    Examples
    --------
    >>> found = hc.frontier("count", n=1_000, epsilon=1, delta=1e-6, protocols=["zsum", "cheu-count"])
    >>> [point.protocol for point in found.front]
    ['cheu-count', 'zsum']
    """

    situation: Situation
    against: Against
    points: tuple[FrontierPoint, ...]

    @property
    def front(self) -> tuple[FrontierPoint, ...]:
        """The Pareto front, by messages: nothing is more accurate and cheaper at no more trust."""
        return tuple(sorted((point for point in self.points if point.front), key=lambda point: point.messages))

    def of(self, protocol: str) -> tuple[FrontierPoint, ...]:
        """The points of one protocol.

        Parameters
        ----------
        protocol : str
            Its name.
        """
        return tuple(point for point in self.points if point.protocol == protocol)

    def sheet(self) -> TextTable:
        """Against messages, the front; otherwise a column for each of some places on the axis."""
        return self._costs() if self.against == "messages" else self._curves()

    def _costs(self) -> TextTable:
        rows = tuple(
            (
                p.protocol,
                str(p.model),
                f"{p.messages:,.4g}",
                f"{p.bits:,.4g}",
                number(p.rmse),
                f"± {number(p.half_width)}",
            )
            for p in self.front
        )
        headings = ("protocol", "model", "messages", "bits", "error (rmse)", "95% interval")
        return TextTable(
            headings, rows, frozenset({2, 3, 4, 5}), f"Nothing is more accurate with fewer messages: {self.heading}"
        )

    def _curves(self) -> TextTable:
        places = sorted({point.x for point in self.points})
        shown = [
            places[i] for i in np.linspace(0, len(places) - 1, min(COLUMNS, len(places))).round().astype(int).tolist()
        ]
        rows = []
        for name in dict.fromkeys(point.protocol for point in self.points):
            at = {point.x: point for point in self.of(name)}
            cells = [number(at[x].rmse) if x in at else "-" for x in shown]
            if self.against == "dropouts":
                cells = [f"{cell}{_left(at[x])}" if x in at else cell for cell, x in zip(cells, shown, strict=True)]
            rows.append((name, str(next(iter(at.values())).model), *cells))
        titles = [f"{x:.0%}" if self.against == "dropouts" else number(x) for x in shown]
        title = f"Error (rmse) against {WORDS[self.against]}: {self.heading}"
        if self.against == "dropouts":
            title += " (in brackets the epsilon that is left if everybody was counted on)"
        return TextTable(("protocol", "model", *titles), tuple(rows), frozenset(range(2, 2 + len(shown))), title)

    @property
    def heading(self) -> str:
        """What was asked of whom, with which budget."""
        crowd = "" if self.against == "n" else f"{people(self.crowd.size)}, "
        budget = f"δ={self.budget.delta:g}" if self.against == "epsilon" else str(self.budget)
        ones = f", {self.situation.expected}" if self.situation.expected.known else ""
        return f"{self.task.name}, {crowd}{budget}, {self.budget.neighbours.words}{ones}"

    def text(self) -> str:
        """The table."""
        return self.sheet().text()

    def markdown(self) -> str:
        """The table in Markdown."""
        return self.sheet().markdown()

    __str__ = text

    def __repr__(self) -> str:
        return f"Frontier: {self.heading}, against {self.against}, {counted(len(self.points), 'point')}"

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def records(self) -> list[dict[str, Any]]:
        """A row for each point, for a spreadsheet."""
        return [point.to_json() for point in self.points]

    def to_json(self) -> dict[str, Any]:
        """Its JSON form, as `headcount frontier --format json` prints it."""
        return {
            "task": self.task.name,
            "against": self.against,
            "budget": self.budget.to_json(),
            "crowd": {"n": self.crowd.size, "ones": self.situation.expected.to_json()},
            "points": self.records(),
        }

    def draw(self, target: Any, theme: str, title: str) -> object:
        from headcount.planner.frontier_figure import draw

        return draw(self, target, theme, title)


def _left(point: FrontierPoint) -> str:
    if point.epsilon_left is None:
        return ""
    return f" (ε {number(point.epsilon_left)})" if math.isfinite(point.epsilon_left) else " (nothing)"
