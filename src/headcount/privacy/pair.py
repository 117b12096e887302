r"""Dominating pairs: $D_\epsilon(P\|Q) = \sum (P - e^\epsilon Q)_+$, exact in both orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headcount.privacy.loss import LARGEST_EPSILON, PrivacyLoss
from headcount.programme.law import Floats, Law

FEW = 8  # epsilons that are summed directly; sorting pays beyond
EXP_DOWN = 1.0 - 2.0**-50  # exp is good to an ulp or two; a smaller one claims less privacy
ROUNDED = 2.0**-46  # relatively: more than chances and their differences are rounded by


def exp_down(epsilon: Floats | np.float64) -> Floats:
    """Certainly at most e**epsilon."""
    return np.exp(epsilon) * EXP_DOWN


def factor_below(epsilon: float) -> float:
    """A number below e**epsilon by more than chances are rounded by; epsilon is capped to fit."""
    return float(exp_down(np.float64(min(epsilon, LARGEST_EPSILON)))) * (1.0 - ROUNDED)


@dataclass(frozen=True, eq=False)
class ByRatio:
    """The outcomes that P can have, by falling likelihood ratio P/Q."""

    falling: Floats  # minus the log-ratio, which rises
    p: Floats
    q: Floats

    @classmethod
    def of(cls, p: Floats, q: Floats) -> ByRatio:
        p, q = p[p > 0], q[p > 0]  # the others never count
        with np.errstate(divide="ignore"):
            falling = np.log(q) - np.log(p)
        order = np.argsort(falling, kind="stable")
        return cls(falling[order], p[order], q[order])

    @cached_property
    def above(self) -> tuple[Floats, Floats]:
        """The masses of the first 0, 1, 2, ... outcomes under P and under Q."""
        p, q = (np.concatenate([[0.0], np.cumsum(side)]) for side in (self.p, self.q))
        return p, q

    def divergence(self, epsilon: Floats) -> Floats:
        first = np.searchsorted(self.falling, -epsilon)
        p, q = self.above
        return np.maximum(p[first] - exp_down(epsilon) * q[first], 0.0)


@dataclass(frozen=True, eq=False)
class Pair(PrivacyLoss):
    """The views of two neighbouring crowds, as masses on the same outcomes."""

    kind = "exact"

    p: Floats
    q: Floats
    dropped: float = 0.0

    @classmethod
    def shifted(cls, law: Law) -> Pair:
        """A count plus this noise, against the next count plus the same noise."""
        return cls.of(law, law.shifted(1))

    @classmethod
    def of(cls, first: Law, second: Law) -> Pair:
        start = min(first.start, second.start)
        stop = max(law.start + law.masses.size for law in (first, second))
        p, q = (np.pad(law.masses, (law.start - start, stop - law.start - law.masses.size)) for law in (first, second))
        return cls(p, q, max(first.dropped, second.dropped))

    @property
    def reversed(self) -> Pair:
        """The pair in the other order."""
        return Pair(self.q, self.p, self.dropped)

    @cached_property
    def by_ratio(self) -> tuple[ByRatio, ByRatio]:
        """The outcomes in either order."""
        return ByRatio.of(self.p, self.q), ByRatio.of(self.q, self.p)

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        if epsilon.size <= FEW:
            both = [ManyPairs(self.p[None], self.q[None]).divergences(float(e)) for e in epsilon]
            return np.concatenate([b[0] for b in both]), np.concatenate([b[1] for b in both])
        forward, backward = self.by_ratio
        return forward.divergence(epsilon), backward.divergence(epsilon)

    def slack(self, epsilon: float) -> float:
        return self.dropped


@dataclass(frozen=True, eq=False)
class ManyPairs:
    """Many pairs of neighbours at once, one a row."""

    p: Floats
    q: Floats

    def divergences(self, epsilon: float) -> tuple[Floats, Floats]:
        """Row by row, in both orders."""
        factor = float(exp_down(np.float64(epsilon)))
        forward = np.maximum(self.p - factor * self.q, 0.0).sum(axis=1)
        backward = np.maximum(self.q - factor * self.p, 0.0).sum(axis=1)
        return forward, backward


@dataclass(frozen=True, eq=False)
class WorstPair(PrivacyLoss):
    """The pairs of neighbours, among many, that are told apart best at each epsilon."""

    kind = "exact"

    pairs: ManyPairs

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        both = [self.pairs.divergences(float(e)) for e in epsilon]
        return np.array([forward.max() for forward, _ in both]), np.array([backward.max() for _, backward in both])
