"""Where a falling function crosses zero, from below: the point returned has itself been found at or under zero."""

from __future__ import annotations

from collections.abc import Callable


def crossing(
    excess: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], *, tight: float
) -> float:
    """Between `low`, where the excess is positive, and `high`, where it is not (each a point and its excess).

    Stops at -tight <= excess <= 0, or when floats end. False position aimed just inside, with the Illinois rule: an end
    that stays is discounted. With `tight` 0 only the signs are used, by bisection.
    """
    (start, over), (end, under) = low, high
    kept, aim = 0, tight / 2.0
    while under < -tight or not tight:
        middle = (start * under - end * over) / (under - over) if tight else (start + end) / 2.0
        if not start < middle < end or end - start <= 1e-15 * max(1.0, abs(end)):
            break
        value = excess(middle)
        if -tight <= value <= 0.0 and tight:
            return middle
        if value + aim > 0.0:
            start, over, under, kept = middle, value + aim, under / 2.0 if kept > 0 else under, 1
        else:
            end, under, over, kept = middle, value + aim, over / 2.0 if kept < 0 else over, -1
    return end
