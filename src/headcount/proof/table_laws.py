"""The laws that tables stand for, and their total variation distance from them.

No parameter is taken from the certificate: they are read off a table's first masses, and the
distance is then summed up cell by cell. A table that is near to no law of the family is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from flint import arb

from headcount.proof.ball_laws import BallLaw, ball, binomial, most, negative_binomial, poisson
from headcount.proof.effort import spend
from headcount.proof.programme import Table

NEAR = Fraction(1, 1 << 80)
DIGITS = 1 << 220  # parameters are rounded to so fine a grid


class NoSuchLaw(ArithmeticError):
    """A table that is not near to any law whose sums are known."""


class Often(ABC):
    """Laws of one person's number of messages whose sum over a crowd is known."""

    @abstractmethod
    def in_crowd(self, people: int) -> BallLaw: ...


@dataclass(frozen=True)
class Bernoulli(Often):
    chance: Fraction

    def in_crowd(self, people: int) -> BallLaw:
        return binomial(people, ball(self.chance))


@dataclass(frozen=True)
class Poisson(Often):
    mean: Fraction

    def in_crowd(self, people: int) -> BallLaw:
        return poisson(ball(self.mean) * people)

    def masses(self) -> Iterator[arb]:
        mass, k = (-ball(self.mean)).exp(), 0
        while True:
            yield mass
            k += 1
            mass = mass * ball(self.mean) / k


@dataclass(frozen=True)
class NegativeBinomial(Often):
    shape: Fraction
    decay: Fraction

    def shape_in_crowd(self, people: int) -> arb:
        return ball(self.shape * people)

    def in_crowd(self, people: int) -> BallLaw:
        return negative_binomial(self.shape_in_crowd(people), ball(self.decay))

    def masses(self) -> Iterator[arb]:
        shape, decay, k = ball(self.shape), ball(self.decay), 0
        mass = (shape * (1 - decay).log()).exp()
        while True:
            yield mass
            mass = mass * decay * (shape + k) / (k + 1)
            k += 1


@dataclass(frozen=True)
class Clusters(NegativeBinomial):
    """A Poisson number of logarithmic draws: negative binomial of shape -mean / log(1 - decay)."""

    def shape_in_crowd(self, people: int) -> arb:
        return ball(self.shape * people) / -(1 - ball(self.decay)).log()


@dataclass(frozen=True)
class Logarithmic:
    decay: Fraction

    def masses(self) -> Iterator[arb]:
        """P[k] = decay^k / k / -log(1 - decay), from k = 1 on."""
        decay, k = ball(self.decay), 1
        power = 1 / -(1 - decay).log()
        yield arb(0)
        while True:
            power = power * decay
            yield power / k
            k += 1


def stands_for(table: Table, people: int) -> tuple[Poisson | NegativeBinomial, Fraction]:
    """The law of a number of copies and the table's distance from it.

    From the first three masses, m1/m0 is the Poisson mean, and so is 2 m2/m1; for a negative
    binomial law the former is shape times decay and the latter (shape + 1) times decay. A shape of
    one in the whole crowd is taken at its word. Where the first masses have few digits, the largest
    tells the Poisson mean.
    """
    first, second, third = ([*table.masses, 0, 0, 0])[:3]
    if table.start:
        raise NoSuchLaw("a number of copies must be able to be 0")
    top = max(range(len(table.masses)), key=table.masses.__getitem__)
    following = table.masses[top + 1] if top + 1 < len(table.masses) else 0
    likeliest = Poisson(_rounded(Fraction((top + 1) * following, table.masses[top])))
    if not first or not second:
        return _near(table, [likeliest])
    mean = _rounded(Fraction(second, first))
    decay = Fraction(2 * third, second) - Fraction(second, first)
    candidates: list[Poisson | NegativeBinomial] = [Poisson(mean)]
    if 0 < decay < 1:
        decay = _rounded(decay)
        candidates += [NegativeBinomial(Fraction(1, people), decay), NegativeBinomial(_rounded(mean / decay), decay)]
    return _near(table, [*candidates, likeliest])


def clusters(table: Table) -> tuple[Logarithmic, Fraction]:
    """The logarithmic law of a cluster's size: there 2 m2/m1 is its decay."""
    if table.start or len(table.masses) < 3 or table.masses[0] or not 0 < 2 * table.masses[2] < table.masses[1]:
        raise NoSuchLaw("a cluster must have one or more members, and sometimes two")
    return _near(table, [Logarithmic(_rounded(Fraction(2 * table.masses[2], table.masses[1])))])


def _rounded(number: Fraction) -> Fraction:
    return Fraction(round(number * DIGITS), DIGITS)


L = TypeVar("L", Poisson | NegativeBinomial, Logarithmic)


def _near(table: Table, candidates: list[L]) -> tuple[L, Fraction]:
    for law in candidates:
        distance = _distance(table, law.masses())
        if distance < NEAR:
            return law, distance
    raise NoSuchLaw("a table is not near to any law whose sums are known")


def _distance(table: Table, ideal: Iterator[arb]) -> Fraction:
    """The total variation distance: the excess of the table's masses over the law's."""
    excess, total = arb(0), table.total
    near = ball(NEAR)
    spend(4 * len(table.masses))
    for mass, right in zip(table.masses, ideal, strict=False):
        over = arb(mass) / total - right
        if not over <= 0:
            excess += over.max(arb(0))
            if excess > near:
                break
    return most(excess)
