r"""Exact accounting of shuffled randomised response: one person's flipped bits among others, whatever those hold.

With k ones among the others the analyser sees S = Bin(k, 1-f) + Bin(others-k, f) and the victim's bits on top. That all
of these change is the worst: the law of the total has a monotone likelihood ratio in the number K of ones behind it, so
that $D(K\|K+j) = \sup_t P_K[T \le t] - e^\epsilon P_{K+j}[T \le t]$ grows as K falls and as K + j rises; and a value
that sets its bits at random is a mixture of such pairs.

The worst k is not always 0: one more one slides the law against the integers by 2f, and the divergence repeats after
1/2f of them (or 1/(1-2f), whichever is longer). The wider the law, the less the integers matter, by x^2/8V relatively
at x standard deviations from the mean of a law of variance V, and the less of k has to be looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from headcount.core.chance import Chance
from headcount.core.law import Floats
from headcount.core.loss import Kind, PrivacyLoss
from headcount.core.table import Ints
from headcount.privacy import laws
from headcount.privacy.pair import Pair, Pairs

SCANNED = 80  # points of a scan over two periods; crowds of up to twice as many people are searched whole
FINE = 6
LARGE_DELTA = 0.01  # from here on the worst crowd may be a mixed one
NARROW = 256
WIDE = 1e5  # a variance so large that the integers hardly matter: x^2/8 of it is below COVERED down to deltas of 1e-30
SEARCHED = 2_000  # then every crowd up to twice this size is searched
COVERED = 1.01  # more bits than that are rounded up, so that a proof can go through every k in stretches
SCANNED_OVER = 1e-6  # a scan has been seen to pass over a k that is worse by 3e-8


@dataclass(frozen=True, eq=False)
class ShuffledBits(PrivacyLoss):
    """All of one person's `bits` flipped bits change, among `others` more, whatever these hold."""

    flip: Chance
    others: int
    bits: int = 1

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """Where every crowd is searched, exact; in larger ones the worst is rounded up, to cover every other."""
        return "rounded" if self._covered else "exact"

    @property
    def _covered(self) -> bool:
        return self._variance >= WIDE or self.others // 2 > SEARCHED

    @property
    def _variance(self) -> float:
        return self.others * self.flip * (1.0 - self.flip)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = np.array([self._worst(float(e)) for e in epsilon])
        return worst, worst  # k and others - k ones mirror each other, so either order is as bad as the other

    def _worst(self, epsilon: float) -> float:
        if self._pure(epsilon):
            return 0.0
        if self._variance >= WIDE:
            alone = max(side.item() for side in self._pair(0).orders(np.array([epsilon])))
            return min(1.0, alone * COVERED)
        period = max(1.0 / (2.0 * self.flip), 1.0 / max(1.0 - 2.0 * self.flip, 1e-9))
        half = self.others // 2
        worst = self._search(min(half, math.ceil(max(SCANNED, 2.0 * period))), epsilon)
        if half > SEARCHED:
            everywhere = self._search(half, epsilon) if worst >= LARGE_DELTA else worst
            return min(1.0, COVERED * max(worst, everywhere))
        if worst < LARGE_DELTA:
            return worst
        parts = np.array_split(np.arange(half + 1), 1 + half // NARROW)
        return max(float(self._divergences(part, epsilon).max()) for part in parts)

    def _search(self, last: int, epsilon: float) -> float:
        """The largest divergence for 0 .. last ones among the others: a coarse scan, then finer ones about its peak."""
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
            return np.maximum(*_rows(self.flip, self.others, self.bits, tuple(ones.tolist())).divergences(epsilon))
        return np.array([self._pair(int(k)).delta(epsilon) for k in ones])

    def _pair(self, ones: int) -> Pair:
        rest = laws.binomial(self.others - ones, self.flip) + -laws.binomial(ones, self.flip)
        victim = laws.binomial(self.bits, self.flip)
        return Pair.of(rest + (-victim).shifted(self.bits), rest + victim)

    def _pure(self, epsilon: float) -> bool:
        """Shuffling never harms: from the local epsilon on nothing is lost."""
        return self.bits * math.log((1.0 - self.flip) / self.flip) < epsilon * (1.0 - 1e-15)

    def slack(self, epsilon: float) -> float:
        return 0.0 if self._pure(epsilon) else 6.0 * laws.CUT


@lru_cache(maxsize=256)
def _rows(flip: Chance, others: int, bits: int, ones: tuple[int, ...]) -> Pairs:
    """The pairs for several k at once: S - k is the ones gained less the ones lost, a short convolution."""
    k, fewest, most = np.array(ones), ones[0], ones[-1]
    gained, lost = laws.binomial(others - fewest, flip), laws.binomial(most, flip)
    first, last = laws.binomial(others - most, flip).start, gained.start + gained.masses.size - 1
    reach = lost.start + lost.masses.size - 1
    of_zeros, of_ones = laws.binomials(others - k, flip, first, last), laws.binomials(k, flip, 0, reach)
    total = np.zeros((k.size, last - first + 1 + reach + bits))
    for j in range(reach + 1):
        total[:, reach - j : reach - j + of_zeros.shape[1]] += of_ones[:, j : j + 1] * of_zeros
    victim = laws.binomial(bits, flip)
    with_ones, without, part = (np.zeros_like(total) for _ in range(3))
    for flipped, mass in zip(victim.values.tolist(), victim.masses.tolist(), strict=True):
        np.multiply(total, mass, out=part)  # its last `bits` columns are empty
        with_ones[:, bits - flipped :] += part[:, : part.shape[1] - bits + flipped]
        without[:, flipped:] += part[:, : part.shape[1] - flipped]
    return Pairs(with_ones, without)
