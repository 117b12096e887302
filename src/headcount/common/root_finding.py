"""The root of a falling function, from below: the value there is known to be at most zero."""

from __future__ import annotations

from collections.abc import Callable

SAME = 1e-15
SMALL_JUMP = 1e-3
BENT = 2.0  # times as steep, or as flat, as before: then a line is no guide

Point = tuple[float, float]  # a place and the excess there


def crossing(
    excess: Callable[[float], float],
    low: Point,
    high: Point,
    *,
    tight: float,
    close: float = 0.0,
    jump: float = SMALL_JUMP,
) -> float:
    """Between `low`, where the excess is positive, and `high`, where it is not.

    Stops at -tight <= excess <= 0, when floats end, or at a small jump, of at most `jump`, when the
    two are as `close` as that. Aims just inside, by Chandrupatla's rule: by the parabola through
    the last three points where it can be trusted, else at the middle. With `tight` 0 only the signs
    are used, by bisection.
    """
    aim = tight / 2.0
    (start, over), (end, under) = low, high
    last, other = (end, under + aim), (start, over + aim)  # either side of the aim, `last` the newest of all
    part = min(max(last[1] / (last[1] - other[1]), 0.02), 0.98) if tight else 0.5
    while under < -tight or not tight:
        middle = last[0] + part * (other[0] - last[0])
        width = (end - start) / max(1.0, abs(end))
        if not start < middle < end or width <= SAME or (width <= close and over - under <= jump):
            break
        value = excess(middle)
        if -tight <= value <= 0.0 and tight:
            return middle
        if value + aim > 0.0:
            start, over = middle, value
        else:
            end, under = middle, value
        here = middle, value + aim
        if (here[1] > 0.0) == (last[1] > 0.0):
            last, before = here, last
        else:
            last, other, before = here, last, other
        part = _part(last, other, before) if tight else 0.5
    return end


def _part(last: Point, other: Point, before: Point) -> float:
    """Chandrupatla's step, as a part of the way from the last point to the one across the root."""
    (a, fa), (b, fb), (c, fc) = last, other, before
    along, up = (a - b) / (c - b), (fa - fb) / (fc - fb)
    if not (up**2 < along and (1.0 - up) ** 2 < 1.0 - along):
        return 0.5
    return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)


def secants(
    excess: Callable[[float], float], place: float, slope: float, *, tight: float, low: float, high: float, steps: int
) -> tuple[Point, Point] | None:
    """Places on either side of the root, for `crossing`, by a few secants from a place nearby; None
    if they do not enclose it. Where -tight <= excess <= 0 they end.

    With `slope` the excess is known to fall about there.
    """
    value = excess(place)
    over, under = (None, (place, value)) if value <= 0.0 else ((place, value), None)
    for _ in range(steps):
        if -tight <= value <= 0.0:
            return (place, 0.0), (place, value)
        ahead = min(max(place + (value + tight / 2.0) / slope, low), high)
        there = excess(ahead)
        over, under = (over, (ahead, there)) if there <= 0.0 else ((ahead, there), under)
        steeper = (value - there) / (ahead - place) if ahead != place else 0.0
        if not slope / BENT < steeper < slope * BENT:
            break
        place, value, slope = ahead, there, steeper
    return (over, under) if over and under and over[0] < under[0] else None
