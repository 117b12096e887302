r"""Correlated noise [GKMP20, GKMPS21]: dummies that cancel, so that the cover is large and the error is not.

Randomiser: draw $a, b \sim \mathrm{NB}(1/n, q)$ and $z \sim \mathrm{NB}(r/n, p)$; send $x+a+z$ pluses, $b+z$ minuses.
Analyser:   $\hat c$ = pluses less minuses; the flood of $z$ cancels.
View:       both totals, $(\sum x + A + Z, B + Z)$. With $G = Z + \mathrm{Geom}(q^2)$ they tell exactly as much as this:
            with chance $1/(1+q)$ a draw of $G$, else a blank; against $G+1$ with chance $q/(1+q)$, else a blank.
Error:      unbiased, two-sided geometric: $\mathrm{Var}\,\hat c = 2q/(1-q)^2$ at $n$ reports, whatever the data.

$q = e^{-\epsilon^*}$ with $\epsilon^*$ the `inner` epsilon; $r$ and $p$ are the `shape` and `decay` of the flood.
`overhead` says how far the standard error may lie above the central optimum; a smaller one costs more messages.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020.
[GKMPS21] Ghazi, Kumar, Manurangsi, Pagh and Sinha, Differentially Private Aggregation in the Shuffle Model, ICML 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from headcount.core.brick import All, Brick, Copies, Emit
from headcount.core.budget import Budget
from headcount.core.coins import Coins
from headcount.core.crowd import Crowd
from headcount.core.errors import BadArgument
from headcount.core.field import Field
from headcount.core.knob import Knob
from headcount.core.law import Floats, Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.model import Model
from headcount.core.protocol import Protocol
from headcount.core.table import Ints
from headcount.core.tally import Tally
from headcount.core.task import Task
from headcount.privacy import laws, tables
from headcount.privacy.correlated import cancelling, inner_for, likely_decay
from headcount.privacy.pair import Nearly

MINUS, PLUS = Emit(0), Emit(1)


@dataclass(frozen=True, kw_only=True)
class CorrelatedCount(Protocol):
    """Nearly the central error, with hardly any extra messages in a large crowd."""

    name: ClassVar[str] = "correlated-count"
    model: ClassVar[Model] = Model.SHUFFLE
    knob: ClassVar[Knob] = Knob(
        "decay", lambda u, _: -math.expm1(-u), 1e-3, 17.0,
        lambda budget, given: likely_decay(budget, given["inner"], given["shape"]),
    )  # fmt: skip
    reference: ClassVar[str] = "Ghazi, Kumar, Manurangsi, Pagh and Sinha 2021, arXiv:2109.13158"

    inner: float
    shape: float
    decay: float

    def __post_init__(self) -> None:
        self.bounded("inner", 0.0, 50.0)
        self.bounded("shape", 0.0, 1e9)
        self.bounded("decay", 0.0, 1.0 - 1e-9)
        super().__post_init__()

    @classmethod
    def choices(
        cls, task: Task, crowd: Crowd, budget: Budget, overhead: float | None = None
    ) -> Iterable[Mapping[str, Any]]:
        """Half a percent above the central error; more in crowds where an extra message each buys less than 1%."""
        log = math.log(1.0 / budget.delta)
        if overhead is None:
            overhead = max(0.005, math.sqrt(0.0024 * log**2 / (crowd.honest * budget.epsilon)))
        elif not 0.0 < overhead < 1e3:
            raise BadArgument("overhead", f"is {overhead!r}", "use a number above 0, for example 0.005")
        yield {"inner": inner_for(budget.epsilon, overhead), "shape": max(2.0, 0.8 * log)}

    @property
    def kinds(self) -> int:
        return 2

    @property
    def cancel(self) -> float:
        """q, rounded toward more noise."""
        return math.nextafter(math.exp(-self.inner), 1.0)

    def report(self, value: Field) -> Brick:
        own = tables.negative_binomial(Fraction(1, self.crowd.honest), Fraction(self.cancel))
        flood = tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, Fraction(self.decay))
        return All(Copies(value, PLUS), Copies(own, PLUS), Copies(own, MINUS), Copies(flood, All(PLUS, MINUS)))

    def view(self, honest: int) -> PrivacyLoss:
        share = honest / self.crowd.honest
        ideal = cancelling(self.cancel, share, laws.negative_binomial(self.shape * share, self.decay))
        cells = [
            tables.negative_binomial_cells(1.0 / self.crowd.honest, self.cancel),
            tables.negative_binomial_cells(self.shape / self.crowd.honest, self.decay),
        ]
        return Nearly(ideal, honest * (2.0 * tables.distance(cells[0]) + tables.distance(cells[1])))

    def point(self, tally: Tally) -> Floats:
        return (tally.totals[1:] - tally.totals[:1]).astype(np.float64)

    def noise(self, truth: int, reports: int) -> Noise:
        own = laws.negative_binomial(reports / self.crowd.honest, self.cancel)
        return Noise.of(own + -own, centre=0.0)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        share = int(held.sum()) / self.crowd.honest
        own = laws.negative_binomial(share, self.cancel)
        flood = laws.negative_binomial(self.shape * share, self.decay).sample(coins, runs)
        return np.stack([own.sample(coins, runs) + flood, held[1] + own.sample(coins, runs) + flood], axis=1)

    @property
    def messages_per_person(self) -> float:
        own, flood = (c / (1.0 - c) for c in (self.cancel, self.decay))
        return 1.0 + 2.0 * (own + self.shape * flood) / self.crowd.honest

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), inner=2.5, shape=1.5, decay=0.25)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        """Lemma 9 of GKMPS21 with the negative binomial of GKMP20, a tenth of epsilon spent on the flood."""
        return {
            "inner": 0.9 * budget.epsilon,
            "shape": 3.0 * (1.0 + math.log(1.0 / budget.delta)),
            "decay": math.exp(-0.02 * budget.epsilon),
        }
