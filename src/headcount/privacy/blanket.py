r"""Covers: a victim's message among others of everybody's that depend on nobody's value.

All are one lemma [BBGN19, Lemma 5.3]. Reveal which of the others' messages are blanket and the rest of them; then the
victim's message is one among M of which M - 1 were drawn from the blanket's law $\omega$, and
$$\delta(\epsilon) \le E\Bigl[\frac1M \Bigl(\sum_{i \le M} L(W_i)\Bigr)_+\Bigr], \quad
L(w) = \frac{\mu(w) - e^\epsilon \mu'(w)}{\omega(w)}, \quad W_i \sim \omega,$$
where $\mu$ and $\mu'$ are the laws of the victim's message under the two values. To exchange the values is to exchange
two cells that are equally likely, so that both orders are equal.

[BBGN19] Balle, Bell, Gascón and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
[GGKPV21] Ghazi, Golowich, Kumar, Pagh and Velingker, On the Power of Multiple Anonymous Messages,
EUROCRYPT 2021.
[CZ22] Cheu and Zhilyaev, Differentially Private Histograms in the Shuffle Model from Fake Users,
S&P 2022.
[LWY22] Luo, Wang and Yi, Frequency Estimation in the Shuffle Model with Almost a Single Message,
CCS 2022.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from headcount.privacy import laws
from headcount.privacy.loss import PrivacyLoss, RoundedDown
from headcount.privacy.pair import ROUNDED, factor_below
from headcount.privacy.trinomial import CUT_ON_THE_WAY, SKIPPED, Trinomial, mean_excess, thinned
from headcount.programme.law import Floats
from headcount.programme.table import Ints

MOST_FAKES = 1 << 13
STRETCHES = 48
NEARLY = 1.01  # times what is lost, far more than sums here are rounded up by
FEW = 192
MANY = 8  # epsilons at once, which are a sign that more will be asked


class _Blanket(PrivacyLoss):
    kind = "bound"

    @property
    def pure(self) -> float:
        """The epsilon from which on nothing is lost."""
        return math.inf

    @abstractmethod
    def _bound(self, factor: float) -> float:
        """The lemma's expectation, with `factor` for e**epsilon."""

    @abstractmethod
    def _cut(self) -> float:
        """A bound on what the values left out of the expectation could add."""

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        bound = np.array([self._at(e) for e in epsilon.tolist()])
        return bound, bound

    def _at(self, epsilon: float) -> float:
        return 0.0 if self._is_pure(epsilon) else self._bound(factor_below(epsilon))

    def slack(self, epsilon: float) -> float:
        return 0.0 if self._is_pure(epsilon) else self._cut()

    def _is_pure(self, epsilon: float) -> bool:
        return epsilon >= self.pure * (1.0 + ROUNDED)  # which is rounded itself


class _Cover(_Blanket):
    """Blanket messages uniform on all, the victim's uniform on a set given by the value."""

    @property
    @abstractmethod
    def inside(self) -> float:
        """The chance that a blanket message lies in the set of a given value."""

    @property
    @abstractmethod
    def shared(self) -> float:
        """The chance that, if so, it also lies in the set of another given value."""

    @abstractmethod
    def _messages(self) -> tuple[Ints, Floats, int]:
        """Numbers of messages with the victim's, their chances, and the step between numbers."""

    @cached_property
    def _cells(self) -> Trinomial:
        each, both = self.inside * (1.0 - self.shared), self.inside * self.shared
        messages, chances, step = self._messages()
        return Trinomial(messages, chances, each, both, 1.0 - 2.0 * each - both, step)

    def _bound(self, factor: float) -> float:
        return self._cells.excess(1.0, factor, factor - 1.0) / self.inside

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        if epsilon.size >= MANY:
            self._cells.prepare()
        return super().orders(epsilon)

    def _cut(self) -> float:
        return self._cells.cut(1.0) / self.inside


