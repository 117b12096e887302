"""What people send whatever they hold: which messages together, how often, and how far from laws with known sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from headcount.proof.effort import TooLarge, spend
from headcount.proof.expression import Expression, Names
from headcount.proof.law import Message
from headcount.proof.programme import All, Below, Copies, Each, Emit, Let, Maybe, Step, Table, times
from headcount.proof.tables import Bernoulli, Clusters, NegativeBinomial, Often, Poisson, clusters, stands_for

Source: TypeAlias = tuple[tuple[tuple[Message, int], ...], Often]  # messages that are sent together, and how often

MOST_KINDS = 1 << 17


@dataclass
class Noise:
    """Which groups of messages people send independently of their value, how often, and how far from ideal."""

    people: int
    sources: list[Source] = field(default_factory=list)
    distance: Fraction = Fraction(0)

    def add(self, step: Step, names: Names) -> None:
        spend(1)
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
                law, distance = stands_for(table, self.people)
                self.distance += self.people * distance
                self._copies(law, inner, names)
            case _:
                fixed(step, names)  # what everybody always sends tells nothing

    def _copies(self, law: Poisson | NegativeBinomial, step: Step, names: Names) -> None:
        """A Poisson number that is spread evenly over kinds is a Poisson number of each, independently."""
        match step:
            case Let(name, Below(bound), inner) if isinstance(law, Poisson):
                if bound > MOST_KINDS:
                    raise TooLarge("there are too many kinds of messages")
                share = Poisson(law.mean / bound)
                extra = _distance_of_clusters(inner)
                self.distance += self.people * law.mean * extra
                for i in range(bound):
                    self._cluster(share, inner, {**names, name: i})
            case _:
                self._send(fixed(step, names), law)

    def _cluster(self, law: Poisson, step: Step, names: Names) -> None:
        match step:
            case Copies(Table() as table, inner):
                size, _ = clusters(table)
                self._send(fixed(inner, names), Clusters(law.mean, size.decay))
            case _:
                self._send(fixed(step, names), law)

    def _send(self, sent: Counter[Message], often: Often) -> None:
        if sent:
            self.sources.append((tuple(sorted(sent.items())), often))


def _distance_of_clusters(step: Step) -> Fraction:
    return clusters(step.amount)[1] if isinstance(step, Copies) and isinstance(step.amount, Table) else Fraction(0)


class NotFixed(ArithmeticError):
    """A step that draws."""


def fixed(step: Step, names: Names) -> Counter[Message]:
    """What a step without draws sends."""
    spend(1)
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
