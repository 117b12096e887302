"""Exact accounting of sampled and thresholded counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from headcount.privacy import laws
from headcount.privacy.loss import WITHIN, Kind, PrivacyLoss, RoundedDown
from headcount.privacy.pair import exp_down
from headcount.programme.law import Floats
from headcount.programme.table import Ints

COARSE = 32  # values of either count in the first look; finer ones follow about the best
FINE = 12
STARTS = 6  # peaks of the first look that are climbed
UNSEARCHED = 1.002  # not proved: the search has been seen to miss the worst pair by 2e-4, a coarser one by 0.015
SMALL = 64  # people, among whom every pair of counts is looked at
LARGEST_LOG = 700.0
FAINT = 1e-5 * laws.CUT  # far less than is claimed anyhow, all of them together


@dataclass(frozen=True, eq=False)
class SampledCount(PrivacyLoss):
    r"""Bin(k, rate) against Bin(k + 1, rate), both thresholded, for the worst k below `people`.

    The likelihood ratio of one holder more, (k+1)(1-rate)/(k+1-v), grows with the sampled count v,
    so that either order is violated on one tail only: one more from v = (k+1) q on, q = 1 -
    (1-rate) e^-epsilon; one fewer below v = (k+1) s, s = 1 - (1-rate) e^epsilon.

    The worst k is known. While the threshold T decides, the tail begins at T, and one person more
    than k changes the divergence by P[Bin(k) = T-1] times something that has the sign of T-1 -
    (k+1) q (or s): it rises until k + 1 reaches (T-1)/q. Beyond T/q the threshold plays no part,
    and every further holder is noise that hides the others: it falls. So the worst of all crowds
    lies between the two, and that of a smaller crowd is the largest k there is.
    """

    kind = "exact"

    rate: float
    threshold: int
    people: int

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        both = [self._worst(float(e)) for e in epsilon]
        return np.array([more for more, _ in both]), np.array([fewer for _, fewer in both])

    def _worst(self, epsilon: float) -> tuple[float, float]:
        if self.rate == 1.0 or self.people < self.threshold:
            everything = float(self.people >= max(1, self.threshold))
            return everything, everything
        q, s = (1.0 - (1.0 - self.rate) * math.exp(sign * epsilon) for sign in (-1.0, 1.0))
        factor = math.exp(epsilon)
        k = self._turn(q)
        more = self._more(k, np.maximum(self.threshold, np.ceil((k + 1) * q)) - 1.0, factor)
        worst_more = max(0.0, float(more.max()))
        if s <= 0.0:
            return worst_more, 0.0
        k = self._turn(s)
        fewer = self._fewer(k, np.maximum(self.threshold, np.ceil((k + 1) * s)) - 1.0, factor)
        return worst_more, max(0.0, float(fewer.max()))

    def _turn(self, share: float) -> Ints:
        """The k between which the divergence turns from rising to falling, and a few beside."""
        most = self.people - 1
        ends = (min(most, (self.threshold + side) / share) for side in (-1, 0))
        near = [math.floor(end) + beside for end in ends for beside in range(-3, 3)]
        return np.unique(np.clip(near, max(0, self.threshold - 1), most))

    def _more(self, k: Ints, below: Floats, factor: float) -> Floats:
        holders = np.stack([k + 1, k])
        with_one_more, without = laws.binomial_above(np.minimum(below, holders), holders, self.rate)
        return np.asarray(with_one_more - factor * without)

    def _fewer(self, k: Ints, upto: Floats, factor: float) -> Floats:
        holders = np.stack([k + 1, k])
        with_one_more, without = laws.binomial_upto(np.minimum(upto, holders), holders, self.rate)
        return np.asarray(without - factor * with_one_more)


@dataclass(frozen=True, eq=False)
class SampledHistogram(PrivacyLoss):
    """A person moves from one bucket to another: one of k + 1 loses a holder, one of j gains one.

    Buckets are sampled independently, so each value that the gaining one shows shifts the epsilon
    of the losing one by its log ratio: the divergence is E[g(epsilon - log ratio)], g that of Bin(k
    + 1) against Bin(k). By `SampledCount`'s ratio, g is one tail's. The worst k lies near threshold
    / q as there; the worst j is one whose sample is about to pass the threshold: far fewer people
    show nothing, and far more a ratio of one. The other order exchanges j and k.
    """

    rate: float
    threshold: int
    people: int
    kind: Kind = field(init=False)
    known_to: ClassVar[int] = 3  # the search ends at other counts where last bits differ

    def __post_init__(self) -> None:
        """Exact if all counts are tried; in a large crowd the worst are searched for."""
        object.__setattr__(self, "kind", "exact" if self.people <= SMALL else "bound")

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = np.array([self._worst(float(e)) for e in epsilon])
        return worst, worst

    @property
    def attained(self) -> PrivacyLoss:
        """The loss of the two counts that the search found."""
        return RoundedDown(self, UNSEARCHED * (1.0 + WITHIN["exact"]))

    def slack(self, epsilon: float) -> float:
        return 4.0 * laws.CUT

    def _worst(self, epsilon: float) -> float:
        shown = max(1, self.threshold)
        if self.rate == 1.0 or self.people < shown:
            return float(self.people >= shown)
        if self.people <= SMALL:
            every = np.arange(self.people)
            return float(self._table(every, every, epsilon).max())
        k, j = self._first_look(epsilon)
        ends = {self._follow(k, j, at, epsilon) for at in _peaks(self._table(k, j, epsilon))}
        best = sorted(ends, reverse=True)[:2]
        return min(1.0, UNSEARCHED * max(best[0][0], *(self._around(*end[1:], epsilon) for end in best)))

    def _first_look(self, epsilon: float) -> tuple[Ints, Ints]:
        """The k and j tried first: a grid, and the k just before g's tail starts one later."""
        q = 1.0 - (1.0 - self.rate) * math.exp(-epsilon)
        first, last = self._losing(q)
        teeth = np.floor(np.arange(self.threshold, self.threshold + FINE) / q).astype(np.int64) - 1
        j = _uneven(0, min(self.people - 1, math.ceil(self._passed)))
        return np.union1d(_uneven(first, last), teeth[(teeth >= first) & (teeth <= last)]), j

    def _losing(self, share: float) -> tuple[int, int]:
        """The range of k up to about threshold / share in which such a sample is not negligible.

        Away from there it falls as exp(-k KL), KL the divergence of the share from the rate; and
        where enough people hold a one for the sample to pass the threshold surely, nothing is
        hidden.
        """
        rest = max(1.0 - share, 1e-300)
        gap = share * math.log(share / self.rate) + rest * math.log(rest / (1.0 - self.rate))
        reach = min(40.0 / max(gap, 1e-12) + 4.0 / share, (self.threshold + 2) / share) + 50.0
        last = min(self.threshold / share + reach, self._passed)
        return max(0, self.threshold - 1), min(self.people - 1, math.ceil(last))

    @property
    def _passed(self) -> float:
        """A number of holders that passes the threshold but for a negligible chance."""
        return (self.threshold + 70.0 + 13.0 * math.sqrt(self.threshold)) / self.rate

    def _follow(self, k: Ints, j: Ints, at: tuple[int, int], epsilon: float) -> tuple[float, int, int]:
        """Hill climbing from a peak on ever finer grids: the divergence there, and its k and j."""
        while True:
            (k_low, k_high), (j_low, j_high) = (_about(axis, i) for axis, i in zip((k, j), at, strict=True))
            k, j = _grid(k_low, k_high, FINE), _grid(j_low, j_high, FINE)
            found = self._table(k, j, epsilon)
            at = _peaks(found)[0]
            if k.size == k_high - k_low + 1 and j.size == j_high - j_low + 1:
                return float(found[at]), int(k[at[0]]), int(j[at[1]])

    def _around(self, k: int, j: int, epsilon: float) -> float:
        """The best of the neighbouring teeth of both counts, which are a sample wide."""
        q = 1.0 - (1.0 - self.rate) * math.exp(-epsilon)
        rows, columns = (
            _grid(max(least, centre - math.ceil(2.0 / share)), centre + math.ceil(2.0 / share), 4 * FINE)
            for least, centre, share in ((max(0, self.threshold - 1), k, q), (0, j, self.rate))
        )
        found = self._table(rows, columns, epsilon)
        return max(self._follow(rows, columns, at, epsilon)[0] for at in _peaks(found)[:2])

    def _table(self, k: Ints, j: Ints, epsilon: float) -> Floats:
        """The divergence for every k, down, and j, across, that the crowd has people for."""
        more, fewer = self._tails(k)
        gaining = zip(*self._gaining(j), strict=True)
        table = np.stack([self._mean(k, more, fewer, *shown, epsilon) for shown in gaining], axis=1)
        return np.where(k[:, None] + j + 1 <= self.people, table, 0.0)

    def _tails(self, k: Ints) -> tuple[Floats, Floats]:
        """P[Bin(k+1) >= v] and P[Bin(k) >= v] from the threshold on, with common errors."""
        v = np.arange(self.threshold, max(self.threshold, 1 + laws.binomial_window(int(k[-1]) + 1, self.rate)[1]) + 1)
        fewer = laws.binomials(k, self.rate, int(v[0]), int(v[-1]))
        holders = k[:, None] + 1
        more = fewer * holders * (1.0 - self.rate) / np.maximum(holders - v, 1)
        everybody = np.exp(np.broadcast_to(holders * math.log(self.rate), more.shape))
        more = np.where(v == holders, everybody, more)
        return _upper(more), _upper(fewer)

    def _gaining(self, j: Ints) -> tuple[Floats, Floats]:
        """For each j, the law of the shown count, 0 first, and the log ratio to j + 1."""
        v = np.arange(self.threshold, max(self.threshold, laws.binomial_window(int(j[-1]), self.rate)[1]) + 1)
        masses = laws.binomials(j, self.rate, self.threshold - 1, int(v[-1]))
        holders = j[:, None] + 1
        ratio = np.maximum(holders - v, 1) / (holders * (1.0 - self.rate))
        hidden = laws.binomial_upto(np.minimum(self.threshold - 1, j), j, self.rate)
        # One holder more is still hidden unless they are sampled on top of one short of the
        # threshold.
        found = self.rate * masses[:, 0] / np.where(hidden > 0.0, hidden, 1.0)
        later = np.where(hidden > 0.0, np.log1p(-np.minimum(found, 1.0 - 1e-15)), 0.0)
        masses[:, 0] = hidden
        return masses, np.concatenate([-later[:, None], np.log(ratio)], axis=1)

    def _mean(self, k: Ints, more: Floats, fewer: Floats, masses: Floats, ratio: Floats, epsilon: float) -> Floats:
        """E[g(epsilon - ratio)] for each k: a tail, or everything if silence is likelier too."""
        masses, ratio = masses[masses > FAINT], ratio[masses > FAINT]
        left = np.minimum(epsilon - ratio, LARGEST_LOG)
        factor = exp_down(left)
        q = 1.0 - (1.0 - self.rate) / factor
        first = np.ceil((k[:, None] + 1) * q).astype(np.int64) - self.threshold
        at = np.clip(first, 0, more.shape[1] - 1)
        rows = np.arange(k.size)[:, None]
        tail = np.maximum(more[rows, at] - factor * fewer[rows, at], -np.expm1(left))
        return np.asarray((np.maximum(tail, 0.0) * masses).sum(axis=1))


def _upper(masses: Floats) -> Floats:
    return np.cumsum(masses[:, ::-1], axis=1)[:, ::-1]


def _grid(low: int, high: int, points: int) -> Ints:
    return np.unique(np.linspace(low, high, points + 1).astype(np.int64))


def _uneven(low: int, high: int) -> Ints:
    """Denser where counts are small: there, one more matters."""
    steps = np.geomspace(1.0, max(1, high - low), COARSE).astype(np.int64)
    return np.union1d(_grid(low, high, COARSE), low + steps)


def _about(axis: Ints, i: int) -> tuple[int, int]:
    return int(axis[max(0, i - 1)]), int(axis[min(axis.size - 1, i + 1)])


def _peaks(table: Floats) -> list[tuple[int, int]]:
    """The places where no neighbour is larger, the highest first."""
    padded = np.pad(table, 1, constant_values=-1.0)
    rows, columns = table.shape
    around = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    peaks = np.argwhere(table >= np.max(around, axis=0))
    order = np.argsort(-table[tuple(peaks.T)], kind="stable")[:STARTS]
    return [(int(i), int(j)) for i, j in peaks[order]]
