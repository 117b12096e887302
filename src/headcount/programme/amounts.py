"""How many messages: the chance of each number of them, from none on, as arrays.

Chances are only ever added and multiplied, which keeps even the smallest of them right.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np

from headcount.programme.law import Floats


def surely(messages: int) -> Floats:
    chances = np.zeros(messages + 1)
    chances[messages] = 1.0
    return chances


def folded(chances: Floats, most: int) -> Floats:
    """What is above `most` counts as `most`."""
    if chances.size <= most + 1:
        return chances
    return np.append(chances[:most], chances[most:].sum())


def added(one: Floats, other: Floats, most: int) -> Floats:
    """Of two parts, drawn independently. Sums of products keep even the smallest chances right."""
    return folded(np.convolve(one, other), most)


def together(parts: Iterable[Floats], most: int) -> Floats:
    return reduce(lambda one, other: added(one, other, most), parts, surely(0))


def repeated(once: Floats, times: int, most: int) -> Floats:
    total, power = surely(0), once
    while times:
        if times & 1:
            total = added(total, power, most)
        times >>= 1
        if times:
            power = added(power, power, most)
    return total


def mixed(parts: Iterable[tuple[float, Floats]]) -> Floats:
    kept = list(parts)
    chances = np.zeros(max(part.size for _, part in kept))
    for weight, part in kept:
        chances[: part.size] += weight * part
    return chances
