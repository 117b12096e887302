r"""Laplace noise [DMNS06], on a grid so that no floating-point number ever meets a private one.

Randomiser: none, the value $x \in \{0, \dots, s\}$ is handed over, in steps of its range (a count
            has one step).
Analyser:   rounds the total once, without bias, to one of the $L$ `levels` from a person to the
            next, and adds $Z$ with $P[Z=k] \propto e^{-|k|/(L b)}$, $b$ the scale; if $s$ divides
            $L$ there is nothing to round.
View:       $\lfloor \frac Ls \sum x + U \rfloor + Z$; whatever $U$ in $[0, 1)$ is, one person moves
            it by at most $L$ levels, so the loss is pure from $\epsilon = 1/b$ on.
Error:      unbiased, variance $2a/(1-a)^2/L^2$ with $a = e^{-1/(L b)}$, near $2b^2$, and at most
            $1/4L^2$ of rounding.

[DMNS06] Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data
Analysis, TCC 2006.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from headcount.privacy import Budget, Crowd, Neighbours
from headcount.protocols.base import Choices, Shape
from headcount.protocols.shared.noisy_total import NoisyTotal
from headcount.protocols.shared.stochastic_rounding import fine_enough
from headcount.questions import Question, Sum

MOST = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Laplace(NoisyTotal):
    """Add Laplace noise to the exact count or sum."""

    name: ClassVar[str] = "laplace"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.BIT, Shape.AMOUNT})
    reference: ClassVar[str] = "Dwork, McSherry, Nissim and Smith 2006"

    levels: int = 64

    def __post_init__(self) -> None:
        self.whole("levels", 1, MOST)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """Levels for which rounding adds less than a percent to the variance: mostly 64."""
        return ({"levels": fine_enough(task, 1, 2.0 / budget.epsilon**2)},)

    @property
    def grid(self) -> int:
        return self.levels

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=Sum((-1, 3), steps=4), crowd=Crowd(3), scale=0.5, levels=2)
        yield cls(task=Sum((-2, 2), steps=4), crowd=Crowd(3), scale=0.5, levels=2, neighbours=Neighbours.ADD_REMOVE)
