r"""Two-sided geometric noise [GRS12]: optimal for one count under pure privacy.

Randomiser: none, the value is handed over.
Analyser:   adds $Z$ with $P[Z=k] \propto e^{-|k|/b}$, $b$ the scale.
View:       each total with noise of its own; a person shifts one total by one, or two if replaced
            in a histogram, so that the loss is pure from $\epsilon = 1/b$, or $2/b$, on; with $k$
            families of cells it shifts $k$ times as many.
Error:      unbiased, $\mathrm{Var} = 2a/(1-a)^2$ with $a = e^{-1/b}$, whatever the data.

[GRS12] Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, SIAM
J. Comput. 2012.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Crowd, Neighbours
from headcount.protocols.base import Shape
from headcount.protocols.shared.noisy_total import NoisyTotal
from headcount.questions import Distribution, Histogram, Table


@dataclass(frozen=True, kw_only=True)
class Geometric(NoisyTotal):
    """Add whole-number noise to each exact count."""

    name: ClassVar[str] = "geometric"
    reference: ClassVar[str] = "Ghosh, Roughgarden and Sundararajan 2012, arXiv:0811.2841"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT, Shape.ONE_OF, Shape.K_OF})

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Histogram(3), crowd=Crowd(3), scale=0.5)
        yield cls(task=Histogram(2), crowd=Crowd(3), scale=0.5, neighbours=Neighbours.ADD_REMOVE)
        tree = Distribution((0.0, 2.0), 2, radices=(2, 1))
        yield cls(task=tree, crowd=Crowd(2), scale=0.3)
        yield cls(task=tree.counted_from_zero(), crowd=Crowd(2), scale=0.3, neighbours=Neighbours.ADD_REMOVE)
        yield cls(task=Table({"a": 2, "b": 2}, margins=1, measured=["a", "b"]), crowd=Crowd(2), scale=0.3)
