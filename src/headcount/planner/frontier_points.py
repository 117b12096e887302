"""A frontier's points: every choice of every protocol at one budget, or the best along an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import get_args

import numpy as np

from headcount.common.calls import checked
from headcount.errors import BadArgument, Infeasible, Refused
from headcount.planner.calibrate import calibrations
from headcount.planner.expected import Expected
from headcount.planner.frontier import Against, Frontier, FrontierPoint
from headcount.planner.option import CalibratedOption, best_option
from headcount.planner.selection import Names, Progress, integer_log_grid, log_grid, matching_protocols
from headcount.planner.situation import Situation, crowd_of
from headcount.privacy.budget import SMALLEST_EPSILON, Budget, Neighbours
from headcount.privacy.crowd import LARGEST
from headcount.protocols.base.protocol import Protocol
from headcount.questions import question_called
from headcount.questions.question import Question
from headcount.types import Ones

OVERHEADS = (0.002, 4.0)  # how far above the central error, where a protocol lets one say
MOST_DROPOUTS = 0.5


@checked
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
        question_called(task),
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


def _choices(kind: type[Protocol], given: Situation, overheads: list[float]) -> Iterator[FrontierPoint]:
    """Every choice that fits, at several overheads where the protocol trades error for messages."""
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
