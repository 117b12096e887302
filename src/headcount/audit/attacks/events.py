"""The event that best tells two crowds apart, from samples, and the epsilon that counting shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headcount.audit.attacks.pairs import Pair
from headcount.programme.law import Floats
from headcount.programme.table import Ints, Words

SMOOTHED = 0.5
CAREFREE = 0.05  # the error while events are only being chosen


@dataclass(frozen=True)
class Event:
    """A set of observations, by fingerprint, and the epsilon that it showed when chosen."""

    fingerprints: Words
    promise: float

    def hits(self, fingerprints: Words) -> int:
        return int(np.count_nonzero(np.isin(fingerprints, self.fingerprints)))


def clopper_pearson_epsilon(p: Ints, q: Ints, runs: int, delta: float, error: float) -> Floats:
    """The lower bound on epsilon from p and q hits in equal runs; half the error for each bound."""
    from scipy.special import betaincinv  # takes long to import, and counting does not need it

    low = np.where(p > 0, betaincinv(np.maximum(p, 1), runs - p + 1, error / 2.0), 0.0)
    high = np.where(q < runs, betaincinv(q + 1, np.maximum(runs - q, 1), 1.0 - error / 2.0), 1.0)
    return np.asarray(np.log(np.maximum(np.maximum(low - delta, 0.0) / high, 1.0)))


def most_telling(pair: Pair, fingerprints: Sequence[Words], delta: float) -> tuple[Pair, Event]:
    """The order of the two crowds that shows the larger epsilon, with the event that shows it."""
    halves = [part for crowd in fingerprints for part in np.array_split(crowd, 2)]
    different, place = np.unique(np.concatenate(halves), return_inverse=True)
    which = np.repeat(np.arange(4), [half.size for half in halves])
    seen = np.bincount(place + different.size * which, minlength=4 * different.size).reshape(2, 2, different.size)
    forward, backward = _chosen(different, seen, delta), _chosen(different, seen[::-1], delta)
    return (pair, forward) if forward.promise >= backward.promise else ((pair[1], pair[0]), backward)


def _chosen(different: Words, seen: Ints, delta: float) -> Event:
    """The observations with the largest likelihood ratios, as many as show the largest epsilon.

    How many is decided by cross-validation: on either half of these samples, for ratios that were
    estimated on the other, and counted in runs of the first crowd.
    """
    runs, promises = zip(*(_best(seen[:, i], seen[:, 1 - i], delta) for i in (0, 1)), strict=True)
    every = seen.sum(axis=1)
    falling = np.argsort(-_ratios(every), kind="stable")
    taken = int(np.searchsorted(np.cumsum(every[0, falling]), sum(runs))) + 1
    return Event(different[falling[:taken]], sum(promises) / 2.0)


def _ratios(seen: Ints) -> Floats:
    """The log-likelihood ratio of each observation, with additive smoothing."""
    return np.asarray(np.log((seen[0] + SMOOTHED) / (seen[1] + SMOOTHED)))


def _best(ranked: Ints, tried: Ints, delta: float) -> tuple[int, float]:
    """The number of first-crowd runs in which the best event happened, and the epsilon it shows."""
    p, q = np.cumsum(tried[:, np.argsort(-_ratios(ranked), kind="stable")], axis=1)
    promises = clopper_pearson_epsilon(p, q, int(tried[0].sum()), delta, CAREFREE)
    best = int(np.argmax(promises))
    return int(p[best]), float(promises[best])
