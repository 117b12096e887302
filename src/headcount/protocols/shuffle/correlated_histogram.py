r"""Correlated noise for histograms [GKMP20, GKMPS21]: dummies of every category that cancel.

Randomiser: send a plus for the category; for each of the $d$ categories draw $a, b \sim \mathrm{NB}(1/n, q)$ and
            $z \sim \mathrm{NB}(r/n, p)$ and send $a+z$ pluses and $b+z$ minuses. Most are 0: what is drawn is how
            often something is sent, for which category, and how many (a Poisson number of logarithmic draws).
Analyser:   $\hat c_j$ = pluses less minuses; the floods of $z$ cancel.
View:       both totals of every category, independently. A replaced person changes two categories, each of which tells
            exactly as much as one number: see `correlated-count`.
Error:      unbiased, two-sided geometric: $\mathrm{Var}\,\hat c_j = 2q/(1-q)^2$ at $n$ reports, cells independent.

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

from headcount.core.brick import All, Brick, Copies, Emit, Let
from headcount.core.budget import Budget
from headcount.core.coins import Coins
from headcount.core.crowd import Crowd
from headcount.core.draw import Below
from headcount.core.errors import BadArgument
from headcount.core.field import Field
from headcount.core.histogram import Histogram
from headcount.core.knob import Knob
from headcount.core.law import Floats, Noise
from headcount.core.loss import PrivacyLoss
from headcount.core.model import Model
from headcount.core.protocol import Protocol
from headcount.core.table import Ints
from headcount.core.tally import Tally
from headcount.core.task import HISTOGRAMS, Task
from headcount.privacy import laws, tables
from headcount.privacy.correlated import inner_for, likely_decay, two_cancelling
from headcount.privacy.pair import Nearly

ANY = Field.named("any")
MINUS, PLUS = Emit(ANY * 2), Emit(ANY * 2 + 1)


@dataclass(frozen=True, kw_only=True)
class CorrelatedHistogram(Protocol):
    """Nearly the central error in every cell, with hardly any extra messages in a large crowd."""

    name: ClassVar[str] = "correlated-histogram"
    model: ClassVar[Model] = Model.SHUFFLE
    tasks: ClassVar[frozenset[str]] = HISTOGRAMS
    knob: ClassVar[Knob] = Knob(
        "decay", lambda u, _: -math.expm1(-u), 1e-3, 17.0,
        lambda budget, given: likely_decay(budget, 2.0 * given["inner"], given["shape"]),
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
        """Half a percent above the central error; more in crowds where a third of a message each buys about 1%."""
        log = math.log(1.0 / budget.delta)
        if overhead is None:
            overhead = max(0.005, math.sqrt(0.013 * log**2 * task.values / (crowd.honest * budget.epsilon)))
        elif not 0.0 < overhead < 1e3:
            raise BadArgument("overhead", f"is {overhead!r}", "use a number above 0, for example 0.005")
        yield {"inner": inner_for(budget.epsilon / 2.0, overhead), "shape": max(2.0, 0.8 * log)}

    @property
    def kinds(self) -> int:
        return 2 * self.task.values

    @property
    def cancel(self) -> float:
        """q, rounded toward more noise."""
        return math.nextafter(math.exp(-self.inner), 1.0)

    def _often(self, shape: float, decay: float) -> Fraction:
        """How often on average a person sends some of a category's NB(shape/n, decay), of all categories together.

        Rounded up: more of the noise is as good as noise added afterwards.
        """
        return self.task.values * Fraction(math.nextafter(-shape * math.log1p(-decay), math.inf)) / self.crowd.honest

    def _dummies(self, shape: float, decay: float, brick: Brick) -> Brick:
        some = Copies(tables.logarithmic(Fraction(decay)), brick)
        return Copies(tables.poisson(self._often(shape, decay)), Let("any", Below(self.task.values), some))

    def report(self, value: Field) -> Brick:
        return All(
            Emit(value * 2 + 1),
            self._dummies(1.0, self.cancel, PLUS),
            self._dummies(1.0, self.cancel, MINUS),
            self._dummies(self.shape, self.decay, All(PLUS, MINUS)),
        )

    def view(self, honest: int) -> PrivacyLoss:
        share = honest / self.crowd.honest
        ideal = two_cancelling(self.cancel, share, laws.negative_binomial(self.shape * share, self.decay))
        own, flood = self._distance(1.0, self.cancel), self._distance(self.shape, self.decay)
        return Nearly(ideal, honest * (2.0 * own + flood), ideal.kind)

    def _distance(self, shape: float, decay: float) -> float:
        often = float(self._often(shape, decay))
        some = tables.distance(tables.logarithmic_cells(decay))
        return tables.distance(tables.poisson_cells(often)) + often * some

    def point(self, tally: Tally) -> Floats:
        return (tally.totals[1::2] - tally.totals[::2]).astype(np.float64)

    def noise(self, truth: int, reports: int) -> Noise:
        own = laws.negative_binomial(reports / self.crowd.honest, self.cancel)
        return Noise.of(own + -own, centre=0.0)

    @property
    def independent(self) -> bool:
        return True

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        share = int(held.sum()) / self.crowd.honest
        own = laws.negative_binomial(share, self.cancel)
        flood = laws.negative_binomial(self.shape * share, self.decay).sample(coins, runs * held.size)
        minus, plus = (own.sample(coins, runs * held.size) + flood for _ in range(2))
        return np.stack([minus.reshape(runs, -1), plus.reshape(runs, -1) + held], axis=2).reshape(runs, -1)

    @property
    def messages_per_person(self) -> float:
        own, flood = (c / (1.0 - c) for c in (self.cancel, self.decay))
        return 1.0 + 2.0 * self.task.values * (own + self.shape * flood) / self.crowd.honest

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(2), crowd=Crowd(3), inner=4.0, shape=1.0, decay=0.05)

    @classmethod
    def published(cls, budget: Budget, crowd: Crowd) -> Mapping[str, Any]:
        """Half of epsilon and delta for either category that changes, a tenth of it spent on the flood."""
        return {
            "inner": 0.45 * budget.epsilon,
            "shape": 3.0 * (1.0 + math.log(2.0 / budget.delta)),
            "decay": math.exp(-0.01 * budget.epsilon),
        }
