r"""Correlated noise [GKMP20, GKMPS21]: dummies that cancel, much cover with little error.

Randomiser: draw $a, b \sim \mathrm{NB}(k/n, q)$ and $z \sim \mathrm{NB}(r/n, p)$; send $x+a+z$
            pluses, $b+z$ minuses.
Analyser:   $\hat c$ = pluses less minuses; the flood of $z$ cancels.
View:       both totals, $(\sum x + A + Z, B + Z)$. With $G = Z + \mathrm{Geom}(q^2)$ they tell
            exactly as much as this: with chance $1/(1+q)$ a draw of $G$, else a blank; against
            $G+1$ with chance $q/(1+q)$, else a blank.
Error:      unbiased, two-sided geometric: $\mathrm{Var}\,\hat c = 2q/(1-q)^2$ at $n$ reports,
            whatever the data.

$q = e^{-\epsilon^*}$ with $\epsilon^*$ the `inner` epsilon; $k$ is `own`, more than 1 for many
rounds, where own noise with lighter tails errs less (then $\mathrm{Var}\,\hat c = 2kq/(1-q)^2$);
$r$ and $p$ are the `shape` and `decay` of the flood. `overhead` says how far the standard error may
lie above the central optimum; a smaller one costs more messages. With `even` the shape is so large
that the flood is nearly Poisson, and nobody sends many messages at once.

[GKMP20] Ghazi, Kumar, Manurangsi and Pagh, Private Counting from Anonymous Messages, ICML 2020.
[GKMPS21] Ghazi, Kumar, Manurangsi, Pagh and Sinha, Differentially Private Aggregation in the
Shuffle Model, ICML 2021.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from headcount.privacy import Crowd, PrivacyLoss, TotalVariationSlack, laws
from headcount.privacy import exact_tables as tables
from headcount.privacy.correlated import correlated_loss
from headcount.programme import All, Brick, Coins, Copies, Emit, Field, Tally
from headcount.programme.law import Floats, Ints
from headcount.protocols.shared.correlated_noise import CorrelatedNoise

MINUS, PLUS = Emit(0), Emit(1)


@dataclass(frozen=True, kw_only=True)
class CorrelatedCount(CorrelatedNoise):
    """Nearly the central error, with hardly any extra messages in a large crowd."""

    name: ClassVar[str] = "correlated-count"
    patience: ClassVar[float] = 0.0024

    @property
    def kinds(self) -> int:
        return 2

    def report(self, value: Field) -> Brick:
        own = tables.negative_binomial(Fraction(self.own, self.crowd.honest), Fraction(self.cancel))
        flood = tables.negative_binomial(Fraction(self.shape) / self.crowd.honest, Fraction(self.decay))
        return All(Copies(value, PLUS), Copies(own, PLUS), Copies(own, MINUS), Copies(flood, All(PLUS, MINUS)))

    def view(self, honest: int) -> PrivacyLoss:
        share = honest / self.crowd.honest
        pairs = laws.negative_binomial(self.shape * share, self.decay)
        cells = [
            tables.negative_binomial_cells(self.own / self.crowd.honest, self.cancel),
            tables.negative_binomial_cells(self.shape / self.crowd.honest, self.decay),
        ]
        ideal = correlated_loss(
            self.cancel, self.own * share, pairs
        )  # once it is clear that the tables can be drawn from
        return TotalVariationSlack(
            ideal, honest * (2.0 * tables.distance(cells[0]) + tables.distance(cells[1])), ideal.kind
        )

    def point(self, tally: Tally) -> Floats:
        return (tally.totals[1:] - tally.totals[:1]).astype(np.float64)

    def sample(self, held: Ints, coins: Coins, runs: int) -> Ints:
        share = int(held.sum()) / self.crowd.honest
        own = laws.negative_binomial(self.own * share, self.cancel)
        flood = laws.negative_binomial(self.shape * share, self.decay).sample(coins, runs)
        return np.stack([own.sample(coins, runs) + flood, held[1] + own.sample(coins, runs) + flood], axis=1)

    @classmethod
    def tiny(cls) -> Self:
        return cls(crowd=Crowd(6), inner=2.5, shape=1.5, decay=0.25)

    @classmethod
    def tinies(cls) -> Iterable[Self]:
        """The others have an even flood, and noise of their own with lighter tails."""
        yield cls.tiny()
        yield cls(crowd=Crowd(4), inner=2.5, shape=1.5, decay=0.25, own=2)
        yield cls(crowd=Crowd(6), inner=2.5, shape=60.0, decay=0.01)
