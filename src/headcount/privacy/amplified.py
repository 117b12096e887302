r"""Amplification by shuffling for one message a person, from above and from below.

Let $R_x$ be the law of a message under the value x. For any measure w on the messages and any two values let
$$\Phi(w) = \sum_{w(y) = 0} (R_x(y) - e^\epsilon R_{x'}(y))_+ + \tfrac1n E[(S_n)_+],$$
where $S_n$ is a sum of n independent steps, $(R_x(y) - e^\epsilon R_{x'}(y))/w(y)$ with chance $w(y)$ and 0 with the
rest. Then

* whatever the others hold, $\delta(\epsilon) \le \Phi(\omega)$ for the blanket $\omega = \min_z R_z$ and for anything
  below it [BBGN19, Lemma 5.3];
* where all others hold z, $\delta(\epsilon) = \Phi(R_z)$ exactly: the chance of messages with counts h under x is their
  chance under z times $\frac1n \sum_y h_y R_x(y)/R_z(y)$.

Most local randomisers have a support form: $R_z(y) = \omega(y)\,a$ where y supports z and
$\omega(y)$ elsewhere. What matters is then how often a message of the blanket supports one, two and
three given values. The clones of [FMT21] are a blanket as well, for whatever has a local epsilon:
of two messages, the likeliest under either value.

[BBGN19] Balle, Bell, Gascón and Nissim, The Privacy Blanket of the Shuffle Model, CRYPTO 2019.
[FMT21] Feldman, McMillan and Talwar, Hiding Among the Clones, FOCS 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import Self

import numpy as np

from headcount.privacy.loss import LARGEST_EPSILON, ROUND_UP, PrivacyLoss
from headcount.privacy.pair import ROUNDED, factor_below
from headcount.privacy.random_walk import Walk
from headcount.programme.law import Floats

MOST_CROWDS = 256  # pairs and values of others that are tried from below, of more the worst for large crowds
ROUGHLY = 1.001  # far more than a quick bound is rounded by
BACK = 1e-4  # of an epsilon, the first step back to where the bound from below meets a delta; each is twice the last
NOTHING = 1e-9  # an epsilon that may as well be 0
FAINT = 1e-100  # chances of a base that may as well be 0
LARGEST_STEP = 1e120  # downward: a longer one takes the walk to the same place
Case = tuple[tuple[int, int], int]  # two values of one person, and what everybody else holds


@dataclass(frozen=True, eq=False)
class MessageLaws:
    """The laws of one message, a row for each value that is compared, and a measure below all.

    Every two of the `compared` rows are neighbours, and everybody else may hold one of `others`.
    """

    rows: Floats
    blanket: Floats
    compared: tuple[int, ...] = (0, 1)
    others: tuple[int, ...] = ()
    symmetric: bool = False  # whether exchanging the two compared rows permutes the messages

    @classmethod
    def of(cls, rows: Floats) -> Self:
        """The laws of all values, of which any two may be neighbours."""
        every = tuple(range(len(rows)))
        return cls(rows, rows.min(axis=0), every, every)

    @classmethod
    def supporting(cls, odds: float, once: float, twice: float, thrice: float, *, values: int) -> Self:
        """Laws of messages that are likelier by these odds under the values that they support.

        A message of the blanket supports one, two and three given values with these chances.
        """
        told = min(values, 3)
        if told == 2:
            by_number = [1.0 - 2.0 * once + twice, once - twice, twice]
        else:
            by_number = [1.0 - 3.0 * (once - twice) - thrice, once - 2.0 * twice + thrice, twice - thrice, thrice]
        supports = np.array([*product((1, 0), repeat=told)])
        chances = np.maximum(by_number, 0.0)[supports.sum(axis=1)]
        blanket = chances / (1.0 + (odds - 1.0) * once)
        rows = blanket * np.where(supports.T == 1, odds, 1.0)
        return cls(rows, blanket, others=tuple(range(told)), symmetric=True)

    @classmethod
    def response(cls, lie: float, values: int) -> Self:
        """The laws of randomised response, which with chance `lie` sends any of the values."""
        return cls.supporting(1.0 + values * (1.0 - lie) / lie, 1.0 / values, 0.0, 0.0, values=values)

    @classmethod
    def clones(cls, local_epsilon: float) -> Self:
        """The clones of any randomiser with this local epsilon."""
        lie = math.exp(-local_epsilon)
        keep, turn = 1.0 / (1.0 + lie), lie / (1.0 + lie)
        return cls(np.array([[keep, turn], [turn, keep]]), np.full(2, lie / 2.0), symmetric=True)

    @cached_property
    def local_epsilon(self) -> float:
        """The logarithm of the largest odds between two of the compared rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = (self.rows[p] / self.rows[q] for p, q in permutations(self.compared, 2))
            return math.log(max(float(np.nanmax(each)) for each in odds))

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of rows, in either order, that differ beyond the order of the messages."""
        if self.symmetric:
            return ((0, 1),)
        found: dict[bytes, tuple[int, int]] = {}
        for p, q in permutations(self.compared, 2):
            found.setdefault(self._told_apart(p, q, self.blanket), (p, q))
        return tuple(found.values())

    def excess(self, pair: tuple[int, int], base: Floats, factor: float, people: int) -> tuple[float, Walk]:
        """The divergence where the base is next to nothing, and the random walk of the rest."""
        p, q = self.rows[pair[0]], self.rows[pair[1]]
        inside = base > FAINT
        outside = float(np.maximum(p[~inside] - factor * q[~inside], 0.0).sum())
        p, q, base = p[inside], q[inside], base[inside]
        return outside, Walk.of(p / base - np.minimum(factor * (q / base), LARGEST_STEP), base, people)

    @cached_property
    def crowds(self) -> tuple[Case, ...]:
        """Pairs of rows, and what all others hold, that differ beyond the order of the messages.

        Of very many, those that are worst in large crowds.
        """
        pairs = np.array(((0, 1),) if self.symmetric else [*permutations(self.compared, 2)])
        squares = (self.rows[pairs[:, 0]] - self.rows[pairs[:, 1]]) ** 2
        apart = squares @ (1.0 / np.maximum(self.rows[[*self.others]], FAINT)).T
        found: dict[bytes, Case] = {}
        for place in np.argsort(-apart, axis=None, kind="stable")[:MOST_CROWDS].tolist():
            pair, other = divmod(place, len(self.others))
            (p, q), z = pairs[pair].tolist(), self.others[other]
            found.setdefault(self._told_apart(p, q, self.rows[z]), ((p, q), z))
        return tuple(found.values())

    def _told_apart(self, p: int, q: int, base: Floats) -> bytes:
        """The same for rows and a base that differ in the order of the messages alone."""
        columns = np.stack([self.rows[p], self.rows[q], base])
        return columns[:, np.lexsort(columns)].tobytes()


def _quickly(p: Floats, q: Floats, base: Floats, factor: float, people: int) -> Floats:
    """A bound on what each case loses: Chernoff's, near the saddle of a bell curve."""
    apart, inside = p - factor * q, base > FAINT
    steps = np.maximum(np.where(inside, apart, 0.0) / np.where(inside, base, 1.0), -LARGEST_STEP)
    down, square = people * (steps * base).sum(axis=1), people * (steps**2 * base).sum(axis=1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        theta = (np.sqrt(down**2 + 4.0 * square) - down) / (2.0 * square)
        walked = people * np.log1p((np.expm1(theta[:, None] * steps) * base).sum(axis=1)) - np.log(people * theta)
        most = ROUGHLY * np.exp(walked - 1.0) + np.where(inside, 0.0, np.maximum(apart, 0.0)).sum(axis=1)
    return np.asarray(np.nan_to_num(most, nan=np.inf))


@dataclass(frozen=True, eq=False)
class Amplified(PrivacyLoss):
    """One message of this kind among those of all the people, whatever they hold."""

    kind = "bound"

    laws: MessageLaws
    people: int

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = np.array([self._at(e) for e in epsilon.tolist()])
        return worst, worst

    def _at(self, epsilon: float) -> float:
        if epsilon >= self.laws.local_epsilon * (1.0 + ROUNDED):  # shuffling never harms
            return 0.0
        factor, worst = factor_below(epsilon), 0.0
        for quick, pair in self._worst_first(factor):
            if quick <= worst:
                break
            worst = max(worst, self._lost(pair, factor))
        return worst

    def _worst_first(self, factor: float) -> list[tuple[float, tuple[int, int]]]:
        """The pairs by a quick bound on what each loses."""
        first, second = np.array(self.laws.pairs).T
        quick = _quickly(self.laws.rows[first], self.laws.rows[second], self.laws.blanket[None], factor, self.people)
        return sorted(zip(quick.tolist(), self.laws.pairs, strict=True), reverse=True)

    def _lost(self, pair: tuple[int, int], factor: float) -> float:
        """The smaller bound: the blanket's, or the message's alone, which others never worsen."""
        outside, walk = self.laws.excess(pair, self.laws.blanket, factor, self.people)
        first, second = self.laws.rows[[*pair]]
        return min(float(np.maximum(first - factor * second, 0.0).sum()), outside + walk.at_most())

    def _worse(self, epsilon: float, delta: float) -> tuple[int, int] | None:
        """A pair that loses more than delta at this epsilon."""
        factor = factor_below(epsilon)
        for quick, pair in self._worst_first(factor):
            if quick * ROUND_UP <= delta:
                break
            if self._lost(pair, factor) * ROUND_UP > delta:
                return pair
        return None

    def epsilon(self, delta: float) -> float:
        """Solved for one pair of many, then for one that loses more there, until none does."""
        if len(self.laws.pairs) <= 2 or not delta:
            return super().epsilon(delta)
        found, solved = 0.0, set[tuple[int, int]]()
        while (pair := self._worse(found, delta)) and pair not in solved:
            solved |= {pair, pair[::-1]}
            alone = replace(self.laws, compared=pair)
            found = max(found, Amplified(alone, self.people).epsilon(delta))
        return super().epsilon(delta) if pair else found

    @property
    def attained(self) -> PrivacyLoss | None:
        return CrowdLoss(self.laws, self.people) if self.laws.others else None


@dataclass(frozen=True, eq=False)
class CrowdLoss(PrivacyLoss):
    """The loss where all others hold one value, the worst of all: rounded down, unlike claims."""

    kind = "bound"

    laws: MessageLaws
    people: int

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = np.array([self.worst(e)[0] for e in epsilon.tolist()]) / ROUND_UP
        return worst, worst

    def worst(self, epsilon: float) -> tuple[float, tuple[int, int], int]:
        """The divergence of about the worst crowds, their pair of rows and what all others hold."""
        crowds = self._worst(epsilon)
        return crowds.at_least(epsilon), crowds.pair, crowds.other

    def _worst(self, epsilon: float) -> _TwoCrowds:
        first, second, other = np.array([(*crowds.pair, crowds.other) for crowds in self._crowds]).T
        factor, rows = math.exp(min(epsilon, LARGEST_EPSILON)), self.laws.rows
        quick = _quickly(rows[first], rows[second], rows[other], factor, self.people)
        worst, most = 0, -1.0
        for place in np.argsort(-quick, kind="stable").tolist():
            if quick[place] <= most:
                break
            if (lost := self._crowds[place].at_most(epsilon)) > most:
                worst, most = place, lost
        return self._crowds[worst]

    @cached_property
    def _crowds(self) -> list[_TwoCrowds]:
        return [_TwoCrowds(self.laws, self.people, *case) for case in self.laws.crowds]

    def epsilon(self, delta: float) -> float:
        """An epsilon at which these crowds lose at least delta: solved until no other is worse."""
        found, solved = 0.0, list[_TwoCrowds]()
        while (crowds := self._worst(found)) not in solved:
            solved.append(crowds)
            found = max(found, crowds.epsilon(delta))
        return found


@dataclass(frozen=True, eq=False)
class _TwoCrowds(PrivacyLoss):
    """One of two values, where all others hold one: an upper bound, in a tenth of the time."""

    kind = "bound"

    laws: MessageLaws
    people: int
    pair: tuple[int, int]
    other: int

    def _excess(self, epsilon: float) -> tuple[float, Walk]:
        factor = math.exp(min(epsilon, LARGEST_EPSILON))
        return self.laws.excess(self.pair, self.laws.rows[self.other], factor, self.people)

    def at_most(self, epsilon: float) -> float:
        outside, walk = self._excess(epsilon)
        return outside + walk.at_most()

    def at_least(self, epsilon: float) -> float:
        outside, walk = self._excess(epsilon)
        return outside + walk.mean_positive_part().low

    def orders(self, epsilon: Floats) -> tuple[Floats, Floats]:
        worst = np.array([self.at_most(e) for e in epsilon.tolist()])
        return worst, worst

    def epsilon(self, delta: float) -> float:
        """At which they lose at least delta: about where the bound from above says."""
        found, back = super().epsilon(delta), BACK
        while found > NOTHING and self.at_least(found) < delta:
            found, back = found * (1.0 - back), min(2.0 * back, 0.5)
        return found if found > NOTHING else 0.0
