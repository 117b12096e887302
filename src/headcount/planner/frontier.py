"""The price of accuracy: the error of every protocol against messages, epsilon, people or dropouts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from headcount.common.plurals import counted, people
from headcount.errors import BadArgument, Infeasible, Refused
from headcount.figures.picture import Pictured
from headcount.figures.tabular import Tabular
from headcount.figures.text_table import TextTable
from headcount.planner.calibrate import calibrations
from headcount.planner.expected import Expected
from headcount.planner.option import CalibratedOption, best_option, number
from headcount.planner.selection import Names, Progress, integer_log_grid, log_grid, matching_protocols
from headcount.planner.situation import Situation, crowd_of
from headcount.privacy.budget import SMALLEST_EPSILON, Budget, Neighbours
from headcount.privacy.crowd import LARGEST, Crowd
from headcount.privacy.model import Model
from headcount.protocols.base.protocol import Protocol
from headcount.questions import question_called
from headcount.questions.question import Question
from headcount.types import Ones

Against = Literal["messages", "epsilon", "n", "dropouts"]
OVERHEADS = (0.002, 4.0)  # how far above the central error, where a protocol lets one say
MOST_DROPOUTS = 0.5
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
        """Whether it dominates the other: no worse in error, messages and trust, and better in one
        of the first two."""
        if TRUST[self.model] > TRUST[other.model] or self.rmse > other.rmse or self.messages > other.messages:
            return False
        return self.rmse < other.rmse or self.messages < other.messages


@dataclass(frozen=True, repr=False)
class Frontier(Tabular, Pictured):
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
    def task(self) -> Question:
        """What was asked."""
        return self.situation.task

    @property
    def crowd(self) -> Crowd:
        """The people who are asked."""
        return self.situation.crowd

    @property
    def budget(self) -> Budget:
        """The privacy budget of each answer."""
        return self.situation.budget

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
        """Against messages, the front; otherwise a column for each of some places along the
        axis."""
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


def frontier(
    task: Question | str,
    against: Against = "messages",
    *,
    n: int,
    epsilon: float,
    delta: float = 0.0,
    ones: Ones | None = None,
    models: Names = None,
    protocols: Names = None,
    neighbours: str = "replace",
    over: tuple[float, float] | None = None,
    points: int = 13,
    honest: float | None = None,
    watch: Progress = iter,
) -> Frontier:
    """The error of every protocol that can serve, exactly calibrated, against what it costs.

    Parameters
    ----------
    task : Question or str
        What is asked: "count", hc.Histogram(100), …
    against : str
        "messages": every choice at this budget, and which of them nothing beats. "epsilon" or "n":
        a curve for each protocol. "dropouts": plans under which this share of people may fail to
        report, and the epsilon that is left of a plan that counts on everybody.
    n : int
        People.
    epsilon, delta : float
        The budget.
    ones : int or dict, optional
        People who hold a one, or a profile of bins, as for `hc.advise`.
    models, protocols : str or list, optional
        Who takes part; everybody unless given.
    neighbours : str
        The adjacency: "replace" or "add-remove".
    over : tuple of float, optional
        The ends of the axis; a tenth to ten times the epsilon, or a hundredth to a hundred times
        the crowd, unless given.
    points : int
        Places on the axis.
    honest : float, optional
        The fraction of the reports that can be relied upon.
    watch : callable
        Wraps what is iterated over, to show progress.

    Returns
    -------
    Frontier

    Raises
    ------
    errors.Infeasible
        If no protocol can serve anywhere on the axis.

    Examples
    --------
    >>> hc.frontier("count", n=1_000, epsilon=1, delta=1e-6, protocols=["zsum", "cheu-count"])
    Frontier: count, 1,000 people, (ε=1, δ=1e-06), replace-one, against messages, 2 points
    """
    if against not in get_args(Against):
        raise BadArgument("against", f"is {against!r}", f"use one of {', '.join(get_args(Against))}")
    given = Situation(
        question_called("task", task),
        crowd_of(n, None, 0, honest, each=1),
        Budget(epsilon, delta, Neighbours(neighbours)),
        Expected.parse(ones, n),
    )
    kinds = matching_protocols(given.task, models, protocols)
    if against == "messages":
        places = log_grid("over", over or OVERHEADS, points, 1e-4, 100.0)
        found = with_front_marked(point for kind in watch(kinds) for point in _choices(kind, given, places))
    else:
        situations = _situations(given, against, over, points, honest)
        found = [point for kind in watch(kinds) for point in _curve(kind, given, against, situations)]
    if not found:
        raise Infeasible("no protocol can serve anywhere in this range", "use more people or a larger budget")
    return Frontier(given, against, tuple(found))


def _left(point: FrontierPoint) -> str:
    if point.epsilon_left is None:
        return ""
    return f" (ε {number(point.epsilon_left)})" if math.isfinite(point.epsilon_left) else " (nothing)"


def _choices(kind: type[Protocol], given: Situation, overheads: list[float]) -> Iterator[FrontierPoint]:
    """Every choice that fits, with several overheads where the protocol trades error for messages."""
    free = "overhead" in kind.options
    best = best_option(kind, given)
    first = [best.protocol] if isinstance(best, CalibratedOption) else []
    found = {tuple(each.parameters.values()): each for each in first}
    for wish in [{}, *({"overhead": overhead} for overhead in overheads if free)]:
        try:
            for protocol in calibrations(kind, given.task, given.crowd, given.budget, **wish):
                found.setdefault(tuple(protocol.parameters.values()), protocol)
        except Refused:
            continue
    points = (FrontierPoint.of(CalibratedOption(kind, given, protocol)) for protocol in found.values())
    yield from sorted(points, key=lambda point: point.messages)


def _situations(
    given: Situation, against: Against, over: tuple[float, float] | None, points: int, honest: float | None
) -> list[tuple[float, Situation]]:
    """The places on the axis, and what is asked there."""
    n, epsilon = given.crowd.size, given.budget.epsilon
    if against == "epsilon":
        ends = over or (max(SMALLEST_EPSILON, epsilon / 10), min(50.0, epsilon * 10))
        places = log_grid("over", ends, points, SMALLEST_EPSILON, 50.0)
        return [(x, replace(given, budget=replace(given.budget, epsilon=x))) for x in places]
    if against == "n":
        ones = max(given.expected.truths, default=0)
        ends = over or (max(1, n // 100, ones), min(LARGEST, n * 100))
        sizes = [x for x in integer_log_grid("over", ends, points, LARGEST) if x >= ones]
        return [(float(x), replace(given, crowd=crowd_of(x, None, 0, honest, given.crowd.each))) for x in sizes]
    low, high = over or (0.0, MOST_DROPOUTS)
    if not 0.0 <= low < high < 1.0:
        raise BadArgument("over", f"is ({low:g}, {high:g})", "use two shares from 0 to below 1, for example (0, 0.5)")
    shares = np.linspace(low, high, points).tolist()
    fewest = [max(1, n - math.floor(n * x)) for x in shares]
    crowds = [crowd_of(n, least, 0, honest, given.crowd.each) for least in fewest]
    return [(x, replace(given, crowd=crowd)) for x, crowd in zip(shares, crowds, strict=True)]


def _curve(
    kind: type[Protocol], given: Situation, against: Against, situations: list[tuple[float, Situation]]
) -> Iterator[FrontierPoint]:
    everybody = best_option(kind, given) if against == "dropouts" else None
    for x, there in situations:
        best = best_option(kind, there)
        if not isinstance(best, CalibratedOption):
            continue
        point = FrontierPoint.of(best, x)
        if isinstance(everybody, CalibratedOption):
            left = everybody.protocol.loss_if(there.crowd.honest).epsilon(there.budget.delta)
            point = replace(point, epsilon_left=left)
        yield point


def with_front_marked(points: Iterable[FrontierPoint]) -> list[FrontierPoint]:
    """The points, each with whether it is on the Pareto front."""
    every = list(points)
    return [replace(point, front=not any(other.beats(point) for other in every)) for point in every]
