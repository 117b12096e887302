"""The truth that is hardest to estimate."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

FLAT = 1.01  # errors that differ by less are as good as equal
HOPELESS = 0.5  # a peak that is so much lower than the highest is not climbed


def hardest(error: Callable[[int], float], people: int, steps: int = 40) -> tuple[float, int]:
    """The largest error over all numbers of ones from nobody to everybody, and where it is.

    A spread of them is looked at first, then ever closer around every peak. That also finds the edge of a jump, as
    where a count just fails to pass a threshold.
    """
    known = cache(error)
    places = sorted({0, *np.geomspace(1, people, steps).astype(int).tolist()})
    height = max(map(known, places))
    peaks = [at for at in range(len(places)) if _is_peak(places, at, known) and known(places[at]) >= HOPELESS * height]
    tops = [_climbed(known, *_around(places, at)) for at in peaks]
    return max((known(top), top) for top in tops)


def _around(places: list[int], at: int) -> tuple[int, int, int]:
    return places[max(0, at - 1)], places[at], places[min(at + 1, len(places) - 1)]


def _is_peak(places: list[int], at: int, error: Callable[[int], float]) -> bool:
    low, here, high = _around(places, at)
    return error(here) >= max(error(low), error(high))


def _climbed(error: Callable[[int], float], low: int, here: int, high: int) -> int:
    while high - low > 2 and error(here) > FLAT * min(error(low), error(high)):
        places = sorted({low, here, high, *np.linspace(low, high, 9).astype(int).tolist()})
        here = max(places, key=error)
        low, here, high = _around(places, places.index(here))
    return here
