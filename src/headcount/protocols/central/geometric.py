r"""Two-sided geometric noise [GRS12]: the best a trusted analyser can do for one count under pure privacy.

Randomiser: none, the value is handed over.
Analyser:   adds $Z$ with $P[Z=k] \propto e^{-|k|/b}$, $b$ the scale.
View:       $\sum x + Z$; neighbours differ by a shift of one, so the loss is pure from $\epsilon = 1/b$ on.
Error:      unbiased, $\mathrm{Var} = 2a/(1-a)^2$ with $a = e^{-1/b}$, whatever the data.

[GRS12] Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, SIAM J. Comput. 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headcount.protocols.central.noisy_total import NoisyTotal


@dataclass(frozen=True, kw_only=True)
class Geometric(NoisyTotal):
    """Add whole-number noise to the exact count."""

    name: ClassVar[str] = "geometric"
    reference: ClassVar[str] = "Ghosh, Roughgarden and Sundararajan 2012, arXiv:0811.2841"
    units: ClassVar[int] = 1
