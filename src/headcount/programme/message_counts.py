"""Laws of the number of messages, as arrays of chances from none on.

Chances are only ever added and multiplied, which keeps even the smallest of them right.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np

from headcount.programme.law import Floats


def point_mass(messages: int) -> Floats:
    chances = np.zeros(messages + 1)
    chances[messages] = 1.0
    return chances


def truncated(chances: Floats, most: int) -> Floats:
    """The law with all above `most` counted as `most`."""
    if chances.size <= most + 1:
        return chances
    return np.append(chances[:most], chances[most:].sum())


def convolved(one: Floats, other: Floats, most: int) -> Floats:
    """The law of the sum of two independent numbers; even the smallest chances stay accurate."""
    return truncated(np.convolve(one, other), most)


def convolved_all(parts: Iterable[Floats], most: int) -> Floats:
    return reduce(lambda one, other: convolved(one, other, most), parts, point_mass(0))


def convolution_power(once: Floats, times: int, most: int) -> Floats:
    total, power = point_mass(0), once
    while times:
        if times & 1:
            total = convolved(total, power, most)
        times >>= 1
        if times:
            power = convolved(power, power, most)
    return total


def mixture(parts: Iterable[tuple[float, Floats]]) -> Floats:
    kept = list(parts)
    chances = np.zeros(max(part.size for _, part in kept))
    for weight, part in kept:
        chances[: part.size] += weight * part
    return chances
