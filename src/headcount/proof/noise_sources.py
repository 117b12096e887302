"""Sources of noise: messages sent whatever is held, and the laws of their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from headcount.proof.effort import TooLarge, spend
from headcount.proof.enumeration import Message
from headcount.proof.expression import Expression, Names
from headcount.proof.programme import All, Below, Copies, Each, Emit, Let, Maybe, Step, Table, times
from headcount.proof.table_laws import (
    Bernoulli,
    Clusters,
    Logarithmic,
    NegativeBinomial,
    Often,
    Poisson,
    clusters,
    stands_for,
)

Source: TypeAlias = tuple[tuple[tuple[Message, int], ...], Often]  # messages that are sent together, and how often

MOST_KINDS = 1 << 17


@dataclass
class NoiseSources:
    """Groups of messages sent independently of the value, how often, and how far from ideal."""

    people: int
    sources: list[Source] = field(default_factory=list)
    distance: Fraction = Fraction(0)
    _numbers: dict[int, tuple[Poisson | NegativeBinomial, Fraction]] = field(default_factory=dict)
    _clusters: dict[int, tuple[Logarithmic, Fraction]] = field(default_factory=dict)

    def add(self, step: Step, names: Names) -> None:
        spend(8)
        match step:
            case All(parts):
                for part in parts:
                    self.add(part, names)
            case Each(name, rounds, inner):
                for i in range(rounds):
                    self.add(inner, {**names, name: i})
            case Copies(Expression() as amount, inner):
                for _ in range(times(amount, names)):
                    self.add(inner, names)
            case Maybe(likely, All(()), other):
                self._send(fixed(other, names), Bernoulli(1 - likely))
            case Maybe(likely, other, All(())):
                self._send(fixed(other, names), Bernoulli(likely))
            case Copies(Table() as table, inner):
                law, distance = self._number_of_copies(table)
                self.distance += self.people * distance
                self._copies(law, inner, names)
            case _:
                fixed(step, names)  # what everybody always sends tells nothing

    def _copies(self, law: Poisson | NegativeBinomial, step: Step, names: Names) -> None:
        """A Poisson number, thinned evenly over kinds, is an independent Poisson number of each."""
        match step:
            case Let(name, Below(bound), inner) if isinstance(law, Poisson):
                if bound > MOST_KINDS:
                    raise TooLarge("there are too many kinds of messages")
                share = Poisson(law.mean / bound)
                extra = self._distance_of_clusters(inner)
                self.distance += self.people * law.mean * extra
                for i in range(bound):
                    spend(4)
                    self._cluster(share, inner, {**names, name: i})
            case _:
                self._send(fixed(step, names), law)

    def _cluster(self, law: Poisson, step: Step, names: Names) -> None:
        match step:
            case Copies(Table() as table, inner):
                size, _ = self._size_of_clusters(table)
                self._send(fixed(inner, names), Clusters(law.mean, size.decay))
            case _:
                self._send(fixed(step, names), law)

    def _distance_of_clusters(self, step: Step) -> Fraction:
        if isinstance(step, Copies) and isinstance(step.amount, Table):
            return self._size_of_clusters(step.amount)[1]
        return Fraction(0)

    def _number_of_copies(self, table: Table) -> tuple[Poisson | NegativeBinomial, Fraction]:
        """Worked out once for each table of the programme, which outlives this."""
        if id(table) not in self._numbers:
            self._numbers[id(table)] = stands_for(table, self.people)
        return self._numbers[id(table)]

    def _size_of_clusters(self, table: Table) -> tuple[Logarithmic, Fraction]:
        if id(table) not in self._clusters:
            self._clusters[id(table)] = clusters(table)
        return self._clusters[id(table)]

    def _send(self, sent: Counter[Message], often: Often) -> None:
        if len(self.sources) >= MOST_KINDS:
            raise TooLarge("there are too many kinds of messages")
        if sent:
            self.sources.append((tuple(sorted(sent.items())), often))


class NotFixed(ArithmeticError):
    """A step that draws."""


def fixed(step: Step, names: Names) -> Counter[Message]:
    """The messages of a step without draws."""
    spend(4)
    match step:
        case Emit(fields):
            return Counter([tuple(field.at(names) for field in fields)])
        case All(parts):
            return _together(fixed(part, names) for part in parts)
        case Copies(Expression() as amount, inner):
            copies, once = times(amount, names), fixed(inner, names)
            return Counter({message: often * copies for message, often in once.items() if copies})
        case Each(name, rounds, inner):
            return _together(fixed(inner, {**names, name: i}) for i in range(rounds))
    raise NotFixed("a step that depends on the value also draws")


def _together(parts: Iterable[Counter[Message]]) -> Counter[Message]:
    whole: Counter[Message] = Counter()
    for part in parts:
        spend(len(part))
        whole.update(part)
    return whole
