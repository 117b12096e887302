r"""Laplace noise on shares: a sum and a mean in each of several groups [DMNS06].

Randomiser: none, the value is handed over: a group $g$ and $x \in \{0, \dots, s\}$, in steps of its range.
Analyser:   of every group adds up $x$ and, apart, what people lack of the largest amount, $s - x$; rounds
            each total once, without bias, to one of the $L$ `levels` from a person to the next, and
            adds $Z$ with $P[Z=k] \propto e^{-|k|/(L b)}$, $b$ the scale.
View:       two totals a group. A person moves those of their group by $s$ steps in all, by $L$ levels or,
            if they are rounded, by at most $L + 1$; replaced, by twice that. No shifts show more
            than one of their sum does, so that the loss is pure from $\epsilon = (L + 1)/(L b)$ on,
            or twice that.
Error:      unbiased, of each total as of one that `laplace` adds to.

[DMNS06] Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data
Analysis, TCC 2006.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Budget, Crowd, Neighbours, PrivacyLoss
from headcount.privacy.discrete_laplace import ShiftsBound
from headcount.programme import Batch, Brick, Coins, Emit, Field, Tally
from headcount.programme.law import Ints
from headcount.programme.tally import exactly_summed
from headcount.protocols.base import Choices, Shape
from headcount.protocols.shared.noisy_total import FINEST, NoisyTotal
from headcount.questions import Question
from headcount.questions.domains.levels import Levels
from headcount.questions.grouped import Group, SumByGroup

LEVELS = 256
MOST = 1 << 22


@dataclass(frozen=True, kw_only=True)
class LaplaceShares(NoisyTotal):
    """Add Laplace noise to what each group's people hold, and to what they lack of the most."""

    name: ClassVar[str] = "laplace-shares"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.SHARE, Shape.SHARES})
    reference: ClassVar[str] = "Dwork, McSherry, Nissim and Smith 2006"
    provable: ClassVar[bool] = False

    levels: int = LEVELS

    def __post_init__(self) -> None:
        self.whole("levels", 1, MOST)
        super().__post_init__()

    @classmethod
    def choices(cls, task: Question, crowd: Crowd, budget: Budget) -> Choices:
        """A level for each step, up to 256 of them and as many as noise of this size can have."""
        scale = 2.0 * (2.0 if budget.neighbours is Neighbours.REPLACE else 1.0) * crowd.each / budget.epsilon
        levels = max(1, min(LEVELS, int(FINEST / scale)))
        return ({"levels": min(task.steps, levels)},)

    @property
    def grid(self) -> int:
        return self.levels

    @property
    def _zero(self) -> float:
        return 0.0

    @property
    def kinds(self) -> int:
        return self.task.values

    @property
    def tallied(self) -> str:
        return "shares"

    def report(self, value: Field) -> Brick:
        return Emit(value)

    def tally(self, batch: Batch) -> Tally:
        steps, codes = self.task.steps, batch.messages["kind"].astype(np.int64)
        groups, held = np.divmod(codes, steps + 1)
        order = np.argsort(groups, kind="stable")
        edges = np.searchsorted(groups[order], np.arange(self.task.cells // 2 + 1))
        totals = np.zeros(self.task.cells, dtype=object)
        for group in np.unique(groups).tolist():
            own = held[order[edges[group] : edges[group + 1]]]
            total = int(exactly_summed(own)[0])
            totals[2 * group : 2 * group + 2] = own.size * steps - total, total
        return Tally(batch.reports, totals)

    def group(self, honest: int, reports: int) -> PrivacyLoss:
        """The loss of all shifts added up: no more than one total shifted by all of it shows."""
        rounded = int(self.levels % self.task.steps != 0)
        times = reports * (2 if self.neighbours is Neighbours.REPLACE else 1)
        return ShiftsBound(self.rate, times * (self.levels + rounded), min(2 * times, self.task.cells))

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        tally = Tally(0, np.tile(self.task.shares(held), runs))
        return self.released().apply(tally, coins).totals.astype(np.int64).reshape(runs, -1)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=_sums(), crowd=Crowd(2), scale=0.3, levels=2)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        yield cls.tiny()
        yield cls(task=_sums(), crowd=Crowd(2), scale=0.3, levels=2, neighbours=Neighbours.ADD_REMOVE)
        yield cls(task=_sums(), crowd=Crowd(2), scale=0.3, levels=3, neighbours=Neighbours.ADD_REMOVE)


def _sums() -> SumByGroup:
    """A sum in one group: changing one's group moves totals no further than from nothing to all."""
    return SumByGroup((Group(("all",)),), ("group",), Levels((-1.0, 1.0), 2))
