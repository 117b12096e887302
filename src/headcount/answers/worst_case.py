"""The truth that is hardest to estimate: of one count, and of all counts of a histogram."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

FLAT = 1.01  # errors that differ by less are as good as equal
STEPS = 40  # numbers of ones that are looked at first
HOPELESS = 0.5  # of the highest peak: a lower one is not climbed


def worst_truth(error: Callable[[int], float], people: int, steps: int = STEPS) -> tuple[float, int]:
    """The largest error over all numbers of ones from nobody to everybody, and where it is.

    A spread of them is looked at first, then ever closer around every peak. That also finds the
    edge of a jump, as where a count just fails to pass a threshold.
    """
    known = cache(error)
    places = _spread(people, steps)
    height = max(map(known, places))
    peaks = [at for at in range(len(places)) if _is_peak(places, at, known) and known(places[at]) >= HOPELESS * height]
    tops = [_climbed(known, *_around(places, at)) for at in peaks]
    return max((known(top), top) for top in tops)


def worst_over_categories(error: Callable[[int], float], people: int, categories: int) -> float:
    r"""The largest root mean square error over the categories, for any division of the people.

    A category has $n/d$ people on average, so that no profile has a larger mean square than the
    concave envelope of the squared error there. Where that is affine in a category's people, every
    profile has the same one: this.
    """
    known = cache(error)
    places = np.array(sorted({*_spread(people, STEPS), worst_truth(known, people)[1], people}))
    squares = np.array([known(place) ** 2 for place in places.tolist()])
    mean = people / categories
    low, high = places <= mean, places >= mean
    left, right = places[low][:, None], places[high][None, :]
    part = (mean - left) / np.maximum(right - left, 1)  # the mean itself may be one of the places
    mixed = (1.0 - part) * squares[low][:, None] + part * squares[high][None, :]
    return float(np.sqrt(mixed.max()))


def _spread(people: int, steps: int) -> list[int]:
    """Rounded, not cut off: a power of ten among them may come out just below itself."""
    return sorted({0, *np.rint(np.geomspace(1, people, steps)).astype(int).tolist()})


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
