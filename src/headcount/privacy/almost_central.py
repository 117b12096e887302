r"""Privacy loss of almost central sums: flooding noise on atoms, composed by moments.

Counted in ones and atoms instead of messages (see `ZeroSumSets`), the view of a crowd is a product
of independent parts: the sum with its two-sided geometric noise, and the number of each atom with a
negative binomial one. Replacing a value i by i' shifts the sum by at most `top` and the atoms by
$c_{i'} - c_i$. That is Theorem 8 of [GKMPS21]; instead of adding up the worst epsilon of each part,
their losses are composed. Coefficients of an atom have one sign whatever the value, so that i and
i' never add up, and negative binomial laws of shape 1 and more are log-concave, so that a larger
shift dominates a smaller one. The sum's minuses are hidden by a noise of their own on {-1, 1}
(Lemma 9): given the sum, they shift it by at most `top`.

Composition is by moments, $\delta \le P[\text{not } E] +
\frac{\lambda^\lambda}{(1+\lambda)^{1+\lambda}} E[e^{\lambda(L - \epsilon)}; E]$, where E leaves out
the few outcomes at which the ratio of some part is enormous. Each expectation is an upper sum over
blocks of outcomes, on which the ratio is monotone.

[GKMPS21] Ghazi, Kumar, Manurangsi, Pagh and Sinha, Differentially Private Aggregation in the
Shuffle Model: Almost Central Accuracy in Almost a Single Message, ICML 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from headcount.privacy.loss import LARGEST_EPSILON, ROUND_UP, ClaimedDelta, PrivacyLoss
from headcount.privacy.zero_sum_sets import ZeroSumSets
from headcount.programme.law import Floats
from headcount.programme.table import Ints

ROUNDS = 300
PER_OCTAVE = 2  # groups of atoms between a size and its double
FINE = 80  # blocks of outcomes between a number and its double, nearly
RARE = 1e-30  # blocks below this are one
FUZZ = 1e-15
FAINT = 1e-300
NODES = 257  # epsilons at which the least claim is bounded
DIGITS = 4  # binary ones, to which shifts are rounded up
MOMENTS = np.geomspace(1.2, 10.0, 12)  # in standard deviations of the loss
CAPS = np.log(10.0) * np.array([3.0, 5.0, 7.0, 9.0, 12.0, 18.0])


def _edges(last: float) -> Floats:
    """Edges of blocks: 1, 2, 3, ..., ever sparser, and the same for every law."""
    edges = [1]
    while edges[-1] < last:
        edges.append(edges[-1] + max(1, edges[-1] // FINE))
    return np.array(edges, dtype=np.float64)


EDGES = _edges(1e13)


@dataclass(frozen=True)
class FloodingNoise:
    r"""The atoms for values up to `top` in groups, and the weight of each group's noise.

    Weights are nearly those with the fewest messages among which $\sum_s (c_{s,i}/t_s)^2 \le 1$ for
    every value.
    """

    top: int

    @cached_property
    def groups(self) -> tuple[range, ...]:
        """Names of atoms; {-1, 1} alone, then upward from 2 and downward from -2."""
        if self.top == 1:
            return ()
        found = [range(-1, -2, -1)]
        for sign, last in ((1, self.top), (-1, (self.top + 1) // 2)):
            sizes = np.arange(2, last + 1)
            octave = np.floor(PER_OCTAVE * np.log2(self.top / sizes) + 1e-9)
            for which in np.unique(octave)[::-1]:
                run = sizes[octave == which]
                found.append(range(sign * int(run[0]), sign * (int(run[-1]) + 1), sign))
        return tuple(found)

    @cached_property
    def messages(self) -> Floats:
        """The messages in one copy of every atom of a group."""
        return np.array([len(group) * (2.0 if group[0] == -1 else 3.0) for group in self.groups])

    @cached_property
    def entries(self) -> tuple[Ints, Ints, Ints]:
        """Group, value and coefficient's size, wherever it is not zero."""
        place = {name: at for at, group in enumerate(self.groups) for name in group}
        return ZeroSumSets(self.top).entries(place)

    @cached_property
    def shifts(self) -> Ints:
        """The sizes of the entries, rounded up to a few binary digits."""
        size = self.entries[2]
        unit = 1 << np.maximum(np.frexp(size)[1].astype(np.int64) - DIGITS, 0)
        return np.asarray(-(-size // unit) * unit)

    @cached_property
    def moves(self) -> tuple[tuple[Ints, Ints, Ints, Ints], ...]:
        """For each group: distinct shifts, each entry's shift, its values, and their beginnings."""
        group, value, _ = self.entries
        every = (np.flatnonzero(group == at) for at in range(len(self.groups)))  # ordered by value
        return tuple(
            (*np.unique(self.shifts[here], return_inverse=True), *np.unique(value[here], return_index=True))
            for here in every
        )

    @cached_property
    def weights(self) -> Floats:
        if not self.groups:
            return np.empty(0)
        group, value, size = self.entries
        prices, best = np.ones(self.top + 1), np.full(len(self.groups), math.inf)
        for _ in range(ROUNDS):
            paid = np.bincount(group, size**2 * prices[value], minlength=len(self.groups))
            weights = np.cbrt(np.maximum(paid, 1e-300) / self.messages)
            loads = np.bincount(value, (size / weights[group]) ** 2, minlength=self.top + 1)
            weights *= math.sqrt(loads.max())
            best = min(best, weights, key=lambda t: float(self.messages @ t))
            prices = prices * np.sqrt(loads / loads.max())
        return best

    @cached_property
    def hat(self) -> float:
        """The weight of the noise on {-1, 1}, about that with the fewest messages."""
        best = math.cbrt(float(self.messages @ self.weights) * self.top**2 / 4.0)
        return max(2.0, min(best, 2.0 * self.top))


@lru_cache(maxsize=16)
def flooding_noise(top: int) -> FloodingNoise:
    return FloodingNoise(top)


def unavoidable_delta(top: int, cancel: float, distance: float, epsilon: float) -> float:
    """A lower bound on the delta that `AlmostCentral` claims, however much the atoms are flooded.

    The claim is the divergence at some epsilon up to this one, plus the slack there. Without the
    atoms, which only lose more, the divergence is that of the sum alone; it falls with epsilon and
    the slack rises, so that their sum is bounded from below between any two points of a grid.
    """
    losses, chances = _sum_losses(top, cancel)
    grid = np.linspace(0.0, epsilon, NODES)
    kept = np.maximum(-np.expm1(np.minimum(grid[:, None] - losses, 0.0)), 0.0)
    divergence, slack = kept @ chances / (1.0 + cancel), (1.0 + np.exp(grid)) * distance
    return float((divergence[1:] + slack[:-1]).min()) / ROUND_UP


def _sum_losses(top: int, cancel: float) -> tuple[Floats, Floats]:
    """Losses of two-sided geometric noise shifted by `top`, and 1 + cancel times their masses."""
    rate, between = -math.log(cancel), np.arange(1, top)
    losses = rate * np.concatenate([[top], top - 2.0 * between, [-top]])
    chances = np.concatenate([[1.0], (1.0 - cancel) * np.exp(-rate * between), [math.exp(-rate * top)]])
    return losses, chances


@dataclass(frozen=True, eq=False)
class AlmostCentral(PrivacyLoss):
    """The loss of sums of values 0 .. top under flooding noise of one `shape`.

    The sum has two-sided geometric noise with this `cancel`.

    What is drawn lies within `distance` of these laws in total variation.
    """

    kind = "bound"

    top: int
    cancel: float
    shape: float
    decays: tuple[float, ...]  # of the groups, and last that of the noise that hides the minuses
    distance: float = 0.0

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        moments, logs, missing = self._moments
        room = np.minimum(logs[None] - moments[None, :, None] * epsilon[:, None, None], 1.0)
        bound = np.minimum((missing[None] + np.exp(room)).min(axis=(1, 2)), 1.0)
        return bound, bound

    def slack(self, epsilon: float) -> float:
        return (1.0 + math.exp(epsilon)) * self.distance

    def claim(self, epsilon: float) -> ClaimedDelta:
        """The least bound over all moments, each at its best epsilon up to this one."""
        moments, logs, missing = self._moments
        moments = np.broadcast_to(moments[:, None], logs.shape)
        turning = (np.log(moments) + logs - math.log(max(self.distance, FAINT))) / (1.0 + moments)
        asked = np.clip(turning, 0.0, epsilon)
        slack = (1.0 + np.exp(asked)) * self.distance
        claims = (missing + np.exp(np.minimum(logs - moments * asked, 1.0))) * ROUND_UP + slack
        least = int(claims.argmin())
        return ClaimedDelta(float(claims.flat[least]), float(slack.flat[least]))

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats]:
        """The moments; for each and each cap, the log-moment and the mass left out."""
        moments = MOMENTS / self._spread
        flank, left, cheap = self._parts(self.decays[-1], np.array([self.top]), moments)
        logs, missing = np.maximum(flank[0], cheap[0]), left[0]
        # What a value costs when it goes, and when it comes instead of another.
        going, coming, lost, gained = (np.zeros((self.top + 1, *logs.shape)) for _ in range(4))
        flood = flooding_noise(self.top)
        for decay, names, (shifts, which, values, first) in zip(self.decays, flood.groups, flood.moves, strict=False):
            parts = self._parts(decay, shifts, moments)
            flank, left, cheap = (np.add.reduceat(part[which], first, axis=0) for part in parts)
            ahead, gone, behind = (coming, gained, going) if names[0] > 0 else (going, lost, coming)
            ahead[values] += flank
            gone[values] += left
            behind[values] += cheap
        logs = logs + going.max(axis=0) + coming.max(axis=0)
        missing = missing + lost.max(axis=0) + gained.max(axis=0)
        best = moments * np.log(moments) - (1.0 + moments) * np.log1p(moments)
        return moments, logs + (self._sum(moments) + best)[:, None], missing

    @property
    def _spread(self) -> float:
        """About the standard deviation of the loss without the sum's; it chooses the moments."""
        rates = -np.log(np.array(self.decays))
        flood = flooding_noise(self.top)
        group, value, _ = flood.entries
        parts = np.bincount(value, (flood.shifts * rates[group]) ** 2, minlength=1)
        return math.sqrt((2.0 * float(parts.max()) + (self.top * rates[-1]) ** 2) / self.shape)

    def _sum(self, moments: Floats) -> Floats:
        """Log-moments of two-sided geometric noise shifted by `top`, the dominating shift."""
        losses, chances = _sum_losses(self.top, self.cancel)
        exponents = moments[:, None] * (losses - losses[0])
        return np.asarray(moments * losses[0] + np.log(np.exp(exponents) @ chances / (1.0 + self.cancel)))

    def _parts(self, decay: float, shifts: Ints, moments: Floats) -> tuple[Floats, Floats, Floats]:
        """For each shift k: log-moments of N against N + k, the mass left out, the reverse.

        The latter are the same whatever the cap.
        """
        edges, masses = self._blocks(decay)
        begins, ends, by = edges[:-1], edges[1:-1] - 1.0, shifts[:, None]
        flank = self._log_ratio(decay, begins, begins - by, 1.0)
        cheap = np.append(-self._log_ratio(decay, ends + by, ends, -1.0), -by * math.log(decay), 1)
        below, powers = np.append(0.0, np.cumsum(masses)), moments[:, None]
        first, part = _crossing(flank, CAPS / powers)
        left = below[first] - part * masses[first - 1]
        # Shift by shift: the numbers of all of them at once are too many for the processor's cache.
        reverse = np.array([_log_moments(powers * row, masses) for row in cheap])
        logs = np.array([self._capped(powers * row, masses, *at) for row, *at in zip(flank, first, part, strict=True)])
        return logs, left, reverse[..., None]

    @staticmethod
    def _capped(exponents: Floats, masses: Floats, first: Ints, part: Floats) -> Floats:
        """For each moment and cap, the log-moment over the blocks that the cap keeps."""
        lifted = np.exp(np.minimum(exponents, LARGEST_EPSILON)) * masses
        above = np.cumsum(lifted[:, ::-1], axis=1)[:, ::-1]
        at = np.arange(len(lifted))[:, None]
        return np.asarray(np.log(above[at, first] + part * lifted[at, first - 1]))

    def _blocks(self, decay: float) -> tuple[Floats, Floats]:
        """Edges and masses of blocks of outcomes; the first begins at 0 and the last has no end."""
        from scipy.special import betainc

        reach = (self.shape + 8.0 * math.sqrt(self.shape) + 20.0) / -math.log(decay)
        edges = EDGES[: max(3, int(np.searchsorted(EDGES, reach)))]
        below = betainc(self.shape, edges[:-1], 1.0 - decay)
        rare = int(np.searchsorted(below, RARE))
        edges, below = np.append(0.0, edges[rare:]), np.concatenate([[0.0], below[rare:], [1.0]])
        return edges, np.diff(below) + FUZZ

    def _log_ratio(self, decay: float, x: Floats, y: Floats, up: float) -> Floats:
        """log P[N = x] / P[N = y] for x > y, rounded up (or down); infinite if y is impossible."""
        from scipy.special import gammaln

        below = np.maximum(y, 0.0)
        ratio = gammaln(x + self.shape) - gammaln(below + self.shape) - gammaln(x + 1.0) + gammaln(below + 1.0)
        size = x + self.shape + 2.0
        return np.where(y >= 0.0, ratio + (x - y) * math.log(decay) + up * 1e-14 * size * np.log(size), np.inf)


def _log_moments(exponents: Floats, masses: Floats) -> Floats:
    """log E[e^exponent], row by row, without overflow."""
    most = exponents.max(axis=1, keepdims=True)
    return np.asarray(np.log((np.exp(exponents - most) * masses).sum(axis=1)) + most[:, 0])


def _crossing(falling: Floats, levels: Floats) -> tuple[Ints, Floats]:
    """For each row and level, the first block not above it, and the part kept of the one before.

    The part makes bounds change smoothly.
    """
    first = np.array([np.searchsorted(-row, -levels) for row in falling]).clip(1, falling.shape[1] - 1)
    row = np.arange(len(falling))[:, None, None]
    before, after = falling[row, first - 1], falling[row, first]
    part = (levels - after) / np.maximum(before - after, FUZZ)
    return first, np.clip(np.where(np.isfinite(before), part, 0.0), 0.0, 1.0)
