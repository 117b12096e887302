r"""Padded histogram [MSE25]: one message each; the shuffler adds a random number per category.

Randomiser: send your category; no noise.
Shuffler:   adds $Z_j$ messages to each category, $P[Z_j=k] \propto e^{-|k-s|/b}$ for $k \ge 0$, with $s$ the `shift`
            and $b$ the `scale`.
Analyser:   $\hat c_j = m_j - E[Z] + Y_j$ with $m_j$ messages and $Y_j$ two-sided geometric noise of its own, of
            `analyser_scale`: the shuffler, who knows $Z_j$, does not know $Y_j$.
View:       $c_j + Z_j$, independently; a replaced person shifts one up by one and another down: $\delta = P[Z=0]$ from
            $\epsilon = 2/b$ on, in every crowd, with any dropouts and corrupt people. With $k$
            families of cells $k$ are shifted up and $k$ down.
Error:      unbiased, the variance of $Z$ and of $Y$, whatever the data, cell by cell independent.

[MSE25] Murakami, Sei and Eriguchi, Augmented Shuffle Protocols for Accurate and Robust Frequency
Estimation under Differential Privacy, S&P 2025.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Crowd, Neighbours
from headcount.protocols.base import Shape
from headcount.protocols.shared.padded import TwoSidedPadding
from headcount.questions import Distribution, Histogram


@dataclass(frozen=True, kw_only=True)
class PaddedHistogram(TwoSidedPadding):
    """The central error in every category with one message each, as the shuffler adds more."""

    name: ClassVar[str] = "padded-histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.K_OF})
    reference: ClassVar[str] = "Murakami, Sei and Eriguchi 2025, arXiv:2504.07362"

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(3), crowd=Crowd(3), scale=0.4, shift=1)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(2), crowd=Crowd(3), scale=0.4, shift=1, neighbours=Neighbours.ADD_REMOVE)
        yield cls(task=Histogram(2), crowd=Crowd(2), scale=0.4, shift=1, analyser_scale=0.4)
        tree = Distribution((0.0, 2.0), 2, radices=(2, 1))
        yield cls(task=tree, crowd=Crowd(2), scale=0.4, shift=1)
        yield cls(task=tree.counted_from_zero(), crowd=Crowd(2), scale=0.4, shift=1, neighbours=Neighbours.ADD_REMOVE)
