r"""Correlated noise for histograms [GKMP20, GKMPS21]: dummies of every category that cancel.

Randomiser: send a plus for the category; for each of the $d$ categories draw
            $a, b \sim \mathrm{NB}(1/n, q)$ and $z \sim \mathrm{NB}(r/n, p)$ and send $a+z$ pluses
            and $b+z$ minuses. Most are 0: what is drawn is how often something is sent, for which
            category, and how many (a Poisson number of logarithmic draws).
Analyser:   $\hat c_j$ = pluses less minuses; the floods of $z$ cancel.
View:       both totals of every category, independently. A replaced person changes two categories,
            each of which tells exactly as much as one number: see `correlated-count`.
Error:      unbiased, two-sided geometric: $\mathrm{Var}\,\hat c_j = 2q/(1-q)^2$ at $n$ reports,
            cells independent.

$q = e^{-\epsilon^*}$ with $\epsilon^*$ the `inner` epsilon; $r$ and $p$ are the `shape` and `decay`
of the flood. `overhead` says how far the standard error may lie above the central optimum; a
smaller one costs more messages. With `even` the shape is so large that the flood is nearly Poisson,
and nobody sends many messages at once.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020.
[GKMPS21] Ghazi, Kumar, Manurangsi, Pagh and Sinha, Differentially Private Aggregation in the
Shuffle Model, ICML 2021.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from headcount.common.short_decimals import log_of_rest
from headcount.privacy import Crowd, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy import exact_tables as tables
from headcount.privacy.correlated import two_correlated_losses
from headcount.programme import All, Below, Brick, Coins, Copies, Emit, Field, Let, Tally
from headcount.programme.law import Floats, Ints
from headcount.protocols.base import Shape
from headcount.protocols.shared.cells import one_of_each, touched
from headcount.protocols.shared.correlated_noise import CorrelatedNoise
from headcount.questions import Histogram

ANY = Field.named("any")
MINUS, PLUS = Emit(ANY * 2), Emit(ANY * 2 + 1)


@dataclass(frozen=True, kw_only=True)
class CorrelatedHistogram(CorrelatedNoise):
    """Nearly the central error in every cell, with hardly any extra messages in a large crowd."""

    name: ClassVar[str] = "correlated-histogram"
    shapes: ClassVar[frozenset[Shape]] = frozenset({Shape.ONE_OF, Shape.K_OF})
    independent: ClassVar[bool] = True
    patience: ClassVar[float] = 0.013

    @property
    def kinds(self) -> int:
        return 2 * self.task.cells

    def _often(self, shape: float, decay: float) -> Fraction:
        """The mean number of clusters of NB(shape/n, decay) a person sends, of all categories.

        Rounded up: more of the noise is as good as noise added afterwards.
        """
        return self.task.cells * Fraction(math.nextafter(-shape * log_of_rest(decay), math.inf)) / self.crowd.honest

    def _dummies(self, shape: float, decay: float, brick: Brick) -> Brick:
        some = Copies(tables.logarithmic(Fraction(decay)), brick)
        return Copies(tables.poisson(self._often(shape, decay)), Let("any", Below(self.task.cells), some))

    def report(self, value: Field) -> Brick:
        return All(
            one_of_each(self.task, value, lambda cell: Emit(cell * 2 + 1)),
            self._dummies(self.own, self.cancel, PLUS),
            self._dummies(self.own, self.cancel, MINUS),
            self._dummies(self.shape, self.decay, All(PLUS, MINUS)),
        )

    def view(self, honest: int) -> PrivacyLoss:
        share = honest / self.crowd.honest
        own, flood = self._distance(self.own, self.cancel), self._distance(self.shape, self.decay)
        # Once it is clear that the tables can be drawn from.
        pairs = laws.negative_binomial(self.shape * share, self.decay)
        ideal = two_correlated_losses(self.cancel, self.own * share, pairs, touched(self.task))
        return TotalVariationSlack(ideal, honest * (2.0 * own + flood), ideal.kind)

    def _distance(self, shape: float, decay: float) -> float:
        often = float(self._often(shape, decay))
        some = tables.distance(tables.logarithmic_cells(decay))
        return tables.distance(tables.poisson_cells(often)) + often * some

    def point(self, tally: Tally) -> Floats:
        return (tally.totals[1::2] - tally.totals[::2]).astype(np.float64)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        share = int(held.sum()) / self.crowd.honest
        cells, own = self.task.strategy.counts(held), laws.negative_binomial(self.own * share, self.cancel)
        flood = laws.negative_binomial(self.shape * share, self.decay).sample(coins, runs * cells.size)
        minus, plus = (own.sample(coins, runs * cells.size) + flood for _ in range(2))
        return np.stack([minus.reshape(runs, -1), plus.reshape(runs, -1) + cells], axis=2).reshape(runs, -1)

    @classmethod
    def tiny(cls) -> Self:
        return cls(task=Histogram(2), crowd=Crowd(3), inner=4.0, shape=1.0, decay=0.05)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        """The others have an even flood, and noise of their own with lighter tails."""
        yield cls.tiny()
        yield cls(task=Histogram(2), crowd=Crowd(2), inner=4.0, shape=1.0, decay=0.05, own=2)
        yield cls(task=Histogram(2), crowd=Crowd(2), inner=4.0, shape=9.0, decay=0.006)
