r"""Laplace noise [DMNS06], on a grid of 1/64 so that no floating-point number ever meets a private one.

Randomiser: none, the value is handed over.
Analyser:   adds $Z/64$ with $P[Z=k] \propto e^{-|k|/(64 b)}$, $b$ the scale.
View:       $\sum x + Z/64$; neighbours differ by 64 steps, so the loss is pure from $\epsilon = 1/b$ on.
Error:      unbiased, variance $2a/(1-a)^2/64^2$ with $a = e^{-1/(64 b)}$, which is $2b^2$ to four digits at $b = 1$.

[DMNS06] Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headcount.protocols.central.noisy_total import NoisyTotal


@dataclass(frozen=True, kw_only=True)
class Laplace(NoisyTotal):
    """Add Laplace noise to the exact count."""

    name: ClassVar[str] = "laplace"
    reference: ClassVar[str] = "Dwork, McSherry, Nissim and Smith 2006"
    units: ClassVar[int] = 64