@dataclass(frozen=True, eq=False)
class HashedBlanket(_Cover):
    """A random hash function with the value's bucket, among ones with a random bucket [LWY22, FE1].

    Each of the `people` adds `blankets` of those on average: the whole part, and one more with the
    chance of the rest. Two values share their bucket with chance `collision`.
    """

    people: int
    blankets: float
    buckets: int
    collision: float

    @property
    def inside(self) -> float:
        return 1.0 / self.buckets

    @property
    def shared(self) -> float:
        return self.collision

    def _messages(self) -> tuple[Ints, Floats, int]:
        """A few numbers, each standing for those up to the next: fewer messages hide less."""
        whole = math.floor(self.blankets)
        more = laws.binomial(self.people, self.blankets - whole)
        size = more.masses.size
        first = np.unique(np.linspace(0, size, (size if size <= FEW else STRETCHES) + 1).astype(np.int64)[:-1])
        return self.people * whole + more.start + first + 1, np.add.reduceat(more.masses, first), 1


@dataclass(frozen=True, eq=False)
class HadamardBlanket(_Cover):
    """Columns in which the value's Hadamard row is +1, among uniform tuples [GGKPV21, sec. 4.2].

    Each of the `people` has one value and adds `blankets` uniform tuples. Two rows agree on half of
    the columns.
    """

    people: int
    blankets: int
    indices: int

    own: int = 0  # tuples of others that look like uniform ones

    def among_others(self) -> PrivacyLoss:
        """A lower bound: the loss if all others hold a value whose row is independent of both."""
        return RoundedDown(replace(self, own=self.people - 1), NEARLY)

    @property
    def inside(self) -> float:
        return 2.0**-self.indices

    @property
    def shared(self) -> float:
        return self.inside

    def _messages(self) -> tuple[Ints, Floats, int]:
        return np.array([self.people * self.blankets + self.own + 1]), np.ones(1), 1


@dataclass(frozen=True, eq=False)
class FakeUsersBlanket(_Blanket):
    """A one-hot row with each bit flipped with chance `flip`, among flipped empty rows [CZ22].

    A row is likelier under a value than under none by (1-q)/q if its bit there is set and q/(1-q)
    if not. The bits at two values are independent, so that the bound is free of the number of
    values.
    """

    flip: float
    fakes: int

    @property
    def pure(self) -> float:
        return 2.0 * math.log((1.0 - self._turn) / self._turn)

    @property
    def _turn(self) -> float:
        """The smaller of q and 1 - q, which is q up to negating all bits."""
        return min(self.flip, 1.0 - self.flip)

    @cached_property
    def _other(self) -> tuple[Ints, Floats, int]:
        """How many of all the rows, the victim's included, have the bit of the other value set."""
        return thinned(laws.binomial(self.fakes + 1, self._turn), MOST_FAKES)

    def _bound(self, factor: float) -> float:
        rows, q = self.fakes + 1, self._turn
        counts, chances, step = self._other
        unset, gain = q / (1.0 - q), (1.0 - 2.0 * q) / (q * (1.0 - q))
        level = np.asarray(factor * counts + (factor - 1.0) * rows * unset / gain, dtype=np.float64)
        bound = float((chances * mean_excess(level, rows, q)).sum()) * gain / rows
        return bound * SKIPPED if step > 1 else bound

    def _cut(self) -> float:
        return CUT_ON_THE_WAY  # the two counts are independent, and the gain is 1 on average


@dataclass(frozen=True, eq=False)
class RandomFakeUsersBlanket(PrivacyLoss):
    """A mixture of `FakeUsersBlanket`: everybody sends `each` fakes, and one more with a chance.

    The total is shown. Fewer fakes hide less, so that each of a few stretches of totals is counted
    as its smallest.
    """

    flip: float
    people: int
    each: int
    chance: float
    others: bool = False  # who all hold a third value
    kind = "bound"

    def among_others(self) -> PrivacyLoss:
        """A lower bound: all others hold a third value, whose rows look like fakes at these two."""
        return RoundedDown(replace(self, others=True), NEARLY)

    @cached_property
    def _stretches(self) -> list[tuple[FakeUsersBlanket, float]]:
        law = laws.binomial(self.people, self.chance)
        parts = np.array_split(np.arange(law.masses.size), min(STRETCHES, law.masses.size))
        rows = self.people * self.each + law.start + (self.people - 1 if self.others else 0)
        place = -1 if self.others else 0
        return [(FakeUsersBlanket(self.flip, rows + int(part[place])), float(law.masses[part].sum())) for part in parts]

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = sum((mass * rows.orders(epsilon)[0] for rows, mass in self._stretches), np.zeros_like(epsilon))
        return worst, worst

    def slack(self, epsilon: float) -> float:
        return 4.0 * laws.CUT + max(rows.slack(epsilon) for rows, _ in self._stretches)
