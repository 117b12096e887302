r"""Privacy loss of shuffled randomised response: a person's flipped bits among any others.

With k ones among the others the analyser sees S = Bin(k, 1-f) + Bin(others-k, f) and the victim's
bits on top. That all of these change is the worst: the law of the total has a monotone likelihood
ratio in the number K of ones behind it, so that
$D(K\|K+j) = \sup_t P_K[T \le t] - e^\epsilon P_{K+j}[T \le t]$ grows as K falls and as K + j rises;
and a value that sets its bits at random is a mixture of such pairs.

The worst k is not always 0: one more one slides the law against the integers by 2f, and the
divergence repeats after 1/2f of them (or 1/(1-2f), whichever is longer). The wider the law, the
less the integers matter, by x^2/8V relatively at x standard deviations from the mean of a law of
variance V, and the less of k has to be looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property, lru_cache

import numpy as np

from headcount.privacy import laws
from headcount.privacy.loss import Kind, PrivacyLoss
from headcount.privacy.pair import ManyPairs, exp_down
from headcount.programme.chance import Chance
from headcount.programme.law import Floats, Law
from headcount.programme.table import Ints

SCANNED = 80  # points of a scan over two periods; crowds of up to twice as many people are searched whole
FINE = 6
LARGE_DELTA = 0.01  # from here on the worst crowd may be a mixed one
FLAT = 0.1  # standard deviations from the mean to where a tail begins: up to there it may be as well, of any delta
NARROW = 256
WIDE = 1e5  # a variance so large that the integers hardly matter: x^2/8 of it is below COVERED down to deltas of 1e-30
SEARCHED = 2_000  # then every crowd up to twice this size is searched
COVERED = 1.01  # more bits than that are rounded up, so that a proof can go through every k in stretches
ROUNDED = 1e-13  # relative error of the masses, which is claimed to be lost besides
DECIMALS = 60
SPLIT = 32  # of the way to where a tail begins, at each step
STRETCH = 1 << 12  # cells that are added up at once
FAINT = 1e-14  # of a tail: what follows is far less than claims are rounded up by
SCANNED_OVER = 1e-6  # a scan has been seen to pass over a k that is worse by 3e-8


@dataclass(frozen=True, eq=False)
class ShuffledBits(PrivacyLoss):
    """All of one person's `bits` flipped bits change, among `others` more, whatever these hold."""

    flip: Chance
    others: int
    bits: int = 1

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """Exact where every crowd is searched; in larger ones the worst found is rounded up."""
        return "rounded" if self.wide or self.others // 2 > SEARCHED else "exact"

    @property
    def wide(self) -> bool:
        """Whether no crowd loses 1% more than one in which all the others hold nothing."""
        return self._variance >= WIDE

    @property
    def _variance(self) -> float:
        return self.others * self.flip * (1.0 - self.flip)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = np.array([self._worst(float(e)) for e in epsilon])
        return worst, worst  # k and others - k ones mirror each other, so either order is as bad as the other

    def _worst(self, epsilon: float) -> float:
        if self.flip == 0.0:
            return 1.0  # nobody's bits are flipped: they follow from the others'
        if self._pure(epsilon):
            return 0.0
        if self.wide:
            return min(1.0, self._widely(epsilon) * COVERED)
        period = max(1.0 / (2.0 * self.flip), 1.0 / max(1.0 - 2.0 * self.flip, 1e-9))
        half = self.others // 2
        worst = self._search(min(half, math.ceil(max(SCANNED, 2.0 * period))), epsilon)
        if half > SEARCHED:
            everywhere = self._search(half, epsilon) if worst >= LARGE_DELTA else worst
            return min(1.0, COVERED * max(worst, everywhere))
        if worst < LARGE_DELTA and epsilon * math.sqrt(self._variance) > FLAT * abs(1.0 - 2.0 * self.flip):
            return worst
        parts = np.array_split(np.arange(half + 1), 1 + half // NARROW)
        return max(float(self._divergences(part, epsilon).max()) for part in parts)

    def _search(self, last: int, epsilon: float) -> float:
        """The largest divergence for 0 .. last ones among the others, by ever finer scans."""
        low, high, points, worst = 0, last, SCANNED, 0.0
        while True:
            ones = np.unique(np.linspace(low, high, points + 1).astype(np.int64))
            found = self._divergences(ones, epsilon)
            worst = max(worst, float(found.max()))
            peak, gap = int(ones[found.argmax()]), (high - low) // points + 1
            if ones.size == high - low + 1 or gap * FINE**4 < last:
                return worst if last <= SCANNED else worst * (1.0 + SCANNED_OVER)
            low, high, points = max(0, peak - gap), min(last, peak + gap), 2 * FINE

    def _divergences(self, ones: Ints, epsilon: float) -> Floats:
        if laws.binomial(int(ones[-1]), self.flip).masses.size <= NARROW:
            rows = _others(self.flip, self.others, tuple(ones.tolist()))
            if self.bits == 1:
                return rows.of_one_bit(*self._odds(epsilon))
            return self._divergence(rows.masses, epsilon)
        return np.array([self._alone(int(k), epsilon) for k in ones])

    def _alone(self, ones: int, epsilon: float) -> float:
        """The divergence with this many ones among the others."""
        rest = laws.binomial(self.others - ones, self.flip) + -laws.binomial(ones, self.flip)
        return self._divergence(rest.masses[None], epsilon).item()

    def _widely(self, epsilon: float) -> float:
        """The divergence with no ones among the others, from its two tails."""
        low, high = laws.binomial_window(self.others, self.flip)
        if self.bits == 1 or high - low > laws.WIDEST:  # which is refused
            return self._alone(0, epsilon)
        own, factor = laws.binomial(self.bits, self.flip), float(exp_down(np.float64(epsilon - ROUNDED)))
        yes, no = float(self.flip), 1.0 - self.flip
        return max(self._tail(own, chances, factor) for chances in ((yes, no), (no, yes)))

    def _tail(self, own: Law, chances: tuple[float, float], factor: float) -> float:
        """P[T >= t] - factor P'[T >= t] at the first t where the ratio exceeds the factor.

        The total is the others' Bin(others, chance) and, of the victim's bits, all but those that
        `own` counts; or, in P', only these. The other order is this one of the bits' complements.
        """

        def others(ones: Ints) -> Floats:
            return laws.binomial_masses(ones.astype(np.float64), self.others, *chances)

        low, high = laws.binomial_window(self.others, chances[0])
        high += self.bits
        while high - low > 1:
            t = np.unique(np.linspace(low, high, SPLIT + 1).astype(np.int64))
            all_of_them, none = t[1:-1, None] - self.bits + own.values, t[1:-1, None] - own.values
            held, lost = ((own.masses * others(ones)).sum(axis=1) for ones in (all_of_them, none))
            under = np.count_nonzero(held <= factor * lost)
            low, high = int(t[under]), int(t[under + 1])
        beyond, first = 0.0, high + 1
        while first <= self.others:  # the masses fall ever faster
            part = float(others(np.arange(first, first + STRETCH)).sum())
            beyond, first = beyond + part, first + STRETCH
            if part <= FAINT * beyond:
                break
        above = beyond + np.cumsum(others(np.arange(high, high - self.bits - 1, -1)))  # P[Bin(others) >= high - i]
        gained = above[::-1][own.values] - factor * above[own.values]
        return max(0.0, float((own.masses * gained).sum()))

    def _divergence(self, rest: Floats, epsilon: float) -> Floats:
        """The larger divergence of both orders, for each row of the others' masses."""
        if self.bits == 1:
            return _Rows(rest).of_one_bit(*self._odds(epsilon))
        victim = laws.binomial(self.bits, self.flip)
        sides = victim.masses[::-1], victim.masses
        kept, lost = (np.array([np.convolve(row, side) for row in rest]) for side in sides)
        apart = self.bits - 2 * victim.start - victim.masses.size + 1  # where the two begin
        ends = [(0, 0), (max(apart, 0), max(-apart, 0))]
        pairs = ManyPairs(np.pad(kept, ends), np.pad(lost, [end[::-1] for end in ends]))
        return np.maximum(*pairs.divergences(epsilon - ROUNDED))

    def _odds(self, epsilon: float) -> tuple[float, float]:
        """1 - f - e^epsilon f, rounded up, and e^epsilon (1 - f) - f, rounded down.

        Near the local epsilon they cancel, so that doubles would keep no digit of the former.
        """
        with localcontext(prec=DECIMALS):
            factor, flip = Decimal(epsilon).exp(), Decimal(float(self.flip))
            gain, loss = 1 - flip - factor * flip, factor * (1 - flip) - flip
        return float(gain) * (1.0 + ROUNDED), float(loss) * (1.0 - ROUNDED)

    def _pure(self, epsilon: float) -> bool:
        """Shuffling never harms: from the local epsilon on nothing is lost."""
        with localcontext(prec=DECIMALS):
            flip = Decimal(float(self.flip))
            return flip > 0 and self.bits * ((1 - flip) / flip).ln() <= Decimal(epsilon)

    def slack(self, epsilon: float) -> float:
        return 0.0 if self._pure(epsilon) else 6.0 * laws.CUT


@dataclass(frozen=True, eq=False)
class _Rows:
    """Laws R of the others, one a row, each log-concave: the ratios of its neighbouring masses
    rise."""

    masses: Floats

    @cached_property
    def _ratios(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.masses[:, :-1] / self.masses[:, 1:]
        return np.asarray(np.maximum.accumulate(np.nan_to_num(ratios, nan=0.0, posinf=np.inf), axis=1))

    @cached_property
    def _upto(self) -> Floats:
        """The mass before each place, and that of all."""
        return np.pad(np.cumsum(self.masses, axis=1), ((0, 0), (1, 0)))

    @cached_property
    def _above(self) -> Floats:
        """The mass from each place on, and nothing after the last."""
        return np.pad(np.cumsum(self.masses[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))

    def of_one_bit(self, gain: float, loss: float) -> Floats:
        r"""$\sum_t (g R_{t-1} - l R_t)_+$ or the same with the two exchanged, whichever is larger.

        What is positive is the upper end of a row, or the lower: its parts are differences of two
        sums, which are about as large as the square of its distance from the mean in standard
        deviations times the result.
        """
        if gain <= 0.0:
            return np.zeros(len(self.masses))
        row = np.arange(len(self.masses))
        high = np.count_nonzero(self._ratios <= loss / gain, axis=1)
        low = np.count_nonzero(self._ratios < gain / loss, axis=1) if loss > 0.0 else self._ratios.shape[1] + 0 * row
        forward = gain * self._above[row, high] - loss * self._above[row, high + 1]
        backward = gain * self._upto[row, low + 1] - loss * self._upto[row, low]
        return np.asarray(np.maximum(np.maximum(forward, backward), 0.0))


@lru_cache(maxsize=256)
def _others(flip: Chance, others: int, ones: tuple[int, ...]) -> _Rows:
    """For each k, the law of S - k: ones gained less ones lost, by a short convolution."""
    k, fewest, most = np.array(ones), ones[0], ones[-1]
    gained, lost = laws.binomial(others - fewest, flip), laws.binomial(most, flip)
    first, last = laws.binomial(others - most, flip).start, gained.start + gained.masses.size - 1
    reach = lost.start + lost.masses.size - 1
    of_zeros, of_ones = laws.binomials(others - k, flip, first, last), laws.binomials(k, flip, 0, reach)
    total = np.zeros((k.size, last - first + 1 + reach))
    for j in range(reach + 1):
        total[:, reach - j : reach - j + of_zeros.shape[1]] += of_ones[:, j : j + 1] * of_zeros
    return _Rows(total)
