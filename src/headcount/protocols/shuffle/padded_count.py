r"""Padded count [MSE25]: one message each; the shuffler adds a fixed number, a random part ones.

Randomiser: send what you hold, a zero or a one; no noise.
Shuffler:   adds $2s$ messages, $s$ the `shift`, $Z$ of them ones, $P[Z=k] \propto e^{-|k-s|/b}$ with $b$ the `scale`.
Analyser:   $\hat c = m - s + Y$ with $m$ ones and $Y$ two-sided geometric noise of its own, of `analyser_scale`: the
            shuffler, who knows $Z$, does not know $Y$.
View:       $c + Z$: $\delta = P[Z=0]$ from $\epsilon = 1/b$ on, in every crowd, with any dropouts and corrupt people.
Error:      unbiased, the variance of $Z$ and of $Y$, each $2a/(1-a)^2$ with $a = e^{-1/b}$, whatever the data.

If the number of people is private, zeros and ones are padded apart.

[MSE25] Murakami, Sei and Eriguchi, Augmented Shuffle Protocols for Accurate and Robust Frequency
Estimation under Differential Privacy, S&P 2025.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Crowd, Neighbours
from headcount.protocols.shared.padded import TwoSidedPadding


@dataclass(frozen=True, kw_only=True)
class PaddedCount(TwoSidedPadding):
    """The central error with one message each, from a shuffler that adds a handful of its own."""

    name: ClassVar[str] = "padded-count"
    reference: ClassVar[str] = "Murakami, Sei and Eriguchi 2025, arXiv:2504.07362"

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(4), scale=0.8, shift=2)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(crowd=Crowd(3), scale=0.8, shift=2, analyser_scale=0.8)
        yield cls(crowd=Crowd(3), scale=0.5, shift=1, neighbours=Neighbours.ADD_REMOVE)
